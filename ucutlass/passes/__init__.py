"""The passes, one file each; `ucutlass/registry.py` lists them. They import the dialects, the targets and the
leaves."""
