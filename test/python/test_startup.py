"""What starting costs: `import ucutlass` and the help of a tool load nothing heavy."""

import json
import subprocess
import sys

import pytest

HEAVY = ("xdsl", "torch", "lark", "click", "numpy", "openai", "scipy", "cutlass_library")

TOOLS_WITH_QUICK_HELP = ("opt", "translate", "compile", "run")


def loaded(code: str) -> tuple[int, set[str], str]:
    """Exit code of a Python program, the top-level packages that it had loaded at its end, and what it printed."""
    program = f"""
import atexit, json, sys
atexit.register(lambda: print("\\n" + json.dumps(sorted({{name.split(".")[0] for name in sys.modules}}))))
{code}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    *output, names = done.stdout.rstrip("\n").split("\n")
    return done.returncode, set(json.loads(names)), "\n".join(output) + done.stderr


def test_the_measure_sees_a_heavy_module() -> None:
    _, modules, _ = loaded("import xdsl.ir")
    assert "xdsl" in modules


def test_importing_the_package_loads_nothing_heavy() -> None:
    code, modules, output = loaded("import ucutlass, ucutlass.registry; dir(ucutlass)")
    assert code == 0, output
    assert not modules & set(HEAVY)


@pytest.mark.parametrize("tool", TOOLS_WITH_QUICK_HELP)
@pytest.mark.parametrize("flag", ["--help", "--version", "--completion=bash"])
def test_help_loads_nothing_heavy(tool: str, flag: str) -> None:
    code, modules, output = loaded(f"import sys, ucutlass_tools.{tool} as t\nsys.exit(t.main([{flag!r}]))")
    assert code == 0, output
    assert output.strip(), "nothing was printed"
    assert not modules & set(HEAVY)


@pytest.mark.parametrize("flag", ["--list-passes", "--list-dialects", "--list-targets", "--explain=UC0301", "--tilee"])
def test_questions_about_the_compiler_load_nothing_heavy(flag: str) -> None:
    code, modules, output = loaded(f"import sys, ucutlass_tools.opt as t\nsys.exit(t.main([{flag!r}]))")
    assert code == (2 if flag == "--tilee" else 0), output
    assert output.strip(), "nothing was printed"
    assert not modules & set(HEAVY)


def test_translating_loads_only_what_it_needs() -> None:
    example = "examples/linear_gelu.ucu"
    code, modules, output = loaded(
        f"import ucutlass_tools.translate as t\nsys.exit(t.main(['--to=cuda', {example!r}]))"
    )
    assert code == 0, output
    assert modules & set(HEAVY) == {"xdsl"}


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    code, _, output = loaded(
        "import ucutlass\ntry: ucutlass.kernle\nexcept AttributeError as error: print(error)\nelse: sys.exit(1)"
    )
    assert code == 0, output
    assert "'kernle'" in output
