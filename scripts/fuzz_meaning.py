"""Runs random programs through every pass and interprets each stage: none may change what a program means.

    python scripts/fuzz_meaning.py --programs 5000 --seed 0 --result build/fuzz.json

The same seed gives the same programs with the same number of jobs. A program that loses its meaning is shrunk and
printed; the exit code is then 1. A part of it runs in the ordinary tests.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SHARE = Path(__file__).resolve().parent.parent / "test" / "python" / "fuzz_share.py"
"""What one process runs."""


@dataclass(frozen=True)
class Failure:
    """A program that a pass changed or stumbled over."""

    program: str
    bindings: dict[str, int]
    error: str


def run_shares(programs: int, seed: int, jobs: int) -> tuple[Counter[str], list[Failure]]:
    """Shares the programs out among processes; what became of them, and those that failed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    counts = [programs // jobs + (job < programs % jobs) for job in range(jobs)]
    running = [
        subprocess.Popen(
            [sys.executable, str(SHARE), str(count), str(seed * 1000 + job)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for job, count in enumerate(counts)
        if count
    ]
    outcomes, failures = Counter[str](), list[Failure]()
    for process in running:
        result = json.loads(process.communicate()[0])
        outcomes.update(result["outcomes"])
        failures += [Failure(**failure) for failure in result["failures"]]
    return outcomes, failures


def main(arguments: list[str]) -> int:
    """Runs the programs and says what became of them."""
    parser = argparse.ArgumentParser(description="run random programs through every pass and interpret each stage")
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--result", type=Path, help="file for the result as JSON")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    outcomes, failures = run_shares(options.programs, options.seed, max(1, options.jobs))
    seconds = round(time.monotonic() - start, 1)
    if options.result is not None:
        summary = {
            "programs": outcomes.total(),
            "seed": options.seed,
            "jobs": options.jobs,
            "outcomes": dict(outcomes.most_common()),
            "failures": [vars(failure) for failure in failures],
            "seconds": seconds,
        }
        options.result.parent.mkdir(parents=True, exist_ok=True)
        options.result.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    for failure in failures:
        print(f"{failure.program}\nsizes {failure.bindings}\n{failure.error}\n")
    listed = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    print(f"{outcomes.total()} programs in {seconds} s, {len(failures)} lost their meaning: {listed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
