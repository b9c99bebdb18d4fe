"""Schemas in the forms in which operations compare and change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.model import Column, SortColumn, TableSchema
from trellis.dialects.ytsaurus.types.model import ANY, is_comparable


def stripped(schema: TableSchema) -> TableSchema:
    """Names and types alone."""
    return TableSchema(tuple(column.stripped() for column in schema.columns), strict=schema.strict)


def canonical(schema: TableSchema) -> TableSchema:
    """Key columns first, the others by name."""
    others = [column for column in schema.columns if not column.is_key]
    others.sort(key=lambda column: column.name.encode("utf-8", "surrogateescape"))
    return replace(schema, columns=(*schema.key_columns, *others))


def sort_schema(schema: TableSchema, keys: Sequence[SortColumn]) -> TableSchema:
    """The schema sorted by other keys; each changes places with the column in its way.

    Keys stay unique if all old ones are among the new. Raises YtError (303, 311).
    """
    columns = [replace(column, sort_order=None) for column in schema.columns]
    for index, key in enumerate(keys):
        place = next((place for place, column in enumerate(columns) if column.name == key.name), None)
        if place is None:
            if schema.strict:
                raise YtError(
                    f"the strict schema has no column {key.name} to sort by; it has "
                    f"{', '.join(schema.names)}",
                    ErrorCode.MISSING_KEY_COLUMN,
                )
            place = len(columns)
            columns.append(Column(key.name, ANY))
        if not is_comparable(columns[place].type):
            raise YtError(
                f"the column {key.name} is {columns[place].type}, which has no order to sort by",
                ErrorCode.INCOMPARABLE_TYPES,
            )
        columns[index], columns[place] = columns[place], columns[index]
        columns[index] = replace(columns[index], sort_order=key.sort_order)
    names = {key.name for key in keys}
    unique = schema.unique_keys and all(column.name in names for column in schema.key_columns)
    return replace(schema, columns=tuple(columns), unique_keys=unique)
