"""Imports go one way: each part of the source may import only what stands below it.

The ranks are stated once, here; a new folder must be given one. Read off the sources with `ast`, so that an import
inside a function or under TYPE_CHECKING counts too.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FOLDERS = {"ucutlass": "ucutlass", "tools": "ucutlass_tools", "agent": "ucutlass_agent"}
"""Import name by folder."""

LEAF = 0
RANKS = {
    "ucutlass.dims": LEAF,
    "ucutlass.element_types": LEAF,
    "ucutlass.records": LEAF,
    "ucutlass.errors": LEAF,
    "ucutlass.diagnostics": LEAF,
    "ucutlass.registry": LEAF,
    "ucutlass.universe": 1,
    "ucutlass.targets": 1,
    "ucutlass.dialects": 1,
    "ucutlass.frontend": 1,
    "ucutlass.passes": 2,
    "ucutlass.backend": 3,
    "ucutlass.interpreter": 3,
    "ucutlass.sol": 3,
    "ucutlass.integrity": 4,
    "ucutlass.runtime": 4,
    "ucutlass": 5,
    "ucutlass_tools": 6,
    "ucutlass_agent": 7,
}

NARROWER = {
    # A printer decides nothing, so it needs no pass; the meaning and the cost of a program need no printer.
    "ucutlass.backend": {"ucutlass.passes", "ucutlass.frontend", "ucutlass.interpreter", "ucutlass.sol"},
    "ucutlass.interpreter": {"ucutlass.passes", "ucutlass.frontend", "ucutlass.backend", "ucutlass.sol"},
    "ucutlass.sol": {"ucutlass.passes", "ucutlass.frontend", "ucutlass.backend", "ucutlass.interpreter"},
    # The dialects say what programs are; how they are written down and what a GPU can do is not their concern.
    "ucutlass.dialects": {"ucutlass.frontend"},
    "ucutlass.targets": {"ucutlass.frontend", "ucutlass.dialects"},
    # The agent calls the tools as a person would.
    "ucutlass_agent": {name for name in RANKS if name != "ucutlass_agent"},
}
"""What a part may not import although it stands below."""

HEAVY = {"torch", "click", "lark", "openai", "numpy", "pydantic", "rich"}
"""Imported inside functions only: most calls of most tools need none of them."""


@dataclass(frozen=True)
class Import:
    """One import: what, where, and whether loading the module performs it."""

    module: str
    place: str
    at_load: bool


def part_of(module: str) -> str | None:
    """The part with a rank that a module belongs to; None for modules that are not ours."""
    names = module.split(".")
    if names[0] not in FOLDERS.values():
        return None
    if names[0] != "ucutlass" or len(names) == 1:
        return names[0]
    return ".".join(names[:2])


def sources() -> Iterator[tuple[str, Path]]:
    """Import name and file of every module of ours."""
    for folder, name in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT / folder).with_suffix("").parts
            yield ".".join([name, *(part for part in inner if part != "__init__")]), path


def imported_names(node: ast.Import | ast.ImportFrom, module: str, is_package: bool) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        parents = module.split(".") if is_package else module.split(".")[:-1]
        above = parents[: len(parents) - node.level + 1]
        base = ".".join([*above, *([base] if base else [])])
    # `from ucutlass import passes` imports a part, not a name of the package.
    return [f"{base}.{alias.name}" if base in FOLDERS.values() else base for alias in node.names]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_of(module: str, path: Path) -> Iterator[Import]:
    """All imports of a file."""

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in imported_names(node, module, path.name == "__init__.py"):
                yield Import(name, f"{path.relative_to(ROOT)}:{node.lineno}", at_load)
        inner_at_load = at_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inner_at_load = inner_at_load and not is_type_checking(node)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inner_at_load)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), True)


def test_every_part_has_a_rank() -> None:
    parts = {part_of(module) for module, _ in sources()}
    assert parts <= set(RANKS), f"give these a rank: {sorted(map(str, parts - set(RANKS)))}"


def violation(importer: str, imported: str) -> str | None:
    """Why one part may not import another."""
    if importer == imported or imported == "ucutlass":
        # The bare package is an empty shell with lazy names; `from ucutlass import __version__` loads nothing.
        return None
    if imported in NARROWER.get(importer, set()):
        return "is kept apart from"
    return "stands below" if RANKS[imported] > RANKS[importer] else None


def test_imports_go_down() -> None:
    wrong: list[str] = []
    for module, path in sources():
        importer = part_of(module)
        assert importer is not None
        for found in imports_of(module, path):
            imported = part_of(found.module)
            if imported is None or imported not in RANKS or importer not in RANKS:
                continue
            if (why := violation(importer, imported)) is not None:
                wrong.append(f"{found.place}: {importer} {why} {imported}")
    assert not wrong, "\n".join(wrong)


def test_leaves_import_only_the_standard_library() -> None:
    import sys

    allowed = {*sys.stdlib_module_names, "ucutlass"}
    wrong = [
        f"{found.place}: {found.module}"
        for module, path in sources()
        if RANKS.get(part_of(module) or "") == LEAF and module != "ucutlass.diagnostics.locations"  # the xDSL adapter
        for found in imports_of(module, path)
        if found.module.split(".")[0] not in allowed and found.at_load
    ]
    assert not wrong, "\n".join(wrong)


def test_heavy_modules_are_imported_when_used() -> None:
    wrong = [
        f"{found.place}: {found.module}"
        for module, path in sources()
        for found in imports_of(module, path)
        if found.at_load and found.module.split(".")[0] in HEAVY and part_of(module) != "ucutlass_agent"
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("ucutlass.passes", "ucutlass.dialects", True),
        ("ucutlass.dialects", "ucutlass.passes", False),
        ("ucutlass.backend", "ucutlass.passes", False),
        ("ucutlass.runtime", "ucutlass.passes", True),
        ("ucutlass.dims", "ucutlass.element_types", True),
        ("ucutlass.dims", "ucutlass.dialects", False),
        ("ucutlass_tools", "ucutlass_agent", False),
        ("ucutlass_agent", "ucutlass.passes", False),
        ("ucutlass_agent", "ucutlass_tools", False),
    ],
)
def test_the_rule_itself(importer: str, imported: str, allowed: bool) -> None:
    assert (violation(importer, imported) is None) is allowed
