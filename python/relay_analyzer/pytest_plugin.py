"""The pytest plugin: assertions as fixtures, and the marker ``relay_file``."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest

from . import testing
from ._api import check
from ._errors import RelayError
from ._source import source


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers",
        "relay_file(path, tvm=False): the test needs this Relay file, relative to its own, and fails "
        "if the file has errors; the fixture `relay_module` is its text",
    )


# Not in the setup, where pytest reports what is wrong as an error of the test, not as its failure.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Checks the files of the markers."""
    for marker in item.iter_markers("relay_file"):
        try:
            path = _path(item, marker)
            found = check(path, tvm=bool(marker.kwargs.get("tvm", False)))
        except RelayError as error:
            pytest.fail(f"relay_file: {error}", pytrace=False)
        if not found.ok:
            shown = "\n\n".join(str(diagnostic) for diagnostic in found.errors)
            pytest.fail(f"relay_file: {path}: {found.summary()}\n{shown}", pytrace=False)


def _path(item: pytest.Item, marker: pytest.Mark) -> Path:
    if not marker.args:
        raise RelayError("name the file, as in `relay_file('model.relay')`", code="usage")
    return Path(str(item.path)).parent / str(marker.args[0])


@pytest.fixture
def relay_module(request: pytest.FixtureRequest) -> str:
    """The text of the file of the marker ``relay_file``."""
    marker = request.node.get_closest_marker("relay_file")
    if marker is None:
        pytest.fail(
            "`relay_module` needs a file: mark the test with `@pytest.mark.relay_file('x.relay')`",
            pytrace=False,
        )
    try:
        return source(_path(request.node, marker)).text
    except RelayError:
        # The test fails before it runs, with the reason.
        return ""


@pytest.fixture
def assert_modules_equal() -> Callable[..., None]:
    """Asserts that two modules have the same structure."""
    return testing.assert_modules_equal


@pytest.fixture
def assert_types() -> Callable[..., None]:
    """Asserts the types of variables."""
    return testing.assert_types
