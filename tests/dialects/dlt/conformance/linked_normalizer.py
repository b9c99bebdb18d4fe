"""A normalizer as a user writes one: objects stay JSON, lists are tables with the id of their record."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

Rows = Generator[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], dict[str, Any]], bool, None]


class DataItemNormalizer:
    def __init__(self, schema: Any) -> None:
        self.naming = schema.naming

    def normalize_data_item(self, item: Any, load_id: str, table_name: str) -> Rows:
        name = self.naming.normalize_identifier
        item_id = item.get("id")
        row = {name(key): value for key, value in item.items() if not isinstance(value, list)}
        taken = yield (
            (table_name, (), ()),
            {**row, "_dlt_load_id": load_id, "_dlt_id": f"{table_name}/{item_id}"},
        )
        if not taken:
            return
        for key in [key for key, value in item.items() if isinstance(value, list)]:
            table = self.naming.shorten_fragments(table_name, name(key))
            for number, value in enumerate(item.pop(key)):
                link = {"order_id": item_id, "no": number, "_dlt_id": f"{table}/{item_id}/{number}"}
                below = {name(key): member for key, member in value.items()}
                yield (table, (table_name,), (name(key),)), {**link, **below}
