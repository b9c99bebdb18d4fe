"""Nested types of Arrow tables: what dlt's filesystem destination stores, and what ours does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dlt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dlt.common.libs.pyarrow import deserialize_type, serialize_type
from dlt.common.schema import Schema as DltSchema

import trellis
from trellis.engine.arrow.nested_types import hint_of, type_of
from trellis.schema.dict_form import to_dict
from trellis.schema.model import NESTED_TYPE

pytest.importorskip("fsspec")

TYPES: dict[str, pa.DataType] = {
    "list": pa.list_(pa.int64()),
    "large_list": pa.large_list(pa.large_string()),
    "struct": pa.struct([("x", pa.int8()), pa.field("y", pa.string(), nullable=False)]),
    "map": pa.map_(pa.string(), pa.list_(pa.decimal128(10, 2))),
    "dictionary": pa.struct([("w", pa.dictionary(pa.int8(), pa.string()))]),
    "deep": pa.list_(pa.struct([("a", pa.list_(pa.struct([("at", pa.timestamp("us", "UTC"))])))])),
}
TABLE = pa.table(
    {
        "id": [1, 2],
        "orderLines": [[{"sku": "a", "tags": ["x", None]}], []],
        "m": pa.array([[("k", 5)], None], pa.map_("string", "int8")),
        "s": pa.array([{"w": "a"}, {"w": None}], TYPES["dictionary"]),
    }
)


def into_dlt(folder: Path, table: pa.Table) -> tuple[DltSchema, list[dict[str, Any]]]:
    """The schema and the rows that dlt makes of a table in a folder of Parquet files."""
    pipeline = dlt.pipeline(
        "farm",
        destination=dlt.destinations.filesystem(bucket_url=(folder / "files").as_uri()),
        dataset_name="d",
        pipelines_dir=str(folder / "pipelines"),
    )
    pipeline.run(table, table_name="t", loader_file_format="parquet")
    (file,) = (folder / "files" / "d" / "t").glob("*.parquet")
    return pipeline.default_schema, pq.read_table(file).to_pylist()


@pytest.mark.parametrize("type_", TYPES.values(), ids=TYPES)
def test_seed_d103_a_hint_is_that_of_dlt_to_the_byte(type_: pa.DataType) -> None:
    assert hint_of(type_) == serialize_type(type_)
    assert type_of(serialize_type(type_)) == deserialize_type(hint_of(type_)) == type_


def test_seed_d105_the_same_table_in_both(tmp_path: Path) -> None:
    theirs, their_rows = into_dlt(tmp_path, TABLE)
    farm = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake")
    farm.run(TABLE, table_name="t")
    columns = to_dict(farm.schema)["tables"]["t"]["columns"]
    assert columns == theirs.tables["t"]["columns"]
    assert [name for name, keys in columns.items() if NESTED_TYPE in keys] == ["order_lines", "m", "s"]
    assert farm.destination.query("", "t") == their_rows


def test_seed_d105_the_hint_counts_in_the_hash_as_in_dlt(tmp_path: Path) -> None:
    farm = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake")
    farm.run(TABLE, table_name="t")
    stored = farm.schema
    known: Any = DltSchema.from_stored_schema(to_dict(stored))  # type: ignore[arg-type]
    assert known.version_hash == stored.stored_hash
    duck = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb")
    duck.run(TABLE, table_name="t")
    assert duck.schema.stored_hash != stored.stored_hash
