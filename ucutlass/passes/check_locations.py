"""`check-locations`: refuses a module in which an operation has lost its place in the source.

Accepts any module and changes nothing. Diagnostics, the ledger and the comments of emitted code all stand on locations,
and xDSL's rewriting drops them silently, so tests of passes end with this one.

    ucutlass-opt -p infer,check-locations program.ucu
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ucutlass.passes._common import is_located


@dataclass(frozen=True)
class CheckLocationsPass(ModulePass):
    """Refuse operations without a location."""

    name = "check-locations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lost = [inner.name for inner in op.walk() if inner is not op and not is_located(inner)]
        if lost:
            raise PassFailedException(
                f"{len(lost)} operations have no location, the first is {lost[0]}: the pass that made it must "
                "copy one, as ucutlass/passes/_common.py does"
            )
