"""Diagnostics as SARIF 2.1.0, the form that code hosts and editors read.

A leaf: imports only the standard library. Remarks have no level of their own in SARIF: they are notes whose property
`severity` says `remark`.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.diagnostics.core import Diagnostic, FixIt, Severity
from ucutlass.diagnostics.json_output import JsonValue
from ucutlass.diagnostics.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.REMARK: "note", Severity.NOTE: "note"}


def _message(text: str) -> dict[str, JsonValue]:
    """SARIF reads single braces in a message as the place of an argument."""
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _region(span: Span) -> dict[str, JsonValue]:
    region: dict[str, JsonValue] = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    if span.resolved:
        region |= {"charOffset": span.start, "charLength": span.end - span.start}
    return region


def _physical(span: Span) -> dict[str, JsonValue]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(span.file)}, "region": _region(span)}}


def _fix(fixits: tuple[FixIt, ...]) -> dict[str, JsonValue]:
    """All fix-its of a diagnostic as one SARIF fix, since SARIF's several fixes are alternatives."""
    changes: list[JsonValue] = []
    for file in dict.fromkeys(fix.span.file for fix in fixits):
        replacements: list[JsonValue] = [
            {"deletedRegion": _region(fix.span), "insertedContent": {"text": fix.replacement}}
            for fix in fixits
            if fix.span.file == file
        ]
        changes.append({"artifactLocation": {"uri": _uri(file)}, "replacements": replacements})
    labels = "; ".join(dict.fromkeys(fix.label for fix in fixits))
    return {"description": _message(labels), "artifactChanges": changes}


def _rule(code: str) -> dict[str, JsonValue]:
    info = CATALOGUE.get(code)
    if info is None:
        return {"id": code}
    return {
        "id": code,
        "name": info.name,
        "shortDescription": {"text": info.summary},
        "fullDescription": {"text": info.explanation},
        "help": {"text": info.explanation},
        "defaultConfiguration": {"level": _LEVELS[info.severity]},
    }


def _result(diagnostic: Diagnostic, rule_index: int) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[diagnostic.severity],
        "message": _message(diagnostic.message),
        "properties": {"severity": str(diagnostic.severity)},
    }
    if diagnostic.span is not None:
        location = _physical(diagnostic.span)
        if diagnostic.operation is not None:
            location["logicalLocations"] = [{"name": diagnostic.operation, "kind": "function"}]
        result["locations"] = [location]
    if diagnostic.notes:
        related: list[JsonValue] = []
        for identifier, note in enumerate(diagnostic.notes):
            place = _physical(note.span) if note.span is not None else {}
            related.append({"id": identifier, "message": _message(note.message), **place})
        result["relatedLocations"] = related
    if diagnostic.fixits and all(fix.span.resolved for fix in diagnostic.fixits):
        result["fixes"] = [_fix(diagnostic.fixits)]
    return result


def to_sarif(diagnostics: Iterable[Diagnostic], version: str, tool: str = "ucutlass-opt") -> str:
    """One SARIF log with one run of the tool in it, holding the rules that its results name."""
    listed = list(diagnostics)
    indices = {code: index for index, code in enumerate(dict.fromkeys(d.code for d in listed))}
    rules: list[JsonValue] = [_rule(code) for code in indices]
    results: list[JsonValue] = [_result(diagnostic, indices[diagnostic.code]) for diagnostic in listed]
    log: dict[str, JsonValue] = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": tool, "version": version, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=True)
