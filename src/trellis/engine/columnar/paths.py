"""Nested values by path: the keys of the objects that they are in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from trellis.evolution.projection import Path


def nested_schema(types: Mapping[Path, pa.DataType]) -> pa.Schema | None:
    """A schema nested as the paths are; None where one path is a parent of another."""
    tree: dict[str, Any] = {}
    for path, type_ in types.items():
        subtree = tree
        for key in path[:-1]:
            subtree = subtree.setdefault(key, {})
            if not isinstance(subtree, dict):
                return None
        if path[-1] in subtree:
            return None
        subtree[path[-1]] = type_
    return pa.schema(_fields(tree))


def _fields(tree: Mapping[str, Any]) -> list[pa.Field]:
    return [
        pa.field(key, pa.struct(_fields(inner)) if isinstance(inner, dict) else inner)
        for key, inner in tree.items()
    ]


def nodes(parent_path: Path, fields: Any, arrays: list[pa.Array]) -> Iterator[tuple[Path, pa.Array]]:
    """All values below some objects, each array with its path; objects come before what they hold."""
    for index, array in enumerate(arrays):
        path = (*parent_path, fields.field(index).name)
        yield path, array
        if pa.types.is_struct(array.type):
            yield from nodes(path, array.type, array.flatten())


def leaves(fields: Any, arrays: list[pa.Array]) -> Iterator[tuple[Path, pa.Array]]:
    """The values that are no objects, each array with its path."""
    return ((path, array) for path, array in nodes((), fields, arrays) if not pa.types.is_struct(array.type))
