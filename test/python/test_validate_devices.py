"""Validation computes where the tensors lie: no tensor of another device slips in, which a GPU would refuse.

There is no GPU here, but PyTorch's fake tensors know devices without having them. Questions that only values could
answer get an answer that leads through the longer branch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
from interpreting import inferred
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from validating import RIGHT

from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.interpreter.bindings import Signature
from ucutlass.interpreter.storage import in_layout, storage_dtype
from ucutlass.runtime.validation.compare import compare
from ucutlass.runtime.validation.expected import expected_results
from ucutlass.runtime.validation.memory import content_hash, guarded_like, guarded_result
from ucutlass.runtime.validation.propagate import Propagation

ANSWERS: Mapping[str, object] = {"__bool__": True, "__float__": 1.0, "item": 1.0, "__int__": 1, "__index__": 1}


class Answering(TorchFunctionMode):
    """Answers what a fake tensor cannot know."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        name = getattr(func, "__name__", "")
        return ANSWERS[name] if name in ANSWERS else func(*args, **(kwargs or {}))


def no_generator(self: Propagation, like: Tensor, number: int) -> Tensor:
    """Fake devices draw no random numbers."""
    return torch.ones_like(like)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_everything_stays_on_the_device_of_the_inputs(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Propagation, "_sign", no_generator)
    kernel = kernels_of(inferred(source))[0]
    with FakeTensorMode(), Answering():
        inputs = [
            in_layout(
                torch.empty([d.value for d in type_.dims], dtype=storage_dtype(torch, type_.element), device="meta"),
                type_.order,
            )
            for _, type_ in Signature.of(kernel).arguments
        ]
        for wanted in expected_results(kernel, inputs):
            assert wanted.value.device.type == wanted.error.device.type == "meta"
            result = guarded_result(wanted.type, wanted.shape, "meta")
            result.poison(3)
            assert result.unwritten(3).device.type == "meta"
            assert guarded_like(result.tensor, wanted.type.order).buffer.device.type == "meta"
            content_hash(result.tensor)
            assert compare(result.tensor, wanted).elements == result.tensor.numel()


def test_a_tensor_of_another_device_would_be_noticed() -> None:
    with FakeTensorMode(), pytest.raises(RuntimeError, match="device"):
        torch.add(torch.empty(3, device="meta"), torch.empty(3))
