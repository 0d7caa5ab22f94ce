"""The errors in a compiler's output, each with the place in the emitted source that led to it.

A leaf: imports only the standard library; pure text in, data out. A template error is reported in some header and
followed by a page of instantiations; what a reader wants is the first line and the kernel that it was about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_EDG = re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<text>.*)$")
_GCC = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$")
_TOOL = re.compile(r"^(?P<file>ptxas|nvlink|nvcc|fatbinary|cicc)\s*(?:fatal|error|FATAL)\s*:\s*(?P<text>.*)$")
_LINKER = re.compile(r"^(?P<file>\S*\bld(?:\.\w+)?): (?P<text>.*(?:cannot find|undefined|error).*)$")
_SECTION = re.compile(r"^// ---- (?P<title>.*?)\s*-*$")


@dataclass(frozen=True)
class CompilerError:
    """One error."""

    text: str
    file: str
    line: int | None
    source_line: int | None
    """Line of the emitted source that it comes from: its own, or that of the instantiation that led to it."""
    section: str | None
    """Heading of the part of the emitted source that the line is in, `kernel 0: y = gemm(x, w)`."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        about = f" (line {self.source_line} of the emitted source" if self.source_line is not None else ""
        about += f", {self.section})" if about and self.section else ")" if about else ""
        return f"{place}{self.text}{about}"


def compiler_errors(log: str, source: str, source_name: str, limit: int = 3) -> tuple[CompilerError, ...]:
    """The first errors of a log, at most one for each text."""
    found: dict[str, CompilerError] = {}
    lines = log.splitlines()
    starts = [(i, match) for i, match in _starts(lines)]
    for position, (i, match) in enumerate(starts):
        end = starts[position + 1][0] if position + 1 < len(starts) else len(lines)
        line = int(match["line"]) if "line" in match.re.groupindex else None
        # g++ prints the instantiations before the error, nvcc after it.
        begin = starts[position - 1][0] + 1 if position else 0
        block = lines[i:end] if match.re is _EDG else lines[begin:end]
        own = line if match["file"].endswith(source_name) else _instantiation(block, source_name)
        error = CompilerError(match["text"].strip(), match["file"], line, own, _section(source, own))
        found.setdefault(error.text, error)
        if len(found) == limit:
            break
    return tuple(found.values())


def _starts(lines: list[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for i, line in enumerate(lines):
        for pattern in (_EDG, _GCC, _TOOL, _LINKER):
            if (match := pattern.match(line)) is not None:
                yield i, match
                break


def _instantiation(block: list[str], source_name: str) -> int | None:
    """The line of the emitted source in a chain of instantiations; the outermost one."""
    name = re.escape(source_name)
    pattern = re.compile(rf'at line (\d+) of "?\S*{name}"?|^\S*{name}:(\d+):\d+:\s+required from')
    lines = [int(match[1] or match[2]) for line in block if (match := pattern.search(line)) is not None]
    return lines[-1] if lines else None


def _section(source: str, line: int | None) -> str | None:
    if line is None:
        return None
    for text in reversed(source.splitlines()[:line]):
        if (match := _SECTION.match(text)) is not None:
            return match["title"]
    return None
