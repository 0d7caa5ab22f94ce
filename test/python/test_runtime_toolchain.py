"""Finding compilers and headers on machines made of fakes."""

import multiprocessing
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from runtime_fakes import NVCC_VERSION, Fakes, search_in_worker, use_in_worker

from ucutlass.diagnostics.core import Severity
from ucutlass.runtime import toolchain
from ucutlass.runtime.failures import BuildMachineError
from ucutlass.runtime.toolchain import compiler_environment, find_toolchain


@pytest.fixture
def fakes(tmp_path: Path) -> Fakes:
    return Fakes.make(tmp_path)


def _no_package(name: str) -> None:
    """Stands in for `find_spec`."""


def _no_folder(name: str) -> str:
    """Stands in for `sysconfig.get_path`."""
    return "/no/such/folder"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No nvcc anywhere: an empty folder is the PATH, and no package brings one."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(toolchain, "USUAL_NVCC", empty / "usual-nvcc")
    monkeypatch.setattr(toolchain, "find_spec", _no_package)
    monkeypatch.setattr(toolchain.sysconfig, "get_path", _no_folder)
    return empty


def find(fakes: Fakes, **environment: str) -> toolchain.Toolchain:
    return find_toolchain(
        cutlass=fakes.cutlass, host_compiler=fakes.host_compiler, environment={"PATH": os.defpath, **environment}
    )


def failure(
    *,
    nvcc: str | Path | None = None,
    cutlass: str | Path | None = None,
    host_compiler: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> BuildMachineError:
    with pytest.raises(BuildMachineError) as caught:
        find_toolchain(nvcc=nvcc, cutlass=cutlass, host_compiler=host_compiler, environment=environment)
    return caught.value


def test_what_is_found_by_name(fakes: Fakes) -> None:
    found = fakes.toolchain()
    assert found.nvcc == fakes.nvcc
    assert found.cuda_version == (13, 0, 88)
    assert found.cuda_includes == (fakes.root / "cuda/include", fakes.root / "cuda/include/cccl")
    assert found.cudart == fakes.root / "cuda/lib64"
    assert found.host_version == "fake-g++ 1.0"
    assert found.cutlass == (fakes.cutlass / "include",)
    assert found.cutlass_version == "4.2.1"
    assert found.warnings == ()


def test_the_order_in_which_nvcc_is_looked_for(fakes: Fakes, tmp_path: Path) -> None:
    on_path, by_home, by_name = (Fakes.make(tmp_path / name) for name in ("path", "home", "name"))
    path = f"{on_path.nvcc.parent}{os.pathsep}{os.defpath}"
    assert find(fakes, PATH=path).nvcc == on_path.nvcc
    home = {"PATH": path, "CUDA_HOME": str(by_home.root / "cuda")}
    assert find(fakes, **home).nvcc == by_home.nvcc
    assert find(fakes, **home, UCUTLASS_NVCC=str(by_name.nvcc)).nvcc == by_name.nvcc


def test_nvcc_of_the_wheel(fakes: Fakes, bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "site" / "nvidia" / "cu13"
    wheel.parent.mkdir(parents=True)
    (fakes.root / "cuda").rename(wheel)
    # The wheel of the runtime library has lib, not lib64.
    (wheel / "lib64").rename(wheel / "lib")
    monkeypatch.undo()
    monkeypatch.setattr(toolchain, "USUAL_NVCC", bare / "usual-nvcc")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    found = find(fakes, PATH=str(bare))
    assert found.nvcc == wheel / "bin/nvcc"
    assert found.cudart == wheel / "lib"


def test_missing_nvcc_lists_the_places(fakes: Fakes, bare: Path) -> None:
    error = failure(
        cutlass=fakes.cutlass,
        host_compiler=fakes.host_compiler,
        environment={"PATH": str(bare), "CUDA_HOME": "/no/such/cuda"},
    )
    assert error.code == "UC0801"
    text = str(error)
    for place in (
        "/no/such/cuda/bin/nvcc (CUDA_HOME)",
        "the PATH",
        str(bare / "usual-nvcc"),
        "the package nvidia-cuda-nvcc",
    ):
        assert f"looked in {place}" in text
    assert "pip install 'ucutlass[cuda]'" in text and "--nvcc" in text


def test_a_named_nvcc_must_be_there(tmp_path: Path) -> None:
    assert "/no/nvcc, given by --nvcc, does not exist" in str(failure(nvcc="/no/nvcc"))
    file = tmp_path / "nvcc"
    file.touch(mode=0o644)
    assert "is not executable" in str(failure(nvcc=file))
    variable = failure(environment={"UCUTLASS_NVCC": "/no/nvcc", "PATH": os.defpath})
    assert "given by the variable UCUTLASS_NVCC" in str(variable)


def test_an_nvcc_that_does_not_work(fakes: Fakes) -> None:
    fakes.nvcc.write_text("#!/bin/sh\necho 'license expired' >&2\nexit 7\n")
    error = failure(nvcc=fakes.nvcc, cutlass=fakes.cutlass, host_compiler=fakes.host_compiler)
    assert error.code == "UC0801"
    assert "failed with exit code 7" in str(error) and "license expired" in str(error)


def test_a_script_around_nvcc(fakes: Fakes, tmp_path: Path) -> None:
    """The toolkit is where the real compiler is, as its dry run says."""
    script = tmp_path / "wrapper" / "nvcc"
    script.parent.mkdir()
    version = NVCC_VERSION.format(major=12, minor=9, build=41)
    script.write_text(
        f'#!/bin/sh\ncase "$1" in --version) echo "{version}";; *) echo "#$ TOP={fakes.root}/cuda/bin/.." >&2;; esac\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    found = find_toolchain(nvcc=script, cutlass=fakes.cutlass, host_compiler=fakes.host_compiler)
    assert found.cuda_version == (12, 9, 41)
    assert found.cuda_root == (fakes.root / "cuda").resolve()


def test_headers_that_are_packages_of_their_own(fakes: Fakes) -> None:
    (fakes.root / "cuda/include/cccl/cuda/std/utility").unlink()
    (fakes.root / "cuda/lib64/libcudart_static.a").unlink()
    with pytest.raises(BuildMachineError) as caught:
        fakes.toolchain()
    assert caught.value.code == "UC0812"
    assert "pip install 'nvidia-cuda-cccl==13.0.*' 'nvidia-cuda-runtime==13.0.*'" in str(caught.value)


def test_cuda_12_keeps_the_library_beside_its_headers(fakes: Fakes) -> None:
    (fakes.root / "cuda/include/cccl/cuda").rename(fakes.root / "cuda/include/cuda")
    (fakes.root / "cuda/include/cccl").rmdir()
    assert fakes.toolchain().cuda_includes == (fakes.root / "cuda/include",)


def test_missing_host_compiler(fakes: Fakes, tmp_path: Path) -> None:
    error = failure(nvcc=fakes.nvcc, cutlass=fakes.cutlass, environment={"PATH": str(tmp_path)})
    assert error.code == "UC0810" and "looked for g++" in str(error)
    named = failure(nvcc=fakes.nvcc, cutlass=fakes.cutlass, host_compiler="clang++-99")
    assert "clang++-99, given by --host-compiler" in str(named)


@pytest.mark.parametrize(("cuda", "arch", "fine"), [
    ((11, 8, 89), "sm_90a", False),
    ((12, 0, 76), "sm_90a", True),
    ((12, 6, 20), "sm_100a", False),
    ((12, 8, 61), "sm_100a", True),
    ((11, 8, 89), "sm_89", True),
])  # fmt: skip
def test_the_oldest_nvcc_for_a_target(tmp_path: Path, cuda: tuple[int, int, int], arch: str, fine: bool) -> None:
    found = Fakes.make(tmp_path, cuda=cuda).toolchain()
    if fine:
        found.check_target(arch)
        return
    with pytest.raises(BuildMachineError) as caught:
        found.check_target(arch)
    assert caught.value.code == "UC0802"
    assert arch in str(caught.value) and f"is {cuda[0]}.{cuda[1]}" in str(caught.value)


# CUTLASS -------------------------------------------------------------------------------------------------------------


def test_missing_cutlass_lists_the_places(fakes: Fakes, bare: Path) -> None:
    error = failure(nvcc=fakes.nvcc, host_compiler=fakes.host_compiler, environment={"PATH": str(bare)})
    assert error.code == "UC0803"
    assert "nvidia-cutlass" in str(error) and "--cutlass" in str(error)


def test_wrong_cutlass_says_what_was_looked_for(tmp_path: Path, fakes: Fakes) -> None:
    wrong = tmp_path / "wrong"
    for error, source in (
        (failure(nvcc=fakes.nvcc, cutlass=wrong), "--cutlass"),
        (
            failure(nvcc=fakes.nvcc, environment={"PATH": os.defpath, "UCUTLASS_CUTLASS": str(wrong)}),
            "the variable UCUTLASS_CUTLASS",
        ),
    ):
        assert error.code == "UC0803" and f"given by {source}" in str(error)
        assert f"looked for {wrong}/include/cutlass/cutlass.h" in str(error)
        assert f"looked for {wrong}/cutlass/cutlass.h" in str(error)


def test_the_include_folder_itself_may_be_named(fakes: Fakes) -> None:
    found = find_toolchain(nvcc=fakes.nvcc, cutlass=fakes.cutlass / "include", host_compiler=fakes.host_compiler)
    assert found.cutlass == (fakes.cutlass / "include",)


@pytest.mark.parametrize(("version", "tested"), [("4.2.0", True), ("4.2.9", True), ("4.3.0", False), ("3.9.2", False)])
def test_another_version_of_cutlass_is_a_warning(fakes: Fakes, version: str, tested: bool) -> None:
    fakes.write_cutlass(version)
    warnings = fakes.toolchain().warnings
    if tested:
        assert warnings == ()
        return
    (warning,) = warnings
    assert (warning.code, warning.severity) == ("UC0804", Severity.WARNING)
    assert version in warning.message and "4.2" in warning.message


def test_a_changed_checkout_is_another_toolchain(fakes: Fakes) -> None:
    before = fakes.toolchain().identity()
    header = fakes.cutlass / "include/cutlass/cutlass.h"
    os.utime(header, ns=(0, header.stat().st_mtime_ns + 10**9))
    assert fakes.toolchain().identity() != before


def test_a_spawned_worker_has_the_setting(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set in the parent's environment only, and given by name only."""
    spawn = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[str] = spawn.Queue()
    monkeypatch.setenv("UCUTLASS_CUTLASS", str(fakes.cutlass))
    first = spawn.Process(target=search_in_worker, args=(fakes.nvcc, fakes.host_compiler, results))
    first.start()
    assert results.get(timeout=60) == str(fakes.cutlass / "include")
    monkeypatch.delenv("UCUTLASS_CUTLASS")
    second = spawn.Process(target=use_in_worker, args=(fakes.toolchain(), results))
    second.start()
    assert results.get(timeout=60) == str(fakes.cutlass / "include")
    for process in (first, second):
        process.join(timeout=60)


def test_nobody_elses_flags_reach_the_compiler(tmp_path: Path) -> None:
    environment = compiler_environment(
        tmp_path,
        {"PATH": "/bin", "NVCC_APPEND_FLAGS": "-gencode=arch=compute_80,code=sm_80", "TORCH_CUDA_ARCH_LIST": "9.0"},
    )
    assert environment == {"PATH": "/bin", "TMPDIR": str(tmp_path), "LC_ALL": "C"}
