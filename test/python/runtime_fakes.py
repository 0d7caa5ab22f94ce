"""Fake compilers: scripts that stand in for nvcc and g++, write what is asked for, and note how they were called.

A `Fakes` is a folder with a CUDA toolkit, a host compiler and a CUTLASS checkout, none of which contains anything.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ucutlass.runtime.build import build_kernel
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.json_data import Object, as_int, as_list, as_object, as_str
from ucutlass.runtime.toolchain import Toolchain, find_toolchain

_SCRIPT = """#!{python}
import json, os, signal, sys, time
arguments = sys.argv[1:]
if "--version" in arguments:
    print({version!r})
    sys.exit(0)
if "--dryrun" in arguments:
    print({dryrun!r}, file=sys.stderr)
    sys.exit(0)
with open({calls!r}, "a") as calls:
    names = ("TORCH_CUDA_ARCH_LIST", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "TMPDIR")
    variables = {{name: os.environ[name] for name in names if name in os.environ}}
    call = {{"program": {name!r}, "arguments": arguments, "environment": variables, "pid": os.getpid()}}
    calls.write(json.dumps(call) + "\\n")
{behaviour}
if "-o" in arguments:
    with open(arguments[arguments.index("-o") + 1], "w") as result:
        result.write({name!r} + " made this")
sys.exit(0)
"""

NVCC_VERSION = """nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release {major}.{minor}, V{major}.{minor}.{build}"""

SOURCE = """// content: 0123456789abcdef
// kernel 0: first_0123456789abcdef_0
// kernel 1: first_0123456789abcdef_1

// ---- kernel 0: y = gemm(x, w) >> relu() ----
int a;
// ---- kernel 1: z = exp(y) ----
int b;
"""
"""A source with two kernels, as far as a build looks at it."""


@dataclass
class Fakes:
    """A machine of fakes."""

    root: Path
    dryrun: str = ""

    @staticmethod
    def make(root: Path, cuda: tuple[int, int, int] = (13, 0, 88), cutlass: str = "4.2.1") -> "Fakes":
        fakes = Fakes(root)
        for path in ("include/cuda_runtime.h", "include/cccl/cuda/std/utility", "lib64/libcudart_static.a"):
            (root / "cuda" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "cuda" / path).touch()
        fakes.write_nvcc(cuda=cuda)
        fakes.write_host_compiler()
        fakes.write_cutlass(cutlass)
        return fakes

    @property
    def nvcc(self) -> Path:
        return self.root / "cuda" / "bin" / "nvcc"

    @property
    def host_compiler(self) -> Path:
        return self.root / "bin" / "fake-g++"

    @property
    def cutlass(self) -> Path:
        return self.root / "cutlass"

    def write_nvcc(self, behaviour: str = "", cuda: tuple[int, int, int] = (13, 0, 88)) -> None:
        """nvcc that runs these lines of Python before it writes its result."""
        version = NVCC_VERSION.format(major=cuda[0], minor=cuda[1], build=cuda[2])
        self._write(self.nvcc, "nvcc", version, behaviour)

    def write_host_compiler(self, behaviour: str = "") -> None:
        self._write(self.host_compiler, "host", "fake-g++ 1.0", behaviour)

    def write_cutlass(self, version: str) -> None:
        folder = self.cutlass / "include" / "cutlass"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cutlass.h").touch()
        major, minor, patch = version.split(".")
        (folder / "version.h").write_text(
            f"#define CUTLASS_MAJOR {major}\n#define CUTLASS_MINOR {minor}\n#define CUTLASS_PATCH {patch}\n"
        )

    def _write(self, path: Path, name: str, version: str, behaviour: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place: a script that is being written cannot be started.
        fresh = path.with_suffix(".new")
        fresh.write_text(
            _SCRIPT.format(
                python=sys.executable,
                version=version,
                dryrun=self.dryrun,
                calls=str(self.root / "calls"),
                name=name,
                behaviour=behaviour,
            )
        )
        fresh.chmod(0o755)
        fresh.rename(path)

    def toolchain(self) -> Toolchain:
        return find_toolchain(
            nvcc=self.nvcc, cutlass=self.cutlass, host_compiler=self.host_compiler, environment={"PATH": os.defpath}
        )

    def calls(self, program: str) -> list[list[str]]:
        """The arguments of each call of a program."""
        return [[as_str(word) for word in as_list(call["arguments"])] for call in self._records(program)]

    def environments(self, program: str) -> list[dict[str, str]]:
        """What each call of a program saw of the variables that matter."""
        found = [as_object(call["environment"]) for call in self._records(program)]
        return [{name: as_str(value) for name, value in environment.items()} for environment in found]

    def stop(self) -> None:
        """Ends the programs that outlived whoever started them."""
        for program in ("nvcc", "host"):
            for call in self._records(program):
                pid = as_int(call["pid"])
                with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                    if str(self.root) in Path(f"/proc/{pid}/cmdline").read_text():
                        os.kill(pid, signal.SIGKILL)

    def _records(self, program: str) -> list[Object]:
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        records = [as_object(json.loads(line)) for line in lines]
        return [record for record in records if record["program"] == program]


# Run in a spawned process, which can import this module and no test --------------------------------------------------


def search_in_worker(nvcc: Path, host_compiler: Path, results: "multiprocessing.Queue[str]") -> None:
    """Puts the CUTLASS folder that a search in this process finds."""
    results.put(str(find_toolchain(nvcc=nvcc, host_compiler=host_compiler).cutlass[0]))


def use_in_worker(found: Toolchain, results: "multiprocessing.Queue[str]") -> None:
    """Puts the CUTLASS folder of a toolchain that was handed over."""
    results.put(str(found.cutlass[0]))


def count_in_worker(folder: Path, key: str, marks: Path, seconds: float) -> None:
    """Builds one cache entry by leaving a mark that it was built, slowly."""

    def build(scratch: Path) -> dict[str, object]:
        (marks / str(os.getpid())).touch()
        time.sleep(seconds)
        (scratch / "result").write_text("built")
        return {}

    entry, _ = Cache(folder).get_or_build(key, build)
    assert entry.file("result").read_text() == "built"


def build_in_worker(found: Toolchain, folder: Path) -> None:
    """Builds `SOURCE`."""
    build_kernel(SOURCE, arch="sm_90a", name="first", toolchain=found, cache=Cache(folder))
