"""`rudder_discards`: values that their column does not take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trellis.dialects.rudderstack.named import Named
from trellis.dialects.rudderstack.restore import restored
from trellis.dialects.rudderstack.standard import DISCARDS
from trellis.dialects.rudderstack.system import options_of
from trellis.dialects.rudderstack.types import printed
from trellis.dialects.rudderstack.values import JsonText, json_text
from trellis.evolution.dialect.dead_letters import DeadLetterTable, RestoredValue
from trellis.schema.model import Schema


class RudderDeadLetters:
    def table(self, schema: Schema) -> DeadLetterTable:
        named = Named.of(options_of(schema))
        _, table, column, value, reason = named.discard_columns
        return DeadLetterTable(named.table(DISCARDS), table, column, value, reason)

    def dead_letter(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> tuple[str, Mapping[str, Any]] | None:
        """A row without id or time of receipt has none."""
        named = Named.of(options_of(schema))
        row_id, received_at = (row.get(name) for name in named.columns("id", "received_at"))
        if row_id is None or received_at is None:
            return None
        values = (printed(row_id), table, column, printed(value), reason)
        letter = dict(zip(named.discard_columns, values, strict=True))
        return named.table(DISCARDS), {**letter, named.column("received_at"): received_at}

    def restore(self, schema: Schema, row: Mapping[str, Any]) -> RestoredValue | None:
        return restored(schema, Named.of(options_of(schema)), row)

    def overflow(self, schema: Schema, row: Mapping[str, Any], over: Mapping[str, Any]) -> tuple[str, Any]:
        """The overflow column, and what an allow-list put into it together with what a quota does."""
        options = options_of(schema)
        column = Named.of(options).column(options.overflow)
        return column, JsonText(json_text({**json.loads(row.get(column) or "{}"), **over}))
