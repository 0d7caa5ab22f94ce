"""Printers of the compiler: CUDA C++ from the `cutlass` dialect. A printer decides nothing."""
