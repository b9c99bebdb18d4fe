"""How the rows of a load go in, and what another warehouse would get."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.dlt.load.hint_notes import remarks
from trellis.dialects.dlt.load.write_disposition import table_writes_of
from trellis.dialects.dlt.normalizer.custom_keys import refuse_unlinked
from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.dialects.dlt.warehouses import statements, warehouse_of
from trellis.evolution.dialect.defaults import DefaultWrites
from trellis.evolution.table_writes import Load, Mode
from trellis.schema.model import Schema


class DltWrites(DefaultWrites):
    def table_writes(
        self,
        schema: Schema,
        roots: Sequence[str],
        touched: Collection[str],
        mode: Mode | None,
        now: datetime,
    ) -> tuple[Load, ...]:
        writes = table_writes_of(schema, roots, touched, now)
        if is_custom(schema):
            refuse_unlinked(schema, writes)
        return writes

    def warnings(self, schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
        return remarks(schema, roots)

    def foreign_ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        chosen = settings.get("warehouse")
        if chosen is None or chosen == family:
            return None
        return str(chosen), statements(warehouse_of(str(chosen)), dataset, before, after)
