"""The grammar in other notations: independent readers of them accept and reject the same programs as the parser."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from lark import Lark, UnexpectedInput

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.source import SourceFile
from ucutlass.frontend.grammar_export import ebnf, gbnf, lark
from ucutlass.frontend.grammar_source import read_grammar
from ucutlass.frontend.parse import parse
from ucutlass.frontend.table import load_table

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.ucu"))
HEAD = "kernel k(x: f16[8]) -> f16[8] { "

ACCEPTED = [
    *(path.read_text() for path in EXAMPLES),
    HEAD + "return x }",
    HEAD + "y = relu(x)return y}",
    HEAD + "y = x return y}",
    HEAD + "return(x)}",
    HEAD + "return-x}",
    HEAD + "return x } # a comment without a line break",
    HEAD + "# } kernel\n return x }",
    HEAD + "returned = x trueish = x return returned, trueish, returns, infinity, naan, automatic }",
    HEAD + "a, b = f([x, -1, @col, @(1,0), []], k=true, j=[auto], i=inf) return a }",
    HEAD + "return 1.5e-3 * x + 1e5 / x - 007 }",
    HEAD + "return (x).T.T >> gemm(x).with_tile(1, 2, 3).with_x().T }",
    "target sm_90a kernel where(kernel:f16[where]@(0),w:f16[]@where)->f16[target]@row where where%8==0,(a+1)/2<b"
    "{target=kernel return target.T}",
    "kernel a()->f16[]{return 1}kernel b()->f16[1],f16[2,M]@col where 1==1{return 1}",
]
REJECTED = [
    "",
    "# only a comment",
    "target sm_90a",
    HEAD + "return x",
    HEAD + "returnx }",
    HEAD + "y = xreturn y }",
    HEAD + "y = x }",
    HEAD + "return x, }",
    HEAD + "return f(x,) }",
    HEAD + "return f(a=1, , b) }",
    HEAD + "return 1. }",
    HEAD + "return .5 }",
    HEAD + "return x >> y }",
    HEAD + "return gemm(x, x).T.with_stages(4) }",
    HEAD + "return x.with_stages(4) }",
    HEAD + "return x; }",
    HEAD + "return [x] }",
    HEAD + "return x ** 2 }",
    HEAD + "return x } }",
    HEAD + "return x } target sm_80",
    "kernel k(x: f16[8],) -> f16[8] { return x }",
    "kernel k(x: f16[M * 2]) -> f16[8] { return x }",
    "kernel k(x: f16[-1]) -> f16[8] { return x }",
    "kernel k(x: f16[8]) -> { return x }",
    "kernel k(x: f16[8]) -> f16[8] where { return x }",
    "kernel k(x: f16[8]) -> f16[8] where K = 1 { return x }",
]
WORDS = [
    HEAD + "return return }",
    HEAD + "true = x return x }",
    "kernel auto() -> f16[] { return 1 }",
    "kernelk(x: f16[8]) -> f16[8] { return x }",
]
"""Where words begin and end, and which are names: what a lexer that looks only for what could stand does not see."""


def mutated(count: int) -> Iterator[str]:
    """Examples with one token taken out, doubled or exchanged."""
    rng = random.Random(7)
    for _ in range(count):
        tokens = re.findall(r"\w+|>>|->|==|[<>=!]=|[^\w\s]|\s+", rng.choice(ACCEPTED))
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(3):
            case 0:
                tokens[at] = " "
            case 1:
                tokens[at] = f"{tokens[at]} {tokens[at]}"
            case _:
                tokens[at], tokens[other] = f" {tokens[other]} ", f" {tokens[at]} "
        yield "".join(tokens)


def parser_accepts(text: str) -> bool:
    engine = DiagnosticEngine()
    parse(SourceFile("text", text), engine)
    return not engine.has_errors


class LarkReader(Protocol):
    """What of Lark's class is used."""

    def parse(self, text: str) -> object: ...


def lark_accepts(reader: LarkReader, text: str) -> bool:
    try:
        reader.parse(text)
    except UnexpectedInput:
        return False
    return True


def agree(accepts: Callable[[str], bool], further: int, words: bool) -> None:
    """Checks a reader against what must and must not be accepted, and against the parser."""
    assert [text for text in ACCEPTED if not accepts(text)] == []
    assert [text for text in REJECTED if accepts(text)] == []
    if words:
        assert [text for text in WORDS if accepts(text)] == []
    texts = [t for t in mutated(further) if words or parser_accepts(t) or not has_reserved_name(t)]
    assert [text for text in texts if accepts(text) != parser_accepts(text)] == []


def has_reserved_name(text: str) -> bool:
    """Whether the parser objects to a reserved word that stands for a name."""
    engine = DiagnosticEngine()
    parse(SourceFile("text", text), engine)
    return any(d.code == "UC0112" for d in engine.errors) or re.search(r"return\s+return|\(\s*return", text) is not None


def test_the_parser_itself() -> None:
    agree(parser_accepts, 0, words=True)


def test_lark() -> None:
    reader: LarkReader = Lark(lark(), parser="lalr", lexer="basic", strict=True)
    agree(lambda text: lark_accepts(reader, text), 400, words=True)


def test_lark_with_its_contextual_lexer() -> None:
    reader: LarkReader = Lark(lark(), parser="lalr")
    agree(lambda text: lark_accepts(reader, text), 200, words=False)


def test_ebnf() -> None:
    """The EBNF is carried over to Lark's notation line by line and read by Lark's Earley parser."""
    lines: list[str] = []
    for line in re.sub(r"/\*.*?\*/", "", ebnf(), flags=re.DOTALL).splitlines():
        name, _, right = line.partition(" ::= ")
        if not right:
            continue
        if name[0].isupper():
            right = re.sub(r"\[[^\]]*\][*+?]?", lambda m: f"/{m[0]}/", right.replace("#xA", "\\n"))
            name = name.upper()
            lines.append(f"{name}: {right.replace('#x9', chr(92) + 't').replace('#xD', chr(92) + 'r')}")
        else:
            lines.append(f"{name}: {right}")
    text = "\n".join([*lines, "%ignore IGNORED"])
    reader: LarkReader = Lark(text, parser="earley", lexer="basic")
    agree(lambda program: lark_accepts(reader, program), 60, words=True)


def test_gbnf() -> None:
    """llguidance reads GBNF, and decides character by character as in constrained decoding."""
    llguidance = pytest.importorskip("llguidance")
    reader = pytest.importorskip("llguidance.gbnf_to_lark")
    tokenizer = llguidance.LLTokenizer("byte")
    grammar = llguidance.LLMatcher.grammar_from_lark(reader.gbnf_to_lark(gbnf()))
    assert llguidance.LLMatcher.validate_grammar(grammar, tokenizer) == ""

    def accepts(text: str) -> bool:
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        data = list(text.encode())
        return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()

    agree(accepts, 400, words=True)


def test_lark_text_in_llguidance() -> None:
    llguidance = pytest.importorskip("llguidance")
    tokenizer = llguidance.LLTokenizer("byte")
    # Unlike Lark it ignores nothing before the first token, unless told so.
    text = '%llguidance {"allow_initial_skip": true}\n' + lark()
    grammar = llguidance.LLMatcher.grammar_from_lark(text)
    assert llguidance.LLMatcher.validate_grammar(grammar, tokenizer) == ""

    def accepts(text: str) -> bool:
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        data = list(text.encode())
        return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()

    agree(accepts, 200, words=False)


def test_gbnf_is_what_llama_cpp_reads() -> None:
    """Names of letters, digits and dashes; every rule defined once and used; no rule begins with itself."""
    rules: dict[str, str] = {}
    for line in gbnf().splitlines():
        name, separator, right = line.partition(" ::= ")
        assert separator and re.fullmatch(r"[a-z][a-z0-9-]*", name), line
        assert name not in rules
        rules[name] = right
    used: set[str] = {"root"}
    first: dict[str, set[str]] = {}
    for name, right in rules.items():
        plain = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', "'", right)
        used |= set(re.findall(r"[a-z][a-z0-9-]*", plain))
        first[name] = {m[1] for part in plain.split("|") if (m := re.match(r"[( ]*([a-z][a-z0-9-]*)", part))}
    assert used == set(rules)
    for name in rules:
        reached, work = set[str](), list(first[name])
        while work:
            found = work.pop()
            if found not in reached:
                reached.add(found)
                work += first[found]
        assert name not in reached, f"{name} begins with itself"


def test_the_structure_has_what_the_table_has() -> None:
    grammar, table = read_grammar(), load_table()
    assert set(grammar.literals()) == {t.pattern for t in table.terminals.values() if t.literal}
    assert set(grammar.patterns) == {t.name for t in table.terminals.values() if not t.literal} - set(table.ignored)
    assert set(grammar.reserved_words) == set(table.reserved_words) == {"return", "true", "false", "auto", "inf", "nan"}
    assert set(grammar.rules) == {rule.origin for rule in table.rules if not rule.is_helper}
