"""A fused group as the legality rules and the cost model see it: a `GemmProblem` and an `EpilogueSpec`, without IR."""

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass.attributes import ConfigAttr
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim, Facts
from ucutlass.element_types import ELEMENT_TYPES, ElementType
from ucutlass.passes.lowering.contraction import Contraction
from ucutlass.records import record
from ucutlass.targets.problem import (
    Config,
    EpilogueSpec,
    GemmProblem,
    Major,
    Operand,
    default_accumulator,
    largest_alignment,
)


@record
class Described:
    """What a group asks of the target."""

    problem: GemmProblem
    epilogue: EpilogueSpec
    partial: Config
    """The setters of its contraction."""


def describe(contraction: Contraction) -> Described:
    """The problem of a group of the family `gemm`, with the alignments that its types and `where` clause prove."""
    facts = contraction.space.facts
    a, b = _tensor(contraction.a), _tensor(contraction.b)
    stored = contraction.stored_types
    main = contraction.main_output
    d = stored[main]
    setters = contraction.root.setters
    m, n, k = a.dims[-2], b.dims[-1], a.dims[-1]
    problem = GemmProblem(
        m=_static(m),
        n=_static(n),
        k=_static(k),
        a=_operand(a, "k" if a.order[-1] == a.rank - 1 else "mn", facts),
        b=_operand(b, "k" if b.order[-1] == b.rank - 2 else "mn", facts),
        d=_result(d, facts),
        accumulator=_accumulator(setters, a, b),
        compute=setters.word("compute") or _wide(a, b).name,
        batch=_static(a.dims[0]) if a.rank == 3 else 1,
        multiples={name: facts.multiple_of(dim) for name, dim in (("m", m), ("n", n), ("k", k)) if not dim.is_static},
        names=(_name(m, "M"), _name(n, "N"), _name(k, "K")),
    )
    source = contraction.source_leaf
    vectors = {kind: [leaf.value for leaf in contraction.leaves if leaf.kind == kind] for kind in ("row", "column")}
    epilogue = EpilogueSpec(
        c=None if source is None else _result(_tensor(source.value), facts),
        aux_loads=tuple(
            _result(_tensor(leaf.value), facts)
            for leaf in contraction.leaves
            if leaf.kind == "full" and leaf is not source
        ),
        aux_stores=tuple(_result(t, facts) for i, t in enumerate(stored) if i != main),
        row_broadcasts=tuple(_tensor(v).element for v in vectors["row"]),
        col_broadcasts=tuple(_tensor(v).element for v in vectors["column"]),
        scalars=sum(leaf.kind == "scalar" for leaf in contraction.leaves),
        has_functor=bool(contraction.epilogue),
    )
    return Described(problem, epilogue, Config.from_settings(setters.settings))


def _tensor(value: SSAValue) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _static(dim: Dim) -> int | None:
    return dim.value if dim.is_static else None


def _name(dim: Dim, default: str) -> str:
    return str(dim) if str(dim).isidentifier() else default


def _wide(a: TensorType, b: TensorType) -> ElementType:
    return a.element if a.element.bits >= b.element.bits else b.element


def _accumulator(setters: ConfigAttr, a: TensorType, b: TensorType) -> ElementType:
    word = setters.word("acc")
    return ELEMENT_TYPES[word] if word is not None else default_accumulator(_wide(a, b))


def _operand(type_: TensorType, major: Major, facts: Facts) -> Operand:
    """A factor or result in memory. Strides are packed as declared; the launcher checks the real ones."""
    return Operand(
        type_.element, major, largest_alignment(type_.element, facts.multiple_of(type_.dims[type_.order[-1]]))
    )


def _result(type_: TensorType, facts: Facts) -> Operand:
    return _operand(type_, "n" if type_.order[-1] == type_.rank - 1 else "m", facts)
