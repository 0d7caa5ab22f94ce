"""Keeps what was built, by content: each distinct kernel is compiled once, ever, however many processes ask for it.

Imports leaves only. An entry is a folder named after its key and appears by one rename, so it is whole or not there.
Builders of one key wait for each other on a lock that the kernel of the system drops with its holder: a build that was
killed never blocks a later one. Where a file system has no locks, or a lock stays held for longer than any build takes,
the worst is that two build the same.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ucutlass.runtime.failures import BuildMachineError
from ucutlass.runtime.json_data import Object, as_object

FORMAT = 1
"""Changes whenever an entry's contents do."""

METADATA = "meta.json"

_ABANDONED_SECONDS = 24 * 3600.0
"""After so long a scratch folder belongs to nobody: its build was killed."""


def default_cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """UCUTLASS_CACHE_DIR, else `ucutlass` in the user's cache folder."""
    env = os.environ if environment is None else environment
    if env.get("UCUTLASS_CACHE_DIR"):
        return Path(env["UCUTLASS_CACHE_DIR"]).expanduser().absolute()
    base = Path(env["XDG_CACHE_HOME"]) if env.get("XDG_CACHE_HOME") else Path("~/.cache").expanduser()
    return base.absolute() / "ucutlass"


def content_key(parts: Mapping[str, object]) -> str:
    """The key of everything that decides a result; `parts` must be plain JSON."""
    text = json.dumps({"format": FORMAT, **parts}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """One finished build."""

    folder: Path
    metadata: Object

    def file(self, name: str) -> Path:
        return self.folder / name


@dataclass(frozen=True)
class Cache:
    """A folder of finished builds."""

    folder: Path
    patience: float = 1800.0
    """Seconds to wait for somebody else's build of the same key before building it, too."""

    @staticmethod
    def default() -> "Cache":
        return Cache(default_cache_folder())

    def find(self, key: str) -> Entry | None:
        """The entry of a key; one that is damaged is removed and counts as absent."""
        folder = self._entry_folder(key)
        try:
            metadata = as_object(json.loads((folder / METADATA).read_text(encoding="utf-8")))
            files = as_object(metadata["files"])
            whole = all((folder / name).stat().st_size == size for name, size in files.items())
        except FileNotFoundError:
            whole, metadata = not folder.exists(), None
        except (OSError, ValueError, KeyError, TypeError):
            whole, metadata = False, None
        if not whole:
            self._discard(folder)
            return None
        return Entry(folder, metadata) if metadata is not None else None

    def get_or_build(self, key: str, build: Callable[[Path], dict[str, object]]) -> tuple[Entry, bool]:
        """The entry of a key, and whether it was there already.

        `build` fills an empty folder and returns metadata; every file that it leaves there is kept.
        """
        entry = self.find(key)
        if entry is not None:
            return entry, True
        with self._lock(key):
            entry = self.find(key)
            if entry is not None:
                return entry, True
            return self._build(key, build), False

    def _build(self, key: str, build: Callable[[Path], dict[str, object]]) -> Entry:
        scratch = self._scratch_folder(key)
        try:
            metadata = build(scratch)
            files = {str(p.relative_to(scratch)): p.stat().st_size for p in sorted(scratch.rglob("*")) if p.is_file()}
            text = json.dumps({**metadata, "files": files}, indent=2)
            with _writing(scratch):
                (scratch / METADATA).write_text(text, encoding="utf-8")
            self._publish(scratch, self._entry_folder(key))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        entry = self.find(key)
        if entry is None:
            raise BuildMachineError("UC0808", f"{self._entry_folder(key)} vanished while it was written")
        return entry

    def _publish(self, scratch: Path, target: Path) -> None:
        with _writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                scratch.rename(target)
            except OSError as error:
                # Somebody without locks was faster; the same key means the same content.
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise

    def _entry_folder(self, key: str) -> Path:
        return self.folder / "kernels" / key[:2] / key[2:]

    def _scratch_folder(self, key: str) -> Path:
        scratch = self.folder / "scratch"
        with _writing(scratch):
            scratch.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(scratch)
            mine = scratch / f"{key[:16]}-{os.getpid()}-{os.urandom(4).hex()}"
            mine.mkdir()
        return mine

    def _discard(self, folder: Path) -> None:
        # Renamed first, so that nobody meets a half-removed entry.
        doomed = folder.with_name(f"{folder.name}.removed-{os.getpid()}-{os.urandom(4).hex()}")
        with contextlib.suppress(OSError):
            folder.rename(doomed)
            shutil.rmtree(doomed, ignore_errors=True)

    @contextlib.contextmanager
    def _lock(self, key: str) -> Generator[None]:
        """Held while a key is built, where the system and the file system have locks."""
        try:
            import fcntl  # not on every system
        except ImportError:
            yield
            return
        path = self.folder / "locks" / f"{key}.lock"
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not inherited by compilers: they may outlive us, the lock may not.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            self._wait(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
            yield
        finally:
            os.close(descriptor)

    def _wait(self, lock: Callable[[], None]) -> None:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                lock()
                return
            except BlockingIOError:
                # A forked process may hold a copy of the lock long after the build; that is not worth waiting for.
                if time.monotonic() > deadline:
                    return
                time.sleep(0.1)
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                    raise
                return


@contextlib.contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise BuildMachineError(
            "UC0808",
            f"the kernel cache cannot be written: {path}: {error.strerror}",
            ["name another folder with --cache-dir or the variable UCUTLASS_CACHE_DIR"],
        ) from error


def _remove_abandoned(scratch: Path) -> None:
    now = time.time()
    for folder in scratch.iterdir():
        with contextlib.suppress(OSError):  # its owner may be removing it
            if now - folder.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
