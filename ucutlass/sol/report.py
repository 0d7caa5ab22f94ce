"""Speed-of-Light bounds as JSON and as a table.

Imports this package only. Field names are stable: a unit is part of the name, and a new field never changes an old one.
"""

from collections.abc import Iterable, Sequence
from math import isinf

from ucutlass.sol.bound import IMPOSSIBLE_CAUSES, Bound, Measured
from ucutlass.sol.program import Entry, FasterType, ProgramBound, sum_of

Json = dict[str, object]


def bound_json(bound: Bound) -> Json:
    """A bound, in microseconds."""
    work = bound.work
    intensity = bound.arithmetic_intensity
    by_type: dict[str, float] = {}
    for pipe, flops in work.flops.items():
        name = pipe.type if pipe.unit == "tensor" else f"{pipe.type}_cuda_cores"
        by_type[name] = by_type.get(name, 0) + _whole(flops)
    return {
        "flops": _whole(work.total_flops),
        "flops_matrix": _whole(work.matrix_flops),
        "flops_by_type": by_type,
        "bytes": work.bytes,
        "t_sol_us": bound.time * 1e6,
        "t_compute_us": bound.compute_time * 1e6,
        "t_memory_us": bound.memory_time * 1e6,
        "bottleneck": bound.bottleneck,
        "compute_unit": bound.unit,
        "arithmetic_intensity": None if isinf(intensity) else intensity,
        "ridge_point": bound.ridge_point,
    }


def report_json(report: ProgramBound, measured: Measured | None = None) -> Json:
    """The whole report; the entry `program` is at the declared types."""
    program = {"name": report.name, **bound_json(report.program)}
    if measured is not None:
        program |= measured_json(measured)
    return {
        "gpu": report.gpu.name,
        "dims": dict(report.sizes),
        "program": program,
        "kernels": [_entry_json(index, entry) for index, entry in enumerate(report.kernels)],
        "operations": [_entry_json(index, entry) for index, entry in enumerate(report.operations)],
        "kernels_total": _total_json(report.kernels, report.kernels_time),
        "operations_total": _total_json(report.operations, report.operations_time),
        "faster_types": [_faster_json(report, f) for f in report.faster_types if f.is_allowed is not False],
        "peak_flops_per_s": dict(report.gpu.peak_flops),
        "memory_bytes_per_s": report.gpu.memory_bytes_per_s,
    }


def measured_json(measured: Measured) -> Json:
    """A measured time beside the bound."""
    return {
        "time_us": measured.time * 1e6,
        "sol_fraction": measured.fraction,
        "gap": measured.gap,
        "impossible": measured.is_impossible,
        "impossible_causes": list(IMPOSSIBLE_CAUSES) if measured.is_impossible else [],
    }


def _entry_json(index: int, entry: Entry) -> Json:
    return {
        "index": index,
        "name": entry.name or None,
        "kind": entry.kind,
        "operations": list(entry.operations),
        "line": entry.line,
        **bound_json(entry.bound),
    }


def _total_json(entries: tuple[Entry, ...], time: float) -> Json:
    flops, moved = sum_of(entries)
    return {"flops": _whole(flops), "bytes": moved, "t_sol_us": time * 1e6}


def _faster_json(report: ProgramBound, faster: FasterType) -> Json:
    return {
        "compute": faster.mode,
        "t_sol_us": faster.bound.time * 1e6,
        "bottleneck": faster.bound.bottleneck,
        "speedup": _ratio(report.program.time, faster.bound.time),
        "relative_error": faster.relative_error,
    }


def _whole(number: float) -> int | float:
    """FLOPs as an integer where they are one, as they nearly always are."""
    return int(number) if float(number).is_integer() else number


def _ratio(left: float, right: float) -> float | None:
    return left / right if right > 0 else None


# Text ---------------------------------------------------------------------------------------------------------------

_HEAD = ("", "FLOPs", "bytes", "compute µs", "memory µs", "t_SOL µs", "limited by", "FLOPs/byte")


def report_text(report: ProgramBound, measured: Measured | None = None) -> str:
    """The table that a person reads."""
    sizes = "".join(f", {name} = {size}" for name, size in report.sizes.items())
    lines = [f"{report.name} on {report.gpu.name}{sizes}: the shortest possible time", ""]
    rows: list[tuple[str, ...]] = [_HEAD]
    rows += [_row(f"  {_label(entry)}", entry.bound) for entry in report.operations]
    if len(report.operations) > 1:
        rows.append(_sum_row("operations one after another", report.operations, report.operations_time))
    rows += [_row(f"  kernel {i}: {' '.join(e.operations)}", e.bound) for i, e in enumerate(report.kernels)]
    if len(report.kernels) > 1:
        rows.append(_sum_row("kernels one after another", report.kernels, report.kernels_time))
    rows.append(_row("program", report.program))
    lines += format_table(rows)
    program = report.program
    lines.append("")
    lines.append(
        f"{report.gpu.name} needs {program.ridge_point:.0f} FLOPs a byte to be limited by arithmetic here, and the"
        f" program has {_number(program.arithmetic_intensity)}: it is limited by {_limit(program)}."
    )
    if report.faster_types:
        lines += ["", *_faster_lines(report)]
    if measured is not None:
        lines += ["", *measured_lines(measured)]
    return "\n".join(lines) + "\n"


def measured_lines(measured: Measured) -> list[str]:
    """A measured time in words; an impossible one with what may be behind it."""
    shown = f"measured {measured.time * 1e6:.1f} µs: {measured.fraction:.1%} of the Speed of Light"
    if not measured.is_impossible:
        return [f"{shown}, gap {measured.gap:.2f}"]
    return [f"{shown}: impossible. One of these is so:", *(f"  - {cause}" for cause in IMPOSSIBLE_CAUSES)]


def _label(entry: Entry) -> str:
    return f"{entry.name} = {entry.operations[0]}" if entry.name else entry.operations[0]


def _row(label: str, bound: Bound) -> tuple[str, ...]:
    return (
        label,
        _number(bound.work.total_flops),
        _number(bound.work.bytes),
        f"{bound.compute_time * 1e6:.2f}",
        f"{bound.memory_time * 1e6:.2f}",
        f"{bound.time * 1e6:.2f}",
        bound.bottleneck,
        _number(bound.arithmetic_intensity),
    )


def _sum_row(label: str, entries: tuple[Entry, ...], time: float) -> tuple[str, ...]:
    flops, moved = sum_of(entries)
    return (label, _number(flops), _number(moved), "", "", f"{time * 1e6:.2f}", "", "")


def _faster_lines(report: ProgramBound) -> list[str]:
    rows: list[tuple[str, ...]] = [("products formed in", "t_SOL µs", "faster", "relative error", "allowed")]
    for faster in report.faster_types:
        ratio = _ratio(report.program.time, faster.bound.time)
        allowed = {None: "give --tolerance", True: "yes", False: "no"}[faster.is_allowed]
        rows.append(
            (
                faster.mode,
                f"{faster.bound.time * 1e6:.2f}",
                "" if ratio is None else f"{ratio:.2f}x",
                f"{faster.relative_error:.1e}",
                allowed,
            )
        )
    return format_table(rows)


def _limit(bound: Bound) -> str:
    unit = {"tensor": "tensor cores", "cuda": "CUDA cores", None: "arithmetic"}[bound.unit]
    match bound.bottleneck:
        case "memory":
            return "memory"
        case "compute":
            return unit
        case "balanced":
            return f"memory and {unit} alike"
        case "underused":
            return "nothing, as there is nothing to do"


_SUFFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def _number(value: float) -> str:
    """A count with three digits and a decimal suffix."""
    if isinf(value):
        return "∞"
    for size, suffix in _SUFFIXES:
        if abs(value) >= size:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"


def format_table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, numbers to the right."""
    table = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines: list[str] = []
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return lines
