"""Loads from end to end: what a user gives, and what stands in the destination."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trellis
from dialects.pinot.row.rows import column, config, document, map_column, several, time
from trellis.dialects import get_dialect
from trellis.dialects.pinot.value.source_kinds import Float32
from trellis.errors import ContractError, SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline

SINGLE = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES")
SEVERAL = ("INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING", "BYTES")
ALL = document(
    [
        *(column(data_type, data_type) for data_type in SINGLE),
        *(several(f"{data_type}s", data_type) for data_type in SEVERAL),
    ],
    [column("metric", "DOUBLE")],
    [time("day", "STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd")],
    [map_column("map", "LONG")],
)
RECORD = {
    "INT": 1,
    "LONG": 3_000_000_000,
    "FLOAT": 7.9,
    "DOUBLE": -0.0,
    "BIG_DECIMAL": "1200.00",
    "BOOLEAN": "TRUE ",
    "TIMESTAMP": "2023-11-14 22:13:20.123",
    "STRING": "x" * 600,
    "JSON": {"b": 1, "a": [1.5, None]},
    "BYTES": "cafe",
    "INTs": [1, None, 2, 2],
    "LONGs": 7,
    "FLOATs": [1.5],
    "DOUBLEs": [1.5, 2],
    "BOOLEANs": [True, False],
    "TIMESTAMPs": ["2023-11-14"],
    "STRINGs": ["a", "b"],
    "BYTESs": ["ca", "fe"],
    "metric": "2.5",
    "day": "2023-11-14",
    "map": {"k": 5, "l": None},
}
AT = datetime(2023, 11, 14, 22, 13, 20, 123_000, timezone.utc)
DAY = datetime(2023, 11, 14, tzinfo=timezone.utc)
ROW: dict[str, Any] = {
    "INT": 1,
    "LONG": 3_000_000_000,
    "FLOAT": 7.900000095367432,
    "DOUBLE": 0.0,
    "BIG_DECIMAL": "1200",
    "BOOLEAN": True,
    "TIMESTAMP": AT,
    "STRING": "x" * 512,
    "JSON": '{"a":[1.5,null],"b":1}',
    "BYTES": b"\xca\xfe",
    "INTs": [1, 2, 2],
    "LONGs": [7],
    "FLOATs": [1.5],
    "DOUBLEs": [1.5, 2.0],
    "BOOLEANs": [True, False],
    "TIMESTAMPs": [DAY],
    "STRINGs": ["a", "b"],
    "BYTESs": [b"\xca", b"\xfe"],
    "metric": 2.5,
    "day": "2023-11-14",
    "map": [("k", 5), ("l", None)],
}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NULLS: dict[str, Any] = {
    "INT": -(2**31),
    "LONG": -(2**63),
    "FLOAT": float("-inf"),
    "DOUBLE": float("-inf"),
    "BIG_DECIMAL": "0",
    "BOOLEAN": False,
    "TIMESTAMP": EPOCH,
    "STRING": "null",
    "JSON": "null",
    "BYTES": b"",
    "INTs": [-(2**31)],
    "LONGs": [-(2**63)],
    "FLOATs": [float("-inf")],
    "DOUBLEs": [float("-inf")],
    "BOOLEANs": [False],
    "TIMESTAMPs": [EPOCH],
    "STRINGs": ["null"],
    "BYTESs": [b""],
    "metric": 0.0,
    "day": "null",
    "map": [],
}
TEXTS = {
    "INTs": "[1,2,2]",
    "LONGs": "[7]",
    "FLOATs": "[1.5]",
    "DOUBLEs": "[1.5,2.0]",
    "BOOLEANs": "[true,false]",
    "TIMESTAMPs": "[1699920000000]",
    "STRINGs": '["a","b"]',
    "BYTESs": '["ca","fe"]',
    "map": '{"k":5,"l":null}',
}
"""Lists and maps where a destination has none."""
SMALL = document([column("n", "INT"), column("s", "STRING")], primaryKeyColumns=["n"])


def into(place: str, **settings: Any) -> Pipeline:
    return trellis.pipeline("t", place, dialect="pinot", settings=settings)


def rows(pipe: Pipeline, table: str = "t") -> list[dict[str, Any]]:
    return [dict(row) for row in pipe.destination.query(pipe.dataset, table)]


def lake(tmp_path: Path, **settings: Any) -> Pipeline:
    return into(f"parquet:{tmp_path}/lake", **settings)


# --- all types


@pytest.mark.parametrize("from_file", [False, True], ids=["records", "file"])
def test_every_type_in_parquet(tmp_path: Path, from_file: bool) -> None:
    pipe, source = lake(tmp_path), [RECORD, {}] * 40
    if from_file:
        file = tmp_path / "in.jsonl"
        file.write_text("".join(json.dumps(record) + "\n" for record in source))
        report = pipe.load(file, schema=ALL)
    else:
        report = pipe.load(source, schema=ALL)
    assert report.balanced
    (written,) = (tmp_path / "lake" / "t").rglob("*.parquet")
    table = pq.read_table(written)
    assert table.to_pylist() == [ROW, NULLS] * 40
    assert {field.name: str(field.type) for field in table.schema} == {
        "INT": "int32",
        "LONG": "int64",
        "FLOAT": "float",
        "DOUBLE": "double",
        "BIG_DECIMAL": "string",
        "BOOLEAN": "bool",
        "TIMESTAMP": "timestamp[ms, tz=UTC]",
        "STRING": "string",
        "JSON": "string",
        "BYTES": "binary",
        "INTs": "list<element: int32>",
        "LONGs": "list<element: int64>",
        "FLOATs": "list<element: float>",
        "DOUBLEs": "list<element: double>",
        "BOOLEANs": "list<element: bool>",
        "TIMESTAMPs": "list<element: timestamp[ms, tz=UTC]>",
        "STRINGs": "list<element: string>",
        "BYTESs": "list<element: binary>",
        "metric": "double",
        "day": "string",
        "map": "map<string, int64 ('map')>",
    }


def test_every_type_in_every_destination(place: str, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in [RECORD, {}] * 40))
    pipe = into(place, view="nullable")
    pipe.load(file, schema=ALL)
    expected = ROW if place.startswith("parquet:") else {**ROW, **TEXTS}
    full = sorted(rows(pipe), key=lambda row: row["INT"] is None)
    assert [_plain(row) for row in full] == [_plain(expected)] * 40 + [dict.fromkeys(ROW)] * 40


def test_infinities_in_lists_are_texts_where_lists_are_json(tmp_path: Path) -> None:
    pipe = into(f"duckdb:{tmp_path}/x.duckdb")
    pipe.load([{}], schema=document([several("f", "FLOAT"), several("n", "INT")]))
    assert rows(pipe) == [{"f": '["-Infinity"]', "n": "[-2147483648]"}]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """JSON as one value, whatever blanks are in it; a float of 32 bits, however it is read."""
    plain = {
        name: json.loads(value) if name in TEXTS and isinstance(value, str) else value
        for name, value in row.items()
    }
    return {**plain, "FLOAT": plain["FLOAT"] and Float32(plain["FLOAT"])}


# --- several loads


@pytest.mark.parametrize("place", ["duckdb", "postgres"], indirect=True)
def test_append_replace_and_merge(place: str) -> None:
    pipe = into(place)
    pipe.load([{"n": 1}], schema=SMALL)
    pipe.load([{"n": 2, "s": "x"}])
    assert sorted(record["n"] for record in rows(pipe)) == [1, 2]
    pipe.load([{"n": 2, "s": "y"}, {"n": 3}, {"n": 3, "s": "z"}], mode="merge")
    assert sorted(rows(pipe), key=lambda row: row["n"]) == [
        {"n": 1, "s": "null"},
        {"n": 2, "s": "y"},
        {"n": 3, "s": "z"},
    ]
    pipe.load([{"n": 9}], mode="replace")
    assert rows(pipe) == [{"n": 9, "s": "null"}]


def test_merge_needs_a_primary_key(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mode merge: the schema of t has no primaryKeyColumns to merge by"):
        lake(tmp_path).load([{"n": 1}], schema=document([column("n", "INT")]), mode="merge")


def test_a_schema_may_have_a_new_column(place: str) -> None:
    pipe = into(place)
    pipe.load([{"n": 1}], schema=SMALL)
    wider = {**SMALL, "dimensionFieldSpecs": [*SMALL["dimensionFieldSpecs"], column("new", "LONG")]}
    report = pipe.load([{"n": 2, "new": 5}], schema=wider)
    assert [change.describe() for change in report.changes] == ["t.new is new: bigint"]
    assert sorted(rows(pipe), key=lambda row: row["n"]) == [
        {"n": 1, "s": "null", "new": -9223372036854775808},
        {"n": 2, "s": "null", "new": 5},
    ]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            document([column("n", "LONG"), column("s", "STRING")], primaryKeyColumns=["n"]),
            r"Backward incompatible schema t\. Reason: .*: \[n \(old: DIMENSION INT, new: DIMENSION LONG\)\]",
        ),
        (document([column("n", "INT")], primaryKeyColumns=["n"]), r"Missing columns .*: \[s\]"),
        ({**SMALL, "schemaName": "other"}, "the dataset holds table t, the schema given is that of other"),
    ],
)
def test_a_schema_may_not_change_what_is_there(tmp_path: Path, schema: dict[str, Any], message: str) -> None:
    pipe = lake(tmp_path)
    pipe.load([{"n": 1}], schema=SMALL)
    with pytest.raises(SchemaError, match=message):
        pipe.load([{"n": 2}], schema=schema)
    assert rows(pipe) == [{"n": 1, "s": "null"}]


def test_the_view_of_a_table_stays(tmp_path: Path) -> None:
    lake(tmp_path).load([{"n": 1}], schema=SMALL)
    with pytest.raises(UsageError, match="table t holds rows of the view stored"):
        lake(tmp_path, view="nullable").load([{"n": 1}])


def test_a_table_config_is_kept_and_may_be_changed(tmp_path: Path) -> None:
    ingestion = {"filterConfig": {"filterFunction": "n > 5"}}
    lake(tmp_path, table_config=config(**ingestion)).load([{"n": 1}, {"n": 6}], schema=SMALL)
    report = lake(tmp_path).load([{"n": 2}, {"n": 7}])
    assert (report.rows.loaded, report.rows.dropped) == (1, 1)
    lake(tmp_path, table_config=config()).load([{"n": 8}])
    assert sorted(row["n"] for row in rows(lake(tmp_path))) == [1, 2, 8]


def test_a_table_config_that_does_not_suit_the_schema_is_refused(tmp_path: Path) -> None:
    lake(tmp_path).load([{"n": 1}], schema=SMALL)
    with pytest.raises(SchemaError, match="nowhere"):
        lake(tmp_path, table_config=config("nowhere")).load([{"n": 1}])


def test_another_dialect_is_refused(tmp_path: Path) -> None:
    pipe = lake(tmp_path)
    pipe.load([{"n": 1}], schema=SMALL)
    with pytest.raises(UsageError, match="the dialect pinot filled it, not dlt"):
        trellis.pipeline("t", f"parquet:{tmp_path}/lake").load([{"n": 1}], table="t")
    trellis.pipeline("t", f"parquet:{tmp_path}/dlt").load([{"n": 1}], table="t")
    with pytest.raises(UsageError, match="the dialect dlt filled it, not pinot"):
        into(f"parquet:{tmp_path}/dlt").load([{"n": 1}], schema=SMALL)


# --- how a schema is given


@pytest.mark.parametrize("how", ["object", "text", "path", "name", "schema"])
def test_a_schema_is_given_in_any_form(tmp_path: Path, how: str) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SMALL))
    forms = {"object": SMALL, "text": json.dumps(SMALL, indent=2), "path": file, "name": str(file)}
    schema = forms.get(how) or get_dialect("pinot").schemas.parse_document(json.dumps(SMALL), "schema")
    pipe = lake(tmp_path)
    pipe.load([{"n": 1}], schema=schema)
    assert rows(pipe) == [{"n": 1, "s": "null"}]


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        ("nope.json", UsageError, "nope.json: no such file"),
        (5, UsageError, "schema: a document, its text or its path is expected, not int"),
        ('{"schemaName":', SchemaError, "schema, line 1"),
        ({"dimensionFieldSpecs": []}, SchemaError, "schemaName is missing"),
        ({"schemaName": {1}}, UsageError, "schema: an object that JSON can hold is expected"),
    ],
)
def test_a_schema_that_is_none_is_told(
    tmp_path: Path, schema: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        lake(tmp_path).load([{"n": 1}], schema=schema)


def test_a_schema_of_the_other_dialects_is_given_so_too(tmp_path: Path) -> None:
    tables = "tables:\n  items:\n    columns:\n      id: {data_type: text}\n"
    text = f"name: shop\nversion: 1\nengine_version: 11\n{tables}"
    pipe = trellis.pipeline("shop", f"parquet:{tmp_path}/lake")
    pipe.load([{"id": 7}], table="items", schema=text)
    assert pipe.schema.tables["items"].columns["id"].data_type == "text"


def test_without_a_schema_nothing_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no Pinot schema yet"):
        lake(tmp_path).load([{"n": 1}])


# --- errors and what is left out


def test_an_error_names_file_and_record(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"n":1}\n\n{"n":"x"}\n')
    with pytest.raises(ContractError, match=r"in\.jsonl, record 3: column n: STRING 'x' cannot become INT"):
        lake(tmp_path).load(file, schema=SMALL)
    with pytest.raises(ContractError, match=r"records, record 2: column n: "):
        lake(tmp_path).load([{"n": 1}, {"n": "x"}], schema=SMALL)
    with pytest.raises(ContractError, match=r"record 2: column n: "):
        lake(tmp_path).load(pa.table({"n": ["1", "x"]}), schema=SMALL)


def test_the_balance_counts_records(tmp_path: Path) -> None:
    ingestion = {
        "complexTypeConfig": {"fieldsToUnnest": ["r"]},
        "filterConfig": {"filterFunction": "n > 5"},
        "continueOnError": True,
    }
    pipe = lake(tmp_path, table_config=config(**ingestion), on_error="reject")
    source = [{"n": 1, "r": [1, 2, 3]}, {"n": 6, "r": [1, 2]}, {"n": "x"}, {"n": "1.5"}, 5]
    report = pipe.load(source, schema=SMALL)
    counts = report.rows
    assert (counts.read, counts.loaded, counts.rejected, counts.dropped) == (5, 1, 3, 1)
    assert len(rows(pipe)) == 3


def test_strict_keeps_every_damaged_value(tmp_path: Path) -> None:
    pipe = lake(tmp_path, strict=True)
    report = pipe.load([{"n": 3_000_000_000, "s": "x" * 513}], schema=SMALL)
    assert rows(pipe) == [{"n": -(2**31), "s": "null"}]
    assert report.discards.count == 2
    discards = {row["column_name"]: row["value"] for row in rows(pipe, "_trellis_discards")}
    assert discards == {"n": "3000000000", "s": "x" * 513}


# --- sources with types


def test_typed_values_keep_their_kind(tmp_path: Path) -> None:
    schema = document(
        [column("small", "TIMESTAMP"), column("single", "STRING"), column("exact", "STRING")],
        maps=[map_column("m", "STRING")],
    )
    table = pa.table(
        {
            "small": pa.array([7], pa.int64()),
            "single": pa.array([7.9], pa.float32()),
            "exact": pa.array([Decimal("7.90")], pa.decimal128(5, 2)),
            "m": pa.array([[("k", 0.1)]], pa.map_(pa.string(), pa.float32())),
        }
    )
    pipe = lake(tmp_path)
    pipe.load(table, schema=schema)
    assert rows(pipe) == [
        {
            "small": datetime(1970, 1, 1, 0, 0, 0, 7000, timezone.utc),
            "single": "7.9",
            "exact": "7.90",
            "m": [("k", "0.1")],
        }
    ]
    with pytest.raises(ContractError, match="column small: INT 7 cannot become TIMESTAMP"):
        lake(tmp_path).load(pa.table({"small": pa.array([7], pa.int32())}))


@pytest.mark.parametrize("how", ["table", "file", "reader", "frame"])
def test_typed_sources(tmp_path: Path, how: str) -> None:
    table = pa.table(
        {
            "INT": pa.array([1, None], pa.int16()),
            "LONG": pa.array([2, None], pa.int64()),
            "DOUBLE": pa.array([1.5, None]),
            "BIG_DECIMAL": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
            "BOOLEAN": pa.array([True, None]),
            "TIMESTAMP": pa.array([AT, None], pa.timestamp("us", "UTC")),
            "STRING": pa.array(["x", None]),
            "BYTES": pa.array([b"\xca", None]),
            "INTs": pa.array([[1, 2], None], pa.list_(pa.int64())),
            "JSON": pa.array([{"a": 1, "b": [1.5]}, None]),
        }
    )
    pipe = lake(tmp_path, view="nullable")
    if how == "file":
        pq.write_table(table, tmp_path / "in.parquet")
        pipe.load(tmp_path / "in.parquet", schema=ALL)
    else:
        source = {"table": table, "reader": table.to_reader(), "frame": table.to_pandas()}[how]
        if how == "frame":
            source = source.astype({"INT": "Int16", "LONG": "Int64", "BOOLEAN": "boolean"})
        pipe.load(source, schema=ALL)
    first, second = rows(pipe)
    assert {name: value for name, value in first.items() if value is not None} == {
        "INT": 1,
        "LONG": 2,
        "DOUBLE": 1.5,
        "BIG_DECIMAL": "1.5",
        "BOOLEAN": True,
        "TIMESTAMP": AT,
        "STRING": "x",
        "BYTES": b"\xca",
        "INTs": [1, 2],
        "JSON": '{"a":1,"b":[1.5]}',
    }
    assert set(second.values()) == {None}


def test_a_date_is_no_number(tmp_path: Path) -> None:
    table = pa.table({"d": pa.array([date(2023, 11, 14)])})
    schema = document([column("d", "INT")])
    with pytest.raises(ContractError, match="column d: DATE 2023-11-14 cannot become INT"):
        lake(tmp_path).load(table, schema=schema)


def test_a_time_of_day_is_no_kind_of_value(tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([1], pa.time32("s"))})
    with pytest.raises(ContractError, match="n: a value of class time is of no type that Pinot supports"):
        lake(tmp_path).load(table, schema=SMALL)


def test_pandas_timestamps_without_a_zone_are_of_the_session(tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": pd.to_datetime(["2023-11-14 22:13:20.123456789"])})
    pipe = lake(tmp_path, zone="Asia/Kolkata")
    pipe.load(frame, schema=document([column("t", "TIMESTAMP")]))
    assert rows(pipe) == [{"t": datetime(2023, 11, 14, 16, 43, 20, 123_000, timezone.utc)}]


def test_a_resource_runs_into_a_table_whose_schema_is_known(tmp_path: Path) -> None:
    rides = document([column("city", "STRING")], [column("fare", "DOUBLE")], [])
    pipeline = trellis.pipeline("shop", to=f"duckdb:{tmp_path}/shop.duckdb", dialect="pinot")
    with pytest.raises(UsageError, match="there is no Pinot schema yet: give one with --schema FILE"):
        pipeline.run([{"city": "Bonn"}], table_name=rides["schemaName"])
    pipeline.load([{"city": "Bonn", "fare": "1.5"}], schema=rides)
    report = pipeline.run([{"city": "Jena"}], table_name=rides["schemaName"])
    assert report.balanced and report.rows.loaded == 1
    rows = pipeline.destination.query(pipeline.dataset, rides["schemaName"])
    assert [(row["city"], row["fare"]) for row in rows] == [("Bonn", 1.5), ("Jena", 0.0)]


def test_half_a_character_in_an_escape_is_stored_as_a_question_mark(tmp_path: Path) -> None:
    """A text that was cut in the middle of an emoji; the record is not rejected."""
    file = tmp_path / "in.jsonl"
    lines = (
        r'{"n": 1, "s": "cut \ud83d", "more": "\ud83d"}',
        r'{"n": 2, "s": "whole \ud83d\ude00"}',
        r'{"n": 3, "s": "first", "s": "\ude00"}',
    )
    file.write_text("\n".join(lines) + "\n")
    pipe = lake(tmp_path)
    report = pipe.load(file, schema=SMALL)
    assert (report.rows.loaded, report.rows.rejected) == (3, 0)
    assert [row["s"] for row in rows(pipe)] == ["cut ?", "whole \U0001f600", "?"]


def test_a_number_beyond_a_double_stays_a_number_in_json(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"x":{"a":1e400,"b":[-1e400],"c":1.5}}\n{"x":1e400}\n')
    pipe = lake(tmp_path)
    pipe.load(file, schema=document([column("x", "JSON")]))
    assert [row["x"] for row in rows(pipe)] == ['{"a":1E+400,"b":[-1E+400],"c":1.5}', "1E+400"]
