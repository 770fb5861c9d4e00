"""HTML for notebooks."""

import html.parser
from pathlib import Path
from typing import Any, List

import pytest

import relay_analyzer as ra
from relay_analyzer import _html, display

VOID = {"meta", "br", "input", "rect", "path"}


class Checker(html.parser.HTMLParser):
    """Checks that elements nest, and collects the visible text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: List[str] = []
        self.seen = ""
        self.titles: List[str] = []
        self.tags: List[str] = []
        self.attributes: List[Any] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes.append(attrs)
        self.titles += [value for name, value in attrs if name == "title"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open and "svg" not in self.open:
            self.seen += data


def looked_at(shown: str) -> Checker:
    checker = Checker()
    checker.feed(shown)
    checker.close()
    assert checker.open == []
    return checker


def test_a_module_with_hovers_diagnostics_shapes_and_picture(examples: Path) -> None:
    shown = ra.show(examples / "resnet-block.relay")
    page = looked_at(shown._repr_html_())
    assert "Tensor[(1, 128, 28, 28), float32]" in page.titles
    assert "179,830,784" in page.seen
    # The picture is drawn by the page of the program, which is isolated.
    assert "iframe" in page.tags and "script" not in page.tags
    assert shown._repr_html_() == ra.show(examples / "resnet-block.relay")._repr_html_()
    broken = ra.show(examples / "broken-attention.relay")
    page = looked_at(broken._repr_html_())
    assert "error[shape-mismatch]" in page.seen
    assert any(title.startswith("shape-mismatch: ") for title in page.titles)
    assert "1 error" in str(broken)


def test_a_frame_has_the_whole_page_and_reaches_nothing_around_it() -> None:
    document = "<!doctype html><p title=\"a & b\">'1 < 2' &amp; &quot;</p>"
    document += "<script>top.location = 'x'</script></iframe>"
    page = looked_at(_html.frame(document))
    assert page.tags == ["iframe"] and page.seen == ""
    attributes = dict(page.attributes[0])
    assert attributes["srcdoc"] == document
    # Without `allow-same-origin`, the page has an origin of its own.
    assert attributes["sandbox"] == "allow-scripts allow-downloads"


def test_reports_in_frames_save_files(dense: str) -> None:
    for shown in (ra.show(dense), ra.diff(dense, dense.replace("relu", "tanh"))):
        assert '<iframe sandbox="allow-scripts allow-downloads" ' in shown._repr_html_()


def test_the_text_is_shown_to_the_letter() -> None:
    text = 'def @f(%x: int32) {\n  /* <b>ä𝄞</b>\n two */ %y & "<script>alert(1)</script>"\n}\r\n'
    page = looked_at(ra.show(text)._repr_html_())
    assert "b" not in page.tags and "script" not in page.tags
    lines = page.seen.split("\n")
    for number, line in enumerate(text.split("\n")[:4]):
        assert lines[number] == f"{number + 1}{line}"


def test_crossing_ranges_stay_elements() -> None:
    shown = _html.code("abcdef\n", [(0, 3, "type")], [(2, 5, "T")], [(4, 9, "error", "m")])
    assert looked_at(shown).seen == "1abcdef\n"
    assert looked_at(_html.code("", [], [], [(0, 0, "error", "m")])).seen == "1"


def test_long_modules_are_cut(dense: str) -> None:
    long = dense + "// x\n" * 60_000
    shown = ra.show(long)._repr_html_()
    assert "more lines" in shown and len(shown) < 2_000_000
    calls = "".join(f"  let %a{k} = negative(%a{k - 1});\n" for k in range(1, 400))
    chain = "def @main(%a0: float32) {\n" + calls + "  %a399\n}\n"
    assert len(ra.show(chain)._repr_html_()) < 2_000_000


def test_every_result_has_html(dense: str) -> None:
    log = f"PrintIR(after A):\n{dense}\nPrintIR(after <i>):\n{dense.replace('relu', 'tanh')}\n"
    results = [
        ra.check("def @f() { %y }"),
        ra.check("def @f() { %y }")[0],
        ra.types(dense),
        ra.shapes(dense),
        ra.shapes(dense)[0],
        ra.diff(dense, dense),
        ra.diff(dense, dense.replace("relu", "tanh")),
        ra.passes(log),
    ]
    for result in results:
        page = looked_at(result._repr_html_())
        assert page.seen.strip() and "i" not in page.tags


class Formatter:
    """The part of IPython's formatter that is used."""

    def __init__(self) -> None:
        self.deferred_printers: Any = {}
        self.type_printers: Any = {}

    def for_type_by_name(self, module: str, name: str, printer: Any) -> None:
        self.deferred_printers[module, name] = printer


class Shell:
    """The part of IPython's shell that is used."""

    def __init__(self) -> None:
        self.formatter = Formatter()
        self.display_formatter = self
        self.formatters = {"text/html": self.formatter}
        self.pushed: Any = {}

    def push(self, variables: Any) -> None:
        self.pushed.update(variables)


def test_modules_of_tvm_are_shown_on_request() -> None:
    shell = Shell()
    display.enable(shell)
    printer = shell.formatter.deferred_printers["tvm.ir.module", "IRModule"]
    assert "%x" in printer("def @main(%x: int32) { %x }")
    assert printer(3) is None
    display.disable(shell)
    assert shell.formatter.deferred_printers == {}


def test_the_magic() -> None:
    shell = Shell()
    text = "def @main(%x: int32) { %x }\n"
    shown = display.relay(shell, "mod --tvm", text)
    assert shown is not None and not shown.diagnostics.ok
    assert shell.pushed == {"mod": text}
    for line, cell in (("a b", text), ("1x", text), ("", " \n")):
        with pytest.raises(ra.RelayError, match="usage: %%relay"):
            display.relay(shell, line, cell)


def test_without_ipython() -> None:
    with pytest.raises(ra.RelayError, match="relay_analyzer.show"):
        display.enable()
