"""Breaks long C++ lines at commas, for the reader of an emitted file."""

WIDTH = 120


def wrapped(line: str, indent: int = 4) -> list[str]:
    """The line, or several where it is longer than the width: broken after the commas of the first brackets
    that have any."""
    if len(line) <= WIDTH:
        return [line]
    splits = ((i, _pieces(line[i + 1 :])) for i, character in enumerate(line) if character in "<{(")
    split = next((s for s in splits if len(s[1]) > 1), None)
    if split is None:
        return [line]
    opening, pieces = split
    head = line[: opening + 1]
    margin = " " * (len(line) - len(line.lstrip()) + indent)
    lines, current = [head], margin
    for piece in pieces:
        if len(current) + len(piece) + 1 > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = margin
        current += piece + " "
    return [*lines, current.rstrip()]


def _pieces(text: str) -> list[str]:
    """The arguments inside the outermost brackets, each with its comma; the last one with all that follows."""
    pieces: list[str] = []
    depth, start = 0, 0
    for i, character in enumerate(text):
        if character in "<{(":
            depth += 1
        elif character in ">})":
            depth -= 1
            if depth < 0:
                break
        elif character == "," and depth == 0:
            pieces.append(text[start : i + 1].strip())
            start = i + 1
    return [*pieces, text[start:].strip()]
