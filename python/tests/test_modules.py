"""The modules of the package have an order: each imports only earlier ones."""

import ast
from pathlib import Path
from typing import Dict, List, Set

import relay_analyzer

FOLDER = Path(relay_analyzer.__file__).parent


def imported(path: Path) -> Set[str]:
    """The modules of the package that a module imports: at its start, in functions, and for types alone."""
    found: Set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found.update([node.module] if node.module else [alias.name for alias in node.names])
    return found


def test_modules_have_an_order() -> None:
    # `from . import find_binary` names a function.
    paths = {path.stem: path for path in FOLDER.glob("*.py") if not path.stem.startswith("__")}
    left: Dict[str, Set[str]] = {name: imported(path) & set(paths) for name, path in paths.items()}
    order: List[str] = []
    while left:
        free = sorted(name for name, needs in left.items() if needs <= set(order))
        assert free, f"they import each other: {left}"
        order += free
        for name in free:
            del left[name]
