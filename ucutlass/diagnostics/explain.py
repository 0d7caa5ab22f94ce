"""The catalogue as text: one code for the terminal, every code as the Markdown page of the documentation.

A leaf: imports only the standard library.
"""

from ucutlass.diagnostics.catalogue import CATALOGUE, RANGES, CodeInfo
from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.diagnostics.suggest import phrase, suggest

UNKNOWN_CODE = "UC0017"


def find(code: str) -> CodeInfo:
    """The row of a code, given as `UC0301`, `uc0301`, `301` or by its name; an unknown one is a `DiagnosticError`."""
    word = code.strip()
    for candidate in (word.upper(), f"UC{word:0>4}"):
        if candidate in CATALOGUE:
            return CATALOGUE[candidate]
    by_name = {info.name: info for info in CATALOGUE.values()}
    if word.lower() in by_name:
        return by_name[word.lower()]
    hint = phrase(suggest(word.upper(), CATALOGUE) or suggest(word, by_name))
    message = f"there is no diagnostic {word!r}; {hint or 'codes run from ' + min(CATALOGUE) + ' to ' + max(CATALOGUE)}"
    raise DiagnosticError(Diagnostic(UNKNOWN_CODE, Severity.ERROR, message))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").split("\n"))


def explain(code: str) -> str:
    """What `--explain` prints, ended by a line break."""
    info = find(code)
    parts = [f"{info.code} ({info.name}), {info.severity}: {info.summary}", info.explanation]
    if info.bad_example:
        parts += ["Wrong:", _indented(info.bad_example)]
    if info.good_example:
        parts += ["Right:", _indented(info.good_example)]
    return "\n\n".join(parts) + "\n"


def _section(info: CodeInfo) -> list[str]:
    lines = [f"### {info.code} {info.name} {{#{info.code.lower()}}}", "", f"*{info.severity}*: {info.summary}", ""]
    lines += [info.explanation, ""]
    for title, example in (("Wrong:", info.bad_example), ("Right:", info.good_example)):
        if example:
            lines += [title, "", f"```{info.language}", example.strip("\n"), "```", ""]
    return lines


def markdown_page() -> str:
    """The page of all codes: a table, then a section for each."""
    lines = ["# Diagnostics", ""]
    lines += [
        "Every diagnostic has a code that does not change. `ucutlass-opt --explain CODE` prints its section of this"
        " page, which is generated from the compiler's catalogue.",
        "",
        "| code | name | severity | meaning |",
        "|---|---|---|---|",
    ]
    for info in CATALOGUE.values():
        lines.append(f"| [{info.code}](#{info.code.lower()}) | {info.name} | {info.severity} | {info.summary} |")
    for first, title in RANGES.items():
        rows = [info for info in CATALOGUE.values() if info.code[2:4] == first]
        if rows:
            lines += ["", f"## {title}", ""]
            for info in rows:
                lines += _section(info)
    return "\n".join(lines).rstrip("\n") + "\n"
