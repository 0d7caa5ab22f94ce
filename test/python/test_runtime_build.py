"""Builds with fake compilers: what is called, what is kept, and how each failure is told."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from runtime_fakes import SOURCE, Fakes, build_in_worker

from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.runtime import processes
from ucutlass.runtime.build import LOG, BuildRequest, BuiltKernel, build_kernel, build_many
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.failures import BuildMachineError
from ucutlass.runtime.processes import DEVICE_MEMORY, GIB, Slots

SPILL = """print("ptxas info    : Compiling entry function 'first_0123456789abcdef_0' for 'sm_90a'")
print("ptxas info    : Function properties for first_0123456789abcdef_0")
print("    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads")
print("ptxas info    : Used 255 registers")
"""


@pytest.fixture
def fakes(tmp_path: Path) -> Iterator[Fakes]:
    machine = Fakes.make(tmp_path / "machine")
    yield machine
    machine.stop()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def build(fakes: Fakes, cache: Cache, source: str = SOURCE) -> BuiltKernel:
    return build_kernel(source, arch="sm_90a", name="first", toolchain=fakes.toolchain(), cache=cache)


def machine_failure(fakes: Fakes, cache: Cache, timeout: float = 60.0) -> BuildMachineError:
    with pytest.raises(BuildMachineError) as caught:
        build_kernel(SOURCE, arch="sm_90a", name="first", toolchain=fakes.toolchain(), cache=cache, timeout=timeout)
    return caught.value


def targets(call: Sequence[str]) -> list[str]:
    return [word for word in call if word.startswith(("-gencode", "-arch", "--gpu", "-code"))]


# What is called ------------------------------------------------------------------------------------------------------


def test_both_sides_are_built_apart(fakes: Fakes, cache: Cache) -> None:
    built = build(fakes, cache)
    assert built.split and not built.cached
    assert built.path.name == "first.so" and built.path.read_text() == "host made this"
    devices = fakes.calls("nvcc")
    assert sorted(next(w for w in call if "UCUTLASS_PART" in w) for call in devices) == [
        "-DUCUTLASS_PART=0",
        "-DUCUTLASS_PART=1",
    ]
    assert all("-cubin" in call for call in devices)
    compiled, linked = fakes.calls("host")
    assert "-c" in compiled and compiled[compiled.index("-include") + 1] == "host_pass.h"
    assert "-D__CUDACC_VER_MAJOR__=13" in compiled and "-D__CUDACC_VER_BUILD__=88" in compiled
    assert "-shared" in linked and "images.S" in linked
    assert built.operations["first_0123456789abcdef_1"] == "z = exp(y)"
    assert built.source.read_text() == SOURCE
    assert sorted(p.name for p in built.path.parent.iterdir()) == [
        LOG, "first.so", "kernel_0.cubin", "kernel_1.cubin", "meta.json", "source.cu",
    ]  # fmt: skip


def test_a_built_kernel_is_not_built_again(fakes: Fakes, cache: Cache) -> None:
    first = build(fakes, cache)
    calls = len(fakes.calls("nvcc"))
    again = build(fakes, cache)
    assert again.cached and again.path == first.path and again.report == first.report
    assert len(fakes.calls("nvcc")) == calls
    assert not build(fakes, cache, SOURCE + "\n").cached


@pytest.mark.parametrize("change", ["nvcc", "cutlass", "flags", "arch"])
def test_what_decides_the_code_decides_the_key(fakes: Fakes, change: str) -> None:
    request = BuildRequest(SOURCE, "sm_90a", "first")
    before = request.key(fakes.toolchain())
    assert request.key(fakes.toolchain()) == before
    match change:
        case "nvcc":
            fakes.write_nvcc(cuda=(13, 1, 5))
        case "cutlass":
            fakes.write_cutlass("4.2.2")
        case "flags":
            request = BuildRequest(SOURCE, "sm_90a", "first", ("-DX=1",))
        case _:
            request = BuildRequest(SOURCE, "sm_80", "first")
    assert request.key(fakes.toolchain()) != before


def test_an_older_nvcc_builds_whole(tmp_path: Path, cache: Cache) -> None:
    fakes = Fakes.make(tmp_path / "old", cuda=(12, 4, 99))
    built = build(fakes, cache)
    assert not built.split and built.path.read_text() == "nvcc made this"
    (call,) = fakes.calls("nvcc")
    assert "-shared" in call and fakes.calls("host") == []


def test_what_the_host_compiler_refuses_is_built_whole(fakes: Fakes, cache: Cache) -> None:
    fakes.write_host_compiler("print('source.cu:3:1: error: no'); sys.exit(1)")
    built = build(fakes, cache)
    assert not built.split and built.path.read_text() == "nvcc made this"
    assert "error: no" in built.log.read_text()


def test_a_source_without_a_list_of_kernels_is_built_whole(fakes: Fakes, cache: Cache) -> None:
    assert not build(fakes, cache, "int a;").split


@pytest.mark.parametrize("listed", [None, "9.0", "9.0a", "9.0;9.0a", "8.0 9.0a", "nonsense"])
def test_exactly_one_target_whatever_torch_is_told(
    fakes: Fakes, cache: Cache, listed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if listed is None:
        monkeypatch.delenv("TORCH_CUDA_ARCH_LIST", raising=False)
    else:
        monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", listed)
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-gencode=arch=compute_80,code=sm_80")
    build(fakes, cache)
    for call in fakes.calls("nvcc"):
        assert targets(call) == ["-gencode=arch=compute_90a,code=sm_90a"]
    for environment in fakes.environments("nvcc"):
        assert set(environment) == {"TMPDIR"}
    # The shell line that a person can repeat has it once, too.
    for line in build(fakes, cache).log.read_text().splitlines():
        if line.startswith("$ ") and "-cubin" in line:
            assert line.count("compute_") == line.count("code=sm_") == 1


def test_flags_reach_both_sides(fakes: Fakes, cache: Cache) -> None:
    build_kernel(
        SOURCE, arch="sm_90a", name="first", flags=("-DX=1", "-lineinfo"), toolchain=fakes.toolchain(), cache=cache
    )
    assert all("-DX=1" in call and "-lineinfo" in call for call in fakes.calls("nvcc"))
    compiled = fakes.calls("host")[0]
    assert "-DX=1" in compiled and "-lineinfo" not in compiled


def test_what_ptxas_says_is_kept(fakes: Fakes, cache: Cache) -> None:
    fakes.write_nvcc(f'if "-DUCUTLASS_PART=0" in arguments:\n    exec({SPILL!r})')
    for built in (build(fakes, cache), build(fakes, cache)):
        (kernel,) = built.report.kernels
        assert (kernel.registers, kernel.spill_store_bytes, kernel.spill_load_bytes) == (255, 12, 16)
        (diagnostic,) = built.diagnostics
        assert diagnostic.code == "UC0806" and "12 bytes of stores" in diagnostic.message
        assert diagnostic.notes[0].message == "the kernel computes y = gemm(x, w) >> relu()"


# How failures are told -----------------------------------------------------------------------------------------------


def test_an_error_of_the_compiler(fakes: Fakes, cache: Cache) -> None:
    fakes.write_nvcc("print('source.cu(6): error: identifier \"q\" is undefined'); sys.exit(2)")
    with pytest.raises(DiagnosticError) as caught:
        build(fakes, cache)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "UC0805"
    assert "first for sm_90a" in diagnostic.message
    first, log = diagnostic.notes
    assert first.message.startswith('source.cu:6: identifier "q" is undefined')
    assert "kernel 0: y = gemm(x, w) >> relu()" in first.message
    kept = Path(log.message.removeprefix("the whole output is in "))
    assert "identifier" in kept.read_text() and kept.with_suffix(".cu").read_text() == SOURCE
    assert cache.find(BuildRequest(SOURCE, "sm_90a", "first").key(fakes.toolchain())) is None


@pytest.mark.parametrize(
    "behaviour",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "print(\"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\"); sys.exit(255)",
        "sys.exit(137)",
    ],
)
def test_a_killed_compiler(fakes: Fakes, cache: Cache, behaviour: str) -> None:
    fakes.write_nvcc(behaviour)
    error = machine_failure(fakes, cache)
    assert error.code == "UC0811"
    assert "SIGKILL (signal 9)" in str(error) and "memory ran out" in str(error)
    assert "--jobs" in str(error)


def test_sixteen_killed_compilers(fakes: Fakes, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes.write_nvcc("os.kill(os.getpid(), signal.SIGKILL)")
    monkeypatch.setattr(processes, "free_memory", lambda: 9 * GIB)
    requests = [BuildRequest(f"{SOURCE}// {i}\n", "sm_90a", f"first{i}") for i in range(16)]
    outcomes = build_many(requests, toolchain=fakes.toolchain(), cache=cache)
    assert len(outcomes) == 16
    for outcome in outcomes:
        assert isinstance(outcome, BuildMachineError) and outcome.code == "UC0811"


def test_a_compiler_that_never_ends(fakes: Fakes, cache: Cache, tmp_path: Path) -> None:
    """It is stopped at the limit, and so is what it had started."""
    child = tmp_path / "child"
    fakes.write_nvcc(
        f"import subprocess\nwith open({str(child)!r}, 'w') as f:\n"
        "    f.write(str(subprocess.Popen(['sleep', '600']).pid))\ntime.sleep(600)"
    )
    start = time.monotonic()
    error = machine_failure(fakes, cache, timeout=1.5)
    assert error.code == "UC0809" and "stopped after 2 s" in str(error) and "--build-timeout" in str(error)
    assert time.monotonic() - start < 30
    pid = int(child.read_text())
    deadline = time.monotonic() + 10
    while _runs(pid):
        assert time.monotonic() < deadline, "the child of the compiler still runs"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return "sleep" in Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_killed_build_blocks_no_later_one(fakes: Fakes, cache: Cache) -> None:
    fakes.write_nvcc("time.sleep(600)")
    context = multiprocessing.get_context("spawn")
    first = context.Process(target=build_in_worker, args=(fakes.toolchain(), cache.folder))
    first.start()
    deadline = time.monotonic() + 60
    while not fakes.calls("nvcc"):
        assert time.monotonic() < deadline and first.is_alive()
        time.sleep(0.05)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    first.join(timeout=60)
    fakes.write_nvcc()
    start = time.monotonic()
    assert not build(fakes, cache).cached
    assert time.monotonic() - start < 20


def test_one_failure_does_not_stop_the_others(fakes: Fakes, cache: Cache) -> None:
    fakes.write_nvcc("if 'BAD' in open(arguments[arguments.index('-cubin') + 1]).read(): sys.exit(1)")
    requests = [BuildRequest(source, "sm_90a", "first") for source in (SOURCE, SOURCE + "// BAD\n", SOURCE + "// 2\n")]
    good, bad, also_good = build_many(requests, toolchain=fakes.toolchain(), cache=cache)
    assert isinstance(good, BuiltKernel) and isinstance(also_good, BuiltKernel)
    assert isinstance(bad, DiagnosticError)


def test_equal_requests_are_built_once(fakes: Fakes, cache: Cache) -> None:
    fakes.write_nvcc("time.sleep(0.3)")
    outcomes = build_many(
        [BuildRequest(SOURCE, "sm_90a", "first")] * 3, toolchain=fakes.toolchain(), cache=cache, jobs=4
    )
    assert len(fakes.calls("nvcc")) == 2, "two kernels, each compiled once"
    assert [isinstance(o, BuiltKernel) for o in outcomes] == [True] * 3


def test_nothing_to_build(fakes: Fakes, cache: Cache) -> None:
    assert build_many([], toolchain=fakes.toolchain(), cache=cache) == []


# How many at once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cores", "free", "device_jobs"), [(64, 9 * GIB, 2), (64, 1 * GIB, 1), (4, 900 * GIB, 4), (1, 900 * GIB, 1)]
)
def test_default_jobs_fit_cores_and_memory(
    monkeypatch: pytest.MonkeyPatch, cores: int, free: int, device_jobs: int
) -> None:
    monkeypatch.setattr(processes, "usable_cores", lambda: cores)
    monkeypatch.setattr(processes, "free_memory", lambda: free)
    assert Slots().device_jobs == device_jobs


@pytest.mark.parametrize(
    ("jobs", "memory", "most"), [(8, 2 * DEVICE_MEMORY, 2), (3, 100 * DEVICE_MEMORY, 3), (8, 1, 1)]
)
def test_no_more_than_fit_run_at_once(jobs: int, memory: int, most: int) -> None:
    slots = Slots(jobs, memory)
    lock = threading.Lock()
    running, peak = 0, 0

    def work() -> None:
        nonlocal running, peak
        with slots.reserve(DEVICE_MEMORY):
            with lock:
                running += 1
                peak = max(peak, running)
            time.sleep(0.05)
            with lock:
                running -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert (running, peak) == (0, most)


def test_no_jobs_is_refused() -> None:
    with pytest.raises(ValueError, match="0 jobs"):
        Slots(0)


def test_this_machine_has_cores_and_memory() -> None:
    assert 1 <= processes.usable_cores() <= (os.cpu_count() or 1)
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        total = int(meminfo.readline().split()[1]) * 1024
    assert 0 < processes.free_memory() <= total
