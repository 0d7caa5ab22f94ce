"""What plain `xdsl-opt` sees of this package: the dialects, passes and targets of the registry as an xDSL universe.

Imports the registry only. The own frontend for MLIR text is left out: `xdsl-opt` has one, and refuses a second.
"""

from xdsl.universe import Universe

from ucutlass.registry import DIALECTS, FRONTENDS, PASSES, TARGETS

_XDSL_HAS = {"mlir"}

UNIVERSE = Universe(
    all_dialects={name: entry.load for name, entry in DIALECTS.items()},
    all_passes={name: entry.load for name, entry in PASSES.items()},
    all_targets={name: entry.load for name, entry in TARGETS.items() if name not in _XDSL_HAS},
    all_frontends={name: entry.load for name, entry in FRONTENDS.items() if name not in _XDSL_HAS},
)
