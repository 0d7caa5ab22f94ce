"""The registry names things that exist under these names, and says what is near when one does not."""

import ast
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from ucutlass import registry
from ucutlass.registry import DIALECTS, FRONTENDS, PASSES, PIPELINES, TARGETS, RegistryError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_load(name: str) -> None:
    loaded = DIALECTS[name].load()
    assert isinstance(loaded, Dialect)
    assert loaded.name == name


@pytest.mark.parametrize("name", PASSES)
def test_passes_load(name: str) -> None:
    loaded = PASSES[name].load()
    assert issubclass(loaded, ModulePass)
    assert loaded.name == name


@pytest.mark.parametrize("name", FRONTENDS)
def test_frontends_load(name: str) -> None:
    loaded = FRONTENDS[name].load()
    assert issubclass(loaded, Frontend)
    assert loaded.name == name


@pytest.mark.parametrize("name", TARGETS)
def test_targets_load(name: str) -> None:
    loaded = TARGETS[name].load()
    assert issubclass(loaded, Target)
    assert loaded.name == name


def test_every_pass_is_in_the_table() -> None:
    written = {
        f"ucutlass.passes.{path.stem}:{node.name}"
        for path in (ROOT / "ucutlass" / "passes").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "ModulePass" for b in node.bases)
    }
    assert written == {entry.path for entry in PASSES.values()}


def test_pipelines_name_passes() -> None:
    assert all(name in PASSES for pipeline in PIPELINES.values() for name in pipeline.passes)
    assert not PIPELINES.keys() & PASSES.keys()


def test_help_is_one_line() -> None:
    tables = (DIALECTS, PASSES, FRONTENDS, TARGETS, PIPELINES)
    helps = [entry.help for table in tables for entry in table.values()]
    assert all(text and "\n" not in text and not text.endswith(".") for text in helps)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(RegistryError, match="unknown pass 'verify-taget': did you mean 'verify-target'"):
        registry.find(PASSES, "pass", "verify-taget")
    with pytest.raises(RegistryError, match="unknown pass 'zzz'; there are infer"):
        registry.find(PASSES, "pass", "zzz")


def installed(*points: EntryPoint) -> Callable[..., list[EntryPoint]]:
    """Stands in for `entry_points` where these are installed."""

    def entry_points(group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    return entry_points


def test_other_packages_add_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "xdsl.transforms.canonicalize:CanonicalizePass", "ucutlass.passes")
    monkeypatch.setattr("importlib.metadata.entry_points", installed(point))
    found = registry.all_passes()
    assert list(found) == [*PASSES, "theirs"]
    assert found["theirs"].load().name == "canonicalize"
    assert registry.find_pass("theirs") == found["theirs"]
    assert list(registry.all_dialects()) == list(DIALECTS)


def test_a_pass_of_the_table_is_found_without_a_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("importlib.metadata.entry_points")
    assert registry.find_pass("fuse") is PASSES["fuse"]


def test_another_package_may_not_take_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("infer", "theirs:Pass", "ucutlass.passes")
    monkeypatch.setattr("importlib.metadata.entry_points", installed(point))
    with pytest.raises(RegistryError, match="'infer'.*theirs:Pass.*InferPass has that name already"):
        registry.all_passes()


def test_plain_xdsl_opt_accepts_the_universe() -> None:
    from xdsl.universe import Universe

    everything = Universe.get_multiverse()  # raises where two packages give one name
    assert DIALECTS.keys() <= everything.all_dialects.keys()
    assert PASSES.keys() <= everything.all_passes.keys()


def test_the_readme_shows_the_example_of_the_demo() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / "examples" / "linear_gelu.ucu").read_text(encoding="utf-8") in readme
