"""Assertions about modules, for tests."""

from __future__ import annotations

from typing import Mapping, Optional

from ._api import check, shapes, types
from ._diff import diff
from ._source import Module


def assert_modules_equal(
    actual: Module, expected: Module, *, function: Optional[str] = None
) -> None:
    """Asserts that two modules have the same structure, regardless of names, numbers and order.

    The message is the structural diff from ``expected`` to ``actual``.
    """
    __tracebackhide__ = True
    found = diff(expected, actual, function=function)
    if not found.equal:
        raise AssertionError(f"the modules differ (before: expected, after: actual)\n{found}")


def assert_types(mod: Module, expected: Mapping[str, str]) -> None:
    """Asserts the types of variables and the results of functions.

    ``{"%x": "Tensor[(1, 10), float32]", "@main": "Tensor[(1, 10), float32]"}``; white space is
    ignored. The message lists all differences.
    """
    __tracebackhide__ = True
    found = types(mod)
    wrong = []
    for name, wanted in expected.items():
        try:
            actual = _result(mod, name) if name.startswith("@") else found.of(name)
        except LookupError as error:
            wrong.append(f"{name}: {error.args[0]}")
            continue
        if _plain(actual) != _plain(wanted):
            wrong.append(f"{name}\n  expected {wanted}\n  found    {actual}")
    if wrong:
        raise AssertionError("types differ\n" + "\n".join(wrong))


def assert_no_errors(mod: Module, *, tvm: bool = False) -> None:
    """Asserts that a module has no errors. The message has their excerpts."""
    __tracebackhide__ = True
    found = check(mod, tvm=tvm)
    if not found.ok:
        shown = "\n\n".join(str(diagnostic) for diagnostic in found.errors)
        raise AssertionError(f"{found.path}: {found.summary()}\n{shown}")


def _result(mod: Module, name: str) -> str:
    results = shapes(mod, function=name).function(name).result_types
    if len(results) != 1 or results[0] is None:
        raise LookupError(f"`{name}` returns {len(results)} values; use variables instead")
    return results[0]


def _plain(type: str) -> str:
    return "".join(type.split())
