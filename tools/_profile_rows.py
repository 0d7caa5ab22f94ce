"""What `ucutlass-profile` says of each kernel at each size, as JSON and as a table.

Imports the runtime's plain data and the bounds. Field names are stable: a unit is part of the name, and a new field
never changes an old one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ucutlass.records import record
from ucutlass.runtime.campaign import Finding
from ucutlass.runtime.machine import Machine
from ucutlass.runtime.profile import BaselineTime, Times
from ucutlass.runtime.timing import Timing
from ucutlass.runtime.validate import Validation
from ucutlass.sol.bound import IMPOSSIBLE_CAUSES, Measured
from ucutlass.sol.program import ProgramBound
from ucutlass.sol.report import bound_json, format_table, measured_json

Json = dict[str, object]


@record
class Row:
    """One kernel at one set of sizes."""

    file: str
    kernel: str
    arch: str
    machine: Machine
    seed: int
    sizes: Mapping[str, int]
    bound: ProgramBound
    build_seconds: float | None
    cached: bool | None
    finding: Finding
    fastest: bool | None = None
    """Among the kernels of the call that compute the same at the same sizes; None where that cannot be told."""

    @property
    def measured(self) -> Measured | None:
        times = self.finding.times
        return None if times is None else Measured(times.cold.median, self.bound.program.time)

    @property
    def flops_per_second(self) -> float | None:
        """Of the products, or of everything where there are none."""
        times, work = self.finding.times, self.bound.program.work
        if times is None or times.cold.median == 0:
            return None
        return (work.matrix_flops or work.total_flops) / times.cold.median

    def to_json(self) -> Json:
        finding = self.finding
        return {
            "file": self.file,
            "kernel": self.kernel,
            "arch": self.arch,
            "gpu": self.bound.gpu.name,
            **self.machine.to_json(),
            "dims": dict(self.sizes),
            "ok": finding.passed,
            "outcome": finding.outcome,
            "code": finding.code,
            "message": finding.message,
            "build_s": self.build_seconds,
            "cached": self.cached,
            "validation": _validation_json(finding.validation, self.seed),
            **bound_json(self.bound.program),
            **_times_json(finding.times),
            **(measured_json(self.measured) if self.measured is not None else {}),
            "flops_per_s": self.flops_per_second,
            "fastest": self.fastest,
        }

    @property
    def label(self) -> str:
        sizes = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
        return f"{Path(self.file).name}:{self.kernel}{f' [{sizes}]' if sizes else ''}"


def _validation_json(validation: Validation | None, seed: int) -> Json | None:
    if validation is None:
        return None
    return {
        "passed": validation.passed,
        "seed": seed,
        "cases": len(validation.results),
        "planned_cases": validation.planned,
        "max_error": validation.max_error,
        "error_over_bound": validation.error_over_bound,
        "frobenius": validation.frobenius,
        "frobenius_limit": validation.frobenius_limit,
        "matched_ratio": validation.matched_ratio,
        "checked_ratio": validation.checked_ratio,
    }


def _times_json(times: Times | None) -> Json:
    if times is None:
        return {"time_us": None, "timer": None, "baselines": []}
    return {
        **_timing_json(times.cold),
        "time_warm_us": None if times.warm is None else times.warm.median * 1e6,
        "data": times.data,
        "baselines": [_baseline_json(baseline) for baseline in times.baselines],
        "failed_baselines": [{"name": name, "reason": reason} for name, reason in times.failed_baselines],
        "gpu_state_before": times.before.to_json(),
        "gpu_state_after": times.after.to_json(),
    }


def _timing_json(timing: Timing) -> Json:
    interval, call = timing.interval, timing.call_median
    return {
        "time_us": interval.median * 1e6,
        "time_low_us": interval.low * 1e6,
        "time_high_us": interval.high * 1e6,
        "call_time_us": None if call is None else call * 1e6,
        "runs": len(timing.times),
        "timer": timing.timer,
        "cold": timing.is_cold,
    }


def _baseline_json(baseline: BaselineTime) -> Json:
    return {
        "name": baseline.name,
        "settings": baseline.settings,
        "computes_all": baseline.computes_all,
        **_timing_json(baseline.timing),
        "ratio": baseline.ratio.median,
        "ratio_low": baseline.ratio.low,
        "ratio_high": baseline.ratio.high,
        "resolved": baseline.is_resolved,
    }


# Text ----------------------------------------------------------------------------------------------------------------

_HEAD = ("kernel", "verdict", "err/bound", "‖err‖/‖ref‖", "time µs", "TFLOP/s", "of SOL", "limited by")


def text(rows: Sequence[Row]) -> str:
    """The table that a person reads, and below it what does not fit in it."""
    first = rows[0]
    lines = [f"on {first.machine.device_name}, peaks of {first.bound.gpu.name}, seed {first.seed}", ""]
    names = list(dict.fromkeys(b.name for row in rows for b in _baselines(row)))
    table: list[Sequence[str]] = [(*_HEAD, *(f"/ {name}" for name in names))]
    table += [_cells(row, names) for row in rows]
    lines += format_table(table)
    for row in rows:
        lines += _remarks(row)
    return "\n".join(lines) + "\n"


def _baselines(row: Row) -> tuple[BaselineTime, ...]:
    return () if row.finding.times is None else row.finding.times.baselines


def _cells(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    validation, times, measured = row.finding.validation, row.finding.times, row.measured
    checked = ("", "") if validation is None else (f"{validation.error_over_bound:.2f}", f"{validation.frobenius:.1e}")
    timed = ("", "", "", "")
    if times is not None and measured is not None:
        interval = times.cold.interval
        spread = (interval.high - interval.low) / 2
        flops = row.flops_per_second or 0.0
        timed = (
            f"{interval.median * 1e6:.1f} ± {spread * 1e6:.1f}",
            f"{flops / 1e12:.0f}" if flops >= 1e13 else f"{flops / 1e12:.2f}",
            f"{measured.fraction:.1%}",
            row.bound.program.bottleneck,
        )
    ratios = [_ratio(row, name) for name in names]
    mark = " *" if row.fastest else ""
    return (row.label + mark, row.finding.outcome or "", *checked, *timed, *ratios)


def _ratio(row: Row, name: str) -> str:
    """The kernel's time over the fastest variant of a baseline's; ≈ where they cannot be told apart."""
    found = [baseline for baseline in _baselines(row) if baseline.name == name]
    if not found:
        return ""
    best = min(found, key=lambda baseline: baseline.timing.median)
    return f"{'' if best.is_resolved else '≈'}{best.ratio.median:.2f}x"


def _remarks(row: Row) -> list[str]:
    """What a person must know of a row beside its numbers."""
    lines: list[str] = []
    finding = row.finding
    if not finding.passed:
        lines.append(f"  {finding.message} [{finding.code}]")
    times, measured = finding.times, row.measured
    if times is not None:
        call = times.cold.call_median
        warm = "" if times.warm is None else f", {times.warm.median * 1e6:.1f} µs with a warm cache"
        waited = "" if call is None else f", {call * 1e6:.1f} µs a call from Python"
        lines.append(f"  {len(times.cold.times)} runs by {times.cold.timer}{warm}{waited}")
        lines += [
            f"  {b.timing.median * 1e6:.1f} µs {b.name}{f' ({b.settings})' if b.settings else ''}"
            + ("" if b.computes_all else ", the product alone")
            for b in times.baselines
        ]
        lines += [f"  no {name}: {reason}" for name, reason in times.failed_baselines]
        if times.after.is_throttled:
            lines.append(f"  the driver held the clock down: reasons {times.after.throttle_reasons}")
    if measured is not None and measured.is_impossible:
        lines.append("  faster than the Speed of Light, which is impossible. One of these is so:")
        lines += [f"    - {cause}" for cause in IMPOSSIBLE_CAUSES]
    return [f"{row.label}", *lines] if lines else []
