"""Failures of the machine that carry a diagnostic.

Imports leaves only. The tools turn a `MachineError` into exit code 3; its text names the code like any diagnostic.
"""

from collections.abc import Iterable

from ucutlass.diagnostics.core import Diagnostic, Note, Severity
from ucutlass.errors import MachineError


class CodedMachineError(MachineError):
    """The machine lacks something that has a code of its own; `diagnostic` says it to programs."""

    def __init__(self, code: str, message: str, notes: Iterable[str] = ()) -> None:
        self.diagnostic = Diagnostic(code, Severity.ERROR, message, notes=tuple(Note(note) for note in notes))
        super().__init__(code, message)

    def __str__(self) -> str:
        lines = [f"{self.diagnostic.message} [{self.diagnostic.code}]"]
        return "\n".join([*lines, *(f"note: {note.message}" for note in self.diagnostic.notes)])

    def __reduce__(self) -> "tuple[type[CodedMachineError], tuple[str, str, tuple[str, ...]]]":
        # A worker process hands it to its parent.
        diagnostic = self.diagnostic
        return type(self), (diagnostic.code, diagnostic.message, tuple(note.message for note in diagnostic.notes))
