"""The CUDA C++ printer."""
