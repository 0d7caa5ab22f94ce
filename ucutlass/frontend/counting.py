"""How many values an operation gives whose value is a list: the one question of the frontend that needs types.

Imports the dialect. Types are worked out only in a kernel that has such an operation, and only up to it; the IR keeps
`!ucutlass.unresolved` for `infer` to replace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ucutlass.dialects.ucutlass.base import UcuOp, param_from_attribute
from ucutlass.dialects.ucutlass.spec import Call, OpSpec, ParamValue, TypingError
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.dims import Facts

_Operand = SSAValue | tuple[SSAValue, ...] | None


@dataclass(frozen=True)
class Untypable:
    """An operation that has no type, and why."""

    op: Operation
    error: TypingError


@dataclass
class LocalTypes:
    """The types of a block's values, as far as they were asked for."""

    block: Block
    facts: Facts
    failures: list[Untypable] = field(default_factory=list[Untypable])
    _types: dict[SSAValue, TensorType | NumberType] = field(default_factory=dict[SSAValue, TensorType | NumberType])
    _last: Operation | None = None

    def count(
        self, spec: OpSpec, operands: Mapping[str, _Operand], properties: Mapping[str, Attribute]
    ) -> int | TypingError | None:
        """How many results an operation would have at the end of the block; None where an operand has no type."""
        self._catch_up()
        params: dict[str, ParamValue] = {}
        for param in spec.params:
            attribute = properties.get(param.name)
            params[param.name] = (
                param_from_attribute(param, attribute) if attribute is not None else cast(ParamValue, param.default)
            )
        call = self._call(spec, operands, params)
        if call is None:
            return None
        try:
            return len(spec.infer(call))
        except TypingError as error:
            return error

    def _catch_up(self) -> None:
        op = self.block.first_op if self._last is None else self._last.next_op
        while op is not None:
            self._last = op
            if isinstance(op, UcuOp):
                call = self._call(op.spec, op.operand_values(), op.params())
                try:
                    types: Sequence[TensorType] = op.spec.infer(call) if call is not None else ()
                except TypingError as error:
                    self.failures.append(Untypable(op, error))
                    types = ()
                self._types.update(zip(op.results, types, strict=False))
            op = op.next_op

    def _call(self, spec: OpSpec, operands: Mapping[str, _Operand], params: Mapping[str, ParamValue]) -> Call | None:
        types: dict[str, TensorType | NumberType | tuple[TensorType, ...] | None] = {}
        for name, operand in operands.items():
            if operand is None:
                types[name] = None
            elif isinstance(operand, tuple):
                members = [self._type(value) for value in operand]
                tensors = tuple(type_ for type_ in members if isinstance(type_, TensorType))
                if len(tensors) != len(members):
                    return None
                types[name] = tensors
            else:
                type_ = self._type(operand)
                if type_ is None:
                    return None
                types[name] = type_
        return Call(spec, types, params, self.facts)

    def _type(self, value: SSAValue) -> TensorType | NumberType | None:
        known = self._types.get(value)
        if known is not None:
            return known
        return value.type if isinstance(value.type, TensorType | NumberType) else None
