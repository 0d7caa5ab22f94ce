"""`record`: a frozen dataclass that costs a quarter to define.

A leaf: imports only the standard library. The tools start in a fraction of a second, and a tenth of that went into
frozen dataclasses: each has six methods written as text and compiled when its module is imported, 1.4 ms in all. Here
only `__init__` is; the others are shared functions, which take a microsecond or two longer when they are called. So a
class of which thousands of objects are compared stays a dataclass.
"""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Makes a class whose objects are values: fields by annotation, compared by their values, never changed.

    What works with dataclasses works with these: `field`, `fields`, `replace`, `asdict`, `match`, `__post_init__`.
    """
    made = dataclass(eq=False, repr=False)(cls)
    known = fields(cast("type[DataclassInstance]", made))
    names = {f.name for f in known}
    shown = [f.name for f in known if f.repr]
    values = _values([f.name for f in known if f.compare])

    def equal(self: T, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: T) -> int:
        return hash(values(self))

    def spelled(self: T) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def assign(self: T, name: str, value: object) -> None:
        # `__init__` sets each field once; nobody sets one again, or anything else.
        if name in vars(self) or name not in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        vars(self)[name] = value

    methods: dict[str, Callable[..., object]] = {
        "__eq__": equal,
        "__hash__": hashed,
        "__repr__": spelled,
        "__setattr__": assign,
        "__delattr__": _refuse,
    }
    for name, method in methods.items():
        # Python sets `__hash__` to None beside an equality of the class's own; that stays.
        if name not in vars(cls):
            setattr(made, name, method)
    return made


def _values(names: list[str]) -> Callable[[object], object]:
    """The fields that make a value, as something that can be compared."""
    return attrgetter(*names) if names else lambda _: ()


def _refuse(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
