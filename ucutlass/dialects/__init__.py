"""The two dialects: `ucutlass` says what is wanted, `cutlass` mirrors the C++ that is emitted."""
