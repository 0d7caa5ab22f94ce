"""What ptxas says, read from logs as ptxas 13.0 and 12.x write them."""

from ucutlass.diagnostics.core import Severity
from ucutlass.runtime.ptxas import KernelReport, PtxasReport, parse_ptxas

CLEAN = """ptxas info    : 11 bytes gmem
ptxas info    : Compiling entry function 'linear_0' for 'sm_90a'
ptxas info    : Function properties for linear_0
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers
ptxas info    : Compile time = 359.146 ms
"""

SPILLING = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'wide_0' for 'sm_90a'
ptxas info    : Function properties for wide_0
    4704 bytes stack frame, 4712 bytes spill stores, 4680 bytes spill loads
ptxas info    : Used 168 registers, used 9 barriers, 4704 bytes cumulative stack size, 1056 bytes smem
ptxas info    : Compiling entry function 'wide_1' for 'sm_90a'
ptxas info    : Function properties for wide_1
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, 384 bytes cmem[0]
"""

CALLING = """ptxas info    : Compiling entry function 'caller_0' for 'sm_80'
ptxas info    : Function properties for caller_0
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 40 registers
ptxas info    : Function properties for __internal_trig_reduction_slowpathd
    40 bytes stack frame, 100 bytes spill stores, 100 bytes spill loads
"""

SERIALIZED = (
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to"
    " insufficient register resources for the wgmma pipeline crossing function boundary in function 'linear_0'"
)
IGNORED = (
    "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to keep the registers that are needed."
)


def test_a_clean_kernel() -> None:
    assert parse_ptxas(CLEAN) == PtxasReport(
        (KernelReport("linear_0", "sm_90a", registers=168, barriers=2),), warnings=()
    )
    assert parse_ptxas(CLEAN).diagnostics("linear") == ()


def test_spills_are_those_of_their_kernel() -> None:
    report = parse_ptxas(SPILLING)
    wide, narrow = report.kernels
    assert wide == KernelReport("wide_0", "sm_90a", 168, 4712, 4680, 4704, 9, 1056)
    assert narrow == KernelReport("wide_1", "sm_90a", registers=32, stack_bytes=16)
    assert wide.spills and not narrow.spills
    (diagnostic,) = report.diagnostics("wide", {"wide_0": "y = gemm(x, w)"})
    assert (diagnostic.code, diagnostic.severity) == ("UC0806", Severity.WARNING)
    assert "4712 bytes of stores" in diagnostic.message and "4680 bytes of loads" in diagnostic.message
    assert [note.message for note in diagnostic.notes] == ["the kernel computes y = gemm(x, w)"]


def test_spills_of_a_called_function_are_not_the_kernels() -> None:
    (kernel,) = parse_ptxas(CALLING).kernels
    assert (kernel.stack_bytes, kernel.spill_store_bytes, kernel.spill_load_bytes) == (8, 4, 4)


def test_performance_warnings() -> None:
    report = parse_ptxas("\n".join([SERIALIZED, SERIALIZED, IGNORED, CLEAN]))
    assert len(report.warnings) == 2, "a warning that is said twice is one warning"
    assert report.warnings[0].startswith("(C7510) Potential Performance Loss: wgmma")
    serialized, ignored = report.diagnostics("linear", {"linear_0": "y = gemm(x, w)"})
    assert serialized.code == ignored.code == "UC0807"
    assert "C7510" in serialized.message and "C7508" in ignored.message
    assert [note.message for note in serialized.notes] == ["the kernel computes y = gemm(x, w)"]
    assert ignored.notes == ()


def test_lines_of_other_programs_are_passed_over() -> None:
    log = 'source.cu(3): warning #177-D: variable "x" was declared but never referenced\n' + CLEAN + "done\n"
    assert parse_ptxas(log) == parse_ptxas(CLEAN)
    assert parse_ptxas("") == PtxasReport()


def test_json_round_trip() -> None:
    report = parse_ptxas(SPILLING + SERIALIZED)
    assert PtxasReport.from_json(report.to_json()) == report
