"""The text tests: each file says in RUN lines which tools to run, and in CHECK lines what must come out.

Paths in messages are as given, so tests name their file `%s`. The tools are those of the environment that runs lit.
"""

import os
import sys
from pathlib import Path

import lit.formats

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent.parent
BIN = Path(sys.executable).parent

config.name = "ucutlass"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ucu"]
config.excludes = ["Inputs"]
config.test_source_root = str(TESTS)
config.test_exec_root = str(ROOT / "build" / "lit")

config.environment["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
for name in ("HOME", "XDG_CACHE_HOME", "LANG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Every tool that pyproject.toml installs, as `%ucutlass-NAME`: the name alone would do, but reads like prose.
for tool in sorted(BIN.glob("ucutlass-*")):
    config.substitutions.append((f"%{tool.name}", str(tool)))
config.substitutions += [
    ("%filecheck", str(BIN / "filecheck")),
    ("%examples", str(ROOT / "examples")),
]
