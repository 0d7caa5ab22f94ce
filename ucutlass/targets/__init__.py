"""What each GPU is and what CUTLASS can build for it: data files, legality rules, enumeration and the cost model.

Imports only the standard library and `ucutlass.element_types`; nothing here knows about IR. Import the modules
themselves (`ucutlass.targets.enumerate`, …): the package imports nothing, so asking for a GPU's peaks loads no rule.
"""
