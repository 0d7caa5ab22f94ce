"""Showing what a run of a tool has to say.

Imports only the standard library and the leaves.
"""

import argparse
import sys
from collections.abc import Sequence

from ucutlass_tools._main import Form, print_diagnostics

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, Severity
from ucutlass.records import record


@record
class Reporter:
    """How a call wants to see its diagnostics."""

    tool: str
    form: Form = "text"
    colour: str = "auto"
    remarks: str | None = None
    """None hides remarks, `text` shows them among the rest, `json` as an array of their own."""

    @staticmethod
    def of(tool: str, args: argparse.Namespace) -> "Reporter":
        """What the flags of `_opt_flags` say, as far as the tool has them."""
        form: Form = "json" if args.json else vars(args).get("diagnostics", "text")
        return Reporter(tool, form, vars(args).get("color", "auto"), vars(args).get("remarks"))

    def show(self, engine: DiagnosticEngine) -> None:
        """Print what the engine lists to stderr; as JSON and SARIF also where that is nothing."""
        listed = engine.diagnostics
        remarks = [d for d in listed if d.severity is Severity.REMARK]
        apart = self.remarks == "json" and self.form == "text"
        shown = [d for d in listed if d.severity is not Severity.REMARK or (self.remarks and not apart)]
        print_diagnostics(shown, engine.sources, self.form, self.colour, self.tool)
        if apart:
            print_diagnostics(remarks, engine.sources, "json")

    def say(self, lines: Sequence[str]) -> None:
        """Tell a person; a program reads the result."""
        if self.form == "text":
            for line in lines:
                print(line, file=sys.stderr)


def fixed_lines(applied: Sequence[Diagnostic]) -> list[str]:
    """What was mended, a line each."""
    lines: list[str] = []
    for diagnostic in applied:
        labels = "; ".join(dict.fromkeys(fix.label for fix in diagnostic.fixits))
        lines.append(f"{diagnostic.fixits[0].span}: fixed: {labels} [{diagnostic.code}]")
    return lines
