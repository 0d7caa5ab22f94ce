"""What memory-bound kernels compute: iteration spaces, where elements lie in them, and expressions over one element.

Used by `fuse`, which asks whether operations can be one kernel, and by the lowering, which builds it.
"""
