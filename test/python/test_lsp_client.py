"""The language server from the outside: a client talks to the installed tool through its stdin and stdout."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from ucutlass_tools.lsp import main

SERVER = str(Path(sys.executable).parent / "ucutlass-lsp")
URI = "file:///somewhere/test.ucu"
SECONDS = 60

GOOD = """target sm_90a
kernel f(x: f16[64, 32], w: f16[64, 32]) -> f16[64, 64] {
  y = gemm(x, w.T) # the product
  return y
}
"""
BAD = GOOD.replace("gemm(x, w.T)", "gemm(x, w.T).with_tile(128, 64, 63) >> rellu()").replace("return y", "return q")


class Client(LanguageClient):
    """Remembers what the server publishes and how it ended."""

    def __init__(self) -> None:
        super().__init__("test-client", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.exit_code: int | None = None

        def on_publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

        # pygls leaves some of its types out.
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(on_publish)  # pyright: ignore[reportUnknownMemberType]

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.exit_code = server.returncode

    async def diagnostics(self) -> types.PublishDiagnosticsParams:
        """What the server publishes next."""
        return await asyncio.wait_for(self.published.get(), SECONDS)

    def open(self, text: str, uri: str = URI, language: str = "ucu") -> None:
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, text: str, version: int) -> None:
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, URI),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )


DOCUMENT = types.TextDocumentIdentifier(URI)


def session(
    work: Callable[[Client], Awaitable[None]],
    capabilities: types.ClientCapabilities | None = None,
    *arguments: str,
) -> types.InitializeResult:
    """Starts the server, does some work with it and ends it as an editor does; what the server said it can do."""

    async def run() -> types.InitializeResult:
        client = Client()
        await client.start_io(SERVER, *arguments)  # pyright: ignore[reportUnknownMemberType]
        started = await asyncio.wait_for(
            client.initialize_async(types.InitializeParams(capabilities or types.ClientCapabilities())), SECONDS
        )
        client.initialized(types.InitializedParams())
        await asyncio.wait_for(work(client), SECONDS)
        await asyncio.wait_for(client.shutdown_async(None), SECONDS)
        client.exit(None)
        await asyncio.wait_for(client.stop(), SECONDS)
        assert client.exit_code == 0
        return started

    return asyncio.run(run())


def position(text: str, part: str) -> types.Position:
    """Where a part of an ASCII text begins."""
    before = text[: text.index(part)]
    return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def slice_of(text: str, range_: types.Range) -> str:
    """The part of an ASCII text that a range covers."""
    lines = text.split("\n")
    assert range_.start.line == range_.end.line
    return lines[range_.start.line][range_.start.character : range_.end.character]


def edited(text: str, edits: list[types.TextEdit]) -> str:
    """An ASCII text with edits made, from the last to the first."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        first, last = (starts[p.line] + p.character for p in (edit.range.start, edit.range.end))
        text = text[:first] + edit.new_text + text[last:]
    return text


def test_diagnostics_come_on_opening_and_change_and_go_with_the_document() -> None:
    async def work(client: Client) -> None:
        client.open(BAD)
        first = await client.diagnostics()
        assert (first.uri, first.version) == (URI, 1)
        found = {d.code: slice_of(BAD, d.range) for d in first.diagnostics}
        assert found == {"UC0202": "rellu", "UC0201": "q"}
        assert {d.severity for d in first.diagnostics} == {types.DiagnosticSeverity.Error}
        assert {d.source for d in first.diagnostics} == {"ucutlass"}
        # Of two changes in a row only the last one is looked at.
        client.change(GOOD.replace("return y", "return z"), 2)
        client.change(GOOD, 3)
        second = await client.diagnostics()
        assert (second.version, list(second.diagnostics)) == (3, [])
        client.text_document_did_close(types.DidCloseTextDocumentParams(DOCUMENT))
        assert list((await client.diagnostics()).diagnostics) == []
        assert client.published.empty()

    session(work)


def test_fixes_are_offered_and_mend_the_program() -> None:
    async def work(client: Client) -> None:
        text = BAD.replace("y = ", "product = ").replace("return q", "return produkt")
        client.open(text)
        published = await client.diagnostics()
        rellu = next(d for d in published.diagnostics if d.code == "UC0202")
        context = types.CodeActionContext(list(published.diagnostics))
        actions = await client.text_document_code_action_async(types.CodeActionParams(DOCUMENT, rellu.range, context))
        quick, fix_all = actions or (None, None)
        assert isinstance(quick, types.CodeAction) and isinstance(fix_all, types.CodeAction)
        assert (quick.title, quick.kind, quick.is_preferred) == ("replace 'rellu' by 'relu'", "quickfix", True)
        assert quick.edit is not None and quick.edit.changes is not None
        once = edited(text, list(quick.edit.changes[URI]))
        assert once == text.replace("rellu", "relu")
        assert fix_all.edit is not None and fix_all.edit.changes is not None
        both = edited(text, list(fix_all.edit.changes[URI]))
        assert both == once.replace("produkt", "product")
        client.change(both, 2)
        # Now that the names are right, the tile is looked at.
        (tile,) = (await client.diagnostics()).diagnostics
        assert slice_of(both, tile.range) == "63"
        only = types.CodeActionContext([], only=[types.CodeActionKind.SourceFixAll])
        actions = await client.text_document_code_action_async(types.CodeActionParams(DOCUMENT, tile.range, only))
        assert [a.kind for a in actions or () if isinstance(a, types.CodeAction)] == ["source.fixAll"]

    session(work)


def test_questions_about_a_text_are_answered() -> None:
    async def work(client: Client) -> None:
        client.open(GOOD)
        await client.diagnostics()
        hover = await client.text_document_hover_async(types.HoverParams(DOCUMENT, position(GOOD, "gemm")))
        assert hover is not None and isinstance(hover.contents, types.MarkupContent) and hover.range is not None
        assert "-> f16[64, 64]" in hover.contents.value and "Matrix product" in hover.contents.value
        assert slice_of(GOOD, hover.range) == "gemm"
        nothing = await client.text_document_hover_async(types.HoverParams(DOCUMENT, position(GOOD, "{")))
        assert nothing is None
        found = await client.text_document_definition_async(types.DefinitionParams(DOCUMENT, position(GOOD, "y\n}")))
        assert isinstance(found, types.Location)
        assert (found.uri, found.range.start) == (URI, position(GOOD, "y = gemm"))
        symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(DOCUMENT))
        (kernel,) = symbols or (None,)
        assert isinstance(kernel, types.DocumentSymbol) and kernel.kind == types.SymbolKind.Function
        assert [(s.name, s.detail) for s in kernel.children or ()] == [
            ("x", "f16[64, 32]"),
            ("w", "f16[64, 32]"),
            ("y", "f16[64, 64]"),
        ]

    session(work)


@pytest.mark.parametrize("snippets", [True, False])
def test_completion_fits_the_client(snippets: bool) -> None:
    async def work(client: Client) -> None:
        text = GOOD.replace("gemm(x, w.T)", "gemm(x, w.T).")
        client.open(text)
        await client.diagnostics()
        cursor = position(text, " # the")
        found = await client.text_document_completion_async(types.CompletionParams(DOCUMENT, cursor))
        assert isinstance(found, types.CompletionList)
        items = {item.label: item for item in found.items}
        tile = items["with_tile"]
        assert tile.kind == types.CompletionItemKind.Method and tile.detail == ".with_tile(m, n, k)"
        assert tile.insert_text == ("with_tile($0)" if snippets else "with_tile(")
        form = types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText
        assert tile.insert_text_format == form
        assert "gemm" not in items
        top = await client.text_document_completion_async(types.CompletionParams(DOCUMENT, types.Position(5, 0)))
        assert isinstance(top, types.CompletionList)
        kernel = next(item for item in top.items if item.label == "kernel")
        assert kernel.insert_text is not None and ("${1:name}" in kernel.insert_text) is snippets

    item = types.ClientCompletionItemOptions(snippet_support=snippets)
    completion = types.CompletionClientCapabilities(completion_item=item)
    session(work, types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities(completion=completion)))


def test_formatting_is_an_edit_that_keeps_comments_or_nothing() -> None:
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)

    async def work(client: Client) -> None:
        text = GOOD.replace("  y = gemm(x, w.T) #", "y=gemm( x,w.T )   #")
        client.open(text)
        await client.diagnostics()
        edits = await client.text_document_formatting_async(types.DocumentFormattingParams(DOCUMENT, options))
        canonical = edited(text, list(edits or ()))
        assert canonical == GOOD.replace("w.T) #", "w.T)  #").replace("sm_90a\n", "sm_90a\n\n")
        for version, same in ((2, canonical), (3, BAD)):
            client.change(same, version)
            assert not await client.text_document_formatting_async(types.DocumentFormattingParams(DOCUMENT, options))

    session(work)


def test_columns_are_counted_as_was_agreed() -> None:
    async def work(client: Client) -> None:
        client.open("kernel f(x: f16[8]) -> f16[8] { return \U0001f600 relu(x) }")
        (found,) = (await client.diagnostics()).diagnostics
        assert (found.range.start.character, found.range.end.character) == (39, 39 + width)

    width = 2
    assert session(work).capabilities.position_encoding in (None, "utf-16")
    width = 1
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf32])
    assert session(work, types.ClientCapabilities(general=general)).capabilities.position_encoding == "utf-32"


def test_the_language_is_told_by_the_editor_and_the_target_by_the_flag() -> None:
    async def work(client: Client) -> None:
        client.open("", "untitled:Untitled-1", "ucu")
        assert [d.code for d in (await client.diagnostics()).diagnostics] == ["UC0108"]
        client.open("module {}", "untitled:Untitled-2", "mlir")
        assert list((await client.diagnostics()).diagnostics) == []
        client.open(GOOD.replace("target sm_90a", "").replace("w.T)", "w.T).with_cluster(2, 1)"))
        (cluster,) = (await client.diagnostics()).diagnostics
        assert "sm_80" in cluster.message

    session(work, None, "--target=sm_80", "--stdio")


def test_the_tool_says_what_is_wrong_with_the_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--target=sm_90"]) == 2
    assert "use sm_90a" in capsys.readouterr().err
    assert main(["file.ucu"]) == 2


def test_help_loads_neither_xdsl_nor_the_protocol() -> None:
    program = "import sys, ucutlass_tools.lsp as t; t.main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Language Server Protocol" in done.stdout
    assert not {"xdsl", "pygls", "lsprotocol", "torch"} & set(done.stderr.split())


def test_without_pygls_the_tool_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_nothing(name: str) -> None:
        return None

    monkeypatch.setattr("ucutlass_tools.lsp.find_spec", find_nothing)
    assert main([]) == 3
    assert "ucutlass[lsp]" in capsys.readouterr().err
