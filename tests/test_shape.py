"""The shape of the code: folders, modules and interfaces stay small, and values have names of things."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "trellis"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_MODULES, MOST_LINES, MOST_METHODS = 16, 500, 10
VERBS = {"found", "made", "said", "told", "given", "asked", "wanted", "mine", "there", "own", "each"}
"""What was done to get a value says nothing of what it is."""


def test_no_folder_is_full() -> None:
    folders = {path.parent for path in MODULES}
    assert len(folders) > 20
    sizes = {
        folder.relative_to(PACKAGE).as_posix(): len({*folder.glob("*.py")} - {folder / "__init__.py"})
        for folder in folders
    }
    assert not {folder: size for folder, size in sizes.items() if size > MOST_MODULES}


def test_no_module_is_long() -> None:
    lines = {path.relative_to(PACKAGE).as_posix(): path.read_text().count("\n") for path in MODULES}
    assert sum(lines.values()) > 10_000
    assert not {module: count for module, count in lines.items() if count > MOST_LINES}


def protocols() -> Iterator[tuple[str, int]]:
    """Every protocol with the number of its methods, without those of its bases."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
                methods = [
                    member
                    for member in node.body
                    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
                    and not any(ast.unparse(decorator) == "property" for decorator in member.decorator_list)
                ]
                yield f"{path.relative_to(PACKAGE).as_posix()}: {node.name}", len(methods)


def test_no_interface_is_wide() -> None:
    sizes = dict(protocols())
    assert len(sizes) > 20
    assert not {name: size for name, size in sizes.items() if size > MOST_METHODS}


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_values_are_named_after_what_they_are() -> None:
    """
    >>> sorted(bound_names(ast.parse("for each in rows: found = each")))
    [(1, 'each'), (1, 'found')]
    """
    tests = sorted(TESTS.rglob("*.py"))
    assert len(tests) > 100
    verbs = [
        f"{path.relative_to(TESTS.parent).as_posix()}:{line}: {name}"
        for path in (*MODULES, *tests)
        for line, name in bound_names(ast.parse(path.read_text()))
        if name in VERBS
    ]
    assert not verbs, "\n".join(verbs)
