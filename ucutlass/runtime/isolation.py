"""Work on a device in a process of its own, watched: what it does to itself or to the device ends with it.

Imports leaves only. The process is started afresh, not forked, since a CUDA context does not survive a fork. It tells
what it does as it goes along, so that whoever waits learns at what point it died or fell silent.
"""

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, Literal, TypeVar

from ucutlass.errors import MachineError

T = TypeVar("T")

Work = Callable[[Callable[[T], None]], None]
"""Does the work and tells what it finds; it is sent to the process, so it is a function of a module, or a `partial`."""

_RAISED = 1
"""Exit code of a process that an exception has ended; Python has written it to stderr."""

_LEAVING = 30.0
"""Seconds that a process gets to leave after its last word."""


@dataclass(frozen=True)
class End:
    """How the process ended."""

    kind: Literal["done", "died", "silent", "raised", "machine"]
    """`died` by a signal or by exiting on its own, `silent` past the deadline, `raised` an exception, or what it needs
    of the machine is not there."""
    detail: str = ""
    code: str = ""
    """Of a `MachineError`."""


@dataclass(frozen=True)
class _Told(Generic[T]):
    value: T


def run_isolated(work: "Work[T]", listen: Callable[[T], None], silence: float) -> End:
    """Run the work in a process; stop it when it has told nothing for `silence` seconds."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(work, sender), daemon=True)
    process.start()
    sender.close()
    try:
        while receiver.poll(silence):
            try:
                message = receiver.recv()
            except EOFError:
                process.join()
                return _exited(process.exitcode)
            if isinstance(message, End):
                process.join(_LEAVING)
                return message
            listen(message.value)
        return End("silent", f"it told nothing for {silence:g} s")
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        receiver.close()


def _main(work: "Work[T]", sender: Connection) -> None:
    """What the process does."""
    try:
        work(lambda value: sender.send(_Told(value)))
        end = End("done")
    except MachineError as error:
        end = End("machine", str(error), error.code)
    sender.send(end)


def _exited(exit_code: int | None) -> End:
    if exit_code == _RAISED:
        return End("raised", "an exception ended the process")
    if exit_code is not None and exit_code < 0:
        return End("died", f"the process was ended by signal {-exit_code}")
    return End("died", f"the process ended by itself with exit code {exit_code}")
