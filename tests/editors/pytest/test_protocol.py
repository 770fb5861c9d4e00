"""Every request that the server answers, as three editors would send it.

Each test runs with the capabilities of Neovim, of Emacs and of VS Code: among them they count
columns in three ways, and one of the three asks for diagnostics instead of waiting for them.
"""

import asyncio
import os
import pathlib

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pytest_lsp import client_capabilities

from strict import Client, fixture

SERVER = os.environ["RELAY_TEST_SERVER"]
ATTENTION = pathlib.Path(os.environ["RELAY_TEST_FILE"]).read_text()
# Violations of the client's capabilities are errors, too.
pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")
PATIENCE = 120
EDITORS = ["neovim", "emacs", "visual-studio-code"]
# The character before it has two units in UTF-16, four in UTF-8 and one in UTF-32.
HALVES = """#[version = "0.0.5"]
def @half(%n: int32) -> int32 { %n / 2 }
def @main(%n: int32) -> int32 {
  let %m = /* \N{ROCKET} */ @half(%n);
  %m + 1
}
"""


@fixture([SERVER, "lsp"], params=EDITORS)
async def client(client: Client, request, tmp_path):
    root = tmp_path.as_uri()
    client.folder = tmp_path
    answer = await client.initialize_session(
        t.InitializeParams(
            capabilities=client_capabilities(request.param),
            root_uri=root,
            workspace_folders=[t.WorkspaceFolder(root, "work")],
        )
    )
    assert answer.server_info.name == "relay-analyzer"
    client.encoding = answer.capabilities.position_encoding
    client.offered = answer.capabilities
    yield
    await client.shutdown_session()
    assert await client._server.wait() == 0, "the server's exit code"
    client.check()


class Page:
    """An open document."""

    def __init__(self, client, text, name="page.relay"):
        self.client, self.text, self.version = client, text, 1
        self.uri = (client.folder / name).as_uri()
        self.id = t.TextDocumentIdentifier(self.uri)

    async def open(self):
        item = t.TextDocumentItem(self.uri, "relay", self.version, self.text)
        waiting = self.published()
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(item))
        return await self.checked(waiting)

    async def change(self, line, word, text):
        """Another text for a word; gives the diagnostics that follow, which must be others."""
        waiting = self.published()
        self.type(line, word, text)
        return await self.checked(waiting)

    def type(self, line, word, text):
        """Another text for a word."""
        span = self.range(line, word)
        number = span.start.line
        lines = self.text.split("\n")
        lines[number] = lines[number].replace(word, text, 1)
        self.text, self.version = "\n".join(lines), self.version + 1
        self.client.text_document_did_change(
            t.DidChangeTextDocumentParams(
                t.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri),
                [t.TextDocumentContentChangePartial(range=span, text=text)],
            )
        )

    def pulls(self):
        return self.client.capabilities.text_document.diagnostic is not None

    def published(self):
        wait = self.client.protocol.wait_for_notification_async
        return None if self.pulls() else wait(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)

    async def checked(self, waiting):
        if waiting is None:
            return (await self.pull()).items
        sent = await asyncio.wait_for(waiting, PATIENCE)
        assert (sent.uri, sent.version) == (self.uri, self.version)
        return sent.diagnostics

    async def pull(self, previous=None):
        return await self.client.text_document_diagnostic_async(
            t.DocumentDiagnosticParams(self.id, previous_result_id=previous)
        )

    def units(self, text):
        match self.client.encoding:
            case t.PositionEncodingKind.Utf8:
                return len(text.encode())
            case t.PositionEncodingKind.Utf16:
                return len(text.encode("utf-16-le")) // 2
            case t.PositionEncodingKind.Utf32:
                return len(text)

    def range(self, line, word):
        """The first `word` in the first line that has `line`."""
        for number, found in enumerate(self.text.split("\n")):
            if line in found:
                column = found.index(word)
                end = self.units(found[: column + len(word)])
                start = t.Position(number, self.units(found[:column]))
                return t.Range(start, t.Position(number, end))
        raise AssertionError(f"no line has {line}")

    def at(self, line, word):
        return self.range(line, word).start

    def offset(self, position):
        lines = self.text.split("\n")
        line, column = lines[position.line], 0
        while self.units(line[:column]) < position.character:
            column += 1
        assert self.units(line[:column]) == position.character, position
        return sum(len(line) + 1 for line in lines[: position.line]) + column

    def read(self, span):
        """What is in a range."""
        return self.text[self.offset(span.start) : self.offset(span.end)]

    def edited(self, edits):
        """The text with edits of the server."""
        text = self.text
        for edit in sorted(edits, key=lambda e: self.offset(e.range.start), reverse=True):
            start, end = self.offset(edit.range.start), self.offset(edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        return text


async def opened(client, text, name="page.relay"):
    page = Page(client, text, name)
    await page.open()
    return page


def errors(diagnostics):
    return [d for d in diagnostics if d.severity == t.DiagnosticSeverity.Error]


async def test_diagnostics_follow_the_text(client: Client):
    page = Page(client, ATTENTION)
    (error,) = errors(await page.open())
    assert error.code == "shape-mismatch"
    assert error.source == "relay"
    first = "`nn.batch_matmul`: `tensor_a` has 64 features, but `tensor_b` expects 128"
    assert error.message.split("\n")[0] == first
    assert page.read(error.range) == "%keys"
    assert errors(await page.change("let %keys", "axes=[1, 2, 0]", "axes=[1, 0, 2]")) == []
    (error,) = errors(await page.change("let %v =", "%wv", "%vw"))
    assert (error.code, page.read(error.range)) == ("unknown-variable", "%vw")


async def test_diagnostics_are_pulled(client: Client):
    page = await opened(client, ATTENTION)
    report = await page.pull()
    assert [error.code for error in errors(report.items)] == ["shape-mismatch"]
    again = await page.pull(report.result_id)
    assert (again.kind, again.result_id) == ("unchanged", report.result_id)


async def test_hover(client: Client):
    page = await opened(client, ATTENTION)
    ask = t.HoverParams(page.id, page.at("let %scores", "%queries"))
    hover = await client.text_document_hover_async(ask)
    assert hover.contents.kind == t.MarkupKind.Markdown
    assert "Tensor[(12, 128, 64), float32]" in hover.contents.value
    assert page.read(hover.range) == "%queries"
    other = await opened(client, HALVES, "other.relay")
    ask = t.HoverParams(other.id, other.at("let %m", "@half"))
    hover = await client.text_document_hover_async(ask)
    assert "def @half(%n: int32) -> int32" in hover.contents.value
    assert other.read(hover.range) == "@half"
    ask = t.HoverParams(other.id, t.Position(5, 1))
    assert await client.text_document_hover_async(ask) is None


async def test_definition(client: Client):
    page = await opened(client, HALVES)
    ask = t.DefinitionParams(page.id, page.at("let %m", "@half"))
    found = await client.text_document_definition_async(ask)
    assert [(place.uri, page.read(place.range)) for place in found] == [(page.uri, "@half")]
    assert found[0].range.start.line == 1
    # The prelude is a file that can be opened.
    other = await opened(client, "def @main(%l: List[int32]) { @hd(%l) }\n", "other.relay")
    ask = t.DefinitionParams(other.id, other.at("def", "@hd"))
    (place,) = await client.text_document_definition_async(ask)
    assert place.uri.startswith("file://") and place.uri != other.uri
    ask = t.TypeDefinitionParams(other.id, other.at("def", "%l"))
    (place,) = await client.text_document_type_definition_async(ask)
    assert place.uri != other.uri


async def test_references_and_highlights(client: Client):
    page = await opened(client, HALVES)
    at = page.at("let %m", "%m")
    for declaration, lines in [(True, [3, 4]), (False, [4])]:
        ask = t.ReferenceParams(t.ReferenceContext(declaration), page.id, at)
        found = await client.text_document_references_async(ask)
        assert [place.range.start.line for place in found] == lines
        assert {page.read(place.range) for place in found} == {"%m"}
    found = await client.text_document_document_highlight_async(
        t.DocumentHighlightParams(page.id, at)
    )
    kinds = [(page.read(mark.range), mark.range.start.line, mark.kind) for mark in found]
    write, read = t.DocumentHighlightKind.Write, t.DocumentHighlightKind.Read
    assert kinds == [("%m", 3, write), ("%m", 4, read)]


async def test_symbols(client: Client):
    page = await opened(client, HALVES + "type Couple { Couple(int32, int32) }\n")
    found = await client.text_document_document_symbol_async(t.DocumentSymbolParams(page.id))
    assert [symbol.name for symbol in found] == ["@half", "@main", "Couple"]
    assert [child.name for child in found[2].children] == ["Couple"]
    for symbol in found:
        assert symbol.name in page.read(symbol.selection_range)
        assert page.read(symbol.selection_range) in page.read(symbol.range)
    found = await client.workspace_symbol_async(t.WorkspaceSymbolParams("half"))
    assert [(symbol.name, symbol.location.uri) for symbol in found] == [("@half", page.uri)]


def decoded(page, data, legend):
    """`(text, kind)` of each semantic token."""
    tokens, line, column = [], 0, 0
    for at in range(0, len(data), 5):
        down, right, length, kind, _ = data[at : at + 5]
        line, column = line + down, right if down else column + right
        span = t.Range(t.Position(line, column), t.Position(line, column + length))
        tokens.append((page.read(span), legend.token_types[kind]))
    return tokens


async def test_semantic_tokens(client: Client):
    page = await opened(client, HALVES)
    legend = client.offered.semantic_tokens_provider.legend
    whole = await client.text_document_semantic_tokens_full_async(t.SemanticTokensParams(page.id))
    tokens = decoded(page, whole.data, legend)
    assert len(whole.data) % 5 == 0 and ("@half", "function") in tokens
    assert tokens.count(("%m", "variable")) == 2 and ("%n", "parameter") in tokens
    page.type("%m + 1", "%m + 1", "@half(%m)")
    delta = await client.text_document_semantic_tokens_full_delta_async(
        t.SemanticTokensDeltaParams(page.id, whole.result_id)
    )
    data = list(whole.data)
    for edit in sorted(delta.edits, key=lambda edit: edit.start, reverse=True):
        data[edit.start : edit.start + edit.delete_count] = edit.data or []
    again = await client.text_document_semantic_tokens_full_async(t.SemanticTokensParams(page.id))
    assert data == list(again.data) != list(whole.data)
    span = t.Range(t.Position(3, 0), t.Position(4, 0))
    part = await client.text_document_semantic_tokens_range_async(
        t.SemanticTokensRangeParams(page.id, span)
    )
    tokens = decoded(page, part.data, legend)
    assert ("%m", "variable") in tokens and ("@main", "function") not in tokens


async def test_inlay_hints(client: Client):
    page = await opened(client, HALVES)
    span = t.Range(t.Position(0, 0), t.Position(6, 0))
    found = await client.text_document_inlay_hint_async(t.InlayHintParams(page.id, span))
    place = page.range("let %m", "%m").end
    hints = [(hint.label, hint.kind) for hint in found if hint.position == place]
    assert hints == [(": int32", t.InlayHintKind.Type)], found


async def test_folding_and_selection(client: Client):
    page = await opened(client, HALVES)
    folds = await client.text_document_folding_range_async(t.FoldingRangeParams(page.id))
    assert (2, 4) in [(fold.start_line, fold.end_line) for fold in folds]
    at = page.at("let %m", "%n")
    (one, other) = await client.text_document_selection_range_async(
        t.SelectionRangeParams(page.id, [at, page.at("%m + 1", "1")])
    )
    texts = []
    while one is not None:
        texts.append(page.read(one.range))
        one = one.parent
    assert texts[0] == "%n" and texts[-1] == page.text, texts
    assert all(inner in outer and inner != outer for inner, outer in zip(texts, texts[1:]))
    assert page.read(other.range) == "1"


async def test_signature_help(client: Client):
    page = await opened(client, ATTENTION)
    ask = t.SignatureHelpParams(page.id, page.at("let %q =", "%wq"))
    found = await client.text_document_signature_help_async(ask)
    signature = found.signatures[found.active_signature]
    assert signature.label.startswith("nn.dense(")
    parameter = signature.parameters[signature.active_parameter]
    start, end = parameter.label
    assert signature.label[start:end] == "%weight", signature.label


async def test_completion(client: Client):
    page = await opened(client, ATTENTION.replace("nn.dense(%flat, %wv, units=768)", "nn.den"))
    line, word = "let %v =", "nn.den"
    found = await client.text_document_completion_async(
        t.CompletionParams(page.id, page.range(line, word).end)
    )
    (item,) = [item for item in found.items if item.label == "nn.dense"]
    assert item.kind == t.CompletionItemKind.Operator
    assert page.read(item.text_edit.range) == word
    can = client.capabilities.text_document.completion.completion_item
    assert item.text_edit.new_text.startswith("nn.dense(" if can.snippet_support else "nn.dense")
    assert can.snippet_support or "$" not in item.text_edit.new_text
    full = await client.completion_item_resolve_async(item)
    assert "units" in getattr(full.documentation, "value", full.documentation)
    found = await client.text_document_completion_async(
        t.CompletionParams(page.id, page.range("let %q", "%fl").end)
    )
    assert "%flat" in [item.label for item in found.items]


async def test_rename(client: Client):
    page = await opened(client, HALVES)
    at = page.at("let %m", "@half")
    found = await client.text_document_prepare_rename_async(t.PrepareRenameParams(page.id, at))
    assert page.read(found.range) == "@half"
    edit = await client.text_document_rename_async(
        t.RenameParams(page.id, at, new_name="@halved")
    )
    assert list(edit.changes) == [page.uri]
    assert page.edited(edit.changes[page.uri]) == page.text.replace("@half", "@halved")
    with pytest.raises(JsonRpcException) as refused:
        await client.text_document_rename_async(t.RenameParams(page.id, at, new_name="@main"))
    assert refused.value.code == t.LSPErrorCodes.RequestFailed
    ask = t.LinkedEditingRangeParams(page.id, page.at("%m + 1", "%m"))
    linked = await client.text_document_linked_editing_range_async(ask)
    assert [(page.read(span), span.start.line) for span in linked.ranges] == [("%m", 3), ("%m", 4)]


async def test_formatting(client: Client):
    wild = "def @f(%x: int32,%y:int32)->int32{\nlet %z=add(%x,%y);\n%z}\n"
    page = await opened(client, wild)
    options = t.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(
        t.DocumentFormattingParams(page.id, options)
    )
    tidy = "def @f(%x: int32, %y: int32) -> int32 {\n  let %z = add(%x, %y);\n  %z\n}\n"
    assert page.edited(edits) == tidy
    span = t.Range(t.Position(1, 0), page.range("let %z", "add(%x,%y);").end)
    edits = await client.text_document_range_formatting_async(
        t.DocumentRangeFormattingParams(page.id, span, options)
    )
    assert page.edited(edits).split("\n")[1] == "  let %z = add(%x, %y);"
    place = page.range("let %z", "add(%x,%y);").end
    edits = await client.text_document_on_type_formatting_async(
        t.DocumentOnTypeFormattingParams(page.id, place, ";", options)
    )
    assert page.edited(edits).split("\n")[1] == "  let %z = add(%x, %y);"


async def test_code_actions(client: Client):
    page = Page(client, "def @main(%input: int32) -> int32 { %inptu }\n")
    (error,) = errors(await page.open())
    assert error.code == "unknown-variable"
    found = await client.text_document_code_action_async(
        t.CodeActionParams(page.id, error.range, t.CodeActionContext([error]))
    )
    fixes = [action for action in found if action.kind == t.CodeActionKind.QuickFix]
    (fix,) = [action for action in fixes if "%input" in action.title]
    assert "%input }" in page.edited(fix.edit.changes[page.uri])
    # Edits that are computed on resolve.
    span = page.range("def", "%inptu")
    everything = await client.text_document_code_action_async(
        t.CodeActionParams(page.id, span, t.CodeActionContext([]))
    )
    for action in everything:
        if action.edit is None:
            whole = await client.code_action_resolve_async(action)
            assert whole.edit is not None


async def test_lenses_and_runs(client: Client):
    page = await opened(client, HALVES)
    lenses = await client.text_document_code_lens_async(t.CodeLensParams(page.id))
    run = [lens.command for lens in lenses if lens.command.command == "relay.run"]
    assert [command.arguments[0]["function"] for command in run] == ["@half", "@main"]
    assert "relay.run" in client.offered.execute_command_provider.commands
    argument = {**run[1].arguments[0], "inputs": {"n": 82}}
    answer = await client.workspace_execute_command_async(
        t.ExecuteCommandParams("relay.run", [argument])
    )
    # The result of a command is untyped.
    assert (answer["status"], answer["function"]) == ("done", "@main"), answer
    assert "42 (int32)" in answer["text"]
    other = await opened(client, ATTENTION, "other.relay")
    at = other.at("let %scores", "%queries")
    place = {"line": at.line, "character": at.character}
    why = await client.workspace_execute_command_async(
        t.ExecuteCommandParams("relay.whyShape.text", [other.uri, place])
    )
    assert why["type"] == "Tensor[(12, 128, 64), float32]", why


async def test_call_hierarchy(client: Client):
    page = await opened(client, HALVES)
    ask = t.CallHierarchyPrepareParams(page.id, page.at("def @half", "@half"))
    (half,) = await client.text_document_prepare_call_hierarchy_async(ask)
    assert (half.name, page.read(half.selection_range)) == ("@half", "@half")
    (caller,) = await client.call_hierarchy_incoming_calls_async(
        t.CallHierarchyIncomingCallsParams(half)
    )
    assert caller.from_.name == "@main"
    assert [page.read(span) for span in caller.from_ranges] == ["@half"]
    (callee,) = await client.call_hierarchy_outgoing_calls_async(
        t.CallHierarchyOutgoingCallsParams(caller.from_)
    )
    assert callee.to.name == "@half"


async def test_links(client: Client):
    file = client.folder / "model" / "net.py"
    file.parent.mkdir()
    file.write_text("import torch\n")
    text = '#[version = "0.0.5"]\ndef @main(%x: int32) { add(%x, 1) /* span=model/net.py:1:8 */ }\n'
    page = await opened(client, text)
    (link,) = await client.text_document_document_link_async(t.DocumentLinkParams(page.id))
    assert page.read(link.range).startswith("model/net.py")
    assert link.target == file.as_uri() + "#L1,8"


async def test_requests_that_make_no_sense(client: Client):
    page = await opened(client, HALVES)
    nowhere = t.TextDocumentIdentifier((client.folder / "nowhere.relay").as_uri())
    for ask in [t.HoverParams(nowhere, t.Position(0, 0)), t.HoverParams(page.id, t.Position(999, 0))]:
        with pytest.raises(JsonRpcException) as refused:
            await client.text_document_hover_async(ask)
        assert refused.value.code == t.ErrorCodes.InvalidParams
    # The server keeps running.
    ask = t.HoverParams(page.id, page.at("%m + 1", "%m"))
    assert (await client.text_document_hover_async(ask)) is not None


async def test_documents_are_closed(client: Client):
    page = await opened(client, ATTENTION)
    waiting = page.published()
    client.text_document_did_close(t.DidCloseTextDocumentParams(page.id))
    if waiting is not None:
        sent = await asyncio.wait_for(waiting, PATIENCE)
        assert (sent.uri, list(sent.diagnostics)) == (page.uri, [])
    with pytest.raises(JsonRpcException):
        await client.text_document_hover_async(t.HoverParams(page.id, t.Position(0, 0)))
