"""Default values from a dialect, as the Arrow types of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from trellis.engine.arrow.types import arrow_type
from trellis.engine.staging.batches import array_of
from trellis.engine.text import nested_text
from trellis.schema.model import Column, Schema, Table

FillValues = Mapping[str, Mapping[str, pa.Scalar]]
"""The values that existing rows get in new columns, by table and column."""
NO_FILL_VALUES: FillValues = {}


def fill_values(schema: Schema, values: Mapping[str, Mapping[str, Any]]) -> FillValues:
    """The values as Arrow scalars of their columns' types; columns without a type are left out."""
    return {
        name: {
            column.name: plain_array(table, column, [defaults[column.name]])[0]
            for column in table.complete_columns
            if defaults.get(column.name) is not None
        }
        for name, defaults in values.items()
        if (table := schema.tables.get(name)) is not None
    }


def plain_array(table: Table, column: Column, values: Sequence[Any]) -> pa.Array:
    """Values as the column's Arrow type: lists and maps stay such in a nested column, else become JSON."""
    arrow = arrow_type(column)
    if pa.types.is_nested(arrow):
        return pa.array(values, arrow)
    if column.data_type == "json":
        values = list(map(nested_text, values))
    return array_of(table, column, values)
