"""What ptxas reports with `-v`: registers, spills and the warnings that mean a slow kernel.

Imports leaves only; pure text in, data out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace

from ucutlass.diagnostics.core import Diagnostic, Note, Severity
from ucutlass.runtime.json_data import Object, as_int, as_list, as_object, as_str

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_STATIC_SHARED = re.compile(r"(\d+) bytes smem")
_PERFORMANCE = re.compile(r"\(C75\d\d\)")
_FUNCTION = re.compile(r"function '([^']+)'")


@dataclass(frozen=True)
class KernelReport:
    """One kernel as ptxas built it."""

    symbol: str
    arch: str
    registers: int = 0
    """Per thread; a kernel that moves registers between warp groups shows the launch value."""
    spill_store_bytes: int = 0
    """Per thread."""
    spill_load_bytes: int = 0
    stack_bytes: int = 0
    barriers: int = 0
    static_shared_bytes: int = 0

    @staticmethod
    def from_json(data: Object) -> "KernelReport":
        numbers = {f.name: as_int(data[f.name]) for f in fields(KernelReport) if f.name not in ("symbol", "arch")}
        return KernelReport(as_str(data["symbol"]), as_str(data["arch"]), **numbers)

    @property
    def spills(self) -> bool:
        return self.spill_store_bytes > 0 or self.spill_load_bytes > 0


@dataclass(frozen=True)
class PtxasReport:
    """All kernels of one source, and the C75xx warnings: matrix instructions serialized, register requests ignored."""

    kernels: tuple[KernelReport, ...] = ()
    warnings: tuple[str, ...] = ()

    def __add__(self, other: "PtxasReport") -> "PtxasReport":
        return PtxasReport(self.kernels + other.kernels, self.warnings + other.warnings)

    def to_json(self) -> dict[str, object]:
        return {"kernels": [asdict(kernel) for kernel in self.kernels], "warnings": list(self.warnings)}

    @staticmethod
    def from_json(data: Object) -> "PtxasReport":
        """The inverse of `to_json`. Raises KeyError or TypeError on anything else."""
        kernels = tuple(KernelReport.from_json(as_object(kernel)) for kernel in as_list(data["kernels"]))
        return PtxasReport(kernels, tuple(as_str(warning) for warning in as_list(data["warnings"])))

    def diagnostics(self, program: str, operations: Mapping[str, str] | None = None) -> tuple[Diagnostic, ...]:
        """Warnings about kernels that are right but slow. `operations` says for a symbol what the kernel computes."""
        of_kernel = operations or {}
        found: list[Diagnostic] = []
        for kernel in self.kernels:
            if kernel.spills:
                found.append(
                    _warning(
                        "UC0806",
                        f"{program}: {kernel.symbol} spills {kernel.spill_store_bytes} bytes of stores and"
                        f" {kernel.spill_load_bytes} bytes of loads a thread, with {kernel.registers} registers",
                        of_kernel.get(kernel.symbol),
                    )
                )
        for symbol, texts in _by_function(self.warnings).items():
            found.append(_warning("UC0807", f"{program}: {texts[0]}", of_kernel.get(symbol)))
        return tuple(found)


def _warning(code: str, message: str, operation: str | None) -> Diagnostic:
    notes = (Note(f"the kernel computes {operation}"),) if operation else ()
    return Diagnostic(code, Severity.WARNING, message, notes=notes)


def _by_function(warnings: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for warning in warnings:
        match = _FUNCTION.search(warning)
        groups.setdefault(match[1] if match else "", []).append(warning)
    return groups


def parse_ptxas(log: str) -> PtxasReport:
    """Reads ptxas's lines out of a compiler log; other lines are passed over."""
    kernels: dict[str, KernelReport] = {}
    warnings: list[str] = []
    current = properties_of = ""
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            current = match[1]
            kernels[current] = KernelReport(symbol=match[1], arch=match[2])
        elif match := _PROPERTIES.search(line):
            properties_of = match[1]
        elif current and properties_of == current and (match := _STACK.search(line)):
            # Functions that an entry calls have properties of their own; theirs are not the kernel's.
            stack, stores, loads = map(int, match.groups())
            kernels[current] = replace(
                kernels[current], stack_bytes=stack, spill_store_bytes=stores, spill_load_bytes=loads
            )
        elif current and (match := _USED.search(line)):
            barriers, shared = _BARRIERS.search(line), _STATIC_SHARED.search(line)
            kernels[current] = replace(
                kernels[current],
                registers=int(match[1]),
                barriers=int(barriers[1]) if barriers else 0,
                static_shared_bytes=int(shared[1]) if shared else 0,
            )
        elif _PERFORMANCE.search(line):
            text = re.sub(r"^ptxas\s+(?:info|warning|error)?\s*:\s*", "", line.strip())
            if text not in warnings:
                warnings.append(text)
    return PtxasReport(tuple(kernels.values()), tuple(warnings))
