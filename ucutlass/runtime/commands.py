"""The command lines of a build.

Imports leaves and the backend's fixed text. A source is built whole by one `nvcc -shared`, or split: nvcc compiles each
kernel to a cubin while a plain host compiler compiles the host side, and the linker puts the cubins beside it. Split is
faster because nvcc's own host pass reads and rewrites all templates once more (9 s of 50 for one gemm).
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ucutlass.runtime.toolchain import Toolchain

OPTIMIZATION = ("-std=c++17", "-O3", "-DNDEBUG")
"""Without NDEBUG, asserts in CUTLASS's headers make ptxas serialize the matrix instructions."""

_MANIFEST = re.compile(r"^// kernel (\d+): (\w+)$", re.MULTILINE)
_TITLE = re.compile(r"^// ---- kernel (\d+): (.*?)\s*-*$", re.MULTILINE)


@dataclass(frozen=True)
class Manifest:
    """What a source says about its kernels in its header comment."""

    symbols: tuple[str, ...]
    """In order; the part with index I is compiled with -DUCUTLASS_PART=I."""
    operations: dict[str, str]
    """What a kernel computes, by symbol."""

    @staticmethod
    def of(source: str) -> "Manifest":
        symbols = {int(match[1]): match[2] for match in _MANIFEST.finditer(source)}
        titles = {int(match[1]): match[2] for match in _TITLE.finditer(source)}
        ordered = tuple(symbols[i] for i in sorted(symbols))
        if sorted(symbols) != list(range(len(symbols))):
            return Manifest((), {})
        return Manifest(ordered, {symbols[i]: titles[i] for i in symbols if i in titles})


def host_pass_header() -> str:
    """The declarations that let a plain host compiler read CUTLASS."""
    return files("ucutlass.backend").joinpath("support", "host_pass.h").read_text(encoding="utf-8")


def target_flag(arch: str) -> str:
    """The one target of a build: real code for exactly this GPU."""
    number = arch.removeprefix("sm_")
    return f"-gencode=arch=compute_{number},code=sm_{number}"


def _includes(folders: Iterable[Path]) -> list[str]:
    return [word for folder in folders for word in ("-isystem", str(folder))]


def _nvcc(toolchain: Toolchain, arch: str, flags: Iterable[str]) -> list[str]:
    return [
        str(toolchain.nvcc),
        "-ccbin",
        str(toolchain.host_compiler),
        *OPTIMIZATION,
        "--expt-relaxed-constexpr",
        target_flag(arch),
        "-Xptxas=-v",
        *_includes(toolchain.cutlass),
        *flags,
    ]


def device_command(
    toolchain: Toolchain, arch: str, source: str, part: int, cubin: str, flags: Iterable[str] = ()
) -> list[str]:
    """One kernel to a cubin."""
    return [*_nvcc(toolchain, arch, flags), f"-DUCUTLASS_PART={part}", "-cubin", source, "-o", cubin]


def whole_command(toolchain: Toolchain, arch: str, source: str, library: str, flags: Iterable[str] = ()) -> list[str]:
    """Everything at once."""
    compiler = "-Xcompiler=-fPIC,-fvisibility=hidden"
    return [
        *_nvcc(toolchain, arch, flags), compiler, "-shared", source, "-o", library,
        f"-L{toolchain.cudart}", "-cudart=static",
    ]  # fmt: skip


def host_command(toolchain: Toolchain, source: str, header: str, result: str, flags: Iterable[str] = ()) -> list[str]:
    """The host side to an object file, without nvcc."""
    major, minor, build = toolchain.cuda_version
    return [
        str(toolchain.host_compiler),
        *OPTIMIZATION,
        "-w",
        # CUTLASS names a member like its type, which g++ refuses and nvcc's front end does not.
        "-fpermissive",
        "-fPIC",
        "-fvisibility=hidden",
        # CUTLASS asks for the version of nvcc where it means that of the toolkit.
        f"-D__CUDACC_VER_MAJOR__={major}",
        f"-D__CUDACC_VER_MINOR__={minor}",
        f"-D__CUDACC_VER_BUILD__={build}",
        "-include",
        header,
        *_includes((*toolchain.cutlass, *toolchain.cuda_includes)),
        *(flag for flag in flags if flag.startswith("-D")),
        "-x",
        "c++",
        "-c",
        source,
        "-o",
        result,
    ]


def link_command(toolchain: Toolchain, objects: Iterable[str], library: str) -> list[str]:
    """Host object and images to a library that needs neither CUDA's runtime library nor the driver's to load."""
    return [
        str(toolchain.host_compiler),
        "-shared",
        *objects,
        "-o",
        library,
        f"-L{toolchain.cudart}",
        "-lcudart_static",
        "-ldl",
        "-lrt",
        "-lpthread",
        "-Wl,--exclude-libs,ALL",
        "-Wl,-z,defs",
    ]


def image_assembly(symbols: Iterable[str], cubins: Iterable[str]) -> str:
    """Assembly that puts each cubin into the library as the array `SYMBOL_image`."""
    lines = ["    .section .rodata"]
    for symbol, cubin in zip(symbols, cubins, strict=True):
        name = f"{symbol}_image"
        lines += [
            "    .balign 64",
            f"    .globl {name}",
            f"    .hidden {name}",
            f"    .type {name}, @object",
            f"{name}:",
            f'    .incbin "{cubin}"',
            f"    .size {name}, . - {name}",
        ]
    return "\n".join([*lines, '    .section .note.GNU-stack,"",@progbits', ""])


@dataclass(frozen=True)
class Steps:
    """What nvcc would run for one cubin: shell lines, and the variables that they use."""

    variables: dict[str, str]
    lines: tuple[str, ...]


_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$")
_LISTING = re.compile(r'\s--gen_device_file_name\s+"[^"]*"')


def leaner_steps(dry_run: str) -> Steps | None:
    """nvcc's own steps for a cubin from its `--dryrun`, without the listing of all instantiated code.

    The front end writes that listing beside the code (98 MB for one gemm, a tenth of the whole time) and nothing reads
    it. None where the steps are not the three that are known: nvcc then runs as it is.
    """
    variables: dict[str, str] = {}
    lines: list[str] = []
    for line in dry_run.splitlines():
        if not line.startswith("#$ "):
            continue
        text = line.removeprefix("#$ ")
        if (match := _ASSIGNMENT.match(text)) is not None:
            variables[match[1]] = match[2].strip() if match[1] != "_SPACE_" else match[2]
        elif not text.startswith("rm "):
            lines.append(text)
    try:
        programs = [Path(shlex.split(line)[0]).name for line in lines]
    except (ValueError, IndexError):
        return None
    known = len(programs) == 3 and programs[1:] == ["cicc", "ptxas"] and " -E " in lines[0]
    if not known or len(_LISTING.findall(lines[1])) != 1:
        return None
    return Steps(variables, (lines[0], _LISTING.sub("", lines[1]), lines[2]))
