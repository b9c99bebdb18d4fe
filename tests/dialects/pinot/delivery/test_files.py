"""Data files: the types that Pinot reads, and the values as they were."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialects.pinot import every_type
from trellis.dialects.pinot.cluster.data_files import FileRows, write_files
from trellis.dialects.pinot.document.reader import read_schema
from trellis.errors import DestinationError, UsageError

SMALL = {
    "schemaName": "s",
    "dimensionFieldSpecs": [
        {"name": "i", "dataType": "INT"},
        {"name": "l", "dataType": "LONG"},
        {"name": "f", "dataType": "FLOAT"},
        {"name": "d", "dataType": "DOUBLE"},
        {"name": "b", "dataType": "BOOLEAN"},
        {"name": "n", "dataType": "BIG_DECIMAL"},
        {"name": "x", "dataType": "BYTES"},
        {"name": "j", "dataType": "JSON"},
        {"name": "many", "dataType": "TIMESTAMP", "singleValueField": False},
    ],
    "dateTimeFieldSpecs": [
        {"name": "t", "dataType": "TIMESTAMP", "format": "TIMESTAMP", "granularity": "1:DAYS"}
    ],
}
ROW = {
    "i": 7, "l": 2**63 - 1, "f": 7.9, "d": -math.inf, "b": True, "n": "7.90", "x": b"\xca\xfe",
    "j": '{"a":1}', "many": [0, None, 1_700_000_000_123], "t": 5,
}  # fmt: skip
EMPTY: dict[str, Any] = dict.fromkeys(ROW)


def rows_of(document: dict[str, Any]) -> FileRows:
    return FileRows([*read_schema(document).specs()])


def batch_of(*rows: dict[str, Any]) -> pa.RecordBatch:
    """As a destination keeps them: moments are timestamps."""
    stored = rows_of(SMALL).schema
    moments = {"t": pa.timestamp("ms", "UTC"), "many": pa.list_(pa.timestamp("ms", "UTC"))}
    types = [(field.name, moments.get(field.name, field.type)) for field in stored]
    return pa.RecordBatch.from_pylist([*rows], pa.schema(types))


def test_parquet_has_the_types_that_pinot_reads(tmp_path: Path) -> None:
    (file,) = write_files(rows_of(SMALL), [batch_of(ROW, EMPTY)], tmp_path, "parquet")
    assert (file.path.name, file.rows) == ("part-00000.parquet", 2)
    schema = pq.ParquetFile(file.path).schema
    physical = {schema.column(at).path: schema.column(at).physical_type for at in range(len(schema))}
    assert physical == {
        "i": "INT32",
        "l": "INT64",
        "f": "FLOAT",
        "d": "DOUBLE",
        "b": "BOOLEAN",
        "n": "BYTE_ARRAY",
        "x": "BYTE_ARRAY",
        "j": "BYTE_ARRAY",
        "many.list.element": "INT64",
        "t": "INT64",
    }
    assert [schema.column(at).logical_type.type for at in (5, 6, 7, 8, 9)] == [
        "STRING", "NONE", "STRING", "NONE", "NONE",
    ]  # fmt: skip
    first, second = pq.read_table(file.path).to_pylist()
    assert first == {**ROW, "f": pytest.approx(7.9)}
    assert second == EMPTY


def test_the_greatest_timestamp_is_infinity_in_duckdb(tmp_path: Path) -> None:
    stored = pa.array([2**63 - 1, 1_700_000_000_123_000, None], pa.timestamp("us", "UTC"))
    rows = FileRows(read_schema(SMALL).date_times)
    batch = pa.RecordBatch.from_arrays([stored], ["t"])
    (file,) = write_files(rows, [batch], tmp_path, "parquet")
    assert pq.read_table(file.path)["t"].to_pylist() == [2**63 - 1, 1_700_000_000_123, None]


def test_json_says_text_where_json_has_no_number(tmp_path: Path) -> None:
    """An INT is no TIMESTAMP for Pinot (K17), so moments are text; so are infinities and bytes."""
    (file,) = write_files(rows_of(SMALL), [batch_of(ROW, EMPTY)], tmp_path, "json")
    first, second = file.path.read_text().splitlines()
    assert first == (
        '{"i":7,"l":9223372036854775807,"f":7.9,"d":"-Infinity","b":true,"n":"7.90","x":"cafe","j":"{\\"a\\":1}",'
        '"many":["0","1700000000123"],"t":"5"}'
    )
    assert json.loads(second) == EMPTY


def test_maps_are_told_to_pinots_reader_of_parquet(tmp_path: Path) -> None:
    """Without an Avro schema in the file it gives how Parquet keeps a map, not the map."""
    rows = rows_of(every_type.schema("s"))
    batch = pa.RecordBatch.from_pylist([{"map_long": [("a", 1)]}], rows.schema)
    (file,) = write_files(rows, [batch], tmp_path, "parquet")
    metadata = pq.read_metadata(file.path).metadata
    types = {field["name"]: field["type"] for field in json.loads(metadata[b"parquet.avro.schema"])["fields"]}
    assert types["map_long"] == ["null", {"type": "map", "values": ["null", "long"]}]
    (plain,) = write_files(rows_of(SMALL), [batch_of(ROW)], tmp_path, "parquet")
    assert b"parquet.avro.schema" not in pq.read_metadata(plain.path).metadata


def test_files_have_so_many_rows_and_their_order(tmp_path: Path) -> None:
    batches = [batch_of(*({**ROW, "i": at} for at in range(start, start + 40))) for start in (0, 40, 80)]
    progress: list[int] = []
    files = write_files(rows_of(SMALL), batches, tmp_path, "parquet", 50, progress.append)
    assert [(file.path.name, file.rows) for file in files] == [
        ("part-00000.parquet", 50),
        ("part-00001.parquet", 50),
        ("part-00002.parquet", 20),
    ]
    assert [i for file in files for i in pq.read_table(file.path)["i"].to_pylist()] == [*range(120)]
    assert progress == [40, 50, 80, 100, 120]


def test_no_rows_make_no_file(tmp_path: Path) -> None:
    assert write_files(rows_of(SMALL), [batch_of()], tmp_path, "parquet") == []
    assert write_files(rows_of(SMALL), [], tmp_path, "json") == []


def test_what_older_files_lack_is_null_and_what_is_no_column_stays_behind(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_pylist(
        [{"_trellis_id": "x", "i": 1}], pa.schema([("_trellis_id", pa.string()), ("i", pa.int64())])
    )
    (file,) = write_files(rows_of(SMALL), [batch], tmp_path, "parquet")
    assert pq.read_table(file.path).to_pylist() == [{**EMPTY, "i": 1}]


def test_lists_and_maps_that_are_kept_as_json_text(tmp_path: Path) -> None:
    """So a destination without nested types has them."""
    rows = rows_of(every_type.schema("s"))
    text = {"many_timestamp": "[5,6]", "many_float": "[0.5]", "map_string": '{"a":"b","c":null}'}
    (file,) = write_files(rows, [pa.RecordBatch.from_pylist([text])], tmp_path, "parquet")
    (row,) = pq.read_table(file.path).to_pylist()
    assert (row["many_timestamp"], row["many_float"]) == ([5, 6], [0.5])
    assert row["map_string"] == [("a", "b"), ("c", None)]


def test_a_name_that_avro_does_not_take(tmp_path: Path) -> None:
    """Files without maps are read as Parquet, where a name may be any text."""
    plain = {"schemaName": "s", "dimensionFieldSpecs": [{"name": "geo.lat", "dataType": "DOUBLE"}]}
    maps = {**plain, "complexFieldSpecs": every_type.schema("s")["complexFieldSpecs"]}
    with pytest.raises(UsageError) as raised:
        write_files(rows_of(maps), [], tmp_path, "parquet")
    assert str(raised.value) == (
        "column geo.lat: Pinot reads this table as Avro, where a name has only letters, digits and _; "
        "use --format json"
    )
    batch = pa.RecordBatch.from_pylist([{"geo.lat": 1.5}])
    for document, format in ((plain, "parquet"), (maps, "json")):
        (file,) = write_files(rows_of(document), [batch], tmp_path, format)
    assert json.loads(file.path.read_text())["geo.lat"] == 1.5
    assert pq.read_table(tmp_path / "part-00000.parquet").to_pylist() == [{"geo.lat": 1.5}]


def test_values_that_are_none_of_the_column(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_pylist([{"i": 2**40}])
    with pytest.raises(DestinationError) as raised:
        write_files(rows_of(SMALL), [batch], tmp_path, "parquet")
    assert str(raised.value).startswith("column i: its values of type int64 are no INT (")
    assert str(raised.value).endswith("; the table was changed outside Trellis")
