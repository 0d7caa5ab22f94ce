"""Makes the environment that the Makefile's targets run in, or leaves it alone when it is up to date.

Imports only the standard library: it runs on a bare interpreter. PyTorch is what the caller names, else what the
interpreter that runs this script has, else the pinned version, provided that pip would get a CPU build of it: a CUDA
build costs several gigabytes, so it is installed only beside an NVIDIA GPU or when named.
"""

import argparse
import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINIMUM_TORCH = (2, 6)
BORROW = "_ucutlass_borrowed.pth"
STAMP = "ucutlass-setup"
INPUTS = ("pyproject.toml", "setup.py", "constraints.txt")


class SetupError(Exception):
    """What is missing, and what to type."""


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None, requirement
    return canonical(found.group())


def constraints() -> dict[str, str]:
    """Pinned requirement by package name."""
    lines = (line.strip() for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    return {requirement_name(line): line for line in lines if line and not line.startswith("#")}


def borrowed_torch() -> str | None:
    """Version of the PyTorch that the running interpreter has, if it is new enough to use."""
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < MINIMUM_TORCH:
        say(f"{sys.executable} has PyTorch {version}, older than {'.'.join(map(str, MINIMUM_TORCH))}: not used")
        return None
    return version


def is_cuda_build(requires: list[str]) -> bool:
    """Whether a PyTorch with these dependencies brings CUDA libraries along on this machine."""
    for requirement in requires:
        name, _, marker = requirement.partition(";")
        if "extra ==" in marker or ('platform_machine == "x86_64"' in marker and platform.machine() != "x86_64"):
            continue
        if requirement_name(name).startswith(("nvidia-", "cuda-", "triton")):
            return True
    return False


def gpu_names() -> list[str]:
    """NVIDIA GPUs that the driver reports."""
    if shutil.which("nvidia-smi") is None:
        return []
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return [line for line in listing.stdout.splitlines() if line.startswith("GPU ")] if listing.returncode == 0 else []


class Environment:
    """The virtual environment, with what `pip` needs to know to fill it."""

    def __init__(self, folder: Path, wheels: Path | None) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.source = ["--no-index", "--find-links", str(wheels)] if wheels is not None else []

    def pip(self, *arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
        pip = (
            [str(self.python), "-m", "pip"]
            if self.has_pip()
            else [sys.executable, "-m", "pip", "--python", str(self.python)]
        )
        command = [*pip, "--disable-pip-version-check", *arguments, *self.source]
        return subprocess.run(command, check=False, text=True, capture_output=capture)

    def has_pip(self) -> bool:
        return (self.site_packages() / "pip").is_dir()

    def create(self) -> None:
        """Make it afresh; where the interpreter comes without ensurepip, as Debian's does, its own pip must do."""
        say(f"creating {self.folder} with Python {platform.python_version()} ({sys.executable})")
        venv.create(self.folder, clear=True, with_pip=find_spec("ensurepip") is not None)

    def site_packages(self) -> Path:
        return self.folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"

    def borrow(self) -> None:
        """Put the running interpreter's packages behind the environment's own.

        `--system-site-packages` would not do: made from a virtual environment, it shows the packages of the interpreter
        beneath that one.
        """
        paths = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        lines = "".join(f"import site; site.addsitedir({path!r})\n" for path in paths)
        (self.site_packages() / BORROW).write_text(lines, encoding="utf-8")

    def pinned_torch(self, pin: str) -> str:
        """The pin, once it is clear that installing it is what anybody wants."""
        report = self.pip("install", "-qq", "--dry-run", "--no-deps", "--report", "-", pin, capture=True)
        if report.returncode != 0:
            raise SetupError(f"pip finds no {pin}:\n{report.stderr.strip()}\n{HOW_TO_CHOOSE}")
        missing = json.loads(report.stdout)["install"]
        if not missing:
            return pin
        (found,) = missing
        version = found["metadata"]["version"]
        if not is_cuda_build(found["metadata"].get("requires_dist", [])):
            say(f"PyTorch: {version}, a CPU build, from {found['download_info']['url']}")
            return pin
        gpus = gpu_names()
        if gpus:
            say(f"PyTorch: {version}, a CUDA build of several gigabytes, because this machine has {gpus[0]}")
            return pin
        raise SetupError(
            f"{pin} would be a CUDA build of several gigabytes, and this machine shows no NVIDIA GPU\n{HOW_TO_CHOOSE}"
        )


HOW_TO_CHOOSE = """say which PyTorch to use, for example
  make … TORCH=path/to/torch-…+cpu-….whl   a wheel
  make … TORCH=torch==2.13.0               whatever pip gets for it, a CUDA build too
  make … PYTHON=path/to/python3            an interpreter that has PyTorch"""


@dataclass(frozen=True)
class Stamp:
    """What an environment was made from, kept inside it."""

    base: str
    """Digest of the interpreter and the choice of PyTorch: another one needs a new environment."""
    inputs: str
    """Digest of the files that say what to install: after a change pip brings the environment up to date."""
    extras: frozenset[str]

    @classmethod
    def wanted(cls, arguments: argparse.Namespace, borrowed: str | None) -> "Stamp":
        base = [sys.executable, sys.version, arguments.torch, str(arguments.wheels), str(borrowed), str(ROOT)]
        inputs = b"".join((ROOT / name).read_bytes() for name in INPUTS)
        extras = frozenset(arguments.extras.split(","))
        return cls(hashlib.sha256("\n".join(base).encode()).hexdigest(), hashlib.sha256(inputs).hexdigest(), extras)

    @classmethod
    def read(cls, folder: Path) -> "Stamp | None":
        try:
            base, inputs, *extras = (folder / STAMP).read_text(encoding="utf-8").split()
        except (FileNotFoundError, ValueError):
            return None
        return cls(base, inputs, frozenset(extras))

    def write(self, folder: Path) -> None:
        (folder / STAMP).write_text("\n".join([self.base, self.inputs, *sorted(self.extras)]) + "\n", encoding="utf-8")

    def covers(self, other: "Stamp") -> bool:
        present = {*self.extras, *(("torch", "agent") if "dev" in self.extras else ())}
        return (self.base, self.inputs) == (other.base, other.inputs) and other.extras <= present


def install(
    environment: Environment, arguments: argparse.Namespace, extras: frozenset[str], borrowed: str | None
) -> None:
    """Fill the environment; pip decides what is missing."""
    pins = constraints()
    wanted: list[str] = []
    if arguments.torch:
        say(f"PyTorch: {arguments.torch}, as asked")
        wanted = [arguments.torch]
        del pins["torch"]
    elif borrowed is not None:
        say(f"PyTorch: {borrowed}, which {sys.executable} has; its other packages are used too")
        environment.borrow()
        pins = {name: pin for name, pin in pins.items() if not has(name)}
    else:
        wanted = [environment.pinned_torch(pins["torch"])]
    file = environment.folder / "constraints.txt"
    file.write_text("".join(f"{pin}\n" for pin in pins.values()), encoding="utf-8")
    # The build requirements come first and in the open, so that the build needs no network of its own.
    builder = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    project = ["--no-build-isolation", "--editable", f"{ROOT}[{','.join(sorted(extras))}]"]
    for step in (builder, [*wanted, *project]):
        if environment.pip("install", "-qq", "--constraint", str(file), *step).returncode != 0:
            raise SetupError(f"pip could not install {' '.join(step)}: see above")


def precompile(python: Path) -> None:
    """Bytecode of our own folders, as pip makes it of what it installs.

    Where Python is told to write none, every start of a tool would compile all sources, and take twice as long.
    """
    folders = [name for name in ("ucutlass", "tools", "agent") if (ROOT / name).is_dir()]
    subprocess.run([str(python), "-m", "compileall", "-q", *folders], cwd=ROOT, check=False)


def has(name: str) -> bool:
    """Whether the running interpreter has that package."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def download(folder: Path, python: str, without: set[str]) -> None:
    """Fetch the wheels that `WHEELS=folder` needs on a machine without a network and with PyTorch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    machine = platform.machine()
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in (17, 24, 27, 28)] + [f"manylinux2014_{machine}"]
    target = ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
    target += [word for name in platforms for word in ("--platform", name)]
    command = [sys.executable, "-m", "pip", "download", "-qq", "--dest", str(folder), *target]
    done = subprocess.run([*command, "--constraint", str(ROOT / "constraints.txt"), *wanted], check=False)
    if done.returncode != 0:
        raise SetupError(f"pip could not download the wheels for Python {python}: see above")
    for wheel in sorted(folder.glob("*.whl")):
        if canonical(wheel.name.split("-")[0]) in without:
            wheel.unlink()
    size = sum(wheel.stat().st_size for wheel in folder.glob("*.whl"))
    say(f"{len(list(folder.glob('*.whl')))} wheels, {size / 2**20:.0f} MiB, in {folder}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="folder of the environment")
    parser.add_argument("--extras", default="torch", help="extras of pyproject.toml, with commas")
    parser.add_argument("--torch", default="", help="requirement or wheel to use as PyTorch")
    parser.add_argument(
        "--wheels", type=Path, default=None, help="take every package from this folder, none from an index"
    )
    parser.add_argument(
        "--download", metavar="PYTHON", help="only fill the folder of --wheels for that version of Python"
    )
    parser.add_argument("--without", default="", help="packages that --download leaves out, with commas")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    if arguments.download:
        download(arguments.wheels, arguments.download, {canonical(name) for name in arguments.without.split(",")})
        return 0
    borrowed = None if arguments.torch else borrowed_torch()
    wanted, found = Stamp.wanted(arguments, borrowed), Stamp.read(arguments.venv)
    environment = Environment(arguments.venv, arguments.wheels)
    if found is not None and found.covers(wanted):
        precompile(environment.python)
        return 0
    if found is None and environment.python.exists():
        say(f"using {arguments.venv}, which somebody made by hand")
    elif found is None or found.base != wanted.base:
        environment.create()
    install(environment, arguments, wanted.extras, borrowed)
    precompile(environment.python)
    wanted.write(arguments.venv)
    say(f"{arguments.venv} is ready ({', '.join(sorted(wanted.extras))})")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        sys.exit(f"setup: {error}")
