"""The code blocks of the documentation: found, and run as a reader would who types them from top to bottom.

A comment above a block says what is special about it:

    <!-- error UC0301 -->   the program has exactly these errors
    <!-- exit 1 -->         the command fails with this code
    <!-- needs gpu -->      not run where there is none; the flags and imports are checked all the same
    <!-- not run -->        only looked at

A block with a title is a file of that name in the page's folder. A block `text` right after a block `sh` or `python` is
what that prints: `…` stands for anything in a line, and alone in a line for any lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?"
    r"^(?P<fence>`{3,})(?P<language>\w*)(?: title=\"(?P<title>[^\"\n]+)\")?\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"error( UC\d{4})+|exit \d+|needs (gpu|nvcc)|not run")


@dataclass(frozen=True)
class Block:
    """One code block."""

    page: str
    line: int
    language: str
    text: str
    title: str | None = None
    mark: str = ""
    output: str | None = None
    """What it prints, where the page shows that."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def codes(self) -> list[str]:
        """The errors that it is to have."""
        return self.mark.split()[1:] if self.mark.startswith("error") else []

    @property
    def exit_code(self) -> int:
        return int(self.mark.split()[1]) if self.mark.startswith("exit") else 0

    @property
    def is_run(self) -> bool:
        return not self.mark.startswith(("needs", "not"))


def blocks(page: str, markdown: str) -> list[Block]:
    """The code blocks of a page, in order; outputs belong to the blocks before them."""
    found: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(markdown):
        mark = match["mark"] or ""
        assert not mark or _MARK.fullmatch(mark), f"{page}: what does <!-- {mark} --> mean?"
        line = markdown.count("\n", 0, match.start("fence")) + 1
        between = markdown[end : match.start()].strip()
        end = match.end()
        before = found[-1] if found else None
        is_output = match["language"] == "text" and not between and before is not None
        if is_output and before is not None and before.language in ("sh", "python") and before.output is None:
            found[-1] = Block(page, before.line, before.language, before.text, before.title, before.mark, match["text"])
            continue
        found.append(Block(page, line, match["language"], match["text"], match["title"], mark))
    return found


def written_pages() -> Iterator[tuple[str, str]]:
    """The pages of the documentation that somebody wrote, by their path in the folder."""
    for path in sorted(DOCS.rglob("*.md")):
        yield str(path.relative_to(DOCS)), path.read_text(encoding="utf-8")


def fits(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed."""
    pattern = ""
    for line in shown.rstrip("\n").split("\n"):
        if line == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None
