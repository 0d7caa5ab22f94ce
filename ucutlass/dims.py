"""Symbolic sizes: integers, dimension names and the expressions that shape rules build from them.

A leaf: imports only the standard library. A `Dim` is a polynomial with integer coefficients over *atoms*; an atom is a
dimension name or a floor division or remainder that does not simplify. Sizes are non-negative, so `/` in the language
is floor division. `Facts` holds what a kernel's `where` clause guarantees and decides equality and divisibility.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal


@dataclass(frozen=True)
class Quotient:
    """The atom `floor(numerator / denominator)` or `numerator mod denominator`."""

    kind: Literal["/", "%"]
    numerator: "Dim"
    denominator: "Dim"

    def __str__(self) -> str:
        terms = self.numerator.terms
        is_product = len(terms) == 1 and terms[0][1] > 0  # operators of one rank bind from the left
        numerator = str(self.numerator) if is_product else _parenthesized(self.numerator)
        return f"{numerator} {self.kind} {_parenthesized(self.denominator)}"


Atom = str | Quotient
Monomial = tuple[Atom, ...]


def _sort_key(monomial: Monomial) -> tuple[int, tuple[str, ...]]:
    return (-len(monomial), tuple(str(a) for a in monomial))


@dataclass(frozen=True)
class Dim:
    """A size. Compare with `==`: equal polynomials are equal sizes for every value of the names."""

    terms: tuple[tuple[Monomial, int], ...]
    """Monomials with their non-zero coefficients, in a canonical order."""

    @staticmethod
    def of(value: "int | str | Dim") -> "Dim":
        """The dimension of an integer, a name, or the text of an expression."""
        if isinstance(value, Dim):
            return value
        if isinstance(value, int):
            return Dim((((), value),) if value else ())
        if value.isidentifier():
            return Dim((((value,), 1),))
        return parse_dim(value)

    @staticmethod
    def _collect(terms: Iterable[tuple[Monomial, int]]) -> "Dim":
        sums: dict[Monomial, int] = {}
        for monomial, coefficient in terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return Dim(tuple(sorted(((m, c) for m, c in sums.items() if c), key=lambda t: _sort_key(t[0]))))

    @property
    def is_static(self) -> bool:
        return all(not monomial for monomial, _ in self.terms)

    @property
    def value(self) -> int:
        """The integer of a static size. Raises ValueError on a symbolic one."""
        if not self.is_static:
            raise ValueError(f"{self} is not a constant")
        return self.terms[0][1] if self.terms else 0

    @property
    def name(self) -> str | None:
        """The name that the size consists of, None where it is anything else."""
        if len(self.terms) != 1:
            return None
        monomial, coefficient = self.terms[0]
        atom = monomial[0] if len(monomial) == 1 and coefficient == 1 else None
        return atom if isinstance(atom, str) else None

    @cached_property
    def names(self) -> frozenset[str]:
        """Every dimension name that occurs."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                found |= {atom} if isinstance(atom, str) else atom.numerator.names | atom.denominator.names
        return frozenset(found)

    def __add__(self, other: "int | Dim") -> "Dim":
        return Dim._collect([*self.terms, *Dim.of(other).terms])

    def __sub__(self, other: "int | Dim") -> "Dim":
        return self + Dim.of(other) * -1

    def __mul__(self, other: "int | Dim") -> "Dim":
        right = Dim.of(other)
        return Dim._collect(
            (tuple(sorted(m1 + m2, key=str)), c1 * c2) for m1, c1 in self.terms for m2, c2 in right.terms
        )

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: "int | Dim") -> "Dim":
        return Dim.of(other) - self

    def __floordiv__(self, other: "int | Dim") -> "Dim":
        """Floor division; exact parts divide out. Raises ZeroDivisionError on a constant zero."""
        return self._divide(Dim.of(other))[0]

    def __mod__(self, other: "int | Dim") -> "Dim":
        """Remainder of floor division. Raises ZeroDivisionError on a constant zero."""
        return self._divide(Dim.of(other))[1]

    def _divide(self, divisor: "Dim") -> "tuple[Dim, Dim]":
        if divisor.is_static and divisor.value == 0:
            raise ZeroDivisionError(f"{self} divided by zero")
        if self.is_static and divisor.is_static:
            return Dim.of(self.value // divisor.value), Dim.of(self.value % divisor.value)
        if len(divisor.terms) == 1:
            exact, rest = self._split_multiples(*divisor.terms[0])
        elif self == divisor:
            exact, rest = Dim.of(1), Dim.of(0)
        else:
            exact, rest = Dim.of(0), self
        if rest.is_static and (rest.value == 0 or (divisor.is_static and 0 <= rest.value < divisor.value)):
            return exact, rest
        if rest.is_static and divisor.is_static:
            return exact + rest.value // divisor.value, Dim.of(rest.value % divisor.value)
        quotient = Dim((((Quotient("/", rest, divisor),), 1),))
        remainder = Dim((((Quotient("%", rest, divisor),), 1),))
        return exact + quotient, remainder

    def _split_multiples(self, monomial: Monomial, coefficient: int) -> "tuple[Dim, Dim]":
        """Split into terms that `coefficient * monomial` divides exactly (returned divided) and the rest."""
        exact: list[tuple[Monomial, int]] = []
        rest: list[tuple[Monomial, int]] = []
        for m, c in self.terms:
            remaining = list(m)
            divides = c % coefficient == 0
            for atom in monomial:
                if atom in remaining:
                    remaining.remove(atom)
                else:
                    divides = False
            if divides:
                exact.append((tuple(remaining), c // coefficient))
            elif not m and not monomial:
                exact.append(((), c // coefficient))
                rest.append(((), c % coefficient))
            else:
                rest.append((m, c))
        return Dim._collect(exact), Dim._collect(rest)

    def evaluate(self, bindings: Mapping[str, int]) -> int:
        """The size with every name bound. Raises KeyError naming the first unbound name."""
        total = 0
        for monomial, coefficient in self.terms:
            product = coefficient
            for atom in monomial:
                if isinstance(atom, str):
                    product *= bindings[atom]
                else:
                    numerator, denominator = atom.numerator.evaluate(bindings), atom.denominator.evaluate(bindings)
                    product *= numerator // denominator if atom.kind == "/" else numerator % denominator
            total += product
        return total

    def substitute(self, bindings: Mapping[str, "Dim"]) -> "Dim":
        """The size with some names replaced."""
        if not (self.names & bindings.keys()):
            return self
        total = Dim.of(0)
        for monomial, coefficient in self.terms:
            product = Dim.of(coefficient)
            for atom in monomial:
                if isinstance(atom, str):
                    product *= bindings.get(atom, Dim.of(atom))
                else:
                    numerator, denominator = atom.numerator.substitute(bindings), atom.denominator.substitute(bindings)
                    product *= numerator // denominator if atom.kind == "/" else numerator % denominator
            total += product
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts: list[str] = []
        # What is added comes first: `where` clauses have no sign.
        for monomial, coefficient in sorted(self.terms, key=lambda term: term[1] < 0):
            sign = "-" if coefficient < 0 else "+"
            # A quotient that is a whole term stands bare, but not after a leading sign, which binds to its numerator.
            is_bare = len(monomial) == 1 and abs(coefficient) == 1 and (bool(parts) or coefficient > 0)
            factors = [str(a) if is_bare or isinstance(a, str) else f"({a})" for a in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            body = " * ".join(factors)
            parts.append(f" {sign} {body}" if parts else (body if sign == "+" else f"-{body}"))
        return "".join(parts)

    def __repr__(self) -> str:
        return f"Dim({self})"


def _parenthesized(dim: Dim) -> str:
    text = str(dim)
    return text if re.fullmatch(r"\w+", text) else f"({text})"


_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(.))")


def parse_dim(text: str) -> Dim:
    """Read the text form that `str(Dim)` writes and that `where` clauses use. Raises ValueError on anything else."""
    tokens = [m.group(m.lastindex or 0) for m in _TOKEN.finditer(text) if m.lastindex]
    position = 0

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1]

    def atom() -> Dim:
        token = peek()
        if token == "(":
            take()
            inner = sum_()
            if peek() != ")":
                raise ValueError(f"expected ')' in size '{text}'")
            take()
            return inner
        if token == "-":
            take()
            return atom() * -1
        if token.isdigit():
            return Dim.of(int(take()))
        if token.isidentifier():
            return Dim.of(take())
        raise ValueError(f"'{token}' is not a size, in '{text}'")

    def product() -> Dim:
        left = atom()
        while peek() in ("*", "/", "%"):
            operator, right = take(), atom()
            left = left * right if operator == "*" else left // right if operator == "/" else left % right
        return left

    def sum_() -> Dim:
        left = product()
        while peek() in ("+", "-"):
            left = left + product() if take() == "+" else left - product()
        return left

    result = sum_()
    if position != len(tokens):
        raise ValueError(f"unexpected '{peek()}' in size '{text}'")
    return result


Relation = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Condition:
    """One condition of a `where` clause."""

    left: Dim
    relation: Relation
    right: Dim

    def holds(self, bindings: Mapping[str, int]) -> bool:
        """Whether it holds for these sizes. Raises KeyError on an unbound name."""
        left, right = self.left.evaluate(bindings), self.right.evaluate(bindings)
        match self.relation:
            case "==":
                return left == right
            case "!=":
                return left != right
            case "<":
                return left < right
            case "<=":
                return left <= right
            case ">":
                return left > right
            case ">=":
                return left >= right

    @property
    def definitions(self) -> tuple[tuple[str, Dim], ...]:
        """The names that an equation `P == expression` may define, read in both directions."""
        if self.relation != "==":
            return ()
        sides = ((self.left, self.right), (self.right, self.left))
        return tuple((a.name, b) for a, b in sides if a.name is not None and a.name not in b.names)

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


_RELATIONS: tuple[Relation, ...] = ("==", "!=", "<=", ">=", "<", ">")


def parse_condition(text: str) -> Condition:
    """Read `K % 8 == 0`. Raises ValueError on anything else."""
    for relation in _RELATIONS:
        left, found, right = text.partition(relation)
        if found:
            return Condition(Dim.of(left.strip()), relation, Dim.of(right.strip()))
    raise ValueError(f"'{text}' is not a condition: expected one of {', '.join(_RELATIONS)}")


def bound_names(sizes: Iterable[Dim], conditions: Iterable[Condition]) -> frozenset[str]:
    """The names whose sizes follow from tensors of these sizes and from the equations among the conditions."""
    bound = {size.name for size in sizes if size.name is not None}
    definitions = [definition for condition in conditions for definition in condition.definitions]
    while new := {name for name, right in definitions if name not in bound and right.names <= bound}:
        bound |= new
    return frozenset(bound)


_MOST_TERMS = 256
_MOST_FACTORS = 32


def _outgrows(dim: Dim, definitions: Mapping[str, Dim]) -> bool:
    """Whether `dim` would be out of hand with its names replaced: `A == B * B, B == C * C, …` doubles with each."""
    terms = 0
    for monomial, _ in dim.terms:
        product, factors = 1, 0
        for atom in monomial:
            if isinstance(atom, Quotient):
                if _outgrows(atom.numerator, definitions) or _outgrows(atom.denominator, definitions):
                    return True
                factors += 1
            elif (definition := definitions.get(atom)) is not None:
                product *= len(definition.terms)
                factors += max((len(factor) for factor, _ in definition.terms), default=0)
            else:
                factors += 1
        terms += product
        if terms > _MOST_TERMS or factors > _MOST_FACTORS:
            return True
    return False


@dataclass(frozen=True)
class Facts:
    """What is known of the dimension names of one kernel."""

    conditions: tuple[Condition, ...] = ()
    _definitions: dict[str, Dim] = field(init=False, default_factory=dict[str, Dim], compare=False)
    _divisors: dict[str, int] = field(init=False, default_factory=dict[str, int], compare=False)

    def __post_init__(self) -> None:
        equations = [(c.left, c.right) for c in self.conditions if c.relation == "=="]
        for left, right in equations:
            # What is known makes of one name the other: `P == N, P == 2 * M` defines P and N.
            left, right = self.simplify(left), self.simplify(right)
            for name, definition in ((left.name, right), (right.name, left)):
                if name is not None and name not in definition.names:
                    self._definitions[name] = definition
                    break
        for left, right in equations:
            self._learn_divisor(left, right)
            self._learn_divisor(right, left)

    def _learn_divisor(self, left: Dim, right: Dim) -> None:
        """`M % 8 == 0` says something of M, and of N where M is N."""
        if right != Dim.of(0) or len(left.terms) != 1 or len(left.terms[0][0]) != 1:
            return
        atom = left.terms[0][0][0]
        if isinstance(atom, str) or atom.kind != "%" or not atom.denominator.is_static:
            return
        for name in (atom.numerator.name, self.simplify(atom.numerator).name):
            if name is not None:
                self._divisors[name] = math.lcm(self._divisors.get(name, 1), abs(atom.denominator.value))

    def simplify(self, dim: Dim) -> Dim:
        """`dim` with the names that an equation defines replaced by their definitions."""
        for _ in range(len(self._definitions) + 1):
            if _outgrows(dim, self._definitions):
                return dim
            replaced = dim.substitute(self._definitions)
            if replaced == dim:
                return dim
            dim = replaced
        return dim

    def equal(self, left: Dim, right: Dim) -> bool:
        """Whether the sizes are provably equal."""
        return left == right or self.simplify(left) == self.simplify(right)

    def multiple_of(self, dim: Dim) -> int:
        """The largest integer that provably divides `dim` (0 for a size that is zero)."""
        return math.lcm(self._divisor(dim), self._divisor(self.simplify(dim)))

    def _divisor(self, dim: Dim) -> int:
        divisor = 0
        for monomial, coefficient in dim.terms:
            known = abs(coefficient)
            for atom in monomial:
                known *= self._divisors.get(atom, 1) if isinstance(atom, str) else 1
            divisor = math.gcd(divisor, known)
        return divisor

    def is_multiple(self, dim: Dim, of: int) -> bool:
        """Whether `of` provably divides `dim`."""
        return self.multiple_of(dim) % of == 0
