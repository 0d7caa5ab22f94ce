"""The protocol: which request of an editor gets which answer.

Imports pygls and everything beside this module. A document is analysed when it is opened, and after a change once
nobody has typed for a moment; what is asked before that is answered for the text as it is.
"""

import asyncio
from collections.abc import Sequence

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from ucutlass_tools.language_server.analysis import Analysis, analyse
from ucutlass_tools.language_server.completion import Candidate, Kind, complete
from ucutlass_tools.language_server.formatting import formatted
from ucutlass_tools.language_server.hover import hover
from ucutlass_tools.language_server.names import at, definition, occurrences
from ucutlass_tools.language_server.protocol import Positions, diagnostic, edits, quick_fix
from ucutlass_tools.language_server.symbols import Symbol, symbols

from ucutlass import __version__
from ucutlass.diagnostics.core import Diagnostic, Severity
from ucutlass.diagnostics.fixits import apply_fixits

PAUSE = 0.15
"""Seconds without a change after which a text is analysed."""

TRIGGERS = [".", ">", "@", "(", ",", "=", ":", "["]
"""Characters behind which completion is worth asking for."""

_CANDIDATES: dict[Kind, types.CompletionItemKind] = {
    "operation": types.CompletionItemKind.Function,
    "setter": types.CompletionItemKind.Method,
    "value": types.CompletionItemKind.Variable,
    "dimension": types.CompletionItemKind.Constant,
    "type": types.CompletionItemKind.Struct,
    "word": types.CompletionItemKind.EnumMember,
    "parameter": types.CompletionItemKind.Field,
    "keyword": types.CompletionItemKind.Keyword,
    "target": types.CompletionItemKind.EnumMember,
}


class Document:
    """One version of a text and what is known of it."""

    def __init__(self, uri: str, version: int | None, analysis: Analysis, positions: Positions) -> None:
        self.uri = uri
        self.version = version
        self.analysis = analysis
        self.positions = positions

    @property
    def text(self) -> str:
        return self.analysis.source.text


class Documents:
    """The open documents of a server, each analysed once a version."""

    def __init__(self, server: LanguageServer, arch: str | None) -> None:
        self.server = server
        self.arch = arch
        self._documents: dict[str, Document] = {}

    def __getitem__(self, uri: str) -> Document:
        """The document as it is now, analysed."""
        found = self.server.workspace.get_text_document(uri)
        known = self._documents.get(uri)
        if known is not None and (known.version, known.text) == (found.version, found.source):
            return known
        language = found.language_id if found.language_id in ("ucu", "mlir") else None
        analysis = analyse(found.path or uri, found.source, self.arch, language)
        positions = Positions(found.source, str(self.server.workspace.position_encoding or "utf-16"))
        made = Document(uri, found.version, analysis, positions)
        self._documents[uri] = made
        return made

    def publish(self, uri: str) -> None:
        """Sends the client the diagnostics of a document."""
        document = self[uri]
        found = [diagnostic(uri, document.positions, d) for d in document.analysis.diagnostics]
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, document.version))

    def forget(self, uri: str) -> None:
        self._documents.pop(uri, None)
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @property
    def takes_snippets(self) -> bool:
        """Whether the client has places for the cursor in what is inserted."""
        text_document = self.server.client_capabilities.text_document
        completion = text_document.completion if text_document is not None else None
        item = completion.completion_item if completion is not None else None
        return bool(item is not None and item.snippet_support)


def make_server(arch: str | None = None) -> LanguageServer:
    """A server with all its answers; `arch` is the target of programs that name none."""
    server = LanguageServer("ucutlass-lsp", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    documents = Documents(server, arch)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        documents.publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        await asyncio.sleep(PAUSE)
        still_open = uri in server.workspace.text_documents
        if still_open and server.workspace.get_text_document(uri).version == version:
            documents.publish(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        documents.forget(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        document = documents[params.text_document.uri]
        found = hover(document.analysis, document.positions.offset(params.position))
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.markdown)
        return types.Hover(content, document.positions.range(found.start, found.end))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS))
    def on_completion(params: types.CompletionParams) -> types.CompletionList:
        document = documents[params.text_document.uri]
        found = complete(document.analysis, document.positions.offset(params.position))
        items = [_item(rank, candidate, documents.takes_snippets) for rank, candidate in enumerate(found)]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: types.DefinitionParams) -> types.Location | None:
        document = documents[params.text_document.uri]
        if document.analysis.program is None:
            return None
        names = occurrences(document.analysis.program)
        name = at(names, document.positions.offset(params.position))
        found = definition(names, name) if name is not None else None
        return types.Location(document.uri, document.positions.range(found.start, found.end)) if found else None

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: types.DocumentSymbolParams) -> Sequence[types.DocumentSymbol]:
        document = documents[params.text_document.uri]
        return [_symbol(document.positions, symbol) for symbol in symbols(document.analysis)]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: types.DocumentFormattingParams) -> Sequence[types.TextEdit] | None:
        document = documents[params.text_document.uri]
        text = formatted(document.text) if document.analysis.language == "ucu" else None
        if text is None or text == document.text:
            return None
        return [types.TextEdit(document.positions.everything, text)]

    kinds = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
    )

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    def on_code_action(params: types.CodeActionParams) -> Sequence[types.CodeAction]:
        document = documents[params.text_document.uri]
        actions = [*_quick_fixes(document, params.range), *_fix_all(document)]
        wanted = params.context.only
        return [action for action in actions if wanted is None or _is_of(action, wanted)]

    return server


def _item(rank: int, candidate: Candidate, snippets: bool) -> types.CompletionItem:
    insert = candidate.insert or candidate.label
    is_snippet = snippets and "$" in insert
    return types.CompletionItem(
        candidate.label,
        kind=_CANDIDATES[candidate.kind],
        detail=candidate.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, candidate.documentation)
        if candidate.documentation
        else None,
        # Without places for the cursor, what stands before the first one is inserted.
        insert_text=insert if is_snippet else insert.partition("$")[0] if "${" not in insert else candidate.label,
        insert_text_format=types.InsertTextFormat.Snippet if is_snippet else types.InsertTextFormat.PlainText,
        sort_text=f"{rank:04}",
    )


def _symbol(positions: Positions, symbol: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        symbol.name,
        types.SymbolKind.Function if symbol.inner is not None else types.SymbolKind.Variable,
        positions.range(symbol.start, symbol.end),
        positions.range(*symbol.name_range),
        symbol.detail or None,
        children=[_symbol(positions, inner) for inner in symbol.inner or ()],
    )


def _quick_fixes(document: Document, range_: types.Range) -> list[types.CodeAction]:
    """The mends of the diagnostics that a range touches."""
    start, end = document.positions.offset(range_.start), document.positions.offset(range_.end)
    return [
        quick_fix(document.uri, document.positions, found)
        for found in _fixable(document)
        if found.span is not None and found.span.start <= end and start <= found.span.end
    ]


def _fix_all(document: Document) -> list[types.CodeAction]:
    result = apply_fixits(document.analysis.source, _fixable(document))
    if not result.changed:
        return []
    fixes = {(fix.span, fix.replacement): fix for found in result.applied for fix in found.fixits}
    changes = edits(document.positions, fixes.values())
    return [
        types.CodeAction(
            title="apply every fix",
            kind=types.CodeActionKind.SourceFixAll,
            edit=types.WorkspaceEdit(changes={document.uri: changes}),
        )
    ]


def _fixable(document: Document) -> list[Diagnostic]:
    return [
        found
        for found in document.analysis.diagnostics
        if found.fixits and found.severity in (Severity.ERROR, Severity.WARNING)
    ]


def _is_of(action: types.CodeAction, kinds: Sequence[types.CodeActionKind | str]) -> bool:
    """Whether an action is of one of these kinds, or of one beneath them."""
    kind = str(action.kind.value if isinstance(action.kind, types.CodeActionKind) else action.kind)
    names = [str(k.value if isinstance(k, types.CodeActionKind) else k) for k in kinds]
    return any(kind == name or kind.startswith(f"{name}.") for name in names)
