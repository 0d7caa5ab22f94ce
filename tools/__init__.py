"""The command-line tools, imported as `ucutlass_tools`: thin, each a module with `main`."""
