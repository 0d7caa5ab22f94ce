"""Where the elements of a tensor lie in an iteration space: affine functions of its coordinates.

Imports the sizes only. An iteration space is a list of atoms, dimensions that nothing cuts. Each dimension of a tensor
is read at an affine function of their coordinates. An operation that regroups elements may need an atom cut in two: it
raises `RefineError`, and who evaluates starts again with two atoms in its place.
"""

from collections.abc import Mapping, Sequence

from ucutlass.dims import Dim, Facts
from ucutlass.records import record

ZERO, ONE = Dim.of(0), Dim.of(1)


class NotExpressibleError(Exception):
    """Operations that are not one memory-bound kernel; the text says why."""


class RefineError(Exception):
    """Atom number `atom` must be cut so that its inner part has this size."""

    def __init__(self, atom: int, inner: Dim) -> None:
        super().__init__(f"atom {atom} by {inner}")
        self.atom = atom
        self.inner = inner


@record
class Atom:
    """One dimension of an iteration space."""

    size: Dim
    reduced: bool = False


@record
class Affine:
    """`constant + sum(coefficient * coordinate)`, by number of the atom in ascending order, without zeros."""

    constant: Dim = ZERO
    terms: tuple[tuple[int, Dim], ...] = ()

    @staticmethod
    def of(constant: Dim, coefficients: Mapping[int, Dim]) -> "Affine":
        """The function without the terms that vanish."""
        return Affine(constant, tuple((i, c) for i, c in sorted(coefficients.items()) if c != ZERO))

    @staticmethod
    def coordinate(atom: int) -> "Affine":
        """The coordinate along one atom."""
        return Affine(ZERO, ((atom, ONE),))

    def __add__(self, other: "Affine | Dim | int") -> "Affine":
        if not isinstance(other, Affine):
            return Affine(self.constant + other, self.terms)
        sums = dict(self.terms)
        for atom, coefficient in other.terms:
            sums[atom] = sums.get(atom, ZERO) + coefficient
        return Affine.of(self.constant + other.constant, sums)

    def __sub__(self, other: "Affine | Dim | int") -> "Affine":
        return self + (other * Dim.of(-1) if isinstance(other, Affine) else Dim.of(other) * -1)

    def __mul__(self, factor: Dim) -> "Affine":
        return Affine.of(self.constant * factor, {i: c * factor for i, c in self.terms})

    def coefficient(self, atom: int) -> Dim:
        """How far one step along the atom moves it."""
        return dict(self.terms).get(atom, ZERO)

    @property
    def atoms(self) -> frozenset[int]:
        """The atoms on which it depends."""
        return frozenset(i for i, _ in self.terms)


IndexMap = tuple[Affine, ...]
"""Where a tensor is read: one function for each of its dimensions."""


@record
class Bound:
    """Only where `0 <= place < extent` is there an element."""

    place: Affine
    extent: Dim


def row_major(places: Sequence[Affine], sizes: Sequence[Dim]) -> Affine:
    """The number of an element of a tensor of these sizes, counted with the last dimension fastest."""
    total, step = Affine(), ONE
    for place, size in zip(reversed(places), reversed(sizes), strict=True):
        total += place * step
        step *= size
    return total


def remainder(place: Affine, size: Dim, atoms: Sequence[Atom], facts: Facts) -> Affine:
    """`place mod size`. Raises RefineError and NotExpressibleError."""
    if size == ONE:
        return Affine()
    left = Affine.of(place.constant, {i: c for i, c in place.terms if not _divides(size, c, facts)})
    if not left.terms and left.constant == ZERO:
        return left
    if len(left.terms) == 1 and left.constant == ZERO and left.terms[0][1] == ONE:
        atom = left.terms[0][0]
        if facts.equal(atoms[atom].size, size):
            return left
        if _divides(size, atoms[atom].size, facts):
            raise RefineError(atom, size)
    raise NotExpressibleError(f"its elements repeat every {size} places, which are no whole dimension of the kernel")


def regrouped(place: Affine, sizes: Sequence[Dim], atoms: Sequence[Atom], facts: Facts) -> IndexMap:
    """The coordinates in a tensor of these sizes of the element with number `place`. Raises RefineError,
    NotExpressibleError."""
    chain = _counting_order(place, atoms, facts)
    found: list[Affine] = []
    for size in reversed(sizes):
        coordinate, step = Affine(), ONE
        while not facts.equal(step, size):
            if not chain:
                raise NotExpressibleError("reshape changes the number of elements")
            atom = chain[-1]
            reach = step * atoms[atom].size
            if _divides(reach, size, facts):
                coordinate += Affine.coordinate(atom) * step
                step = reach
                chain.pop()
            elif _divides(size, reach, facts) and _divides(step, size, facts):
                raise RefineError(atom, facts.simplify(size) // facts.simplify(step))
            else:
                raise NotExpressibleError(
                    f"reshape regroups dimensions of {atoms[atom].size} and {size}, neither a multiple of the other"
                )
        found.append(coordinate)
    return tuple(reversed(found))


def _counting_order(place: Affine, atoms: Sequence[Atom], facts: Facts) -> list[int]:
    """The atoms of a function that counts through them, the fastest last. Raises NotExpressibleError where it does
    not."""
    left = {i: c for i, c in place.terms if not facts.equal(atoms[i].size, ONE)}
    order: list[int] = []
    step = ONE
    while left and place.constant == ZERO:
        fastest = next((i for i, c in left.items() if facts.equal(c, step)), None)
        if fastest is None:
            break
        del left[fastest]
        order.insert(0, fastest)
        step *= atoms[fastest].size
    if left or place.constant != ZERO:
        raise NotExpressibleError("reshape needs its operand's elements in one piece, but a part of them is taken")
    return order


def _divides(divisor: Dim, dim: Dim, facts: Facts) -> bool:
    divisor, dim = facts.simplify(divisor), facts.simplify(dim)
    if divisor == ZERO:
        return dim == ZERO
    return dim % divisor == ZERO or (divisor.is_static and facts.is_multiple(dim, divisor.value))


def cut(atoms: Sequence[Atom], refine: RefineError, facts: Facts) -> tuple[Atom, ...]:
    """The atoms with one of them in two parts, the outer one first."""
    atom = atoms[refine.atom]
    outer = Atom(facts.simplify(atom.size) // facts.simplify(refine.inner), atom.reduced)
    return (*atoms[: refine.atom], outer, Atom(refine.inner, atom.reduced), *atoms[refine.atom + 1 :])
