"""Calls the tools as a shell would, in this process: a start of Python costs more than most tests."""

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

Main = Callable[[Sequence[str] | None], int]


@dataclass(frozen=True)
class Called:
    """What a call of a tool came to."""

    code: int
    out: str
    err: str

    def __post_init__(self) -> None:
        assert "Traceback" not in self.err, self.err


def call(main: Main, *arguments: str, stdin: str | bytes = "") -> Called:
    """Call a tool."""
    data = stdin.encode("utf-8") if isinstance(stdin, str) else stdin
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main(list(arguments))
    return Called(code, out.getvalue(), err.getvalue())
