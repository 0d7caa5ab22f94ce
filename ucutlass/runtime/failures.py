"""Failures of the machine with the facts around them.

Imports leaves only. The tools turn a `MachineError` into exit code 3 and show its code.
"""

from collections.abc import Iterable

from ucutlass.diagnostics.core import Diagnostic, Note, Severity
from ucutlass.errors import MachineError


class BuildMachineError(MachineError):
    """The machine lacks something that a build needs, or failed in one."""

    def __init__(self, code: str, message: str, notes: Iterable[str] = ()) -> None:
        self.notes = tuple(notes)
        self.message = message
        super().__init__("\n".join([message, *(f"note: {note}" for note in self.notes)]), code)

    @property
    def diagnostic(self) -> Diagnostic:
        return Diagnostic(self.code, Severity.ERROR, self.message, notes=tuple(map(Note, self.notes)))

    def __reduce__(self) -> "tuple[type[BuildMachineError], tuple[str, str, tuple[str, ...]]]":
        # A worker process hands it to its parent.
        return type(self), (self.code, self.message, self.notes)
