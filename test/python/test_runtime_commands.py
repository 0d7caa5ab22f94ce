"""Command lines of a build, as far as they can be judged without nvcc."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from ucutlass.runtime.commands import Manifest, image_assembly, leaner_steps, target_flag

DRY_RUN = """#$ _SPACE_=
#$ TOP=/opt/cuda/bin/..
#$ CICC_PATH=/opt/cuda/bin/../nvvm/bin
#$ PATH=/opt/cuda/bin:/bin
#$ INCLUDES="-I/opt/cuda/include"
#$ "/usr/bin"/g++ -std=c++17 -D__CUDA_ARCH__=900 -E -x c++ "a.cu" -o "/t/a.ii"
#$ "$CICC_PATH/cicc" --c++17 --stub_file_name "/t/a.c" --gen_device_file_name "/t/a.gpu"  "/t/a.ii" -o "/t/a.ptx"
#$ ptxas -arch=sm_90a -m64 -v "/t/a.ptx" -o "a.cubin"
"""


def test_the_steps_lose_the_listing_and_nothing_else() -> None:
    steps = leaner_steps(DRY_RUN)
    assert steps is not None
    assert steps.variables["CICC_PATH"] == "/opt/cuda/bin/../nvvm/bin"
    assert steps.variables["PATH"] == "/opt/cuda/bin:/bin"
    assert steps.lines == (
        '"/usr/bin"/g++ -std=c++17 -D__CUDA_ARCH__=900 -E -x c++ "a.cu" -o "/t/a.ii"',
        '"$CICC_PATH/cicc" --c++17 --stub_file_name "/t/a.c"  "/t/a.ii" -o "/t/a.ptx"',
        'ptxas -arch=sm_90a -m64 -v "/t/a.ptx" -o "a.cubin"',
    )


@pytest.mark.parametrize(
    "changed",
    [
        "",
        DRY_RUN.replace(' --gen_device_file_name "/t/a.gpu"', ""),
        DRY_RUN.replace("/cicc", "/newfrontend"),
        DRY_RUN + '#$ fatbinary "a.cubin"\n',
        DRY_RUN.replace('-o "a.cubin"', '-o "a.cubin'),
    ],
)
def test_steps_that_are_not_known_are_left_to_nvcc(changed: str) -> None:
    assert leaner_steps(changed) is None


@pytest.mark.parametrize(("arch", "flag"), [
    ("sm_90a", "-gencode=arch=compute_90a,code=sm_90a"),
    ("sm_80", "-gencode=arch=compute_80,code=sm_80"),
    ("sm_120a", "-gencode=arch=compute_120a,code=sm_120a"),
])  # fmt: skip
def test_target(arch: str, flag: str) -> None:
    assert target_flag(arch) == flag


def test_manifest() -> None:
    listed = "// kernel 1: b\n// kernel 0: a\n\n"
    source = listed + "// ---- kernel 0: y = relu(x) ---------\nint x;\n// ---- kernel 1: z = -y ----\n"
    assert Manifest.of(source) == Manifest(("a", "b"), {"a": "y = relu(x)", "b": "z = -y"})
    assert Manifest.of("// kernel 1: b\n") == Manifest((), {}), "a list with gaps is no list"
    assert Manifest.of("int x;") == Manifest((), {})


def test_images_in_a_library(tmp_path: Path) -> None:
    """The bytes of each file are what the library holds under its symbol."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    contents = {"first": bytes(range(256)) * 3, "second": b"\x7fELF and more"}
    for symbol, content in contents.items():
        (tmp_path / f"{symbol}.cubin").write_bytes(content)
    (tmp_path / "images.S").write_text(image_assembly(contents, [f"{symbol}.cubin" for symbol in contents]))
    (tmp_path / "get.cpp").write_text(
        'extern "C" { extern unsigned char const first_image[]; extern unsigned char const second_image[];\n'
        "void const* first() { return first_image; } void const* second() { return second_image; } }\n"
    )
    subprocess.run([compiler, "-shared", "-fPIC", "get.cpp", "images.S", "-o", "x.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "x.so"))
    for symbol, content in contents.items():
        function = library[symbol]
        function.restype = ctypes.c_void_p
        assert ctypes.string_at(function(), len(content)) == content
        assert function() % 64 == 0
