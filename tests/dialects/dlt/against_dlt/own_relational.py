"""What users change most in dlt's normalizer: one method of it. Lists of plain values stay JSON."""

from __future__ import annotations

from typing import Any

from dlt.common.normalizers.json.relational import DataItemNormalizer as Relational


class DataItemNormalizer(Relational):
    def normalize_data_item(self, item: Any, load_id: str, table_name: str) -> Any:
        if isinstance(item, dict):
            item = {key: _whole(value) for key, value in item.items()}
        yield from super().normalize_data_item(item, load_id, table_name)


def _whole(value: Any) -> Any:
    is_plain = isinstance(value, list) and not any(isinstance(member, (dict, list)) for member in value)
    return ",".join(map(str, value)) if is_plain else value
