"""Diagnostics as JSON for tools and agents.

A leaf: imports only the standard library. The fields are stable; new ones may be added. One array of objects:

| field | type | meaning |
|---|---|---|
| `code`, `name` | string | `UC0301` and its name in words, `shape-mismatch` |
| `severity` | string | `error`, `warning`, `remark` or `note` |
| `message` | string | what is wrong, with the numbers |
| `operation` | string or null | the operation that is concerned |
| `file` | string or null | as given to the tool; null, like the six fields below, when there is no place |
| `line`, `column`, `end_line`, `end_column` | integer or null | from 1, in characters; the end is after the last one |
| `start`, `end` | integer or null | offsets from 0, in characters; also null when the file's text was not at hand |
| `notes` | array | `message` and the same place fields |
| `fixits` | array | `label`, `replacement` and the same place fields; all of one diagnostic belong together |
| `help` | string | the catalogue's explanation, empty for a code of an extension |
"""

import json
from collections.abc import Iterable

from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.diagnostics.core import Diagnostic
from ucutlass.diagnostics.source import Span

JsonValue = str | int | None | list["JsonValue"] | dict[str, "JsonValue"]


def _place(span: Span | None) -> dict[str, JsonValue]:
    if span is None:
        fields = ("file", "line", "column", "end_line", "end_column", "start", "end")
        return dict.fromkeys(fields)
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "start": span.start if span.resolved else None,
        "end": span.end if span.resolved else None,
    }


def diagnostic_to_json(diagnostic: Diagnostic) -> dict[str, JsonValue]:
    """One diagnostic as a JSON object."""
    info = CATALOGUE.get(diagnostic.code)
    return {
        "code": diagnostic.code,
        "name": info.name if info is not None else "",
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "operation": diagnostic.operation,
        **_place(diagnostic.span),
        "notes": [{"message": note.message, **_place(note.span)} for note in diagnostic.notes],
        "fixits": [
            {"label": fix.label, "replacement": fix.replacement, **_place(fix.span)} for fix in diagnostic.fixits
        ],
        "help": info.explanation if info is not None else "",
    }


def to_json(diagnostics: Iterable[Diagnostic], indent: int | None = 2) -> str:
    """All diagnostics as one JSON array, `[]` when there are none."""
    objects = [diagnostic_to_json(diagnostic) for diagnostic in diagnostics]
    # ASCII only: a lone surrogate or a bidirectional control in a source must not break or reshape the output.
    return json.dumps(objects, indent=indent, ensure_ascii=True)
