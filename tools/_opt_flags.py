"""The flags of `ucutlass-opt`: all of `xdsl-opt`, and what an `-opt` tool is expected to have beyond.

Imports only the standard library and the leaves: `--help` is answered from here. That no flag of `xdsl-opt` is missing
or has another default is tested.
"""

import argparse
import re
from collections.abc import Sequence

from ucutlass_tools._flags import CommandLine, Flag, Group, Positional, non_negative

from ucutlass.registry import FRONTENDS, TARGETS

_ARCH = re.compile(r"sm_?\d+\w*")


class TargetAction(argparse.Action):
    """`--target` is an architecture where its value names one, `sm_90a`, else the output form, as in `xdsl-opt`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        is_arch = isinstance(values, str) and _ARCH.fullmatch(values) is not None
        setattr(namespace, "arch" if is_arch else "target", values)


class EmitAction(argparse.Action):
    """`--emit` is `-t` for the two text forms."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        if values not in ("ucu", "mlir"):
            parser.error(f"argument --emit: invalid choice: '{values}' (choose from ucu, mlir)")
        namespace.target = values


ARCH = Flag(("--arch",), "target of programs that name none", "ARCH", completes="arch")
COLOUR = Flag(("--color",), "colour diagnostics", "WHEN", default="auto", choices=("auto", "always", "never"))
MAX_ERRORS = Flag(
    ("--max-errors",), "show at most N errors, 0 for all (default: 20)", "N", default=20, kind=non_negative
)
JSON = Flag(("--json",), "the same as --diagnostics=json")
DIAGNOSTICS = Flag(
    ("--diagnostics",), "form of the diagnostics on stderr", "FORM", default="text", choices=("text", "json", "sarif")
)
REMARKS = Flag(
    ("--remarks",),
    "show remarks too: what was fused, chosen, converted; =json as an array of their own",
    "FORM",
    choices=("text", "json"),
    bare="text",
)
COMPLETION = Flag(("--completion",), "print a completion script", "SHELL", choices=("bash", "zsh", "fish"))
OUTPUT = Flag(("-o", "--output-file"), "write there instead of to stdout", "FILE", completes="file")
VERSION = Flag(("-v", "--version"), "print the version")

_INPUT = Group(
    "input",
    (
        Flag(
            ("-f", "--frontend"),
            f"language of the input ({', '.join(FRONTENDS)}); the default goes by the file's name, for stdin by the"
            " first word",
            "LANGUAGE",
        ),
        ARCH,
        Flag(("--split-input-file",), "process the parts between lines `// -----` or `# -----` one by one"),
        Flag(("--no-implicit-module",), "do not wrap MLIR input in a module"),
        Flag(("--allow-unregistered-dialect",), "accept operations of unknown dialects"),
        Flag(("--run-reproducer",), "take the pipeline from the header of a crash reproducer"),
    ),
)

_PASSES = Group(
    "passes",
    (
        Flag(
            ("-p", "--passes"),
            "passes and named pipelines with their options: 'verify' or 'infer,fuse{key=value}'; see --list-passes",
            "PIPELINE",
            completes="pipeline",
        ),
        Flag(("--pass-pipeline",), "the same as MLIR writes it: 'builtin.module(infer,fuse)'", "PIPELINE"),
        Flag(("--disable-verify",), "do not verify the program between passes"),
        Flag(
            ("--crash-reproducer",),
            "when a pass fails, write the input and the pipeline there",
            "FILE",
            completes="file",
        ),
    ),
)

_OUTPUT = Group(
    "output",
    (
        OUTPUT,
        Flag(
            ("-t", "--target"),
            f"output form ({', '.join(TARGETS)}, or one of xdsl-opt's); `--target=sm_90a` is --arch",
            "FORM|ARCH",
            default="mlir",
            action=TargetAction,
        ),
        Flag(("--emit",), "output form: ucu or mlir", "FORM", action=EmitAction),
        Flag(("--print-op-generic",), "print operations in the generic form"),
        Flag(("--print-no-properties",), "print properties as attributes"),
        Flag(("--print-debuginfo",), "print locations"),
        Flag(("--syntax-highlight",), "colour the printed program"),
    ),
)

_DIAGNOSTICS = Group(
    "diagnostics",
    (
        DIAGNOSTICS,
        JSON,
        REMARKS,
        Flag(("--apply-fixits",), "mend the program as the diagnostics say, in its file or in that of -o"),
        Flag(("--verify-diagnostics",), "succeed exactly if the diagnostics are those of the `expected-…` comments"),
        Flag(("--parsing-diagnostics",), "print what cannot be parsed to stdout and do not fail"),
        COLOUR,
        MAX_ERRORS,
        Flag(("--shrink",), "for shrinkray: succeed if a pass raises ShrinkException"),
    ),
)

_WATCHING = Group(
    "watching the passes",
    (
        Flag(("--print-ir-before",), "print the program to stderr before these", "PASS,…", completes="pass"),
        Flag(("--print-ir-after",), "print the program to stderr after these", "PASS,…", completes="pass"),
        Flag(("--print-ir-before-all",), "print it before every pass"),
        Flag(("--print-ir-after-all",), "print it after every pass"),
        Flag(("--print-ir-after-change",), "print it after every pass that changed it"),
        Flag(("--print-ir-after-failure",), "print it after a pass that failed"),
        Flag(
            ("--print-ir-tree-dir",),
            "print into files in this folder instead, one a pass",
            "FOLDER",
            completes="folder",
        ),
        Flag(
            ("--dump-ir",),
            "write the program as read and after every pass into this folder",
            "FOLDER",
            completes="folder",
        ),
        Flag(("--print-between-passes",), "print the program to stdout between passes, as xdsl-opt does"),
        Flag(("--timing",), "report to stderr where the time went"),
        Flag(("--time-passes",), "print the time of each pass to stdout, as xdsl-opt does"),
        Flag(("--pass-statistics",), "report to stderr what each pass did"),
    ),
)

_LISTS = Group(
    "what there is",
    (
        Flag(("--list-passes",), "list passes, their options, and named pipelines"),
        Flag(("--list-ops",), "list the operations of the language"),
        Flag(("--list-dialects",), "list the dialects"),
        Flag(("--list-targets",), "list the output forms and the architectures"),
        Flag(("--explain",), "explain a diagnostic: UC0301, 301 or shape-mismatch", "CODE", completes="code"),
        COMPLETION,
        VERSION,
    ),
)

COMMAND_LINE = CommandLine(
    "ucutlass-opt",
    "Parse a μCUTLASS or MLIR program, verify it, run passes on it and print it.",
    Positional("input_file", "`.ucu` or `.mlir`; stdin when absent or -", required=False),
    (_INPUT, _PASSES, _OUTPUT, _DIAGNOSTICS, _WATCHING, _LISTS),
    "Exit codes: 0 fine, 1 the input is at fault, 2 the call is, 3 the machine lacks something. On an error nothing is"
    " written.",
)
