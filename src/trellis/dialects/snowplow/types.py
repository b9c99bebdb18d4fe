"""Values go into the columns that their schemas declare; texts that are too long are cut."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from trellis.dialects.snowplow.columns.profiles import describe_values
from trellis.evolution.dialect.defaults import DefaultTypes
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.scalars.kinds import Kind
from trellis.evolution.scalars.values import MISFIT
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table
from trellis.schema.naming import Naming


class SnowplowTypes(DefaultTypes):
    def direct_classes(self, schema: Schema, column: Column) -> tuple[type, ...]:
        """Entities of wide rows come in the types of their columns."""
        if column.data_type == "timestamp" and column.timezone is False:
            return (datetime,)  # Arrow stores the time in UTC
        return (dict, list) if column.hint(NESTED_TYPE) else super().direct_classes(schema, column)

    def coercer(self, schema: Schema, column: Column) -> Callable[[Any], Any]:
        limit = column.precision
        if column.data_type != "text" or limit is None:
            return super().coercer(schema, column)
        return lambda value: value if isinstance(value, str) and len(value) <= limit else MISFIT

    def on_type_mismatch(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column | LossyCast | Rejection:
        known = table.columns[column]
        if known.data_type == "text" and known.precision is not None and kind.type == "text":
            limit = known.precision
            return LossyCast(f"cut to {limit} characters", lambda value: value[:limit])
        return Rejection(f"not {describe_values(known)}")
