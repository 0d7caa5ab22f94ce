"""The two ways in which a call fails that are not the program's fault; the tools turn them into exit codes.

A leaf: imports only the standard library. What is wrong with a program is a `DiagnosticError`. The codes are rows of
the catalogue of diagnostics.
"""


class UsageError(Exception):
    """The call is at fault (exit code 2): what was found, what is allowed, what to type instead."""

    def __init__(self, message: str, code: str = "UC0023") -> None:
        super().__init__(message)
        self.code = code


class MachineError(Exception):
    """The machine lacks something, say a GPU or nvcc (exit code 3): what, and how to get it."""

    def __init__(self, message: str, code: str = "UC0024") -> None:
        super().__init__(message)
        self.code = code
