"""Feeds broken programs to the frontend: each must end in a module or in diagnostics, soon, never in a traceback.

    python scripts/fuzz_parser.py --mutated 20000 --random 2000 --seed 1

Mutates the example programs by characters, tokens and lines, and makes up byte strings. Prints what fails, with the
text; exit code 1 if anything did. A part of it runs in the ordinary tests.
"""

import argparse
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TIME_LIMIT = 1.0
"""Seconds of the processor that one text may take."""

_TOKEN = re.compile(r"\w+|>>|->|[^\w\s]|\s+")
_INSERTED = tuple("()[]{},.:=+-*/%@#<>;\"'_ \n\t\r") + (
    *("kernel", "target", "where", "return", "true", "auto", "inf", "nan", ">>", "->", "==", "f16", "gemm", "relu"),
    *(".T", ".with_tile(1,2,3)", "1.", ".5", "0x1", "9" * 30, "1e999", "\0", "\ufeff", "é", "×", "\U0001f600", "# c"),
)


@dataclass(frozen=True)
class Failure:
    """A text that did not end as it should."""

    text: bytes
    what: str


def _characters(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    match rng.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + rng.choice(_INSERTED) + text[at:]
        case 2:
            return text[:at] + rng.choice(_INSERTED) + text[at + 1 :]
        case _:
            return text[:at]


def _tokens(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(4):
        case 0:
            del tokens[at]
        case 1:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 2:
            tokens.insert(at, tokens[other])
        case _:
            first, last = sorted((at, other))
            del tokens[first:last]
    return "".join(tokens)


def _lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            lines.insert(at, lines[other])
    return "\n".join(lines)


_MUTATIONS: Sequence[Callable[[random.Random, str], str]] = (_characters, _tokens, _lines)


def mutated(rng: random.Random, programs: Sequence[str], count: int) -> Iterator[bytes]:
    """Programs with a few changes each."""
    for _ in range(count):
        text = rng.choice(programs)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            text = rng.choice(_MUTATIONS)(rng, text) or "x"
        yield text.encode("utf-8", "surrogatepass")


def made_up(rng: random.Random, count: int) -> Iterator[bytes]:
    """Byte strings: any bytes, ASCII, and words of the language in any order."""
    for _ in range(count):
        length = rng.choice((0, 1, 10, 100, 2000))
        match rng.randrange(3):
            case 0:
                yield rng.randbytes(length)
            case 1:
                yield bytes(rng.randrange(128) for _ in range(length))
            case _:
                yield " ".join(rng.choice(_INSERTED) for _ in range(length)).encode()


class Fuzzer:
    """Reads texts as the tools do."""

    def __init__(self) -> None:
        from xdsl.context import Context
        from xdsl.dialects.builtin import Builtin

        from ucutlass.dialects.ucutlass import Ucutlass

        def context() -> Context:
            ctx = Context()
            ctx.load_dialect(Builtin)
            ctx.load_dialect(Ucutlass)
            return ctx

        self._context = context

    def check(self, data: bytes, language: str = "ucu") -> Failure | None:
        """What is wrong with how a text is read; None where it is fine."""
        from ucutlass.frontend import read_program
        from ucutlass.frontend.text import SourceError

        started = time.process_time()
        try:
            read_program(self._context(), data, f"fuzz.{language}")
        except SourceError as error:
            if not error.diagnostics or any(d.span is None for d in error.diagnostics):
                return Failure(data, "an error without a place")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return Failure(data, f"{type(error).__name__}: {error}")
        elapsed = time.process_time() - started
        if elapsed > TIME_LIMIT:
            return Failure(data, f"{elapsed:.2f} s")
        return None


def fuzz(mutated_count: int, random_count: int, seed: int) -> tuple[int, list[Failure]]:
    """How many texts were read, and those that failed."""
    rng = random.Random(seed)
    programs = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.ucu"))]
    fuzzer = Fuzzer()
    failures: list[Failure] = []
    count = 0
    for data in (*mutated(rng, programs, mutated_count), *made_up(rng, random_count)):
        count += 1
        failure = fuzzer.check(data)
        if failure is not None:
            failures.append(failure)
    return count, failures


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--mutated", type=int, default=20000, help="programs to mutate")
    parser.add_argument("--random", type=int, default=2000, help="byte strings to make up")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    started = time.perf_counter()
    count, failures = fuzz(args.mutated, args.random, args.seed)
    for failure in failures[:20]:
        print(f"{failure.what}\n{failure.text!r}\n")
    print(f"{count} texts in {time.perf_counter() - started:.0f} s, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
