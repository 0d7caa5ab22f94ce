"""Text to IR to text and back: nothing is lost, and what is printed is a fixed point."""

from frontend_programs import programs
from frontend_reading import mlir, read
from hypothesis import HealthCheck, Phase, given, settings

from ucutlass.frontend.print_ucu import print_ucu

PROPERTY = settings(
    max_examples=60,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@PROPERTY
@given(programs())
def test_language_to_ir_to_language(text: str) -> None:
    module = read(text, "ucu")
    printed = print_ucu(module)
    again = read(printed, "ucu")
    assert mlir(again) == mlir(module), printed
    assert print_ucu(again) == printed


@PROPERTY
@given(programs())
def test_language_to_mlir_to_language(text: str) -> None:
    module = read(text, "ucu")
    by_text = read(mlir(module), "mlir")
    assert mlir(by_text) == mlir(module)
    assert print_ucu(by_text) == print_ucu(module)


@PROPERTY
@given(programs())
def test_generic_form(text: str) -> None:
    module = read(text, "ucu")
    assert mlir(read(mlir(module, generic=True), "mlir")) == mlir(module)
