"""The columns of one schema: its objects are walked, and what is left of it are leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from trellis.dialects.snowplow.columns.column_types import ColumnType, TypeName, type_of_leaf
from trellis.dialects.snowplow.columns.names import column_name
from trellis.dialects.snowplow.document.nodes import (
    Node,
    allows_null,
    alternatives_of,
    pointer_to,
    properties_of,
    required_of,
    types_of,
    value_types_of,
)

Path = tuple[str, ...]
_NO_KIND: Final = frozenset[str]()
_ENCODINGS: Final[dict[TypeName, str]] = {"BOOLEAN": "RUNLENGTH", "DOUBLE": "RAW"}


@dataclass(frozen=True)
class Column:
    """A column, and the places in the data that its values come from; the first with a value counts."""

    name: str
    type: ColumnType
    nullable: bool
    paths: tuple[Path, ...]
    own_encoding: str = ""
    """The encoding in Redshift, where it is not that of the type."""

    @property
    def encoding(self) -> str:
        return self.own_encoding or _ENCODINGS.get(self.type.name, "ZSTD")

    @property
    def pointer(self) -> str | None:
        """The place of the values as a JSON pointer; None for columns that are not in the data."""
        return pointer_to(*self.paths[0]) if self.paths else None


def flatten(body: Node, *, compat: bool = False) -> list[Column]:
    """The columns of a schema, those that are NOT NULL first, each group by name.

    There are none where the root is no object. `compat` repeats what Snowplow's own code does wrong.
    """
    if _is_leaf(body, compat):
        return []
    leaves = sorted(_walk(body, (), _Ancestors(), compat), key=attrgetter("name", "paths"))
    columns = [_merge_namesakes(list(group)) for _, group in groupby(leaves, attrgetter("name"))]
    return sorted(columns, key=attrgetter("nullable", "name"))


def namesakes(body: Node) -> dict[str, tuple[Path, ...]]:
    """The columns that several properties share. A registry refuses a schema that has any.

    >>> namesakes({"type": "object", "properties": {"portId": {}, "port_id": {}}})
    {'port_id': (('portId',), ('port_id',))}
    """
    return {column.name: column.paths for column in flatten(body) if len(column.paths) > 1}


class _Ancestors(NamedTuple):
    required: bool = True
    nullable: bool = False


def _walk(node: Node, path: Path, ancestors: _Ancestors, compat: bool) -> Iterator[Column]:
    if path and _is_leaf(node, compat):
        yield _column(_Leaf(repr(node), path, ancestors, compat, node))
        return
    if path and compat and not types_of(node):
        yield _column(_Leaf(repr(node), path, ancestors, compat, node))
    nullable = ancestors.nullable or (allows_null(node) and not compat)
    required_keys = required_of(node)
    for key, child in properties_of(node).items():
        required = ancestors.required and key in required_keys
        yield from _walk(child, (*path, key), _Ancestors(required, nullable), compat)


@dataclass(frozen=True)
class _Leaf:
    """A leaf by its text, which most leaves of a version share with those of the version before."""

    text: str
    path: Path
    ancestors: _Ancestors
    compat: bool
    node: Node = field(compare=False)


@lru_cache(maxsize=10_000)
def _column(leaf: _Leaf) -> Column:
    """The same object for the same leaf, so that a merge knows at a glance what it has already."""
    node, (required, nullable) = leaf.node, leaf.ancestors
    return Column(
        column_name(leaf.path),
        type_of_leaf(node, required=required, compat=leaf.compat),
        not required or nullable or allows_null(node),
        (leaf.path,),
    )


def _is_leaf(node: Node, compat: bool) -> bool:
    types = types_of(node)
    if types and "object" not in types:
        return True
    if not properties_of(node):
        return not (compat and "properties" in node)
    return _is_heterogeneous(node)


def _is_heterogeneous(node: Node) -> bool:
    """Whether its values are of several kinds, integers and numbers being one."""
    alternatives = (_kinds(alternative) for alternative in alternatives_of(node, "oneOf"))
    return len(_kinds(node)) > 1 or len(_NO_KIND.union(*alternatives)) > 1


def _kinds(node: Node) -> frozenset[str]:
    return frozenset("number" if name == "integer" else name for name in value_types_of(node))


def _merge_namesakes(columns: Sequence[Column]) -> Column:
    """One column for properties of one name, with the type of the smallest key."""
    if len(columns) == 1:
        return columns[0]
    paths = tuple(path for column in columns for path in column.paths)
    return replace(columns[0], nullable=all(column.nullable for column in columns), paths=paths)
