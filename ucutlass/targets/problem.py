"""What a contraction kernel must do, and how it may be configured, without any IR.

Imports only the standard library and the element types. `GemmProblem` and `EpilogueSpec` say what is to be computed;
`Config` holds the setters of the language, every field optional. The legality rules, the enumeration and the cost model
speak about these values only, so a pass, a tuner and a test ask the same questions.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeVar

from ucutlass.element_types import ELEMENT_TYPES, F32, F64, S32, ElementType
from ucutlass.records import record

Major = Literal["k", "mn", "n", "m"]
"""Contiguous dimension: `k` or `mn` of a factor, `n` (row-major) or `m` (column-major) of a result."""
Schedule = Literal[
    "cooperative",
    "pingpong",
    "warpspecialized",
    "tma",
    "cpasync",
    "cpasync_cooperative",
    "cpasync_pingpong",
    "multistage",
    "one_sm",
    "two_sm",
]
EpilogueKind = Literal["tma", "nosmem"]
Scheduler = Literal["persistent", "stream_k"]
RasterOrder = Literal["along_m", "along_n"]
Grouping = Literal["array", "grouped"]
Shape3 = tuple[int, int, int]
Word = TypeVar("Word", bound=str)

SCHEDULES: tuple[Schedule, ...] = (
    "cooperative",
    "pingpong",
    "warpspecialized",
    "tma",
    "cpasync",
    "cpasync_cooperative",
    "cpasync_pingpong",
    "multistage",
    "one_sm",
    "two_sm",
)
EPILOGUES: tuple[EpilogueKind, ...] = ("tma", "nosmem")
SCHEDULERS: tuple[Scheduler, ...] = ("persistent", "stream_k")
RASTER_ORDERS: tuple[RasterOrder, ...] = ("along_m", "along_n")
FAST_SUFFIX = "_fp8_fast"
ACCESS_BITS = 128
"""The widest single access of the memory system."""


def largest_alignment(element: ElementType, *multiples: int | None) -> int:
    """The most elements one access may move when the contiguous extent and every stride are multiples of these.

    None is a size of which nothing is known, 0 one that is empty.
    """
    most = ACCESS_BITS // element.bits
    for multiple in multiples:
        most = math.gcd(most, 1 if multiple is None else multiple)
    return most


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix in memory as a kernel sees it."""

    element: ElementType
    major: Major
    alignment: int
    """The most elements that type, extents, strides and layout let one access move; a power of two."""

    @property
    def alignment_bytes(self) -> float:
        return self.alignment * self.element.bits / 8

    def transposed(self) -> "Operand":
        """The same memory as an operand of the transposed problem."""
        flipped: Mapping[Major, Major] = {"k": "k", "mn": "mn", "n": "m", "m": "n"}
        return replace(self, major=flipped[self.major])


@record
class GemmProblem:
    """`D[m, n] = sum over k of A[m, k] · B[k, n]`, one, a batch, or a group of them. A size of None is dynamic."""

    m: int | None
    n: int | None
    k: int | None
    a: Operand
    b: Operand
    d: Operand
    accumulator: ElementType
    compute: str
    """The type in which products are formed: an element type or a split mode of the language."""
    batch: int | None = 1
    grouping: Grouping | None = None
    """`array`: equal problems behind pointer arrays; `grouped`: each of its own size, m, n, k being upper bounds."""
    multiples: Mapping[str, int] = field(default_factory=dict[str, int])
    """Known divisors of dynamic sizes, by `m`, `n`, `k`."""
    names: tuple[str, str, str] = ("M", "N", "K")
    """What messages call the sizes."""

    @property
    def is_mixed(self) -> bool:
        """Whether a narrow operand is converted on the way into the multiplication."""
        return self.a.element.bits != self.b.element.bits

    @property
    def narrow(self) -> Literal["a", "b"]:
        """The narrower operand of a mixed problem."""
        return "a" if self.a.element.bits < self.b.element.bits else "b"

    def size(self, dim: str) -> int | None:
        """A size by name, `m`, `n` or `k`."""
        return {"m": self.m, "n": self.n, "k": self.k}[dim]

    def dim_name(self, dim: str) -> str:
        return self.names["mnk".index(dim)]

    def multiple(self, dim: str) -> int:
        """A divisor of the size that is known at compile time; 0 for the size 0."""
        size = self.size(dim)
        return size if size is not None else self.multiples.get(dim, 1)

    def contiguous_dim(self, operand: str) -> str:
        """Which of `m`, `n`, `k` is contiguous in operand `a`, `b` or `d`."""
        chosen: Operand = getattr(self, operand)
        if chosen.major == "mn":
            return "m" if operand == "a" else "n"
        return chosen.major

    def swapped(self) -> "GemmProblem":
        """The transposed problem `Dᵀ = Bᵀ · Aᵀ` on the same memory."""
        renamed = {"m": "n", "n": "m", "k": "k"}
        return replace(
            self,
            m=self.n,
            n=self.m,
            a=self.b.transposed(),
            b=self.a.transposed(),
            d=self.d.transposed(),
            multiples={renamed[dim]: multiple for dim, multiple in self.multiples.items()},
            names=(self.names[1], self.names[0], self.names[2]),
        )

    def with_alignment(self, **alignments: int) -> "GemmProblem":
        """The problem with other provable alignments, as after padding: `with_alignment(a=8)`."""
        return replace(self, **{name: replace(getattr(self, name), alignment=n) for name, n in alignments.items()})

    def assuming(self, **multiples: int) -> "GemmProblem":
        """The problem when dynamic sizes are multiples of these: `assuming(k=8)`. Alignments are derived again."""
        known = {dim: math.lcm(self.multiples.get(dim, 1), multiple) for dim, multiple in multiples.items()}
        assumed = replace(self, multiples={**self.multiples, **known})
        raised = {
            name: max(
                operand.alignment, largest_alignment(operand.element, assumed.multiple(self.contiguous_dim(name)))
            )
            for name, operand in (("a", self.a), ("b", self.b), ("d", self.d))
        }
        return assumed.with_alignment(**raised)


def default_accumulator(element: ElementType) -> ElementType:
    """The accumulator when none is asked for."""
    if element == F64:
        return F64
    return F32 if element.is_float else S32


def gemm_problem(
    m: int | None,
    n: int | None,
    k: int | None,
    a: str = "f16",
    b: str | None = None,
    d: str | None = None,
    *,
    layout: str = "tn",
    d_major: Literal["n", "m"] = "n",
    compute: str | None = None,
    accumulator: str | None = None,
    batch: int | None = 1,
    grouping: Grouping | None = None,
    multiples: Mapping[str, int] = MappingProxyType({}),
    names: tuple[str, str, str] = ("M", "N", "K"),
) -> GemmProblem:
    """A problem on packed matrices, with the alignments that its sizes give.

    `layout` is CUTLASS's short form for A and B: `t` is row-major, `n` column-major, so `tn` has k contiguous in both.
    """
    element_a = ELEMENT_TYPES[a]
    element_b = ELEMENT_TYPES[b or a]
    wide = element_a if element_a.bits >= element_b.bits else element_b
    result = ELEMENT_TYPES[d] if d is not None else F32 if wide.is_fp8 else wide if wide.is_float else S32
    sizes = {"m": m, "n": n, "k": k}

    def known(dim: str) -> int | None:
        size = sizes[dim]
        return size if size is not None else multiples.get(dim)

    a_major: Major = "k" if layout[0] == "t" else "mn"
    b_major: Major = "k" if layout[1] == "n" else "mn"
    return GemmProblem(
        m=m,
        n=n,
        k=k,
        a=Operand(element_a, a_major, largest_alignment(element_a, known("k" if a_major == "k" else "m"))),
        b=Operand(element_b, b_major, largest_alignment(element_b, known("k" if b_major == "k" else "n"))),
        d=Operand(result, d_major, largest_alignment(result, known(d_major))),
        accumulator=ELEMENT_TYPES[accumulator] if accumulator is not None else default_accumulator(wide),
        compute=compute or wide.name,
        batch=batch,
        grouping=grouping,
        multiples=dict(multiples),
        names=names,
    )


@record
class EpilogueSpec:
    """What is fused behind a contraction, by the kind of memory traffic that each part needs."""

    c: Operand | None = None
    """A full matrix that is read beside the accumulator."""
    aux_loads: tuple[Operand, ...] = ()
    """Further full matrices that are read."""
    aux_stores: tuple[Operand, ...] = ()
    """Further full matrices that are written."""
    row_broadcasts: tuple[ElementType, ...] = ()
    """Vectors along n, a bias of a linear layer."""
    col_broadcasts: tuple[ElementType, ...] = ()
    """Vectors along m."""
    scalars: int = 0
    """Numbers that are read or passed at run time."""
    row_reductions: tuple[ElementType, ...] = ()
    """Reductions over m with a result along n."""
    col_reductions: tuple[ElementType, ...] = ()
    """Reductions over n with a result along m."""
    scalar_reductions: tuple[ElementType, ...] = ()
    has_functor: bool = False
    """Whether any element-wise computation stands between the accumulator and the final rounding."""

    @property
    def is_plain(self) -> bool:
        """Whether the kernel only rounds the accumulator and stores it."""
        return self == PLAIN

    @property
    def takes_visitor(self) -> bool:
        """Whether more than `alpha * accumulator + beta * C` is computed."""
        return replace(self, c=None) != PLAIN

    @property
    def is_heavy(self) -> bool:
        """Whether the visitor tree keeps enough values alive to cost registers."""
        tensors = len(self.aux_loads) + len(self.aux_stores) + len(self.row_broadcasts) + len(self.col_broadcasts)
        return tensors > 2 or bool(self.row_reductions or self.col_reductions)

    @property
    def matrices(self) -> tuple[Operand, ...]:
        """Every full matrix that is read or written besides D."""
        return (*(() if self.c is None else (self.c,)), *self.aux_loads, *self.aux_stores)

    def swapped(self) -> "EpilogueSpec":
        """The epilogue of the transposed problem."""
        return replace(
            self,
            c=None if self.c is None else self.c.transposed(),
            aux_loads=tuple(o.transposed() for o in self.aux_loads),
            aux_stores=tuple(o.transposed() for o in self.aux_stores),
            row_broadcasts=self.col_broadcasts,
            col_broadcasts=self.row_broadcasts,
            row_reductions=self.col_reductions,
            col_reductions=self.row_reductions,
        )


PLAIN = EpilogueSpec()


@dataclass(frozen=True, slots=True)
class Alignments:
    """Elements per access of each operand."""

    a: int | None = None
    b: int | None = None
    c: int | None = None
    d: int | None = None

    def __bool__(self) -> bool:
        return (self.a or self.b or self.c or self.d) is not None


@dataclass(frozen=True, slots=True)
class Config:
    """The setters of one contraction. None is `auto`; a complete configuration leaves None only what has no choice.

    With `swap_ab`, everything is in terms of the transposed kernel.
    """

    tile: Shape3 | None = None
    cluster: Shape3 | None = None
    schedule: Schedule | None = None
    """Without the suffix `_fp8_fast`, which is `fast_accum`."""
    fast_accum: bool | None = None
    epilogue: EpilogueKind | None = None
    stages: int | None = None
    scheduler: Scheduler | None = None
    split_k: int | None = None
    raster: RasterOrder | None = None
    """None in a complete configuration leaves the order to CUTLASS's scheduler."""
    swizzle: int | None = None
    alignment: Alignments = Alignments()
    warps: Shape3 | None = None
    """Warp tile of the sm_80 family."""
    instruction: Shape3 | None = None
    swap_ab: bool | None = None

    @staticmethod
    def from_settings(settings: Mapping[str, tuple[int | str | None, ...]]) -> "Config":
        """From the setters of the language by name; `compute` and `acc` belong to the problem and are passed over."""

        def word(name: str, words: tuple[Word, ...]) -> Word | None:
            value = settings.get(name)
            return next((w for w in words if value and w == value[0]), None)

        def shape(name: str) -> Shape3 | None:
            value = settings.get(name)
            if value is None:
                return None
            m, n, k = (v if isinstance(v, int) else 1 for v in (*value, None)[:3])
            return (m, n, k)

        def number(name: str, index: int = 0) -> int | None:
            value = settings.get(name, ())
            found = value[index] if index < len(value) else None
            return found if isinstance(found, int) else None

        schedule = settings.get("schedule", ("auto",))[0]
        base = schedule.removesuffix(FAST_SUFFIX) if isinstance(schedule, str) else None
        return Config(
            tile=shape("tile"),
            cluster=shape("cluster"),
            schedule=next((s for s in SCHEDULES if s == base), None),
            fast_accum=None if base == "auto" else base != schedule,
            epilogue=word("epilogue", EPILOGUES),
            stages=number("stages"),
            scheduler=word("scheduler", SCHEDULERS),
            split_k=number("split_k"),
            raster=word("raster", RASTER_ORDERS),
            swizzle=number("raster", 1),
            alignment=Alignments(*(number("alignment", i) for i in range(4))),
            warps=shape("warps"),
            instruction=shape("instruction"),
            swap_ab=True if "swap_ab" in settings else None,
        )

    def to_settings(self) -> dict[str, tuple[int | str | None, ...]]:
        """The setters of the language that say the same; fields that are None are left out."""
        settings: dict[str, tuple[int | str | None, ...]] = {}
        for name in ("tile", "cluster", "warps", "instruction"):
            shape: Shape3 | None = getattr(self, name)
            if shape is not None:
                settings[name] = shape
        if self.schedule is not None:
            settings["schedule"] = (self.schedule + (FAST_SUFFIX if self.fast_accum else ""),)
        for name in ("epilogue", "stages", "scheduler", "split_k"):
            value: int | str | None = getattr(self, name)
            if value is not None:
                settings[name] = (value,)
        if self.raster is not None or self.swizzle is not None:
            settings["raster"] = (self.raster or "auto", self.swizzle)
        if self.alignment:
            settings["alignment"] = (self.alignment.a, self.alignment.b, self.alignment.c, self.alignment.d)
        if self.swap_ab:
            settings["swap_ab"] = ()
        return settings

    def is_set(self, name: str) -> bool:
        """Whether a field, named as its setter, is given."""
        return bool(self.alignment) if name == "alignment" else getattr(self, name, None) is not None

    def describe(self) -> str:
        """As setters of the language, for messages and lists."""
        parts: list[str] = []
        for name, values in self.to_settings().items():
            if name == "raster":
                text = f"{values[0]}, swizzle={values[1]}" if values[1] is not None else str(values[0])
            elif name == "alignment":
                text = ", ".join(f"{o}={v}" for o, v in zip("abcd", values, strict=True) if v is not None)
            else:
                text = ", ".join(str(v) for v in values)
            parts.append(f".with_{name}({text})")
        return "".join(parts)


ANY = Config()
"""Nothing set."""
