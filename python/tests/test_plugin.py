"""The pytest plugin."""

import pytest

from relay_analyzer.testing import assert_modules_equal, assert_no_errors, assert_types

GOOD = "def @main(%x: int32) { %x }\n"


@pytest.fixture
def plugin(pytester: pytest.Pytester) -> "list[str]":
    """Arguments that load the plugin if no installed wheel registers it."""
    from importlib.metadata import entry_points

    points = entry_points()
    found = points.select(group="pytest11") if hasattr(points, "select") else points.get("pytest11", ())
    is_registered = any(point.name == "relay-analyzer" for point in found)
    return [] if is_registered else ["-p", "relay_analyzer.pytest_plugin"]


def test_marker_and_fixtures(pytester: pytest.Pytester, plugin: "list[str]") -> None:
    pytester.makefile(".relay", good=GOOD, bad="def @main() { %y }\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.relay_file("good.relay")
        def test_good(relay_module, assert_types, assert_modules_equal):
            assert_types(relay_module, {"%x": "int32"})
            assert_modules_equal(relay_module, relay_module.replace("%x", "%z"))

        @pytest.mark.relay_file("bad.relay")
        def test_bad():
            pass

        @pytest.mark.relay_file("missing.relay")
        def test_missing(relay_module):
            raise KeyError("ran")

        @pytest.mark.relay_file
        def test_unnamed(relay_module):
            raise KeyError("ran")

        @pytest.mark.relay_file("good.relay", tvm=True)
        def test_strict():
            pass

        def test_unmarked(relay_module):
            pass

        def test_differs(assert_modules_equal):
            assert_modules_equal("def @main() { 1 }", "def @main() { 2 }")
        """
    )
    result = pytester.runpytest("--strict-markers", *plugin)
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] == 1
    # The one that has no marker.
    assert outcomes["errors"] == 1
    assert outcomes["failed"] == 5
    output = result.stdout.str()
    for part in (
        "error[[]unknown-variable[]]*",
        "*missing.relay*No such file*",
        "*name the file, as in*",
        "*@pytest.mark.relay_file('x.relay')*",
        "*the modules differ*",
    ):
        result.stdout.fnmatch_lines([part if part.startswith("*") else f"*{part}"])
    assert "tvm-" in output and "KeyError: 'ran'" not in output


def test_messages_of_assertions() -> None:
    with pytest.raises(AssertionError) as differ:
        assert_modules_equal("def @main() { 1 }", "def @main() { 2 }")
    assert "`@main`" in str(differ.value)
    text = "def @main(%x: Tensor[(2), float32]) { nn.relu(%x) }"
    assert_types(text, {"x": "Tensor[(2),float32]", "@main": "Tensor[(2), float32]"})
    with pytest.raises(AssertionError) as wrong:
        assert_types(text, {"%x": "bool", "%nix": "bool"})
    assert "expected bool\n  found    Tensor[(2), float32]" in str(wrong.value)
    assert "no typed variable `%nix`" in str(wrong.value)
    assert_no_errors(text)
    with pytest.raises(AssertionError, match="unknown-variable"):
        assert_no_errors("def @f() { %y }")
