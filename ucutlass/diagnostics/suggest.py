"""Did you mean: the known name nearest to an unknown one.

A leaf: imports only the standard library.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_LONGEST = 64
"""Nobody mistypes a name longer than this; comparing such names would only cost time."""
_SHORTEST_PREFIX = 3


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words; `limit + 1` when more."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        current = [i]
        for j, right in enumerate(other, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


@lru_cache(4096)  # a program that misspells a name does so wherever it uses it
def _score(word: str, candidate: str) -> tuple[int, int] | None:
    """How near a candidate is, the smaller the nearer; None when it is no help."""
    if word.lower() == candidate.lower():
        return 0, 0
    plain, plain_candidate = _plain(word), _plain(candidate)
    if plain and plain == plain_candidate:
        return 1, 0
    # A third of the letters may be wrong, but a single letter never stands for another.
    limit = max(len(plain), len(plain_candidate)) // 3
    if (distance := edit_distance(plain, plain_candidate, limit)) <= limit:
        return 2, distance
    if len(plain) >= _SHORTEST_PREFIX and plain_candidate.startswith(plain):
        return 3, len(plain_candidate) - len(plain)
    if len(plain_candidate) >= _SHORTEST_PREFIX and plain.startswith(plain_candidate):
        return 4, len(plain) - len(plain_candidate)
    return None


def suggest(
    word: str, candidates: Iterable[str], limit: int = 3, aliases: Mapping[str, str] | None = None
) -> list[str]:
    """The known names nearest to a word, nearest first, at most `limit`; none for nonsense.

    `aliases` maps what people call a thing elsewhere (`matmul`) to its name here (`gemm`).
    """
    if not word or len(word) > _LONGEST:
        return []
    known = dict.fromkeys(candidates)
    alias = (aliases or {}).get(word.lower())
    first = [alias] if alias in known else []
    scored: list[tuple[tuple[int, int], str]] = []
    for candidate in known:
        if candidate == word or candidate in first or len(candidate) > _LONGEST:
            continue
        if (score := _score(word, candidate)) is not None:
            scored.append((score, candidate))
    return [*first, *(candidate for _, candidate in sorted(scored))][:limit]


def nearest(word: str, candidates: Iterable[str], aliases: Mapping[str, str] | None = None) -> str | None:
    """The one name to put in a fix-it; None when there is none or when two are equally near."""
    known = list(candidates)
    best = suggest(word, known, 2, aliases)
    if not best:
        return None
    unsure = len(best) == 2 and word.lower() not in (aliases or {}) and _score(word, best[0]) == _score(word, best[1])
    return None if unsure else best[0]


def phrase(suggestions: Sequence[str]) -> str:
    """The question that ends a message, `did you mean 'a', 'b' or 'c'?`; empty when there is no suggestion."""
    if not suggestions:
        return ""
    quoted = [f"'{name}'" for name in suggestions]
    listed = f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]
    return f"did you mean {listed}?"
