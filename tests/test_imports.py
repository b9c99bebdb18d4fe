"""The house rules that a reader cannot see on one page: who may import whom, and what stays pure."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "trellis"
PURE = ("schema", "warehouses", "evolution", "dialects")
HEAVY = ("pyspark", "pyarrow", "duckdb", "pandas")

# Imports run downwards only. Every module belongs to the layer with the longest name that fits it, so a
# part of a package may stand on another layer than the rest of it. A new part needs a layer. `*` stands for
# any dialect.
LAYERS = (
    "dialects.*.registration",
    ("cli", "dialects.*.commands"),
    (
        "dialects.*.client",
        "dialects.*.cluster",
        "dialects.*.destination",
        "dialects.*.exchange",
        "dialects.*.registry",
        "dialects.*.runs",
        "dialects.*.server",
        "dialects.*.spark",
        "dialects.*.store",
        "site",
    ),
    "pipelines",
    ("destinations", "exchange", "generate", "sources"),
    "engine",
    "dialects",
    "evolution",
    "warehouses",
    "schema",
    "plugins",
    ("errors", "generate.words"),
)
LEVEL = {
    part: level
    for level, layer in enumerate(reversed(LAYERS))
    for part in ((layer,) if isinstance(layer, str) else layer)
}
FOYER = ("__init__", "__main__")  # `import trellis` itself: the public names, from anywhere

MODULES = sorted(PACKAGE.rglob("*.py"))
DIALECTS = {path.parent.name for path in PACKAGE.glob("dialects/*/__init__.py")}
DESTINATIONS = {path.parent.name for path in PACKAGE.glob("destinations/*/registration.py")}


def name_of(path: Path) -> str:
    """trellis.dialects.dlt.names for src/trellis/dialects/dlt/names.py"""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The layer that a module belongs to.

    >>> part_of("trellis.dialects.registration"), part_of(f"trellis.dialects.{min(DIALECTS)}.registration")
    ('dialects', 'dialects.*.registration')
    """
    parts = module.split(".")[1:]
    if parts[:1] == ["dialects"] and {*parts[1:2]} <= DIALECTS:
        parts[1:2] = "*"
    names = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
    top_part = (
        parts[0]
        if parts and (PACKAGE / parts[0]).exists() | (PACKAGE / f"{parts[0]}.py").exists()
        else "__init__"
    )
    return next((name for name in names if name in LEVEL), top_part)


def is_for_types(node: ast.AST) -> bool:
    """`if TYPE_CHECKING:`"""
    return isinstance(node, ast.If) and ast.unparse(node.test).removeprefix("typing.") == "TYPE_CHECKING"


def imports(tree: ast.AST, module: str, package: bool, types_too: bool = True) -> Iterator[tuple[int, str]]:
    """(line, full name) of everything imported anywhere in a module, late imports in functions included."""
    for node in ast.iter_child_nodes(tree):
        if is_for_types(node) and not types_too:
            assert isinstance(node, ast.If)
            for other in node.orelse:
                yield from imports(other, module, package, types_too)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".") if package else module.split(".")[:-1]
            start = ".".join(base[: len(base) - node.level + 1]) if node.level else ""
            origin = ".".join(filter(None, (start, node.module)))
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
        else:
            yield from imports(node, module, package, types_too)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_by(path: Path, types_too: bool = True) -> list[tuple[int, str]]:
    tree = tree_of(path)
    return list(imports(tree, name_of(path), path.name == "__init__.py", types_too))


def at(path: Path, line: int, what: str) -> str:
    return f"{path.relative_to(PACKAGE.parent.parent)}:{line}: {what}"


def test_the_core_starts_without_spark() -> None:
    """In a new interpreter, so that nothing another test imported is there already."""
    core = [name_of(path) for path in MODULES if part_of(name_of(path)) in PURE]
    assert {f"trellis.{part}" for part in PURE} <= {*core}
    code = f"import sys, {', '.join(core)}; print(*(m for m in {HEAVY} if m in sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "", "")


def test_pure_modules_import_nothing_heavy() -> None:
    importers = [
        at(path, line, f"imports {module}")
        for path in MODULES
        if part_of(name_of(path)) in PURE
        for line, module in imported_by(path)
        if module.split(".")[0] in HEAVY
    ]
    assert not importers, "\n".join(importers)


OPENERS = ("open", "read_text", "read_bytes", "write_text", "write_bytes", "urlopen", "connect")


def test_pure_modules_open_no_files() -> None:
    callers = []
    for path in MODULES:
        if part_of(name_of(path)) not in PURE:
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).split(".")[-1]
                if called in OPENERS:
                    callers.append(at(path, node.lineno, f"calls {called}()"))
    assert not callers, "\n".join(callers)


def test_only_packages_for_spark_import_pyspark() -> None:
    importers = {
        name_of(path): at(path, line, f"imports {module}")
        for path in MODULES
        for line, module in imported_by(path, types_too=False)
        if module.split(".")[0] == "pyspark"
    }
    at_home = re.compile(r"trellis\.(engine|dialects\.\w+)\.spark\.")
    strangers = [place for name, place in importers.items() if not at_home.match(name)]
    assert not strangers, "\n".join(strangers)
    assert importers


PICKLERS = ("pickle", "cPickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib")


def test_nothing_is_pickled_but_the_results_of_spark_tasks() -> None:
    """Whoever can write a pickle can run code where it is read, so nothing that is stored is one."""
    picklers = {
        name_of(path)
        for path in MODULES
        for _, module in imported_by(path)
        if module.split(".")[0] in PICKLERS
    }
    assert picklers == {"trellis.engine.spark.job"}


def child_of(package: str, module: str) -> str | None:
    """
    >>> [child_of("trellis.dialects", f"trellis.{name}") for name in ("dialects.acme.names", "cli.app")]
    ['acme', None]
    """
    return module.removeprefix(f"{package}.").split(".")[0] if module.startswith(f"{package}.") else None


@pytest.mark.parametrize(("package", "plugins"), [("dialects", DIALECTS), ("destinations", DESTINATIONS)])
def test_a_plugin_is_imported_by_nothing_outside_of_its_folder(package: str, plugins: set[str]) -> None:
    package = f"trellis.{package}"
    assert len(plugins) > 1
    imported = [
        at(path, line, f"imports {module}")
        for path in MODULES
        for line, module in imported_by(path)
        if (plugin := child_of(package, module)) in plugins and child_of(package, name_of(path)) != plugin
    ]
    assert not imported, "\n".join(imported)


def test_no_package_of_destinations_imports_itself_through_others() -> None:
    package, imported = "trellis.destinations", dict[str, set[str]]()
    for path in MODULES:
        if child := child_of(package, name_of(path)):
            others = {child_of(package, module) for _, module in imported_by(path, types_too=False)}
            imported.setdefault(child, set()).update(filter(None, others - {child}))
    assert {*imported} > DESTINATIONS
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as cycle:
        pytest.fail(" -> ".join(cycle.args[1]))


def test_every_module_has_a_layer() -> None:
    parts = {part_of(name_of(path)) for path in MODULES} - {*FOYER}
    assert {part for part in LEVEL if "*" not in part} <= parts <= {*LEVEL}


def test_imports_run_one_way() -> None:
    upwards = []
    for path in MODULES:
        part = part_of(name_of(path))
        if part in FOYER:
            continue
        for line, module in imported_by(path):
            if module.split(".")[0] != "trellis" or part_of(module) in FOYER:
                continue
            if LEVEL[part_of(module)] > LEVEL[part]:
                upwards.append(at(path, line, f"{part} imports {module}, which stands above it"))
    assert not upwards, "\n".join(upwards)


def test_no_module_imports_itself_through_others() -> None:
    names = {name_of(path) for path in MODULES}
    imported = {
        name_of(path): {
            module if module in names else module.rpartition(".")[0]
            for line, module in imported_by(path, types_too=False)
            if module.split(".")[0] == "trellis"
        }
        & names
        for path in MODULES
        if part_of(name_of(path)) not in FOYER
    }
    for modules in imported.values():
        modules.discard("trellis")
    assert sum(map(len, imported.values())) > len(imported)  # something was looked at
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as cycle:
        pytest.fail(" -> ".join(cycle.args[1]))


# --- no `if dialect == "..."`: the engine reads a record of decisions or abilities ------------------------

NAMES = ("dialect", "destination", "scheme")


def is_name_of_one(node: ast.expr) -> bool:
    """dialect, self.dialect, dialect_name, destination.name, destination.scheme ...

    >>> texts = ("self.dialect", "dialect.name", "name", "dialect.names")
    >>> [is_name_of_one(ast.parse(text, mode="eval").body) for text in texts]
    [True, True, False, False]
    """
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name.removesuffix("_name") in NAMES:
            return True
        case ast.Attribute(value=value, attr="name" | "scheme"):
            return is_name_of_one(value)
        case ast.Call(func=ast.Attribute(value=value, attr="lower" | "casefold" | "strip" | "startswith")):
            return is_name_of_one(value)
    return False


def is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(is_text(part) for part in parts)
    return False


def asks_for_a_name(node: ast.AST) -> bool:
    """
    >>> texts = ("dialect == 'dlt'", "dialect == other")
    >>> [asks_for_a_name(ast.parse(text, mode="eval").body) for text in texts]
    [True, False]
    """
    match node:
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            return any(map(is_name_of_one, sides)) and any(map(is_text, sides))
        case ast.Match(subject=subject, cases=cases) if is_name_of_one(subject):
            return any(isinstance(part, ast.MatchValue) for case in cases for part in ast.walk(case.pattern))
        case ast.Call(func=ast.Attribute(value=value, attr="startswith")):
            return is_name_of_one(value)
    return False


@pytest.mark.parametrize("part", ["engine", "evolution", "schema", "pipelines"])
def test_the_engine_asks_nobody_for_a_name(part: str) -> None:
    paths = [path for path in MODULES if part_of(name_of(path)) == part]
    assert paths
    name_checks = [
        at(path, node.lineno, ast.unparse(node).splitlines()[0])
        for path in paths
        for node in ast.walk(tree_of(path))
        if asks_for_a_name(node)
    ]
    assert not name_checks, "the engine is missing a decision or an ability; find its name:\n" + "\n".join(
        name_checks
    )


# --- No dialect is named outside of its folder -----------------------------------------------------------

CITATION = re.compile(r"\bdocs/conformance/\w+\.md\b")
"""Where a behaviour is specified."""
REGISTERED = {
    "dialects/__init__.py": re.compile(r'"\w+"'),  # the name of the default dialect
    "generate/nasty.py": re.compile(
        r"""'[{]"_\w+.*[}]'"""
    ),  # keys of records that are system columns elsewhere
}
"""Files that may name a dialect, and in which texts."""


def tokens_with(text: str, names: Collection[str]) -> list[tuple[int, str]]:
    """(line, token) of all identifiers, texts and comments that hold one of the names, citations aside.

    >>> code = "def acme(x):\\n    # As in Acme (docs/conformance/acme.md).\\n    return x + '_acme'"
    >>> [token for _, token in tokens_with(code, ("acme",))]
    ['acme', '# As in Acme (docs/conformance/acme.md).', "'_acme'"]
    """
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        rest = CITATION.sub("", token.string).casefold()
        if token.type not in (tokenize.NEWLINE, tokenize.NL) and any(name in rest for name in names):
            tokens.append((token.start[0], token.string))
    return tokens


def test_no_dialect_is_named_outside_of_its_folder() -> None:
    places, checked = [], 0
    for path in MODULES:
        part = path.relative_to(PACKAGE).as_posix()
        if part.startswith("dialects/") and part.split("/")[1] in DIALECTS:
            continue
        checked += 1
        registered = REGISTERED.get(part)
        for line, token in tokens_with(path.read_text(encoding="utf-8"), DIALECTS):
            if registered is None or not registered.fullmatch(token):
                places.append(at(path, line, f"names a dialect: {token[:60]}"))
    assert DIALECTS and checked > len(LAYERS)
    assert not places, "ask the registry, or find the decision that is missing:\n" + "\n".join(places)


# --- Packages, and the picture of them -------------------------------------------------------------------


def packages_of(types_too: bool) -> dict[str, dict[str, set[str]]]:
    """For each package its members, each with the other members that something in it imports."""
    names = {name_of(path) for path in MODULES}
    members: dict[str, dict[str, set[str]]] = {}
    for path in MODULES:
        importer = name_of(path).split(".")
        for _, module in imported_by(path, types_too):
            imported = (module if module in names else module.rpartition(".")[0]).split(".")
            shared = 0
            while shared < min(len(importer), len(imported)) and importer[shared] == imported[shared]:
                shared += 1
            if 0 < shared < min(len(importer), len(imported)):
                package = members.setdefault(".".join(importer[:shared]), {})
                package.setdefault(importer[shared], set()).add(imported[shared])
    return members


def test_no_package_imports_itself_through_others() -> None:
    """At any depth. The packages at the top are divided into layers, see `test_imports_run_one_way`."""
    packages = packages_of(types_too=False)
    assert "trellis.engine" in packages
    cycles = {}
    for package, members in packages.items():
        try:
            TopologicalSorter(members).prepare()
        except CycleError as cycle:
            cycles[package] = " -> ".join(cycle.args[1])
    assert {*cycles} <= {"trellis"}, cycles


def reached(edges: dict[str, set[str]], start: str) -> set[str]:
    """All nodes that a path leads to from this one."""
    stack, seen = [*edges.get(start, ())], set[str]()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += edges.get(node, ())
    return seen


def edges_of(arrows: set[tuple[str, str]]) -> dict[str, set[str]]:
    """The ends of arrows by their start."""
    edges: dict[str, set[str]] = {}
    for start, end in arrows:
        edges.setdefault(start, set()).add(end)
    return edges


def reduced(edges: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The edges of a graph without cycles but those that follow from others.

    >>> sorted(reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}))
    [('a', 'b'), ('b', 'c')]
    """

    return {
        (start, end)
        for start, ends in edges.items()
        for end in ends
        if not any(end in reached(edges, other) for other in ends - {end})
    }


def layer_imports() -> dict[str, set[str]]:
    """Which part imports which, dialects as one; parts are those of LAYERS."""
    edges: dict[str, set[str]] = {}
    for path in MODULES:
        part = part_of(name_of(path))
        for _, module in imported_by(path):
            if part in FOYER or module.split(".")[0] != "trellis" or part_of(module) in (*FOYER, part):
                continue
            edges.setdefault(part, set()).add(part_of(module))
    return edges


ARROW = re.compile(r"^ {4}(\S+) --> (\S+)$", re.MULTILINE)


def test_the_picture_of_the_imports_is_that_of_the_code() -> None:
    page = (PACKAGE.parent.parent / "docs/architecture.md").read_text(encoding="utf-8")
    picture = page.partition("```mermaid\n")[2].partition("```")[0]
    drawn = {(start.replace("NAME", "*"), end.replace("NAME", "*")) for start, end in ARROW.findall(picture)}
    drawing, imported = edges_of(drawn), layer_imports()
    assert reduced(drawing) == drawn
    parts = {part_of(name_of(path)) for path in MODULES}  # fewer than are drawn where a dialect is deleted
    assert {arrow for arrow in drawn if {*arrow} <= parts} <= {
        (a, b) for a, ends in imported.items() for b in ends
    }
    assert {arrow for arrow in reduced(imported) if arrow[1] not in reached(drawing, arrow[0])} == set()
