"""The tour of `make demo`: one program from its ten lines to a measured kernel, as far as this machine goes.

Imports only the standard library and runs the tools as a person would. A tool that exits with 3 says that the machine
lacks something (nvcc, a GPU); then the tour goes on without it.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PROGRAM = Path("examples/linear_gelu.ucu")
OUTPUT = Path(".demo")
MACHINE_LACKS = 3


def show(title: str) -> None:
    print(f"\n=== {title}", flush=True)


def tool(name: str, *arguments: str, to: Path | None = None, may_lack: bool = False) -> bool:
    """Run a tool; whether the machine had all that it needs. Anything else that goes wrong ends the tour."""
    command = [name, *arguments]
    print(f"$ {' '.join(command)}{f' > {to}' if to is not None else ''}", flush=True)
    executable = [str(BIN / name), *arguments]
    if to is None:
        code = subprocess.run(executable, cwd=ROOT, check=False).returncode
    else:
        with (ROOT / to).open("w", encoding="utf-8") as file:
            code = subprocess.run(executable, cwd=ROOT, check=False, stdout=file).returncode
    if code == 0:
        return True
    if code == MACHINE_LACKS and may_lack:
        return False
    sys.exit(f"demo: {name} failed with exit code {code}: see above")


def excerpt(file: Path, marker: str, lines: int) -> None:
    """The part of a file that starts where the marker stands."""
    text = (ROOT / file).read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(text) if marker in line), 0)
    print("\n".join(text[start : start + lines]))
    print(f"… {len(text)} lines in {file}")


def main() -> None:
    (ROOT / OUTPUT).mkdir(exist_ok=True)
    program = str(PROGRAM)
    show("the program")
    print((ROOT / PROGRAM).read_text(encoding="utf-8"), end="")
    show("as MLIR")
    mlir = OUTPUT / f"{PROGRAM.stem}.mlir"
    tool("ucutlass-translate", "--to=mlir", program, to=mlir)
    excerpt(mlir, "", 12)
    show("as CUDA C++")
    cuda = OUTPUT / f"{PROGRAM.stem}.cu"
    tool("ucutlass-translate", "--to=cuda", program, to=cuda)
    excerpt(cuda, "using ", 12)
    show("compile")
    compiled = tool("ucutlass-compile", program, may_lack=True)
    if not compiled:
        print("This machine has no nvcc: not compiled. `make demo EXTRAS=cuda` installs one.")
    show("run")
    if compiled and tool("ucutlass-run", program, may_lack=True):
        show("profile")
        tool("ucutlass-profile", program)
    else:
        print("There is no GPU to run on: the program is interpreted on the CPU instead.")
        tool("ucutlass-run", program, "--interpret")
    show("the speed of light")
    tool("ucutlass-sol", program, "--gpu", "h200")


if __name__ == "__main__":
    main()
