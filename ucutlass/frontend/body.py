"""The body of one kernel: statements to operations of the `ucutlass` dialect.

Imports the syntax tree, the readers of its parts and the dialect. Expressions are evaluated with a stack of their own,
not Python's, so that their depth is no limit. Operands are evaluated in the order of the operation's signature, which
is also the order in which the printer writes them.
"""

from collections.abc import Generator, Sequence

from xdsl.dialects.builtin import DictionaryAttr, FileLineColLoc, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ucutlass.diagnostics.core import Note
from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.base import UcuOp, param_to_attribute
from ucutlass.dialects.ucutlass.kernel import ConstantOp, ReturnOp, set_exact_name
from ucutlass.dialects.ucutlass.operations import SPECS, rows_called
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, TypingError
from ucutlass.dialects.ucutlass.types import UnresolvedType
from ucutlass.dims import Facts
from ucutlass.frontend.arguments import Binder, Bound
from ucutlass.frontend.ast import (
    Call,
    Infix,
    Kernel,
    Layout,
    ListOf,
    Name,
    Negation,
    Node,
    Number,
    Result,
    Statement,
    View,
    Word,
)
from ucutlass.frontend.ast import Value as ValueNode
from ucutlass.frontend.constants import FAILED, ConstantReader, described, is_default
from ucutlass.frontend.counting import LocalTypes
from ucutlass.frontend.places import Places
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.scope import ListValue, Scope, Value
from ucutlass.frontend.setters import SetterReader
from ucutlass.frontend.vocabulary import OPERATION_ALIASES

Task = Generator["Task", Value, Value]
"""The evaluation of an expression: yields that of a part, is sent its value, returns its own."""

INFIX = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
NEGATION = "neg"
LIST_NAME = "list_name"
"""Attribute of an operation whose results have one name together."""
ALIASES = "aliases"
"""Attribute of `return`: further names of values, each with the name that it stands for."""

_UNRESOLVED = UnresolvedType()
_CALLED = {row.spelling: rows_called(row.spelling) for row in SPECS.values()}


class BodyBuilder:
    """Builds the operations of one kernel."""

    def __init__(
        self, report: Reporter, places: Places, kernel: Kernel, block: Block, dimensions: frozenset[str], facts: Facts
    ) -> None:
        self.report = report
        self.places = places
        self.kernel = kernel
        self.block = block
        self.types = LocalTypes(block, facts)
        assigned: dict[str, Name] = {}
        for statement in kernel.statements:
            for name in statement.targets:
                assigned.setdefault(name.text, name)
        self.scope = Scope(report, dimensions, assigned)
        self.constants = ConstantReader(self.scope)
        self.aliases: dict[str, str] = {}
        self._made: list[tuple[Name, Value]] = []
        """What the program gave names to, in order."""

    def build(self) -> None:
        """Fills the block; what is wrong has been reported, and what depends on it is left out."""
        for parameter, value in zip(self.kernel.parameters, self.block.args, strict=True):
            if parameter.name.text not in self.scope.places:
                self.scope.define(parameter.name, value)
                self._made.append((parameter.name, value))
        for statement in self.kernel.statements:
            self._statement(statement)
        self._return(self.kernel.result)
        if not self.report.errors:
            self._warn_unused()

    # Statements -------------------------------------------------------------------------------------------------------

    def _statement(self, statement: Statement) -> None:
        targets = statement.targets
        value = self._evaluate(statement.value) if statement.value is not None else None
        if value is None:
            for name in targets:
                self.scope.define(name, None)
        elif len(targets) == 1:
            self._name_one(targets[0], value, statement.value)
        elif isinstance(value, ListValue) and len(value.values) == len(targets):
            for name, member in zip(targets, value.values, strict=True):
                self._name_one(name, member, statement.value)
        else:
            count = len(value.values) if isinstance(value, ListValue) else 1
            values = f"{count} value{'' if count == 1 else 's'}"
            message = f"{len(targets)} names stand on the left, but {values} on the right"
            self.report.error("UC0306", (targets[0].start, targets[-1].end), message)
            for name in targets:
                self.scope.define(name, None)

    def _name_one(self, name: Name, value: SSAValue | ListValue, node: object) -> None:
        if not self.scope.define(name, value):
            return
        self._made.append((name, value))
        if isinstance(value, SSAValue):
            if value.name_hint is None:
                set_exact_name(value, name.text)
            else:
                self.aliases[name.text] = value.name_hint
            return
        owner = value.values[0].owner
        assert isinstance(owner, Operation)
        known = owner.attributes.get(LIST_NAME)
        if isinstance(known, StringAttr):
            self.aliases[name.text] = known.data
        else:
            owner.attributes[LIST_NAME] = StringAttr(name.text)

    def _return(self, result: Result) -> None:
        values: list[SSAValue] = []
        if result.values is None:
            return
        failed = False
        for node in result.values:
            value = self._evaluate(node)
            failed = failed or value is None
            if isinstance(value, ListValue):
                values += value.values
            elif value is not None:
                values.append(value)
        if failed:
            return
        declared = len(self.kernel.results)
        if len(values) != declared:
            results = f"{declared} result{'' if declared == 1 else 's'}"
            message = f"kernel {self.kernel.name.text} declares {results}, but returns {len(values)}"
            first, last = result.values[0], result.values[-1]
            self.report.error("UC0306", (first.start, last.end), message)
            return
        op = ReturnOp.create(operands=values)
        if self.aliases:
            # In a fixed order, since their places among the statements are not kept.
            aliases = {name: StringAttr(self.aliases[name]) for name in sorted(self.aliases)}
            op.attributes[ALIASES] = DictionaryAttr(aliases)
        self._append(op, result.start, result)

    def _warn_unused(self) -> None:
        aliased = set(self.aliases.values())
        for name, value in self._made:
            values = value.values if isinstance(value, ListValue) else [value]
            if name.text not in aliased and not any(v.uses for v in values if isinstance(v, SSAValue)):
                self.report.warning("UC0205", name, f"'{name.text}' is never used")

    # Operations -------------------------------------------------------------------------------------------------------

    def _append(
        self, op: Operation, offset: int, node: Node, spec: OpSpec | None = None, bound: Bound | None = None
    ) -> None:
        op.location = self.places.add(offset, node, self.kernel, spec, bound)
        self.block.add_op(op)

    def _constant(self, number: Number) -> SSAValue:
        op = ConstantOp.of(number.value)
        self._append(op, number.start, number)
        return op.result

    def _evaluate(self, node: ValueNode) -> Value:
        """The value of an expression, by a stack of tasks."""
        stack = [self._task(node)]
        value: Value = None
        while stack:
            try:
                stack.append(stack[-1].send(value))
                value = None
            except StopIteration as done:
                value = done.value
                stack.pop()
        return value

    def _task(self, node: ValueNode) -> Task:
        match node:
            case Name() | Word():
                return self.scope.value(node)
            case Number():
                return self._constant(node)
            case Call():
                return (yield from self._call(node))
            case Infix():
                spec = SPECS[INFIX[node.operator]]
                a = yield self._operand(spec, spec.operands[0], node.left)
                b = yield self._operand(spec, spec.operands[1], node.right)
                return self._sugar(spec, node, node.operator_start, [a, b])
            case Negation():
                spec = SPECS[NEGATION]
                x = yield self._operand(spec, spec.operands[0], node.operand)
                return self._sugar(spec, node, node.operator_start, [x])
            case View():
                return (yield from self._view(node))
            case ListOf() | Layout():
                self.report.error("UC0308", node, f"{described(node)} stands where one tensor is wanted")
                return None

    def _sugar(self, spec: OpSpec, node: Node, offset: int, operands: Sequence[Value]) -> Value:
        """An operation that is written as a sign or suffix."""
        values = [value for value in operands if isinstance(value, SSAValue)]
        if len(values) != len(operands):
            return None
        op = OPERATIONS[spec.name].create(operands=values, result_types=[_UNRESOLVED])
        self._append(op, offset, node, spec)
        return op.results[0]

    def _view(self, node: View) -> Task:
        rows = _CALLED.get(f".{node.name.text}", ())
        if not rows:
            message = f"a value has no '.{node.name.text}'"
            if rows_called(node.name.text):
                message += f": write v >> {node.name.text}()"
            known = [spelling[1:] for spelling in _CALLED if spelling.startswith(".")]
            self.report.unknown("UC0215", node.name, message, known)
            yield from self._skip([node.base])
            return None
        x = yield self._operand(rows[0], rows[0].operands[0], node.base)
        return self._sugar(rows[0], node, node.name.start, [x])

    def _call(self, node: Call) -> Task:
        rows = _CALLED.get(node.name.text, ())
        first = node.arguments[0] if node.arguments else None
        evaluated: dict[int, Value] = {}
        spec = rows[0] if rows else None
        if not rows:
            self._unknown_operation(node.name)
        elif len(rows) > 1:
            is_list = first is not None and isinstance(first.value, ListOf)
            if first is not None and isinstance(first.value, Call | Name):
                evaluated[id(first)] = yield self._task(first.value)
                is_list = isinstance(evaluated[id(first)], ListValue)
            spec = next((row for row in rows if row.takes_list == is_list), spec)
        bound = Binder(self.report, spec, node).bind() if spec is not None else None
        config = SetterReader(self.report, spec, node).read() if spec is not None and node.setters else None
        if spec is None or bound is None:
            yield from self._skip([argument.value for argument in node.arguments if id(argument) not in evaluated])
            return None
        properties = self._properties(spec, bound)
        values = yield from self._operands(spec, bound, evaluated)
        if properties is None or values is None:
            return None
        if config is not None:
            properties["config"] = config
        return self._finish(spec, node, bound, values, properties)

    def _unknown_operation(self, name: Name) -> None:
        known = [spelling for spelling in _CALLED if not spelling.startswith(".")]
        message = f"there is no operation '{name.text}'"
        if name.text in self.scope.values:
            message += ": it is a value"
        self.report.unknown("UC0202", name, message, known, OPERATION_ALIASES)

    def _skip(self, nodes: Sequence[ValueNode]) -> Generator[Task, Value, None]:
        """Looks for errors in what cannot be used: in its operations, since its names may mean anything."""
        for node in nodes:
            if isinstance(node, Call | Infix | Negation | View):
                yield self._task(node)

    def _properties(self, spec: OpSpec, bound: Bound) -> dict[str, Attribute] | None:
        properties: dict[str, Attribute] = {}
        fits = True
        for param in spec.params:
            arguments = bound.arguments.get(param.name)
            if arguments is None:
                continue
            value = self.constants.read(spec, param, arguments)
            if value is FAILED:
                fits = False
            elif not is_default(param, value):
                properties[param.name] = param_to_attribute(param, value)
        return properties if fits else None

    def _operands(
        self, spec: OpSpec, bound: Bound, evaluated: dict[int, Value]
    ) -> Generator[Task, Value, dict[str, tuple[SSAValue, ...]] | None]:
        """The values of the operands by name; None where one is in error."""
        operands = {operand.name: operand for operand in spec.operands}
        values: dict[str, tuple[SSAValue, ...]] = {}
        fits = True
        for name in spec.signature:
            argument = bound.get(name)
            if name not in operands or argument is None:
                continue
            if id(argument) in evaluated:
                value = self._checked(spec, operands[name], argument.value, evaluated[id(argument)])
            else:
                value = yield self._operand(spec, operands[name], argument.value)
            if value is None:
                fits = False
            else:
                values[name] = value.values if isinstance(value, ListValue) else (value,)
        return values if fits else None

    def _operand(self, spec: OpSpec, operand: Operand, node: ValueNode) -> Task:
        """The value of an operand, of the kind that the operand takes."""
        if operand.variadic and isinstance(node, ListOf):
            members: list[SSAValue] = []
            fits = True
            for item in node.items:
                value = yield self._task(item)
                if isinstance(value, SSAValue):
                    members.append(value)
                else:
                    fits = False
                    if value is not None:
                        self.report.error("UC0308", item, "a list stands where one tensor is wanted")
            return ListValue(tuple(members)) if fits else None
        if isinstance(node, ListOf):
            self.report.error("UC0308", node, f"'{operand.name}' of {spec.spelling} is one tensor, found a list")
            return None
        if isinstance(node, Layout):
            self.report.error("UC0315", node, f"'{operand.name}' of {spec.spelling} is a tensor, found a layout")
            return None
        if isinstance(node, Number) and not operand.number:
            self.report.error("UC0315", node, f"'{operand.name}' of {spec.spelling} is a tensor, found a number")
            return None
        value = yield self._task(node)
        return self._checked(spec, operand, node, value)

    def _checked(self, spec: OpSpec, operand: Operand, node: ValueNode, value: Value) -> Value:
        """A value, if it is a list exactly where one is wanted."""
        if value is None or isinstance(value, ListValue) == operand.variadic:
            return value
        what = f"'{operand.name}' of {spec.spelling}"
        if operand.variadic:
            fixits = [self.report.insert(node.start, "["), self.report.insert(node.end, "]")]
            self.report.error("UC0308", node, f"{what} is a list of tensors, [x, y]; found one tensor", fixits=fixits)
        else:
            message = f"{what} is one tensor, found a list: give its elements names, a, b = …"
            self.report.error("UC0308", node, message)
        return None

    def _finish(
        self,
        spec: OpSpec,
        node: Call,
        bound: Bound,
        values: dict[str, tuple[SSAValue, ...]],
        properties: dict[str, Attribute],
    ) -> Value:
        kind = OPERATIONS[spec.name]
        op: UcuOp
        if spec.multiple_results:
            count = self._count(spec, node, bound, values, properties)
            if count is None:
                return None
            op = kind.build(operands=_groups(spec, values), properties=properties, result_types=[[_UNRESOLVED] * count])
        elif any(operand.optional or operand.variadic for operand in spec.operands):
            op = kind.build(operands=_groups(spec, values), properties=properties, result_types=[_UNRESOLVED])
        else:
            operands = [values[operand.name][0] for operand in spec.operands]
            op = kind.create(operands=operands, properties=properties, result_types=[_UNRESOLVED])
        self._append(op, node.name.start, node, spec, bound)
        return ListValue(tuple(op.results)) if spec.multiple_results else op.results[0]

    def _count(
        self,
        spec: OpSpec,
        node: Call,
        bound: Bound,
        values: dict[str, tuple[SSAValue, ...]],
        properties: dict[str, Attribute],
    ) -> int | None:
        """How many values a call gives whose value is a list; None after saying why that is unknown."""
        count = self.types.count(spec, _groups(spec, values), properties)
        if isinstance(count, int):
            return count
        if isinstance(count, TypingError):
            place = self.places.add(node.name.start, node, self.kernel, spec, bound)
            self._untypable(place, count)
        for failure in self.types.failures:
            self._untypable(failure.op.location, failure.error)
        return None

    def _untypable(self, location: Attribute, error: TypingError) -> None:
        assert isinstance(location, FileLineColLoc)
        line, column = location.line.data, location.column.data
        part = self.places.part(line, column, error.part) if error.part is not None else None
        place = part or self.places.part(line, column, "name")
        assert place is not None
        self.report.error(error.code, place, error.message, [Note(text) for text in error.notes])


def _groups(spec: OpSpec, values: dict[str, tuple[SSAValue, ...]]) -> list[list[SSAValue]]:
    """The operands as xDSL wants them where some are optional or lists."""
    return [list(values.get(operand.name, ())) for operand in spec.operands]
