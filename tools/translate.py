"""`ucutlass-translate`: a program in another form, and the language's grammar and card.

Starts in two phases like `ucutlass-opt`. For C++ the pipeline `default` runs first, for a graph what makes the kernels;
the text forms are printed as read, so `--to=ucu` formats a file.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from ucutlass_tools._flags import CommandLine, Flag, Group, Positional
from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import ARCH, COLOUR, COMPLETION, DIAGNOSTICS, JSON, MAX_ERRORS, OUTPUT, REMARKS, VERSION
from ucutlass_tools._output import write_output
from ucutlass_tools._quick import check_arch, quick_answer, without_collector

from ucutlass.errors import UsageError
from ucutlass.registry import FRONTENDS, TARGETS

TEXTS: Mapping[str, str] = {
    "grammar-lark": "ucutlass.frontend.grammar_export:lark",
    "grammar-gbnf": "ucutlass.frontend.grammar_export:gbnf",
    "grammar-ebnf": "ucutlass.frontend.grammar_export:ebnf",
    "language-card": "ucutlass.frontend.language_card:language_card",
}
"""What is said about the language itself: `module:function` that gives the text."""

PASSES_FOR: Mapping[str, Sequence[str]] = {"dot": ("infer", "fuse")}
"""Passes that run before a form is written; for C++ it is the whole pipeline, the text forms are printed as read."""

COMMAND_LINE = CommandLine(
    "ucutlass-translate",
    "Write a program in another form, or the language's grammar and card.",
    Positional(
        "input_file", "`.ucu` or `.mlir`; stdin when absent or -; not for the language's own texts", required=False
    ),
    (
        Group(
            "translation",
            (
                Flag(("--to",), "form to write", "FORM", choices=(*TARGETS, *TEXTS)),
                Flag(
                    ("-f", "--frontend", "--from"),
                    f"language of the input ({', '.join(FRONTENDS)}); the default goes by the file's name, for stdin by"
                    " the first word",
                    "LANGUAGE",
                ),
                Flag(("--target", *ARCH.names), ARCH.help, ARCH.value, completes="arch"),
                Flag(
                    ("--symbol-suffix",),
                    "what exported C functions end in: with `hash`, kernels of one name can be linked together",
                    "SUFFIX",
                    default="none",
                    choices=("none", "hash"),
                ),
                OUTPUT,
            ),
        ),
        Group("diagnostics", (DIAGNOSTICS, JSON, REMARKS, COLOUR, MAX_ERRORS)),
        Group("about the tool", (COMPLETION, VERSION)),
    ),
    "Exit codes: 0 fine, 1 the input is at fault, 2 the call is, 3 the machine lacks something. On an error nothing is"
    " written.",
)


def main(argv: Sequence[str] | None = None) -> int:
    return guard(COMMAND_LINE.tool, _run, argv)


def _run(arguments: list[str]) -> int:
    args = COMMAND_LINE.parse(arguments)
    answer = quick_answer(COMMAND_LINE, args)
    if answer is not None:
        sys.stdout.write(answer)
        return Exit.OK
    if args.to is None:
        raise UsageError(f"say what to translate to: --to={'|'.join([*TARGETS, *TEXTS])}", "UC0016")
    check_arch(args.target)
    with without_collector():
        if args.to in TEXTS:
            return _about_the_language(args)
        return _program(args)


def _about_the_language(args: argparse.Namespace) -> int:
    if args.input_file is not None:
        raise UsageError(f"--to={args.to} is about the language, not about {args.input_file!r}: leave the file out")
    module, _, function = TEXTS[args.to].partition(":")
    text: str = getattr(import_module(module), function)()
    write_output(args.output_file, text)
    return Exit.OK


def _program(args: argparse.Namespace) -> int:
    # The second phase: these load xDSL.
    from ucutlass_tools._input import read_input
    from ucutlass_tools._program import Program
    from ucutlass_tools._report import Reporter

    if args.symbol_suffix != "none" and args.to != "cuda":
        raise UsageError(f"--symbol-suffix is about C++: --to={args.to} has no symbols")
    program = Program(read_input(args.input_file, args.frontend), args.max_errors).read(args.target)
    if args.to == "cuda":
        program.lower()
    program.run(PASSES_FOR.get(args.to, ()))
    text = program.cuda(args.symbol_suffix) if args.to == "cuda" else program.emit(args.to)
    Reporter.of(COMMAND_LINE.tool, args).show(program.engine)
    if text is None:
        return Exit.INPUT
    write_output(args.output_file, text)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
