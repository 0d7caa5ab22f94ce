"""Runs the checks of `make test`, all of them even when one fails, and sums them up.

Imports only the standard library. pytest comes last, and its closing line is repeated at the very end: a log is read
from there.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
TALKATIVE = {"lit", "pytest"}
"""Checks that always say how many tests they ran: one that is silent has run none."""
WORKERS = str(min(8, os.cpu_count() or 1))


@dataclass(frozen=True)
class Result:
    """How one check went."""

    name: str
    code: int
    seconds: float
    last_line: str


def commands(pytest_arguments: list[str]) -> dict[str, list[str]]:
    """The checks in their order, the quick ones first."""
    return {
        "ruff": [PYTHON, "-m", "ruff", "check", "--quiet", "."],
        "format": [PYTHON, "-m", "ruff", "format", "--check", "--quiet", "."],
        "pyright": [PYTHON, "-m", "pyright", "--pythonpath", PYTHON],
        # lit has no module to run; its script may belong to another interpreter than this one.
        "lit": [PYTHON, "-c", "from lit.main import main; main()", "-v", "-j", WORKERS, "test/lit"],
        "pytest": [PYTHON, "-m", "pytest", "-n", WORKERS, "--dist", "worksteal", *pytest_arguments],
    }


def run(name: str, command: list[str]) -> Result:
    """Run one check, its output passed on as it comes."""
    print(f"=== {name}", flush=True)
    started = time.monotonic()
    last_line = ""
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            last_line = line.strip() or last_line
    code = process.returncode
    if name in TALKATIVE and not last_line:
        print(f"{name} said nothing: it did not run")
        code = code or 1
    return Result(name, code, time.monotonic() - started, last_line)


def main() -> int:
    names, _, pytest_arguments = (" ".join(sys.argv[1:])).partition("--")
    checks = commands(pytest_arguments.split())
    unknown = [name for name in names.split() if name not in checks]
    if unknown:
        sys.exit(f"unknown check {unknown[0]!r}; there are {', '.join(checks)}")
    results = [run(name, checks[name]) for name in names.split() or checks]
    print("=== summary")
    for result in results:
        verdict = "ok" if result.code == 0 else f"FAILED (exit {result.code})"
        print(f"{result.name:8} {result.seconds:6.1f} s  {verdict}")
    if results[-1].name == "pytest":
        print(results[-1].last_line)
    return 0 if all(result.code == 0 for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
