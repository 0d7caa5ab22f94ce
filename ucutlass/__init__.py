"""μCUTLASS: GPU kernels in ten lines, compiled through CUTLASS.

Imports only the standard library: the names below load their modules at first use, so that `import ucutlass` costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ucutlass.runtime import compile, kernel

__version__ = "0.1.0"

__all__ = ["__version__", "compile", "kernel"]

_LAZY = {"compile": "ucutlass.runtime", "kernel": "ucutlass.runtime"}


def __getattr__(name: str) -> object:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
