"""What the tools answer about themselves: lists of passes, dialects, output forms, operations.

Imports only the standard library and the leaves; only the list of operations loads the dialect.
"""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar, cast

from ucutlass.records import record
from ucutlass.registry import PIPELINES, TARGETS, Entry, all_dialects, all_passes

T = TypeVar("T")

Row = Mapping[str, str | list[str] | list[dict[str, str]]]


@record
class Option:
    """One option of a pass, as its class declares it."""

    name: str
    type: str
    default: str | None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default is not None else "")


def options_of(path: str) -> list[Option]:
    """The options of the pass at `module:Class`, read off its source: to import it would load xDSL."""
    module, _, name = path.partition(":")
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return []
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)
    fields = [node for node in found.body if isinstance(node, ast.AnnAssign)] if found is not None else []
    return [
        Option(
            field.target.id.replace("_", "-"),
            ast.unparse(field.annotation),
            ast.unparse(field.value) if field.value is not None else None,
        )
        for field in fields
        if isinstance(field.target, ast.Name) and "ClassVar" not in ast.unparse(field.annotation)
    ]


def passes(as_json: bool) -> str:
    """Every pass with its options, then every named pipeline."""
    table = all_passes()
    options = {name: options_of(entry.path) for name, entry in table.items()}
    if as_json:
        rows: list[Row] = [
            {"kind": "pass", "name": name, "help": entry.help, "options": [vars(o) for o in options[name]]}
            for name, entry in table.items()
        ]
        rows += [
            {"kind": "pipeline", "name": p.name, "help": p.help, "passes": list(p.passes)} for p in PIPELINES.values()
        ]
        return _json(rows)
    lines = ["passes"]
    for name, entry in table.items():
        lines.append(f"  {name:18} {entry.help}")
        lines += [f"  {'':18}   {option}" for option in options[name]]
    lines += ["", "pipelines"]
    for pipeline in PIPELINES.values():
        lines += [f"  {pipeline.name:18} {pipeline.help}", f"  {'':18}   {','.join(pipeline.passes)}"]
    lines += ["", "The passes of xDSL, such as canonicalize and cse, can be used too; xdsl-opt --help lists them."]
    return "\n".join(lines) + "\n"


def dialects(as_json: bool) -> str:
    return _entries("dialects", all_dialects(), as_json)


def targets(as_json: bool) -> str:
    """The output forms, and the architectures that programs are compiled for."""
    from ucutlass.targets.arch import ARCHITECTURES  # only this list needs it

    if as_json:
        forms: list[Row] = [{"kind": "form", "name": e.name, "help": e.help} for e in TARGETS.values()]
        archs: list[Row] = [
            {"kind": "arch", "name": a.name, "help": f"costs are estimated for {a.default_gpu}"}
            for a in ARCHITECTURES.values()
        ]
        return _json([*forms, *archs])
    lines = ["architectures (--target, --arch)"]
    lines += [f"  {a.name:18} costs are estimated for {a.default_gpu}" for a in ARCHITECTURES.values()]
    return _entries("output forms (-t, --emit)", TARGETS, False) + "\n" + "\n".join(lines) + "\n"


def operations(as_json: bool) -> str:
    """The operations of the language: how each is called and what it computes."""
    from ucutlass.dialects.ucutlass.operations import SPECS  # loads xDSL
    from ucutlass.dialects.ucutlass.spec import OpSpec, Required

    def argument(spec: OpSpec, name: str) -> str:
        operand = next((o for o in spec.operands if o.name == name), None)
        if operand is not None:
            return f"[{name}, …]" if operand.variadic else f"{name}=" if operand.optional else name
        default = spec.param(name).default
        if isinstance(default, Required):
            return name
        return f"{name}={_default(default)}"

    def call(spec: OpSpec) -> str:
        if spec.spelling.startswith("."):
            return f"{spec.operands[0].name}{spec.spelling}"
        return f"{spec.spelling}({', '.join(argument(spec, name) for name in spec.signature)})"

    rows = [(spec, call(spec), spec.doc.split("\n")[0]) for spec in SPECS.values()]
    if as_json:
        return _json(
            [
                {
                    "name": f"ucutlass.{spec.name}",
                    "spelling": spec.spelling,
                    "family": spec.family,
                    "call": shown,
                    "help": doc,
                    "setters": [f"with_{setter}" for setter in spec.setters],
                }
                for spec, shown, doc in rows
            ]
        )
    lines: list[str] = []
    for family in dict.fromkeys(spec.family for spec, _, _ in rows):
        lines += ["", family] if lines else [family]
        for spec, shown, doc in rows:
            if spec.family == family:
                lines.append(f"  {shown:38}  {doc}" if len(shown) <= 38 else f"  {shown}\n  {'':38}  {doc}")
    return "\n".join(lines) + "\n"


def _default(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        members = [str(member) for member in cast("tuple[object, ...]", value)]
        return members[0] if len(members) == 1 else f"[{', '.join(members)}]"
    return str(value)


def explanation(code: str, as_json: bool) -> str:
    """What a diagnostic's code means."""
    from ucutlass.diagnostics.explain import explain, find  # only this needs the catalogue

    info = find(code)
    if not as_json:
        return explain(code)
    row = {field: str(value) for field, value in vars(info).items()}
    return json.dumps(row, indent=2, ensure_ascii=True) + "\n"


def _entries(title: str, table: Mapping[str, Entry[T]], as_json: bool) -> str:
    if as_json:
        return _json([{"name": entry.name, "help": entry.help} for entry in table.values()])
    return "\n".join([title, *(f"  {entry.name:18} {entry.help}" for entry in table.values())]) + "\n"


def _json(rows: Sequence[Row]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=True) + "\n"


LISTS: Mapping[str, Callable[[bool], str]] = {
    "list_passes": passes,
    "list_ops": operations,
    "list_dialects": dialects,
    "list_targets": targets,
}
"""The list that each flag prints, by its name among the parsed arguments."""
