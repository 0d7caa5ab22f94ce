"""Deciding whether a kernel's results are right: `ucutlass.runtime.validate` drives what is here.

May import what stands below the runtime; torch inside functions. `docs/validation.md` states the rules in words.

| module | what it does |
|---|---|
| `estimate` | a reference value with the error that rounding may have brought about |
| `units` | how exactly hardware computes: roundoff of sums of products and of functions |
| `propagate` | how each family of operations makes errors grow |
| `expected` | what a kernel's results must be, and how exactly |
| `compare` | one result against what is expected of it |
| `memory` | results surrounded by guards, poisoned before the run; hashes of inputs |
| `cases` | which inputs and sizes a kernel is run on |
"""
