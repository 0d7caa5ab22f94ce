"""Names for the values of a kernel that is printed: their own where the language can have them.

Imports the dialect. Names in IR may hold characters that names of the language do not, may be the same for several
values after a rewrite, and are missing where a value needs one to be used twice.
"""

import re
from collections.abc import Iterable

from xdsl.ir import SSAValue

from ucutlass.frontend.table import load_table

_FOREIGN = re.compile(r"[^A-Za-z0-9_]")


class Namer:
    """Gives the values of one kernel distinct names."""

    def __init__(self, values: Iterable[SSAValue], others: Iterable[str]) -> None:
        """`values` are all values with a name of their own, first come, first served; `others` are taken."""
        self._reserved = frozenset(load_table().reserved_words)
        self._taken = set(others)
        self._names: dict[SSAValue, str] = {}
        self._next = 0
        for value in values:
            if value.name_hint is not None:
                self._names[value] = self._unique(self._legal(value.name_hint))

    def _legal(self, name: str) -> str:
        legal = _FOREIGN.sub("_", name)
        return f"_{legal}" if legal[:1].isdigit() else f"{legal}_" if legal in self._reserved else legal

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self._taken:
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(unique)
        return unique

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._names

    def __getitem__(self, value: SSAValue) -> str:
        """The name of a value; invented where it has none."""
        if value not in self._names:
            self._names[value] = self.invent()
        return self._names[value]

    def invent(self) -> str:
        """A name that nothing has."""
        while f"v{self._next}" in self._taken:
            self._next += 1
        return self._unique(f"v{self._next}")
