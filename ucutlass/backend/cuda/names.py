"""Names in the emitted C++: those of the program, made legal and unique."""

CPP_KEYWORDS: frozenset[str] = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires return short signed
    sizeof static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq main""".split()
)


def camel_case(name: str) -> str:
    """`y_compute` is the type `YCompute`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_") if part) or "Value"


class NameTable:
    """Hands out names of one C++ scope."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self._taken = set(reserved | CPP_KEYWORDS)

    def unique(self, wanted: str) -> str:
        """`wanted`, with underscores or a number added where it is taken."""
        name = wanted if not wanted[:1].isdigit() else f"v{wanted}"
        number = 1
        while name in self._taken or name.startswith("__"):
            name = f"{wanted.strip('_')}_{number}"
            number += 1
        self._taken.add(name)
        return name
