"""A part of the fuzzing of the parser: `scripts/fuzz_parser.py` does more."""

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

from frontend_reading import mlir, read

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fuzz_parser.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_parser", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_parser"] = module
    spec.loader.exec_module(module)
    return module


def test_broken_programs_end_in_diagnostics() -> None:
    count, failures = script().fuzz(400, 150, seed=20)
    assert count == 550
    assert not failures, failures[:3]


def test_the_fuzzer_sees_what_it_looks_for() -> None:
    fuzzer = script().Fuzzer()

    def fails() -> None:
        raise ZeroDivisionError

    fuzzer._context = fails
    assert "ZeroDivisionError" in fuzzer.check(b"kernel k").what


def test_broken_mlir_ends_in_diagnostics() -> None:
    fuzz = script()
    programs = [mlir(read(path.read_text())) for path in sorted(fuzz.EXAMPLES.glob("*.ucu"))]
    rng = random.Random(5)
    fuzzer = fuzz.Fuzzer()
    failures = [f for f in (fuzzer.check(data, "mlir") for data in fuzz.mutated(rng, programs, 200)) if f is not None]
    assert not failures, failures[:3]
