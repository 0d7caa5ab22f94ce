"""The agent, imported as `ucutlass_agent`: a client of the command-line tools, with no import of the compiler."""
