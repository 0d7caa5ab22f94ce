"""Shell completion of a tool, as a script for bash, zsh or fish that is made from its table of flags.

Imports only leaves. The scripts start no Python: a completion must come at once.

    eval "$(ucutlass-opt --completion bash)"
    eval "$(ucutlass-opt --completion zsh)"
    ucutlass-opt --completion fish | source
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from ucutlass_tools._flags import CommandLine, Completes, Flag

Shell = Literal["bash", "zsh", "fish"]


def script(line: CommandLine, shell: Shell) -> str:
    """The script, ended by a line break."""
    makers: Mapping[Shell, Callable[[CommandLine], Iterable[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    return "\n".join(makers[shell](line)) + "\n"


def _words(completes: Completes) -> tuple[str, ...]:
    """What a value can be, where that is a closed set."""
    # Each table is imported only where a flag needs it.
    if completes in ("pipeline", "pass"):
        from ucutlass.registry import PASSES, PIPELINES

        return (*(PIPELINES if completes == "pipeline" else ()), *PASSES)
    if completes == "code":
        from ucutlass.diagnostics.catalogue import CATALOGUE

        return tuple(CATALOGUE)
    if completes == "arch":
        from ucutlass.targets.arch import ARCHITECTURES

        return tuple(ARCHITECTURES)
    return ()


def _values(flag: Flag) -> tuple[str, ...]:
    return flag.choices or _words(flag.completes)


def _is_list(flag: Flag) -> bool:
    """Whether the value is several words with commas between."""
    return flag.completes in ("pipeline", "pass")


def _all_names(line: CommandLine) -> list[str]:
    return ["--help", *(name for flag in line.flags for name in flag.names)]


def _function(tool: str) -> str:
    return "_" + tool.replace("-", "_")


# bash ----------------------------------------------------------------------------------------------------------------


def _bash(line: CommandLine) -> Iterable[str]:
    name = _function(line.tool)
    yield f"# Completion of {line.tool} for bash."
    yield f"{name}() {{"
    yield '  local current=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} explicit=""'
    yield "  # bash takes the = of --flag=value for a word of its own."
    yield '  if [[ $current == "=" ]]; then'
    yield '    current="" explicit=1'
    yield '  elif [[ $flag == "=" ]]; then'
    yield "    flag=${COMP_WORDS[COMP_CWORD-2]} explicit=1"
    yield "  fi"
    yield "  case $flag in"
    for flag in line.flags:
        if flag.takes_value:
            yield f"    {'|'.join(flag.names)})"
            yield from (f"      {text}" for text in _bash_value(flag))
            # A flag that may stand alone has a value only after =; else the next word is something new.
            yield "      return ;;" if flag.bare is None else "      [[ $explicit ]] && return ;;"
    yield "  esac"
    yield "  if [[ $current == -* ]]; then"
    yield f'    COMPREPLY=($(compgen -W "{" ".join(_all_names(line))}" -- "$current"))'
    if line.positional is not None:
        yield "  else"
        yield f"    {_BASH_FILES}"
    yield "  fi"
    yield "}"
    yield f"complete -F {name} {line.tool}"


_BASH_FILES = 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$current"))'
_BASH_FOLDERS = 'compopt -o filenames; COMPREPLY=($(compgen -d -- "$current"))'


def _bash_value(flag: Flag) -> Iterable[str]:
    if not (words := _values(flag)):
        if flag.completes in ("file", "folder"):
            yield _BASH_FILES if flag.completes == "file" else _BASH_FOLDERS
        return
    listed = " ".join(words)
    if not _is_list(flag):
        yield f'COMPREPLY=($(compgen -W "{listed}" -- "$current"))'
        return
    yield 'local before=""'
    yield '[[ $current == *,* ]] && before="${current%,*},"'
    yield f'COMPREPLY=($(compgen -P "$before" -W "{listed}" -- "${{current##*,}}"))'


# zsh -----------------------------------------------------------------------------------------------------------------


def _zsh(line: CommandLine) -> Iterable[str]:
    name = _function(line.tool)
    yield f"#compdef {line.tool}"
    yield f"# Completion of {line.tool} for zsh."
    yield f"{name}() {{"
    yield "  _arguments -s \\"
    yield "    '--help[show the help]' \\"
    for flag in line.flags:
        for each in flag.names:
            yield f"    {_zsh_flag(flag, each)} \\"
    yield "    '*:file:_files'" if line.positional is not None else "    && return"
    yield "}"
    yield f"compdef {name} {line.tool}"


def _zsh_flag(flag: Flag, name: str) -> str:
    text = flag.help.replace("[", "(").replace("]", ")").replace("'", "").replace(":", "\\:")
    repeat = "*" if flag.repeatable else ""
    if not flag.takes_value:
        return f"'{repeat}{name}[{text}]'"
    separator = "=" if name.startswith("--") else ""
    if flag.bare is not None:
        separator = "=-"
    action = {"file": "_files", "folder": "_files -/"}.get(flag.completes, "")
    if words := _values(flag):
        action = f"_sequence compadd - {' '.join(words)}" if _is_list(flag) else f"({' '.join(words)})"
    label = (flag.value or "value").replace("[", "(").replace("]", ")").replace(":", "\\:")
    optional = "::" if flag.bare is not None else ":"
    return f"'{repeat}{name}{separator}[{text}]{optional}{label}:{action}'"


# fish ----------------------------------------------------------------------------------------------------------------


def _fish(line: CommandLine) -> Iterable[str]:
    yield f"# Completion of {line.tool} for fish."
    yield f"complete -c {line.tool} -l help -s h -d 'show the help'"
    for flag in line.flags:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
        text = flag.help.replace("\\", "\\\\").replace("'", "\\'")
        yield f"complete -c {line.tool} {names}{_fish_value(flag)} -d '{text}'"


def _fish_value(flag: Flag) -> str:
    if not flag.takes_value or flag.bare is not None:
        return ""
    if words := _values(flag):
        return f" -x -a '{' '.join(words)}'"
    if flag.completes == "folder":
        return " -x -a '(__fish_complete_directories)'"
    return " -r" if flag.completes == "file" else " -x"
