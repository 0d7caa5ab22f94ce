"""Pipelines are read as the registry says, and rewriting keeps the places and names that xDSL would drop."""

import pytest
from keeps_meaning import new_context, read_source
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, ModuleOp, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.errors import UsageError
from ucutlass.passes._common import fused_location, replace
from ucutlass.passes.check_locations import CheckLocationsPass
from ucutlass.passes.infer import InferPass
from ucutlass.passes.pipelines import passes_of
from ucutlass.registry import PIPELINES

PROGRAM = "kernel k(x: f16[8, 64]) -> f16[8, 64] {\n  y_1 = relu(x)\n  return y_1 * 2\n}"


def inferred() -> ModuleOp:
    ctx = new_context()
    module = read_source(ctx, PROGRAM)
    InferPass().apply(ctx, module)
    return module


def only(module: ModuleOp, name: str) -> Operation:
    (found,) = [op for op in module.walk() if op.name == f"ucutlass.{name}"]
    return found


# Pipelines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PIPELINES)
def test_named_pipelines_are_written_out(name: str) -> None:
    expected = (*PIPELINES[name].passes, "check-locations")
    assert tuple(p.name for p in passes_of(f"{name},check-locations")) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("infre", "unknown pass 'infre': did you mean 'infer'"),
        ("verify{x=1}", "pipeline 'verify' takes no options"),
        ("infer{x=1}", "pass 'infer': "),
        ("infer{", "'infer{' is not a pipeline"),
    ],
)
def test_what_is_no_pipeline(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        passes_of(text)
    assert message in str(caught.value)


# Rewriting -----------------------------------------------------------------------------------------------------------


def test_replacing_keeps_place_and_name() -> None:
    module = inferred()
    relu = only(module, "relu")
    place, type_ = relu.location, relu.results[0].type
    gelu = OPERATIONS["gelu"].build(operands=[relu.operands[0]], result_types=[type_])
    silu = OPERATIONS["silu"].build(operands=[gelu.results[0]], result_types=[type_])
    replace(relu, [gelu, silu])
    module.verify()
    assert gelu.location == silu.location == place != UnknownLoc()
    assert (gelu.results[0].name_hint, silu.results[0].name_hint) == (None, "y_1")
    assert only(module, "mul").operands[0] is silu.results[0]
    CheckLocationsPass().apply(new_context(), module)


def test_replacing_by_a_value_keeps_its_name() -> None:
    module = inferred()
    relu = only(module, "relu")
    replace(relu, [], [relu.operands[0]])
    assert only(module, "mul").operands[0].name_hint == "x"


def test_places_of_several_operations() -> None:
    module = inferred()
    relu, mul = only(module, "relu"), only(module, "mul")
    new = OPERATIONS["relu"].build(operands=[relu.operands[0]], result_types=[relu.results[0].type])
    assert fused_location([new]) == UnknownLoc()
    assert fused_location([new, relu, relu]) == relu.location
    both = fused_location([relu, mul])
    assert both == FusedLoc((relu.location, mul.location), NoneAttr())


def test_a_lost_place_is_refused() -> None:
    module = inferred()
    mul = only(module, "mul")
    mul.location = UnknownLoc()
    with pytest.raises(PassFailedException, match=r"1 operations have no location, the first is ucutlass.mul"):
        CheckLocationsPass().apply(new_context(), module)
    mul.location = FileLineColLoc(StringAttr("f"), IntAttr(1), IntAttr(1))
    CheckLocationsPass().apply(new_context(), module)
