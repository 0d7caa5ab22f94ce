"""Sizes, numbers and conditions of the dialect as text of the language.

Imports the sizes. `where` clauses have no sign, so a difference begins with what is added; parameters have no `%`.
"""

from collections.abc import Sequence

from ucutlass.dims import Condition, Dim, Monomial, Quotient


class NotWritableError(ValueError):
    """The language has no text for something; says what."""


def _atom(atom: str | Quotient, remainder: bool) -> str:
    if isinstance(atom, str):
        return atom
    if atom.kind == "%" and not remainder:
        raise NotWritableError(f"the size '{atom}' of a parameter has a remainder in it, which only 'where' may have")
    return f"({_operand(atom.numerator, remainder, True)} {atom.kind} {_operand(atom.denominator, remainder, False)})"


def _operand(dim: Dim, remainder: bool, left: bool) -> str:
    """A size as one side of a division."""
    text = _sum(dim, remainder)
    if left and _is_quotient(dim):
        return text[1:-1]
    one_product = len(dim.terms) == 1 and dim.terms[0][1] > 0
    return text if text.isalnum() or text.isidentifier() or (left and one_product) else f"({text})"


def _is_quotient(dim: Dim) -> bool:
    """Whether a size is one division and nothing else; its text then stands in parentheses that it may lose."""
    (monomial, coefficient), *others = dim.terms or (((), 0),)
    return not others and coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], Quotient)


def _product(monomial: Monomial, coefficient: int, remainder: bool) -> str:
    factors = [_atom(atom, remainder) for atom in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    return " * ".join(factors)


def _sum(dim: Dim, remainder: bool) -> str:
    terms = [*(t for t in dim.terms if t[1] > 0), *(t for t in dim.terms if t[1] < 0)]
    if not terms:
        return "0"
    parts = [_product(monomial, abs(coefficient), remainder) for monomial, coefficient in terms]
    if terms[0][1] < 0:
        parts.insert(0, "0")
        signs = ["-"] * len(terms)
    else:
        signs = ["+" if coefficient > 0 else "-" for _, coefficient in terms[1:]]
    return parts[0] + "".join(f" {sign} {part}" for sign, part in zip(signs, parts[1:], strict=True))


def number_text(value: int | float) -> str:
    """The shortest text that reads back to the same number."""
    mantissa, exponent, power = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}" if exponent else mantissa


def size_text(dim: Dim) -> str:
    """The size of a parameter: a whole number, a name, or an expression."""
    if dim.is_static:
        return str(dim.value)
    text = _sum(dim, remainder=False)
    return text[1:-1] if _is_quotient(dim) else text


def type_size_text(dim: Dim) -> str:
    """The size of a type: a whole number or a name."""
    if not dim.is_static and not str(dim).isidentifier():
        raise NotWritableError(f"a size of a type is a whole number or a name, not '{dim}'")
    return str(dim)


def condition_text(condition: Condition) -> str:
    """A condition of a `where` clause."""

    def side(dim: Dim) -> str:
        text = _sum(dim, remainder=True)
        return text[1:-1] if _is_quotient(dim) else text

    return f"{side(condition.left)} {condition.relation} {side(condition.right)}"


def where_text(conditions: Sequence[Condition]) -> str:
    """A `where` clause without the word."""
    return ", ".join(map(condition_text, conditions))
