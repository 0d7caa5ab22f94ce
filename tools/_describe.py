"""What the language has, in Markdown for the editor and the documentation: operations, setters, types, targets.

Imports the tables of the dialect and the leaves; loads xDSL with them.
"""

from collections.abc import Iterable

from ucutlass.diagnostics.catalogue import CodeInfo
from ucutlass.dialects.ucutlass.attributes import SETTERS, Setter, SetterArgument
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param, ParamValue, Required
from ucutlass.element_types import ElementType
from ucutlass.frontend.arguments import signature_text
from ucutlass.frontend.setters import usage
from ucutlass.targets.arch import Architecture

LAYOUTS = {
    "row": "The default: the last dimension is contiguous.",
    "col": "Of a tensor of two dimensions: the first one is contiguous.",
    "channels_last": "Channels, dimension 1, are contiguous: an image `[N, C, H, W]` stored as `N, H, W, C`.",
}


def signature(spec: OpSpec) -> str:
    """How an operation is written, with the defaults: `gelu(x, approximate=none)`, `x.T`."""
    if spec.spelling.startswith("."):
        return f"{spec.operands[0].name}{spec.spelling}"
    return signature_text(spec)


def argument_lines(spec: OpSpec) -> list[str]:
    """A line for each operand and parameter that has something to say."""
    members: dict[str, Operand | Param] = {m.name: m for m in (*spec.operands, *spec.params)}
    return [f"- `{name}`: {text}" for name in spec.signature if (text := _argument_text(members[name]))]


def _argument_text(member: Operand | Param) -> str:
    if isinstance(member, Operand):
        notes = [member.doc] if member.doc else []
        notes += ["a list"] if member.variadic and "list" not in member.doc else []
        notes += ["may be a number"] if member.number else []
        notes += ["may be absent"] if member.optional else []
        return "; ".join(notes)
    default = default_text(member)
    notes = [member.doc] if member.doc else []
    notes += [f"default `{default}`"] if default else []
    return "; ".join(notes)


def default_text(param: Param) -> str:
    """The default of a parameter as a program writes it; empty where there is none or no word for it."""
    if isinstance(param.default, Required) or param.default is None:
        return ""
    return _constant(param.default)


def _constant(value: ParamValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        members = list(map(str, value))
        return members[0] if len(members) == 1 else f"[{', '.join(members)}]"
    return str(value)


def operation(spec: OpSpec) -> str:
    """An operation for someone who is about to write it."""
    parts = [_code(signature(spec)), spec.doc, "\n".join(argument_lines(spec))]
    if spec.setters:
        parts.append("Setters: " + " ".join(f"`.{SETTERS[name].spelling}`" for name in spec.setters))
    return _joined(parts)


def words_of(argument: SetterArgument) -> str:
    """What an argument of a setter may be."""
    if argument.kind == "word":
        return " ".join(f"`{word}`" for word in argument.words)
    if argument.values:
        return " ".join(f"`{value}`" for value in argument.values)
    return "a whole number from 1"


def setter(row: Setter) -> str:
    """A setter for someone who is about to write it."""
    closed = [argument for argument in row.arguments if argument.kind == "word" or argument.values]
    lines = [f"- `{argument.name}`: {words_of(argument)}" for argument in closed]
    return _joined([_code(usage(row)), row.doc, "\n".join(lines)])


def element(type_: ElementType) -> str:
    """An element type: what it holds."""
    kinds = {"float": "float", "sint": "signed integer", "uint": "unsigned integer", "bool": "boolean"}
    text = f"{kinds[type_.kind]}, {type_.bits} bits in memory"
    if type_.is_float:
        text += f", {type_.mantissa} mantissa bits, at most {type_.max_finite:.6g}"
    elif type_.is_integer:
        low = -int(2 ** (type_.bits - 1)) if type_.kind == "sint" else 0
        text += f", from {low} to {2**type_.mantissa - 1}"
    if type_.compute is not type_:
        text += f"; computed in `{type_.compute}`"
    return f"`{type_}`: {text}."


def layout(name: str) -> str:
    """A named layout."""
    return f"`@{name}`: {LAYOUTS[name]}"


def target(arch: Architecture) -> str:
    """A target: what its chips have."""
    major, minor = divmod(arch.capability, 10)
    return (
        f"`{arch.name}`: compute capability {major}.{minor}, {arch.shared_memory} bytes of shared memory for one thread"
        f" block; costs are estimated for {arch.default_gpu}."
    )


def code(info: CodeInfo) -> str:
    """A diagnostic's code."""
    return f"**{info.code}** *{info.name}*: {info.summary}.\n\n{info.explanation}"


def _code(text: str) -> str:
    return f"```ucu\n{text}\n```"


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
