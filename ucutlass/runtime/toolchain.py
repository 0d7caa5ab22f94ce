"""Finds what a build needs: nvcc, the host compiler that it uses, CUDA's headers and CUTLASS's.

Imports leaves only. A `Toolchain` is found once and handed to whoever builds, in this process or another: a worker
looks for nothing itself. What is missing is a `BuildMachineError` that lists the places tried.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ucutlass.diagnostics.core import Diagnostic, Note, Severity
from ucutlass.runtime.failures import BuildMachineError

TESTED_CUTLASS = ("4.2",)
"""Major and minor versions of CUTLASS whose rules the verifier knows."""

OLDEST_NVCC: Mapping[str, tuple[int, int]] = {
    "sm_80": (11, 4),
    "sm_86": (11, 4),
    "sm_89": (11, 8),
    "sm_90a": (12, 0),
    "sm_100a": (12, 8),
    "sm_120a": (12, 8),
}
"""First CUDA version whose nvcc knows the target."""

OLDEST_SPLIT_NVCC = (12, 8)
"""First CUDA version whose runtime library loads a cubin (`cudaLibraryLoadData`)."""

USUAL_NVCC = Path("/usr/local/cuda/bin/nvcc")
"""Where a toolkit's installer puts it, also where it is not on the PATH."""

_IGNORED_VARIABLES = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "TORCH_CUDA_ARCH_LIST")
"""Variables that would add a target of somebody else's or change our flags behind the cache's back."""


@dataclass(frozen=True)
class Toolchain:
    """The compilers and headers of a build."""

    nvcc: Path
    cuda_version: tuple[int, int, int]
    """Major, minor, build."""
    cuda_root: Path
    """The folder that has `include` or `targets/…/include` with cuda_runtime.h."""
    host_compiler: Path
    host_version: str
    """First line of what it says to --version."""
    cutlass: tuple[Path, ...]
    """Include folders of CUTLASS, the one with cutlass/cutlass.h first."""
    cutlass_version: str
    cutlass_is_wheel: bool
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def cuda_includes(self) -> tuple[Path, ...]:
        include = _first(_include_folders(self.cuda_root), "cuda_runtime.h")
        return (include, include / "cccl") if (include / "cccl").is_dir() else (include,)

    @property
    def cudart(self) -> Path:
        """The folder with the CUDA runtime library."""
        return _first(_library_folders(self.cuda_root), "libcudart_static.a", "libcudart.so*")

    @property
    def splits(self) -> bool:
        """Whether device and host sides can be built apart."""
        return self.cuda_version[:2] >= OLDEST_SPLIT_NVCC

    def identity(self) -> dict[str, str]:
        """What of it decides the built code; part of the cache's key."""
        identity = {
            "nvcc": ".".join(map(str, self.cuda_version)),
            "host_compiler": self.host_version,
            "cutlass": self.cutlass_version,
        }
        if not self.cutlass_is_wheel:
            # A checkout may hold changed headers under the version of a release.
            identity["cutlass_path"] = str(self.cutlass[0])
            identity["cutlass_changed"] = str(_newest_change(self.cutlass[0]))
        return identity

    def check_target(self, arch: str) -> None:
        """Raises where this nvcc is too old for a target."""
        oldest = OLDEST_NVCC.get(arch)
        if oldest is not None and self.cuda_version[:2] < oldest:
            found, needed = ".".join(map(str, self.cuda_version)), ".".join(map(str, oldest))
            raise BuildMachineError(
                "UC0802",
                f"{arch} needs nvcc {needed} or newer, but {self.nvcc} is {found}",
                [f"name a newer compiler with --nvcc, or install one: {_PIP_NVCC}"],
            )


_PIP_NVCC = "pip install 'ucutlass[cuda]'"


def find_toolchain(
    *,
    nvcc: str | Path | None = None,
    cutlass: str | Path | None = None,
    host_compiler: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Toolchain:
    """Finds a toolchain. What is given by name must be right; the rest is searched for."""
    env = os.environ if environment is None else environment
    found_nvcc = _find_nvcc(nvcc, env)
    includes, version, is_wheel = _find_cutlass(cutlass, env)
    compiler = _find_host_compiler(host_compiler, env)
    cuda_version, root = _probe_nvcc(found_nvcc)
    host_version = _ask(compiler, "--version", "UC0810").strip().split("\n")[0]
    warnings: tuple[Diagnostic, ...] = ()
    if version.rpartition(".")[0] not in TESTED_CUTLASS:
        message = f"CUTLASS {version} in {includes[0]} is not tested; the rules are those of {_or(TESTED_CUTLASS)}"
        notes = (Note(f"pip install 'nvidia-cutlass=={TESTED_CUTLASS[-1]}.*' brings a tested one"),)
        warnings = (Diagnostic("UC0804", Severity.WARNING, message, notes=notes),)
    toolchain = Toolchain(found_nvcc, cuda_version, root, compiler, host_version, includes, version, is_wheel, warnings)
    _check_cuda_headers(toolchain)
    return toolchain


def compiler_environment(temporary: Path, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a compiler: nobody else's flags, intermediate files where they are cleaned up."""
    env = dict(os.environ if environment is None else environment)
    for name in _IGNORED_VARIABLES:
        env.pop(name, None)
    env["TMPDIR"] = str(temporary)
    env["LC_ALL"] = "C"  # logs are read by programs
    return env


# nvcc ----------------------------------------------------------------------------------------------------------------


def _find_nvcc(given: str | Path | None, env: Mapping[str, str]) -> Path:
    if given is not None:
        return _executable(Path(given), "--nvcc")
    if env.get("UCUTLASS_NVCC"):
        return _executable(Path(env["UCUTLASS_NVCC"]), "the variable UCUTLASS_NVCC")
    tried: list[str] = []
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if env.get(variable):
            candidate = Path(env[variable]) / "bin" / "nvcc"
            if os.access(candidate, os.X_OK):
                return candidate
            tried.append(f"{candidate} ({variable})")
    on_path = shutil.which("nvcc", path=env.get("PATH", os.defpath))
    if on_path is not None:
        return Path(on_path).absolute()
    tried.append("the PATH")
    wheels = list(_wheel_nvccs())
    for candidate in (*wheels, USUAL_NVCC):
        if os.access(candidate, os.X_OK):
            return candidate
        tried.append(str(candidate))
    if not wheels:
        tried.append("the package nvidia-cuda-nvcc, which is not installed")
    raise BuildMachineError(
        "UC0801",
        "nvcc was not found",
        [f"looked in {place}" for place in tried] + [f"{_PIP_NVCC} brings one; --nvcc names one"],
    )


def _executable(path: Path, source: str) -> Path:
    if path.is_file() and os.access(path, os.X_OK):
        return path.absolute()
    problem = "is not executable" if path.is_file() else "does not exist"
    raise BuildMachineError("UC0801", f"{path}, given by {source}, {problem}", ["name nvcc itself, not its folder"])


def _wheel_nvccs() -> Iterable[Path]:
    """Where the packages nvidia-cuda-nvcc (13) and nvidia-cuda-nvcc-cu12 put the compiler."""
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        yield from sorted(Path(folder).glob("cu*/bin/nvcc"), reverse=True)
        yield from sorted(Path(folder).glob("cuda_nvcc/bin/nvcc"))


def _ask(program: Path, flag: str, code: str) -> str:
    try:
        answer = subprocess.run(
            [program, flag], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildMachineError(code, f"{program} does not run: {error}") from error
    if answer.returncode != 0:
        raise BuildMachineError(
            code, f"{program} {flag} failed with exit code {answer.returncode}", answer.stderr.splitlines()[:3]
        )
    return answer.stdout


def _probe_nvcc(nvcc: Path) -> tuple[tuple[int, int, int], Path]:
    text = _ask(nvcc, "--version", "UC0801")
    match = re.search(r"release \d+\.\d+, V(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        raise BuildMachineError("UC0801", f"{nvcc} does not say which version it is", text.splitlines()[:3])
    version = (int(match[1]), int(match[2]), int(match[3]))
    return version, _cuda_root(nvcc)


def _cuda_root(nvcc: Path) -> Path:
    """The toolkit of an nvcc, which may be a script that calls the real one: a dry run says where it is."""
    try:
        run = subprocess.run(
            [nvcc, "--dryrun", "-E", "-x", "cu", os.devnull],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildMachineError("UC0801", f"{nvcc} does not run: {error}") from error
    match = re.search(r"^#\$ TOP=(.+)$", run.stdout + run.stderr, re.MULTILINE)
    return Path(match[1].strip()).resolve() if match is not None else nvcc.resolve().parent.parent


def _include_folders(root: Path) -> list[Path]:
    return [root / "include", *sorted(root.glob("targets/*/include"))]


def _library_folders(root: Path) -> list[Path]:
    return [root / "lib64", root / "lib", *sorted(root.glob("targets/*/lib"))]


def _first(folders: Iterable[Path], *patterns: str) -> Path:
    listed = list(folders)
    for pattern in patterns:
        for folder in listed:
            if next(folder.glob(pattern), None) is not None:
                return folder
    return listed[0]


def _check_cuda_headers(toolchain: Toolchain) -> None:
    """nvcc of PyPI comes without headers and runtime library: those are packages of their own."""
    root = toolchain.cuda_root
    needed = (
        ("cuda_runtime.h", _include_folders(root), "nvidia-cuda-runtime"),
        ("cccl/cuda/std/utility", _include_folders(root), "nvidia-cuda-cccl"),
        ("libcudart*", _library_folders(root), "nvidia-cuda-runtime"),
    )
    missing: list[tuple[str, str]] = []
    for pattern, folders, package in needed:
        # CUDA 12 keeps the C++ library beside cuda_runtime.h.
        patterns = (pattern, pattern.removeprefix("cccl/"))
        if not any(next(folder.glob(name), None) is not None for folder in folders for name in patterns):
            missing.append((pattern, package))
    if not missing:
        return
    packages = sorted({package for _, package in missing})
    version = f"{toolchain.cuda_version[0]}.{toolchain.cuda_version[1]}"
    raise BuildMachineError(
        "UC0812",
        f"{toolchain.nvcc} comes without {_and(pattern for pattern, _ in missing)}",
        [
            f"looked below {root}",
            "the wheels of the same version have them: pip install "
            + " ".join(f"'{p}=={version}.*'" for p in packages),
        ],
    )


# CUTLASS -------------------------------------------------------------------------------------------------------------


def _find_cutlass(given: str | Path | None, env: Mapping[str, str]) -> tuple[tuple[Path, ...], str, bool]:
    for place, source in ((given, "--cutlass"), (env.get("UCUTLASS_CUTLASS"), "the variable UCUTLASS_CUTLASS")):
        if place:
            includes = _cutlass_includes(Path(place))
            if includes is None:
                raise BuildMachineError(
                    "UC0803",
                    f"{place}, given by {source}, has no CUTLASS headers",
                    [f"looked for {header}" for header in _cutlass_headers(Path(place))],
                )
            return includes, _cutlass_version(includes[0]), False
    tried: list[str] = []
    for folder in _wheel_cutlass():
        includes = _cutlass_includes(folder)
        if includes is not None:
            return includes, _cutlass_version(includes[0]), True
        tried += map(str, _cutlass_headers(folder))
    if not tried:
        tried.append("the package nvidia-cutlass, which is not installed")
    raise BuildMachineError(
        "UC0803",
        "the CUTLASS headers were not found",
        [
            *(f"looked for {place}" for place in tried),
            "pip install nvidia-cutlass brings them; --cutlass names a checkout",
        ],
    )


def _wheel_cutlass() -> Iterable[Path]:
    # The package is looked up, not imported: its import costs half a second.
    spec = find_spec("cutlass_library")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        yield Path(folder) / "source"
    if spec is None:
        yield from (p / "source" for p in Path(sysconfig.get_path("purelib")).glob("cutlass_library"))


def _cutlass_headers(folder: Path) -> tuple[Path, Path]:
    return folder / "include" / "cutlass" / "cutlass.h", folder / "cutlass" / "cutlass.h"


def _cutlass_includes(folder: Path) -> tuple[Path, ...] | None:
    """Include folders of a checkout, or of its include folder itself."""
    for header in _cutlass_headers(folder):
        if header.is_file():
            include = header.parent.parent.absolute()
            utilities = include.parent / "tools" / "util" / "include"
            return (include, utilities) if utilities.is_dir() else (include,)
    return None


def _cutlass_version(include: Path) -> str:
    header = include / "cutlass" / "version.h"
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BuildMachineError("UC0803", f"{header} cannot be read: {error.strerror}") from error
    parts = [re.search(rf"#define\s+CUTLASS_{name}\s+(\d+)", text) for name in ("MAJOR", "MINOR", "PATCH")]
    if None in parts:
        raise BuildMachineError("UC0803", f"{header} does not say which version of CUTLASS it belongs to")
    return ".".join(match[1] for match in parts if match is not None)


def _newest_change(include: Path) -> int:
    """When a header was last changed, in nanoseconds."""
    newest = 0
    for folder in (include / "cutlass", include / "cute"):
        for path in folder.rglob("*"):
            newest = max(newest, path.stat().st_mtime_ns)
    return newest


# The host compiler ---------------------------------------------------------------------------------------------------


def _find_host_compiler(given: str | Path | None, env: Mapping[str, str]) -> Path:
    search = env.get("PATH", os.defpath)
    for name, source in (
        (given, "--host-compiler"),
        (env.get("UCUTLASS_HOST_COMPILER"), "the variable UCUTLASS_HOST_COMPILER"),
    ):
        if name:
            found = shutil.which(str(name), path=search)
            if found is None:
                raise BuildMachineError("UC0810", f"{name}, given by {source}, is not a program on the PATH or a file")
            return Path(found)
    found = shutil.which("g++", path=search)
    if found is not None:
        return Path(found)
    raise BuildMachineError(
        "UC0810",
        "no host compiler was found",
        [
            "looked for g++ on the PATH, the one that nvcc uses",
            "apt install g++, or name a compiler with --host-compiler",
        ],
    )


def _and(words: Iterable[str]) -> str:
    listed = list(dict.fromkeys(words))
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _or(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
