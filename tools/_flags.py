"""The flags of a tool as a table, from which its argument parser, its help and its shell completion are made.

Imports only the standard library and the leaves.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from ucutlass_tools._main import ArgumentParser, suggest_in_errors

from ucutlass.records import record

Completes = Literal["nothing", "file", "folder", "pipeline", "pass", "code", "arch"]
"""What a shell offers as the value of a flag."""


@record
class Flag:
    """One flag."""

    names: tuple[str, ...]
    """`-o`, `--output-file`."""
    help: str
    value: str | None = None
    """How help shows the value; None for a switch."""
    default: str | float | None = None
    choices: tuple[str, ...] = ()
    kind: Callable[[str], str | float] = str
    bare: str | None = None
    """The value that the flag without one stands for; then a value follows only after `=`."""
    repeatable: bool = False
    """Whether every use adds a value; the result is a list."""
    completes: Completes = "nothing"
    action: type[argparse.Action] | None = None
    """What to do with the value instead of storing it."""

    @property
    def takes_value(self) -> bool:
        return self.value is not None or bool(self.choices)


@record
class Positional:
    """An argument without a name."""

    name: str
    help: str
    many: bool = False
    required: bool = True


@record
class Group:
    """Flags under one heading of the help."""

    title: str
    flags: tuple[Flag, ...]


@record
class CommandLine:
    """All that a tool is called with."""

    tool: str
    description: str
    positional: Positional | None
    groups: tuple[Group, ...]
    epilog: str | None = None

    @property
    def flags(self) -> Iterator[Flag]:
        for group in self.groups:
            yield from group.flags

    @property
    def usage(self) -> str:
        """The call in one line; the flags stand below."""
        if self.positional is None:
            return f"{self.tool} [flags]"
        name = self.positional.name.removeprefix("input_")
        shown = f"{name} ..." if self.positional.many else name
        return f"{self.tool} [flags] " + (shown if self.positional.required else f"[{shown}]")

    def parser(self) -> argparse.ArgumentParser:
        """A parser for exactly this."""
        parser = ArgumentParser(self.tool, self.description, self.epilog)
        parser.usage = self.usage
        self.declare(parser)
        return parser

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add all of it to a parser."""
        suggest_in_errors(parser)
        if self.positional is not None:
            nargs = ("+" if self.positional.required else "*") if self.positional.many else None
            if nargs is None and not self.positional.required:
                nargs = "?"
            name = self.positional.name
            parser.add_argument(name, nargs=nargs, metavar=name.removeprefix("input_"), help=self.positional.help)
        for group in self.groups:
            section = parser.add_argument_group(group.title)
            for flag in group.flags:
                _declare(section.add_argument, flag)

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        return self.parser().parse_args(self.spelled_out(argv))

    def spelled_out(self, argv: Sequence[str]) -> list[str]:
        """The arguments with the value of every bare flag; argparse would take the next argument, a file, as it."""
        bare = {name: flag.bare for flag in self.flags if flag.bare is not None for name in flag.names}
        return [f"{argument}={bare[argument]}" if argument in bare else argument for argument in argv]


def _declare(add: Callable[..., argparse.Action], flag: Flag) -> None:
    if not flag.takes_value:
        add(*flag.names, action="store_true", help=flag.help)
    elif flag.action is not None:
        add(*flag.names, action=flag.action, metavar=flag.value, default=flag.default, help=flag.help)
    else:
        add(
            *flag.names,
            action="append" if flag.repeatable else "store",
            metavar=flag.value if not flag.choices else None,  # argparse shows the choices
            choices=flag.choices or None,
            default=[] if flag.repeatable else flag.default,
            type=flag.kind,
            help=flag.help,
        )


def positive(text: str) -> int:
    """A whole number from 1."""
    return _whole(text, 1)


def non_negative(text: str) -> int:
    """A whole number from 0."""
    return _whole(text, 0)


def positive_number(text: str) -> float:
    """A number greater than 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number greater than 0")
    return value


def _whole(text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
    if len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is too large: it has at most 18 digits")
    return int(text)
