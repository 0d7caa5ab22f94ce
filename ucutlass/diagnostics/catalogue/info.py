"""One row of the table of diagnostic codes.

A leaf: imports only the standard library and the severities.
"""

from ucutlass.diagnostics.core import Severity
from ucutlass.records import record


@record
class CodeInfo:
    """What a code means and what to do about it."""

    code: str
    """`UC` and four digits, of which the first two say the range; never reused for another meaning."""
    name: str
    """The same in words, `shape-mismatch`."""
    severity: Severity
    """The severity it usually has."""
    summary: str
    """One line: lower case, no full stop."""
    explanation: str
    """Two to five sentences: why it is so and what to type instead."""
    bad_example: str = ""
    """A whole program, or command, that provokes the code; empty where none can be shown."""
    good_example: str = ""
    """The same, mended."""
    language: str = "ucu"
    """Language of the examples: `ucu`, `mlir`, `sh` or `python`."""
