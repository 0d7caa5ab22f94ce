"""One process of the search for programs that lose their meaning: `fuzz_share.py PROGRAMS SEED` prints JSON."""

import json
import sys
from collections import Counter
from random import Random

from random_programs import Program, check_program, random_program, shrunk


def failure_of(program: Program) -> str | None:
    """How a program fails, None where it does not."""
    try:
        check_program(program)
    except Exception as error:  # noqa: BLE001  (whatever a pass raises is what is looked for)
        return f"{type(error).__name__}: {error}"
    return None


def run_share(count: int, seed: int) -> dict[str, object]:
    """Checks random programs; of each kind of failure the first one is shrunk."""
    outcomes = Counter[str]()
    failures: dict[str, dict[str, object]] = {}
    for number in range(count):
        program = random_program(Random(f"{seed} {number}"))
        try:
            outcomes[check_program(program)] += 1
        except Exception as error:  # noqa: BLE001  (as above)
            kind = type(error).__name__
            outcomes[kind] += 1
            if kind not in failures:
                small = shrunk(program, lambda p, kind=kind: (failure_of(p) or "").startswith(f"{kind}:"))
                failures[kind] = {"program": small.source, "bindings": small.bindings, "error": failure_of(small)}
    return {"outcomes": outcomes, "failures": list(failures.values())}


if __name__ == "__main__":
    json.dump(run_share(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
