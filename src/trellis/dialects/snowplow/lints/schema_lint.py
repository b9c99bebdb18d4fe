"""Everything that linters find in a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.flatten import flatten, namesakes
from trellis.dialects.snowplow.document.nodes import Node, pointer_to, properties_of, types_of, walk_nodes
from trellis.dialects.snowplow.document.schema_document import SchemaDocument, body_of
from trellis.dialects.snowplow.document.validation import META_SCHEMA, SchemaValidator
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.lints.issues import Issue
from trellis.dialects.snowplow.lints.linters import NODE_LINTERS
from trellis.errors import UsageError, nearest

MAX_DEPTH: Final = 40
"""How deep the JSON of a schema may be nested."""
_SELF_LINTERS: Final = {"INVALID_METASCHEMA": "schemaUri"}
_SCHEMA_LINTERS: Final = {
    "rootObject": "WARNING",
    **dict.fromkeys(("self", "schemaUri", "metaSchema", "depth", "columnNames"), "ERROR"),
}
_METADATA_NAMES: Final = frozenset(column.name for column in METADATA)


def lint_document(document: object, skip: Collection[str] = ()) -> list[Issue]:
    """What is wrong with a schema as it would be published. Linters of level ERROR cannot be skipped.

    Raises UsageError.
    """
    _check_names(skip)
    if _is_deeper_than(document, MAX_DEPTH):
        return [Issue("ERROR", "depth", "", f"the JSON is nested more than {MAX_DEPTH} levels deep")]
    issues = []
    try:
        SchemaDocument.parse(document)
    except IgluError as error:
        issues.append(Issue("ERROR", _SELF_LINTERS.get(error.code, "self"), "", str(error)))
    if isinstance(document, dict):
        issues += _lint_body(body_of(document))
    return [issue for issue in issues if issue.linter not in skip]


def _lint_body(body: Node) -> Iterator[Issue]:
    violations = [*SchemaValidator(META_SCHEMA).violations(body)]
    for violation in violations:
        yield Issue("ERROR", "metaSchema", violation.pointer, violation.message)
    if types_of(body) != {"object"} or not properties_of(body):
        yield Issue(
            "WARNING", "rootObject", "", "the root is not an object with properties, so it has no columns"
        )
    for name, paths in namesakes(body).items():
        keys = " and ".join(pointer_to(*path) for path in paths)
        yield Issue("ERROR", "columnNames", "", f"{keys} are one column, {name!r}; rename one of them")
    for column in flatten(body):
        if column.name in _METADATA_NAMES:
            message = f"the column {column.name!r} is one that each table has; rename the property"
            yield Issue("ERROR", "columnNames", pointer_to(*column.paths[0]), message)
    for path, node in walk_nodes(body):
        for linter, (level, lint) in NODE_LINTERS.items():
            for message in lint(node):
                yield Issue(level, linter, pointer_to(*path), message)


def _check_names(skip: Collection[str]) -> None:
    levels = {name: level for name, (level, _) in NODE_LINTERS.items()} | _SCHEMA_LINTERS
    for name in skip:
        if name not in levels:
            raise UsageError(f"unknown linter {name!r}{nearest(name, levels)}")
        if levels[name] == "ERROR":
            raise UsageError(f"linter {name!r} finds errors and cannot be skipped; correct what it finds")


def _is_deeper_than(value: object, depth: int) -> bool:
    level: Sequence[object] = [value]
    for _ in range(depth + 1):
        level = [item for parent in level for item in _items(parent)]
    return bool(level)


def _items(value: object) -> Collection[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
