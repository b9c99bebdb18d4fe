"""Load times: the only columns that the events do not bring."""

from __future__ import annotations

from typing import Literal

from trellis.dialects.rudderstack.named import Named
from trellis.dialects.rudderstack.system import options_of
from trellis.evolution.dialect.defaults import DefaultSystemColumns
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.schema.model import Column, Schema
from trellis.schema.system import is_system


class RudderSystemColumns(DefaultSystemColumns):
    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        if is_system(table):
            return RowKeys()
        options = options_of(schema)
        unit: Literal["s", "ms"] = "s" if options.warehouse.uuid_ts_in_seconds else "ms"
        return RowKeys(loaded_at=dict.fromkeys(Named.of(options).load_times, unit))

    def columns(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        names = self.row_keys(schema, table).loaded_at
        return tuple(Column(name, "timestamp", nullable=True) for name in names)
