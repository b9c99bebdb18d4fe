"""Lists, maps and structs of Arrow: as such where a destination stores that, as JSON elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import NESTED_TYPE

TABLE = pa.table(
    {
        "id": [1, 2],
        "s": pa.array([{"x": 1, "y": ["a", None]}, None]),
        "m": pa.array([[("k", 5)], []], pa.map_("string", "int8")),
    }
)
AS_JSON = [{"id": 1, "s": {"x": 1, "y": ["a", None]}, "m": {"k": 5}}, {"id": 2, "s": None, "m": {}}]


def test_seed_d105_nested_types_are_an_ability(shop: Pipeline) -> None:
    shop.run(TABLE, table_name="t")
    disposition: Any = "merge" if shop.destination.abilities.no_merge is None else "replace"
    shop.run(TABLE, table_name="t", write_disposition=disposition, primary_key="id")
    rows = sorted(shop.destination.query(shop.dataset, "t"), key=lambda row: row["id"])
    columns = shop.schema.tables["t"].columns
    hinted = [column.name for column in columns.values() if NESTED_TYPE in column.hints]
    stores = shop.destination.abilities.nested_types
    assert stores is shop.to.startswith("parquet:")
    assert hinted == (["s", "m"] if stores else [])
    assert rows == TABLE.to_pylist() if stores else [_parsed(row) for row in rows] == AS_JSON
    assert [columns[name].data_type for name in ("s", "m")] == ["json", "json"]


def _parsed(row: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(value) if isinstance(value, str) else value for name, value in row.items()}
