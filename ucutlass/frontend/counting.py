"""How many values an operation gives whose value is a list: the one question of the frontend that needs types.

Imports the dialect. Types are worked out on a copy of the kernel, only where it has such an operation and only up to
there; in the kernel itself they stay `!ucutlass.unresolved`, for `infer` to replace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.spec import OpSpec, TypingError
from ucutlass.dims import Facts
from ucutlass.records import record


@record
class Untypable:
    """An operation that has no type, and why."""

    op: Operation
    error: TypingError


@dataclass
class LocalTypes:
    """A copy of a block with types, as far as they were asked for."""

    block: Block
    facts: Facts
    failures: list[Untypable] = field(default_factory=list[Untypable])
    _copies: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The typed copy of each value that has one."""
    _last: Operation | None = None

    def count(
        self, spec: OpSpec, operands: Sequence[Sequence[SSAValue]], properties: Mapping[str, Attribute]
    ) -> int | TypingError | None:
        """How many results an operation would have at the end of the block; None where an operand has no type."""
        self._catch_up()
        copies = [[self._copies.get(value) for value in group] for group in operands]
        known = [[value for value in group if value is not None] for group in copies]
        if [len(group) for group in known] != [len(group) for group in copies]:
            return None
        op = OPERATIONS[spec.name].build(operands=known, properties=dict(properties), result_types=[[]])
        try:
            types = op.infer_types(self.facts)
        except TypingError as error:
            return error
        finally:
            op.drop_all_references()
        return None if types is None else len(types)

    def _catch_up(self) -> None:
        """Copies what was added since the last time."""
        if not self._copies:
            arguments = Block(arg_types=[argument.type for argument in self.block.args]).args
            self._copies.update(zip(self.block.args, arguments, strict=True))
        op = self.block.first_op if self._last is None else self._last.next_op
        while op is not None:
            self._last = op
            if all(operand in self._copies for operand in op.operands):
                self._copy(op)
            op = op.next_op

    def _copy(self, op: Operation) -> None:
        operands = [self._copies[operand] for operand in op.operands]
        types = [result.type for result in op.results]
        if isinstance(op, UcuOp):
            untyped = type(op).create(operands=operands, result_types=types, properties=dict(op.properties))
            try:
                found = untyped.infer_types(self.facts)
            except TypingError as error:
                self.failures.append(Untypable(op, error))
                return
            finally:
                untyped.drop_all_references()
            if found is None or len(found) != len(op.results):
                return
            types = list(found)
        copy = type(op).create(operands=operands, result_types=types, properties=dict(op.properties))
        self._copies.update(zip(op.results, copy.results, strict=True))
