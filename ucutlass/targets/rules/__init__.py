"""The legality rules of CUTLASS 4.2, one named function each, by kernel family.

Imports only the standard library and `ucutlass.targets`. A rule looks at one candidate kernel, returns None where it
has nothing to object and a `Finding` with the numbers where it has. Verifier, enumerator, tuner and refusals ask the
same rules, so a constraint is stated once. `core` says what a rule is; each family has a file.
"""
