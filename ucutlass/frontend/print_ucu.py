"""The `ucutlass` dialect as canonical `.ucu` text.

Imports the dialect and what writes its parts. Values with a name become statements; a value without one that is used
once is written where it is used, one behind the other in a pipe. What the language's sugar stands for is written as
sugar. Comments are not in the IR, so a program that was read and printed has lost them. Reading the text again gives an
equal module, and printing that gives the same text.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from ucutlass.diagnostics.locations import fail
from ucutlass.dialects.ucutlass.attributes import SETTERS, ConfigAttr
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE, ConstantOp, KernelOp, ReturnOp
from ucutlass.dialects.ucutlass.spec import Param, ParamValue, Required
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import ElementType
from ucutlass.frontend.body import ALIASES, INFIX, LIST_NAME, NEGATION
from ucutlass.frontend.constants import is_default
from ucutlass.frontend.layout import WIDTH, Level, Text, filled
from ucutlass.frontend.naming import Namer
from ucutlass.frontend.print_sizes import NotWritableError, number_text, size_text, type_size_text, where_text

NOT_WRITABLE = "UC0122"

_SIGNS = {name: sign for sign, name in INFIX.items()}
_LEVELS = {"+": Level.SUM, "-": Level.SUM, "*": Level.PRODUCT, "/": Level.PRODUCT}
_SIDE_BY_SIDE = ("binary", "ternary")
"""Families whose operands are of one rank: none of them is what flows through a pipe."""
_INDENT = 2


def print_ucu(module: ModuleOp) -> str:
    """The text of a module, ended by a line break. Raises OperationFailure on what the language cannot say."""
    parts: list[str] = []
    target = module.attributes.get(TARGET_ATTRIBUTE)
    if isinstance(target, StringAttr):
        parts.append(f"target {target.data}\n")
    for op in module.ops:
        if not isinstance(op, KernelOp):
            raise fail(op, NOT_WRITABLE, f"the language has no text for {op.name}, only for kernels")
        parts.append(print_kernel(op))
    return "\n".join(parts)


def print_kernel(kernel: KernelOp) -> str:
    """The text of one kernel, ended by a line break."""
    return KernelPrinter(kernel).text()


class KernelPrinter:
    """Prints one kernel."""

    def __init__(self, kernel: KernelOp) -> None:
        self.kernel = kernel
        self.block = kernel.body.block
        last = self.block.last_op
        aliases = last.attributes.get(ALIASES) if last is not None else None
        self.aliases: dict[str, list[str]] = {}
        """Further names by the name that they stand for."""
        lists = [op.attributes.get(LIST_NAME) for op in self.block.ops]
        list_names = [name.data for name in lists if isinstance(name, StringAttr)]
        if isinstance(aliases, DictionaryAttr):
            for alias, of in aliases.data.items():
                if isinstance(of, StringAttr):
                    self.aliases.setdefault(of.data, []).append(alias)
        taken = [*list_names, *(alias for found in self.aliases.values() for alias in found)]
        results = (value for op in self.block.ops for value in op.results)
        self.namer = Namer((*self.block.args, *results), taken)
        self.inlined: dict[SSAValue, Text] = {}
        """Expressions of values without a name, until they are used."""
        self.lists: dict[Operation, Text] = {}
        """What stands for the list of an operation's results: its name, or its call until that is used."""
        self.lines: list[str] = []

    def text(self) -> str:
        for argument in self.block.args:
            self._alias(self.namer[argument])
        for op in self.block.ops:
            try:
                self._operation(op)
            except NotWritableError as error:
                raise fail(op, NOT_WRITABLE, str(error)) from error
        try:
            header = self._header()
        except NotWritableError as error:
            raise fail(self.kernel, NOT_WRITABLE, str(error)) from error
        return "\n".join([*header, *self.lines, "}"]) + "\n"

    # The header -------------------------------------------------------------------------------------------------------

    def _header(self) -> list[str]:
        name = self.kernel.sym_name.data
        parameters = [f"{self.namer[a]}: {_type_text(a.type)}" for a in self.block.args]
        results = ", ".join(_type_text(type_) for type_ in self.kernel.declared)
        where = f" where {where_text(self.kernel.where.data)}" if self.kernel.where.data else ""
        line = f"kernel {name}({', '.join(parameters)}) -> {results}{where} {{"
        if len(line) <= WIDTH:
            return [line]
        first = [f"kernel {name}("]
        first += [f"{' ' * _INDENT}{p}{',' if p is not parameters[-1] else ''}" for p in parameters]
        return [*first, *filled(f") -> {results}{where} {{", _INDENT * 2)]

    # Operations -------------------------------------------------------------------------------------------------------

    def _operation(self, op: Operation) -> None:
        if isinstance(op, ReturnOp):
            self._return(op)
        elif isinstance(op, ConstantOp):
            self._result(op.result, Text.atom(number_text(op.value.data), is_number=True), reusable=True)
        elif not isinstance(op, UcuOp):
            raise NotWritableError(f"the language has no text for {op.name}")
        elif op.spec.multiple_results:
            self._list(op, self._call(op))
        else:
            self._result(op.results[0], self._expression(op))

    def _result(self, value: SSAValue, text: Text, reusable: bool = False) -> None:
        """Keeps the expression of a value for the place where it is used, or writes the statement that names it."""
        if value not in self.namer and (reusable or value.has_one_use()):
            self.inlined[value] = text
            return
        name = self.namer[value]
        self.lines += text.lines(f"{name} = ", _INDENT)
        self._alias(name)

    def _alias(self, name: str) -> None:
        """Writes the further names of what was just written."""
        work = [name]
        while work:
            name = work.pop()
            for alias in self.aliases.pop(name, ()):
                self.lines.append(f"{' ' * _INDENT}{alias} = {name}")
                work.append(alias)

    def _list(self, op: UcuOp, text: Text) -> None:
        """Names the list, its members, or neither where the whole list has one use."""
        name = op.attributes.get(LIST_NAME)
        members = [value in self.namer for value in op.results]
        if not isinstance(name, StringAttr) and not any(members) and _used_as_list(op):
            self.lists[op] = text
            return
        if isinstance(name, StringAttr) or len(members) == 1:
            list_name = name.data if isinstance(name, StringAttr) else self.namer[op.results[0]]
            self.lines += text.lines(f"{list_name} = ", _INDENT)
            self.lists[op] = Text.atom(list_name)
            self._alias(list_name)
            if len(members) == 1 or (not any(members) and _used_as_list(op, every=True)):
                return
            text = Text.atom(list_name)
        names = [self.namer[value] for value in op.results]
        self.lines += text.lines(f"{', '.join(names)} = ", _INDENT)
        for member in names:
            self._alias(member)

    def _return(self, op: ReturnOp) -> None:
        values = list(op.values)
        texts: list[Text] = []
        while values:
            owner = values[0].owner
            if isinstance(owner, UcuOp) and self._is_list(owner, values):
                texts.append(self._list_text(owner))
                del values[: len(owner.results)]
            else:
                texts.append(self._value(values.pop(0)))
        if len(texts) == 1:
            self.lines += texts[0].lines("return ", _INDENT)
        else:
            self.lines += filled(f"{' ' * _INDENT}return {', '.join(text.flat for text in texts)}", _INDENT + 4)

    # Expressions ------------------------------------------------------------------------------------------------------

    def _value(self, value: SSAValue) -> Text:
        """The expression of a value where it is used."""
        text = self.inlined.get(value)
        if text is None:
            return Text.atom(self.namer[value])
        if not text.is_number:
            del self.inlined[value]
        return text

    def _expression(self, op: UcuOp) -> Text:
        spec = op.spec
        if spec.spelling.startswith("."):
            return self._value(op.operands[0]).suffixed(spec.spelling)
        texts = self._operand_texts(op)
        if spec.name in _SIGNS and not (texts["a"].is_number and texts["b"].is_number):
            sign = _SIGNS[spec.name]
            level = _LEVELS[sign]
            flat = f"{texts['a'].within(level)} {sign} {texts['b'].within(Level(level + 1))}"
            return Text([("head", flat)], level)
        if spec.name == NEGATION and not texts["x"].is_number:
            return Text([("head", f"-{texts['x'].within(Level.SIGN)}")], Level.SIGN)
        return self._call(op, texts)

    def _operand_texts(self, op: UcuOp) -> dict[str, Text]:
        """The operands that are there, in the order of the call."""
        values = op.operand_values()
        texts: dict[str, Text] = {}
        for name in op.spec.signature:
            value = values.get(name)
            if isinstance(value, SSAValue):
                texts[name] = self._value(value)
            elif value is not None:
                texts[name] = self._members(value)
        return texts

    def _members(self, values: Sequence[SSAValue]) -> Text:
        owner = values[0].owner if values else None
        if isinstance(owner, UcuOp) and len(owner.results) == len(values) and self._is_list(owner, values):
            return self._list_text(owner)
        return Text.atom(f"[{', '.join(self._value(value).flat for value in values)}]")

    def _is_list(self, owner: UcuOp, values: Sequence[SSAValue]) -> bool:
        """Whether values begin with the whole list that an operation gives, and that has a text."""
        return owner in self.lists and list(values[: len(owner.results)]) == list(owner.results)

    def _list_text(self, owner: UcuOp) -> Text:
        text = self.lists[owner]
        return self.lists.pop(owner) if text.is_call else Text.atom(text.flat)

    def _call(self, op: UcuOp, texts: dict[str, Text] | None = None) -> Text:
        """The operation as a call, piped behind its first operand if that is a call itself."""
        spec = op.spec
        texts = self._operand_texts(op) if texts is None else texts
        first = texts.get(spec.signature[0])
        piped = first if first is not None and first.is_call and spec.family not in _SIDE_BY_SIDE else None
        arguments: list[str] = []
        by_name = False
        params = {param.name: param for param in spec.params}
        for position, name in enumerate(spec.signature):
            if name in texts:
                text = "" if position == 0 and piped is not None else texts[name].flat
            elif name in params and name in op.properties and not is_default(params[name], op.params()[name]):
                text = _param_text(params[name], op.params()[name])
                # By position only what cannot be left out; a name tells the others apart.
                by_name = by_name or not isinstance(params[name].default, Required)
            else:
                by_name = True
                continue
            if text:
                arguments.append(f"{name}={text}" if by_name else text)
        setters = _setter_texts(op.setters)
        if piped is not None:
            return piped.piped(spec.spelling, arguments, setters)
        head = f"{spec.spelling}({', '.join(arguments)})"
        return Text([("head", head), *(("setter", setter) for setter in setters)], Level.SUFFIX, is_call=True)


def _used_as_list(op: UcuOp, every: bool = False) -> bool:
    """Whether the results are used together, as a list, and nowhere else: once, or wherever they are."""
    users = {use.operation for result in op.results for use in result.uses}
    if not op.results or (not every and len(users) != 1):
        return False
    expected = list(op.results)
    uses = sum(1 for result in op.results for _ in result.uses)
    found = 0
    for user in users:
        groups = [user.operands] if isinstance(user, ReturnOp) else []
        if isinstance(user, UcuOp):
            groups = [v for v in user.operand_values().values() if isinstance(v, tuple)]
        for group in groups:
            whole = list(group)
            if isinstance(user, ReturnOp):
                starts = [i for i in range(len(whole)) if whole[i : i + len(expected)] == expected]
                found += len(starts)
            else:
                found += whole == expected
    return found * len(expected) == uses and (every or found == 1)


def _type_text(type_: object) -> str:
    if not isinstance(type_, TensorType):
        raise NotWritableError(f"the language has no text for the type {type_}")
    sizes = ", ".join(type_size_text(dim) for dim in type_.dims)
    layout = "" if type_.layout.is_row else f"@{type_.layout.spelling}"
    return f"{type_.element}[{sizes}]{layout}"


def _param_text(param: Param, value: ParamValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Dim():
            return size_text(value)
        case ElementType():
            return value.name
        case str():
            return f"@{value}" if param.kind == "layout" else value
        case int() | float():
            return number_text(value)
        case tuple() if param.kind == "layout":
            return f"@({','.join(map(str, value))})"
        case tuple():
            sizes = [size_text(Dim.of(size)) for size in value]
            if param.varargs and sizes:
                return ", ".join(sizes)
            return sizes[0] if len(sizes) == 1 else f"[{', '.join(sizes)}]"
        case None:
            raise NotWritableError(f"parameter '{param.name}' is there without a value")


def _setter_texts(config: ConfigAttr) -> list[str]:
    texts: list[str] = []
    for name, values in config.data:
        row = SETTERS[name]
        arguments: list[str] = []
        for argument, value in zip(row.arguments, values, strict=False):
            if value is not None:
                arguments.append(f"{argument.name}={value}" if argument.keyword else str(value))
        texts.append(f".{row.spelling}({', '.join(arguments)})")
    return texts
