"""How `lower-to-cutlass` builds each family of device kernels: one module a family and architecture."""
