"""The table of diagnostic codes, joined from one file a range.

A leaf: imports only the standard library and the severities. A new code is one row in the file of its range; giving a
code or a name twice, or putting a row into the wrong file, is an error at import.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ucutlass.diagnostics.catalogue import (
    build,
    fusion,
    lowering,
    names,
    numerics,
    runtime,
    setters,
    syntax,
    target,
    tools,
    types,
    validation,
)
from ucutlass.diagnostics.catalogue.info import CodeInfo

__all__ = ["CATALOGUE", "RANGES", "CodeInfo", "joined"]

_FILES: Mapping[str, tuple[str, tuple[CodeInfo, ...]]] = {
    "00": ("Tools and their input", tools.CODES),
    "01": ("Syntax", syntax.CODES),
    "02": ("Names", names.CODES),
    "03": ("Types and shapes", types.CODES),
    "04": ("Setters", setters.CODES),
    "05": ("What the target can build", target.CODES),
    "06": ("Fusion remarks", fusion.CODES),
    "07": ("Lowering", lowering.CODES),
    "08": ("Building", build.CODES),
    "09": ("Running", runtime.CODES),
    "10": ("Interpreting and validating", validation.CODES),
    "11": ("Numerics", numerics.CODES),
}


def joined(files: Iterable[tuple[str, tuple[CodeInfo, ...]]]) -> dict[str, CodeInfo]:
    """All rows by code, in order; the files are given with the first two digits of their codes."""
    table: dict[str, CodeInfo] = {}
    names_seen: dict[str, str] = {}
    for digits, rows in files:
        for row in rows:
            if not row.code.startswith(f"UC{digits}") or len(row.code) != 6 or not row.code[2:].isdecimal():
                raise ValueError(f"code {row.code} does not belong into the file of UC{digits}00 to UC{digits}99")
            if row.code in table:
                raise ValueError(f"code {row.code} is given twice: {table[row.code].name} and {row.name}")
            if row.name in names_seen:
                raise ValueError(f"the name {row.name} is given to both {names_seen[row.name]} and {row.code}")
            table[row.code] = row
            names_seen[row.name] = row.code
    return dict(sorted(table.items()))


CATALOGUE: Mapping[str, CodeInfo] = MappingProxyType(joined((digits, rows) for digits, (_, rows) in _FILES.items()))
"""Every code, in order."""

RANGES: Mapping[str, str] = MappingProxyType({digits: title for digits, (title, _) in _FILES.items()})
"""The first two digits of a code, and what codes with them are about."""
