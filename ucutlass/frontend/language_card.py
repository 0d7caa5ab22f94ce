"""The language on one page, for the prompt of a language model: at most 6,000 characters, complete.

Imports the tables of the dialect and of the targets, from which the lists of operations, setters, types and targets are
made; only the rules are prose. A test counts the characters and looks for every name.
"""

from functools import cache

from ucutlass.dialects.ucutlass.attributes import FAST_SUFFIX, SETTERS, Setter, SetterArgument
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import OpSpec, Param, Required
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend.arguments import default_text
from ucutlass.targets.arch import ARCHITECTURES

LIMIT = 6000
"""Characters that the page may have."""

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Products", ("gemm", "conv", "attention")),
    ("Element-wise", ("unary", "binary", "ternary", "epilogue")),
    ("Reductions, scans", ("reduction", "scan")),
    ("Rows", ("rowwise",)),
    ("Pooling", ("pool",)),
    ("Data", ("movement", "staging")),
)
"""Headings and the families of operations under each."""

_SYNTAX = """\
A file: an optional `target ARCH` ({targets}), then kernels. A kernel is dataflow: each name is
assigned once, then used. `kernel NAME(ARG: TYPE, …) -> TYPE, … [where COND, …] {{ NAME = EXPR … return EXPR, … }}`
TYPE: `DTYPE[SIZE, …]`, maybe `@row` (default), `@col` (2-D), `@channels_last` or `@(0,2,3,1)` (dimensions, outermost
first). DTYPE: {types}. SIZE: integer or name; a name is a
dynamic size, the same everywhere, bound by an argument or `where P == M * 2`. COND: `K % 8 == 0`, `M >= 1`: what the
caller guarantees.
EXPR: names, numbers (`2`, `0.5`, `1e-5`, `inf`), calls `op(x, key=value)`, `+ - * /`, unary `-`, `x.T` (swaps the last
two dimensions), pipes `v >> op(args)` = `op(v, args)`. Lists `[a, b]`; `a, b = split(…)` takes a list apart. `#`
comments. No trailing commas, no `1.` or `.5`, no strings, no `;`. Reserved: {reserved}."""

_CALLS = """\
As in PyTorch. No arguments shown: one tensor. `name=` may be left out. Sizes and `dim` take integers or names of sizes;
reshape one -1; pad lists [lo, hi, …] from the last dimension."""

_CONFIGURATION = """\
On gemm and conv calls directly (attention: compute, acc); each optional, at most once; absent or `auto`: the compiler
chooses; obeyed or refused. Schedules: multistage is for sm_80/86/89, one_sm and two_sm for sm_100a, the others for
sm_90a. No split_k with stream_k."""

_SHAPES = """\
Broadcasting is NumPy's. gemm: `[M,K] x [K,N]`; a weight stored `[N,K]` is `w.T`. batched_gemm broadcasts leading
dimensions. Convolutions: x `[N,C,…]`, w `[Cout,Cin/groups,…]`. attention: `[B,H,S,D]`. `bias` adds a vector along the
last dimension (dimension 1 after a convolution); a row scale is `[M,1]`. `dim` counts from 0, -1 is the last.
Operands of a product have one type, or one of s8 u8 s4 u4 e4m3 e5m2 with f16 or bf16. Results: the operands' type (fp8,
tf32 -> f32; integers -> s32). Values stay in f32 and are rounded at cast, materialize, return and as operand of a
product. Float results round to the declared float type; else `cast`."""

_EXAMPLES = """\
kernel mlp(x: f16[M, 4096], w: f16[8192, 4096], b: f16[8192]) -> f16[M, 8192] where M % 8 == 0 {
  return gemm(x, w.T).with_tile(128, 256, 64).with_cluster(2, 1).with_schedule(cooperative) >> bias(b) >> gelu()
}
kernel swiglu(x: bf16[4096, 4096], g: bf16[8192, 4096], u: bf16[8192, 4096]) -> bf16[4096, 8192] {
  gate = gemm(x, g.T)
  up = gemm(x, u.T)
  return silu(gate) * up
}
kernel conv(x: f16[8, 64, 56, 56]@channels_last, w: f16[64, 64, 3, 3]@channels_last) -> f16[8, 64, 56, 56] {
  return conv2d(x, w, padding=1) >> relu()
}"""


def _arguments(spec: OpSpec) -> str:
    """The arguments of a row with their defaults; nothing where it takes one tensor only."""
    operands = {operand.name: operand for operand in spec.operands}
    params = {param.name: param for param in spec.params}
    parts: list[str] = []
    for name in spec.signature:
        operand = operands.get(name)
        if operand is None:
            parts.append(_param(params[name]))
        else:
            parts.append(f"[{name}…]" if operand.variadic else f"{name}=" if operand.optional else name)
    return "" if parts == ["x"] else f"({', '.join(parts)})"


def _param(param: Param) -> str:
    if param.varargs:
        return f"{param.name}…"
    if param.words:
        return f"{param.name}={'|'.join(param.words)}"
    return param.name if isinstance(param.default, Required) else default_text(param)


def _operations() -> str:
    lines: list[str] = []
    for heading, families in _GROUPS:
        names: dict[str, list[str]] = {}
        for spec in SPECS.values():
            if spec.family in families and not spec.spelling.startswith("."):
                names.setdefault(_arguments(spec), []).append(spec.spelling)
        calls = [f"{'/'.join(same)}{arguments}" if arguments else " ".join(same) for arguments, same in names.items()]
        lines.append(f"- {heading}: {' '.join(calls)}")
    return "\n".join(lines)


def _argument(argument: SetterArgument) -> str:
    if argument.kind == "int":
        values = "|".join(map(str, argument.values)) or "int"
        text = f"{argument.name}={values}" if argument.keyword else argument.name if not argument.values else values
    else:
        words = [word for word in argument.words if not word.endswith(FAST_SUFFIX)]
        text = "|".join(words)
        if len(words) != len(argument.words):
            text += f"; all but auto also with {FAST_SUFFIX}"
    return f"[{text}]" if argument.optional else text


def _setter(row: Setter) -> str:
    return f".{row.spelling}({', '.join(map(_argument, row.arguments))})"


def _setters() -> str:
    return "\n".join(f"- `{_setter(row)}` {row.doc}" for row in SETTERS.values())


@cache
def language_card() -> str:
    """The page, in Markdown."""
    from ucutlass.frontend.grammar_source import read_grammar

    syntax = _SYNTAX.format(
        targets=" ".join(ARCHITECTURES), types=" ".join(ELEMENT_TYPES), reserved=" ".join(read_grammar().reserved_words)
    )
    return "\n".join(
        [
            "# μCUTLASS",
            syntax,
            "",
            "## Operations",
            _CALLS,
            _operations(),
            "",
            "## Setters",
            _CONFIGURATION,
            _setters(),
            "",
            "## Shapes and types",
            _SHAPES,
            "",
            "## Examples",
            _EXAMPLES,
            "",
        ]
    )
