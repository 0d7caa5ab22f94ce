"""Writing what the tools make: a file is there as a whole or not at all.

Imports only the standard library and the leaves.
"""

import os
import sys
from contextlib import suppress

from ucutlass_tools._main import NO_SPACE

from ucutlass.errors import MachineError, UsageError


def write_output(path: str | None, text: str) -> None:
    """Writes a text to a file, to stdout for None and `-`. Raises UsageError or MachineError."""
    if path in (None, "-"):
        if sys.stdout is None:  # `>&-`
            raise UsageError("cannot write to stdout: it is closed", "UC0011")
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str, data: bytes) -> None:
    """Writes a file. Raises UsageError or MachineError."""
    try:
        _write_file(path, data)
    except OSError as error:
        raise _failure(path, error) from error


def _write_file(path: str, data: bytes) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:  # a device or a pipe cannot be replaced
            file.write(data)
        return
    import tempfile  # brings the archive and random modules along

    # The link stays a link, and the file keeps its permissions.
    path = os.path.realpath(path)
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".ucutlass-", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def make_folder(path: str) -> None:
    """Makes a folder, unless it is there. Raises UsageError or MachineError."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise _failure(path, error) from error


def _failure(path: str, error: OSError) -> UsageError | MachineError:
    message = f"cannot write {path!r}: {error.strerror or error}"
    return MachineError(message, "UC0011") if error.errno in NO_SPACE else UsageError(message, "UC0011")
