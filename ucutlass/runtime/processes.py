"""Runs compilers: with a time limit, as many at once as cores and memory allow, and with an account of how they ended.

Imports leaves only. A compiler runs in a process group of its own, so that stopping it stops what it started.
"""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

GIB = 1 << 30

DEVICE_MEMORY = 4 * GIB
"""What nvcc's device front end may need for one kernel: 3.6 to 3.8 GiB measured with CUDA 13.0 on sm_90a gemms."""
HOST_MEMORY = 1 * GIB
"""What the host compiler may need: 0.64 GiB measured with g++ 12."""

_CHILD_KILLED = re.compile(r"died due to signal (\d+)|Killed signal terminated program|signal (\d+) \(Kill")


@dataclass(frozen=True)
class Finished:
    """A compiler that has ended."""

    command: tuple[str, ...]
    returncode: int
    """As Python has it: negative for a signal."""
    output: str
    """stdout and stderr as they came."""
    seconds: float
    timed_out: bool = False

    @property
    def signal(self) -> int | None:
        """The signal that ended it or a process that it had started."""
        if self.timed_out:
            return None
        if self.returncode < 0:
            return -self.returncode
        match = _CHILD_KILLED.search(self.output)
        if match is not None and self.returncode != 0:
            return int(match[1] or match[2] or signal.SIGKILL)
        # A shell between us and the compiler reports a signal so.
        return self.returncode - 128 if self.returncode in (128 + signal.SIGKILL, 128 + signal.SIGTERM) else None


def signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def run(command: Sequence[str], *, folder: Path, environment: Mapping[str, str], timeout: float) -> Finished:
    """Runs a command to its end; after `timeout` seconds it is stopped. Raises OSError where it cannot start."""
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    timed_out = False
    try:
        output, _ = process.communicate(timeout=max(timeout, 0.0))
    except subprocess.TimeoutExpired:
        timed_out = True
        _stop(process)
        output = _rest(process)
    except BaseException:
        _stop(process)
        process.wait()
        raise
    text = output.decode("utf-8", errors="replace")
    return Finished(tuple(command), process.returncode, text, time.monotonic() - start, timed_out)


def _rest(process: "subprocess.Popen[bytes]") -> bytes:
    """What a stopped process has said; whoever left its group and holds the pipe is not waited for."""
    try:
        output, _ = process.communicate(timeout=10.0)
    except subprocess.TimeoutExpired as late:
        return late.output or b""
    return output


def _stop(process: "subprocess.Popen[bytes]") -> None:
    # The group may have ended by itself between the look and the kill.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class Slots:
    """Room for compilers: so many cores, and so much memory among those that run. One always runs."""

    def __init__(self, jobs: int | None = None, memory: int | None = None) -> None:
        self.jobs = usable_cores() if jobs is None else jobs
        """How many run at once."""
        self.memory = free_memory() if memory is None else memory
        if self.jobs < 1:
            raise ValueError(f"{self.jobs} jobs cannot build anything; give 1 or more")
        self._running = 0
        self._reserved = 0
        self._changed = threading.Condition()

    @property
    def device_jobs(self) -> int:
        """How many kernels can be compiled at once."""
        return max(1, min(self.jobs, self.memory // DEVICE_MEMORY))

    @contextlib.contextmanager
    def reserve(self, memory: int) -> Generator[None]:
        """Waits until there is room."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._running == 0 or (self._running < self.jobs and self._reserved + memory <= self.memory)
            )
            self._running += 1
            self._reserved += memory
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._reserved -= memory
                self._changed.notify_all()


def usable_cores() -> int:
    """Cores that this process may run on, no more than its control group grants."""
    cores = len(os.sched_getaffinity(0))
    quota = _read_words("/sys/fs/cgroup/cpu.max")
    if len(quota) == 2 and quota[0].isdecimal() and quota[1].isdecimal() and int(quota[1]) > 0:
        cores = min(cores, max(1, int(quota[0]) // int(quota[1])))
    return cores


def free_memory() -> int:
    """Bytes that are free for new processes: the machine's, or what the control group leaves."""
    free = 8 * GIB
    for line in _read_lines("/proc/meminfo"):
        words = line.split()
        if words[:1] == ["MemAvailable:"] and len(words) >= 2:
            free = int(words[1]) * 1024
    limit, used = _read_words("/sys/fs/cgroup/memory.max"), _read_words("/sys/fs/cgroup/memory.current")
    if limit and used and limit[0].isdecimal() and used[0].isdecimal():
        # File cache counts as used but gives way.
        inactive = [line.split() for line in _read_lines("/sys/fs/cgroup/memory.stat")]
        reclaimable = sum(int(words[1]) for words in inactive if words[:1] == ["inactive_file"])
        free = min(free, int(limit[0]) - int(used[0]) + reclaimable)
    return max(free, 0)


def _read_lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()
    except OSError:
        return []


def _read_words(path: str) -> list[str]:
    lines = _read_lines(path)
    return lines[0].split() if lines else []
