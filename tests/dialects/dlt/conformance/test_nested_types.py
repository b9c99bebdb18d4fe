"""Structured types: lists, maps and structs of Arrow tables, stored as such."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import trellis
from trellis.cli.app import app
from trellis.engine.arrow.nested_types import described, hint_of, type_of
from trellis.errors import ContractError, SchemaError
from trellis.evolution.contract import ContractViolation
from trellis.evolution.scalars.iso import UTC
from trellis.pipelines.drift import drift
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import NESTED_TYPE, Column, Table

DEEP = pa.struct(
    [
        ("lines", pa.list_(pa.struct([("sku", pa.string()), ("tags", pa.list_(pa.string()))]))),
        ("by_day", pa.map_(pa.string(), pa.struct([("at", pa.timestamp("us", "UTC"))]))),
        ("price", pa.decimal128(10, 2)),
    ]
)
AT = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
DEEP_ROWS: list[Any] = [
    {
        "lines": [{"sku": "a", "tags": ["x", None]}, None, {"sku": None, "tags": []}],
        "by_day": [("mon", {"at": AT}), ("tue", None)],
        "price": Decimal("1.50"),
    },
    {"lines": [], "by_day": [], "price": None},
    {"lines": None, "by_day": None, "price": Decimal("-0.01")},
    None,
]


class Lake:
    """A pipeline into a folder of Parquet files, looked at as a reader does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pipeline: Pipeline = trellis.pipeline("farm", to=f"parquet:{folder}")

    def run(self, table: Any, name: str = "t", **hints: Any) -> Any:
        return self.pipeline.run(table, table_name=name, **hints)

    def read(self, name: str = "t") -> list[dict[str, Any]]:
        """The rows that pyarrow finds in the files, in the order of their first column."""
        files = sorted((self.folder / name).rglob("*.parquet"))
        rows: list[dict[str, Any]] = [row for file in files for row in pq.read_table(file).to_pylist()]
        return sorted(rows, key=lambda row: next(iter(row.values())))

    def stored(self, name: str = "t") -> dict[str, str]:
        """What the files say of their columns; all of them say the same."""
        (stored_type,) = {
            tuple((field.name, str(field.type)) for field in pq.read_schema(file))
            for file in (self.folder / name).rglob("*.parquet")
        }
        return dict(stored_type)

    def column(self, column: str, name: str = "t") -> Any:
        return self.pipeline.schema.tables[name].columns[column]

    def values(self, column: str, name: str = "t") -> list[Any]:
        return [row[column] for row in self.pipeline.destination.query("", name)]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


# ---- what is stored


def test_seed_d103_nested_values_of_arrow_tables_stay_what_they_are(lake: Lake) -> None:
    deep = pa.array(DEEP_ROWS, DEEP)
    lake.run(pa.table({"id": [1, 2, 3, 4], "deep": deep}))
    assert lake.read() == [{"id": at, "deep": row} for at, row in enumerate(DEEP_ROWS, 1)]
    assert lake.values("deep") == DEEP_ROWS
    assert drift(lake.pipeline) == ()
    column = lake.column("deep")
    assert (column.data_type, column.nullable) == ("json", True)
    assert type_of(column.hint(NESTED_TYPE)) == DEEP
    assert lake.stored()["deep"] == (
        "struct<lines: list<element: struct<sku: string, tags: list<element: string>>>, "
        "by_day: map<string, struct<at: timestamp[us, tz=UTC]> ('by_day')>, price: decimal128(10, 2)>"
    )


def test_seed_d103_lists_maps_and_structs(lake: Lake) -> None:
    table = pa.table(
        {
            "l": pa.array([[1, None], [], None]),
            "m": pa.array([[("k", 5)], [], None], pa.map_("string", "int8")),
            "s": pa.array([{"x": 1, "y": [1.5]}, {"x": None, "y": None}, None]),
        }
    )
    lake.run(table)
    columns = lake.pipeline.schema.tables["t"].columns
    assert {name: described(column) for name, column in columns.items()} == {
        "l": "list<element: int64>",
        "m": "map<string, int8>",
        "s": "struct<x: int64, y: list<element: double>>",
    }
    assert lake.pipeline.destination.query("", "t") == table.to_pylist()


def test_seed_d103_encodings_inside_are_no_matter(lake: Lake) -> None:
    words = pa.array(["a", "b", None]).dictionary_encode()
    wide = pa.array([["x"], None, []], pa.large_list(pa.large_string()))
    fixed = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2))
    inner = pa.StructArray.from_arrays([words, wide, fixed], names=["w", "wide", "fixed"])
    lake.run(pa.table({"id": [1, 2, 3], "s": inner}))
    assert lake.read() == [
        {"id": 1, "s": {"w": "a", "wide": ["x"], "fixed": [1, 2]}},
        {"id": 2, "s": {"w": "b", "wide": None, "fixed": None}},
        {"id": 3, "s": {"w": None, "wide": [], "fixed": [3, 4]}},
    ]
    assert lake.stored()["s"] == "struct<w: string, wide: list<element: string>, fixed: list<element: int8>>"
    lake.run(pa.table({"id": [4], "s": [{"w": "plain", "wide": ["y"], "fixed": [5]}]}))
    assert lake.values("s")[-1] == {"w": "plain", "wide": ["y"], "fixed": [5]}


def test_seed_d103_times_and_numbers_inside_keep_their_types(lake: Lake) -> None:
    rows = {
        "ns": pa.array([1_700_000_000_123_456_789], pa.timestamp("ns", "UTC")),
        "s": pa.array([AT.replace(microsecond=0, tzinfo=None)], pa.timestamp("s")),
        "day": pa.array([date(2024, 5, 6)]),
        "clock": pa.array([time(1, 2, 3)], pa.time32("s")),
        "wide": pa.array([Decimal("1" * 48 + ".25")], pa.decimal256(50, 2)),
        "u": pa.array([2**64 - 1], pa.uint64()),
        "f": pa.array([1.5], pa.float16()),
        "raw": pa.array([b"\x00\xff"], pa.binary(2)),
    }
    inner = pa.StructArray.from_arrays(list(rows.values()), names=list(rows))
    lake.run(pa.table({"s": inner}))
    (file,) = (lake.folder / "t").rglob("*.parquet")
    structs = dict(zip(rows, pq.read_table(file)["s"].combine_chunks().flatten(), strict=True))
    assert {name: str(array.type) for name, array in structs.items()} == {
        "ns": "timestamp[ns, tz=UTC]",
        "s": "timestamp[ms]",
        "day": "date32[day]",
        "clock": "time32[ms]",
        "wide": "decimal256(50, 2)",
        "u": "uint64",
        "f": "float",
        "raw": "fixed_size_binary[2]",
    }
    assert structs.pop("ns").cast(pa.int64()).to_pylist() == [1_700_000_000_123_456_789]
    assert {name: array.to_pylist() for name, array in structs.items()} == {
        name: rows[name].to_pylist() for name in structs
    }


def test_seed_d103_pandas_parquet_files_and_streams(lake: Lake, tmp_path: Path) -> None:
    table = pa.table({"id": [1], "s": [{"x": 1, "y": ["a"]}]})
    pq.write_table(table, tmp_path / "in.parquet")

    @trellis.resource
    def frames() -> Iterator[Any]:
        yield table.to_pandas(types_mapper=pd.ArrowDtype)
        yield pd.DataFrame({"id": [2], "s": [{"x": 2, "y": ["b"]}]})

    lake.pipeline.run(frames)
    lake.run(table.to_reader(), "stream")
    lake.run(pq.ParquetFile(tmp_path / "in.parquet").read(), "file")
    assert lake.values("s", "frames") == [{"x": 1, "y": ["a"]}, {"x": 2, "y": ["b"]}]
    for name in ("stream", "file"):
        assert (lake.values("s", name), described(lake.column("s", name))) == (
            [{"x": 1, "y": ["a"]}],
            "struct<x: int64, y: list<element: string>>",
        )


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([[], None]), ["[]", None]),
        (pa.array([{"x": None}, {"x": None}]), ['{"x":null}', '{"x":null}']),
        (pa.array([{}, None], pa.struct([])), ["{}", None]),
    ],
    ids=["empty lists", "a field without a type", "structs without fields"],
)
def test_seed_d103_a_nested_type_that_is_not_known_whole_is_json_text(
    lake: Lake, values: Any, text: Any
) -> None:
    lake.run(pa.table({"a": values}))
    assert (lake.values("a"), lake.column("a").hints.get(NESTED_TYPE)) == (text, None)


def test_seed_d103_only_rows_with_types_that_are_taken_whole(lake: Lake) -> None:
    lake.run([{"a": 1, "s": {"x": 1}, "l": [{"y": 1}]}], "records")
    lake.run([{"s": {"x": 1}}], "hinted", columns={"s": {"data_type": "json"}})
    lake.pipeline.load(pa.table({"s": [{"x": 1}], "l": [[1]]}), table="loaded")
    types = {
        f"{table.name}.{column.name}"
        for table in lake.pipeline.schema.tables.values()
        for column in table.columns.values()
        if NESTED_TYPE in column.hints
    }
    assert types == set()
    assert lake.values("s", "hinted") == ['{"x":1}']


def test_seed_d103_a_column_declared_as_json_takes_the_nested_type(lake: Lake) -> None:
    table = pa.table({"s": [{"x": 1}], "t": [{"x": 1}]})
    lake.run(table, columns={"s": {"data_type": "json"}, "t": {"data_type": "text"}})
    assert (lake.values("s"), lake.values("t")) == ([{"x": 1}], ['{"x":1}'])
    assert (described(lake.column("s")), described(lake.column("t"))) == ("struct<x: int64>", None)


# ---- where it is not stored as such


def test_seed_d105_duckdb_keeps_json(tmp_path: Path) -> None:
    duck = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb")
    duck.run(pa.table({"deep": pa.array(DEEP_ROWS[:2], DEEP)}), table_name="t")
    rows = [json.loads(row["deep"]) for row in duck.destination.query("main", "t")]
    assert rows[0]["lines"] == [{"sku": "a", "tags": ["x", None]}, None, {"sku": None, "tags": []}]
    assert rows[1] == {"lines": [], "by_day": {}, "price": None}
    assert dict(duck.schema.tables["t"].columns["deep"].hints) == {}


def test_seed_d105_a_schema_from_a_lake_in_duckdb(lake: Lake, tmp_path: Path) -> None:
    table = pa.table({"id": [1], "s": [{"x": 1}]})
    lake.run(table)
    duck = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb")
    duck.load([{"id": 1, "s": {"x": 1}}], table="t", schema=lake.pipeline.schema)
    assert duck.destination.query("main", "t")[0]["s"] == '{"x":1}'
    assert NESTED_TYPE not in duck.schema.tables["t"].columns["s"].hints


# ---- no evolution


def test_seed_d105_values_that_fit_go_into_the_stored_type(lake: Lake) -> None:
    lake.run(pa.table({"id": [1], "s": [{"x": 1.5, "y": ["a"]}]}))
    before = lake.pipeline.schema
    lake.run(pa.table({"id": [2, 3], "s": [{"x": 2}, None]}))
    lake.run(pa.table({"id": [4], "s": [{"y": [], "x": None, "none": None}]}))
    lake.run(pa.table({"id": [5], "s": pa.nulls(1)}))
    lake.run(pa.table({"id": [6], "s": ['{"x":7,"y":["b"]}']}))
    assert [row["s"] for row in lake.read()] == [
        {"x": 1.5, "y": ["a"]},
        {"x": 2.0, "y": None},
        None,
        {"x": None, "y": []},
        None,
        {"x": 7.0, "y": ["b"]},
    ]
    assert lake.pipeline.schema.tables["t"] == before.tables["t"]


MISFITS: dict[str, Any] = {
    "a new field": {"x": 1, "z": 2},
    "a fraction": {"x": 1.5},
    "a text": {"x": "1"},
    "a list": [1],
    "a scalar": 1,
    "a JSON text of another shape": '{"z":1}',
    "a text that is no JSON": "hello",
    "a list inside": {"x": [1]},
}


@pytest.mark.parametrize("value", MISFITS.values(), ids=MISFITS)
def test_seed_d104_a_value_without_place_is_refused(lake: Lake, value: Any) -> None:
    lake.run(pa.table({"id": [1], "s": [{"x": 1}]}))
    with pytest.raises(
        ContractError,
        match=r"s comes as .*, and some of its values do not fit struct<x: int64>, the type of the column; "
        "convert them, declare another type",
    ):
        lake.run(pa.table({"id": [2], "s": [value]}))
    assert lake.read() == [{"id": 1, "s": {"x": 1}}]


@pytest.mark.parametrize(("mode", "ids"), [("discard_value", [1, 2, 3]), ("discard_row", [1, 3])])
def test_seed_d104_a_contract_on_types_keeps_the_rest(lake: Lake, mode: Any, ids: Any) -> None:
    lake.run(pa.table({"id": [1], "s": [{"x": 1}]}))
    other = pa.table({"id": [2, 3], "s": [{"x": 1, "z": 2}, None]})
    with pytest.raises(ContractViolation):
        lake.run(other, schema_contract={"data_type": "freeze"})
    report = lake.run(other, schema_contract={"data_type": mode})
    assert report.balanced
    assert [row["id"] for row in lake.read()] == ids
    (lost,) = lake.pipeline.destination.query("", "_trellis_discards")
    assert (lost["column_name"], lost["value"]) == ("s", '{"x":1,"z":2}')


def test_seed_d104_two_types_in_one_run(lake: Lake) -> None:
    @trellis.resource
    def rows() -> Iterator[Any]:
        yield pa.table({"id": [1], "s": [{"x": 1}]})
        yield pa.table({"id": [2], "s": [{"x": 2, "y": "new"}]})

    with pytest.raises(ContractError, match="do not fit struct<x: int64>"):
        lake.pipeline.run(rows)


def test_seed_d104_replaced_rows_may_bring_another_type(lake: Lake) -> None:
    lake.run(pa.table({"id": [1], "s": [{"x": 1}]}))
    replace: Any = {"write_disposition": "replace"}
    lake.run(pa.table({"id": [2, 3], "s": [{"x": "a", "y": [1]}, None]}), **replace)
    assert lake.read() == [{"id": 2, "s": {"x": "a", "y": [1]}}, {"id": 3, "s": None}]
    assert described(lake.column("s")) == "struct<x: string, y: list<element: int64>>"
    lake.run(pa.table({"id": [4]}), **replace)
    lake.run(pa.table({"id": [5], "s": [{"x": "b"}]}), write_disposition="append")
    assert lake.read() == [{"id": 4, "s": None}, {"id": 5, "s": {"x": "b", "y": None}}]


def test_seed_d104_a_contract_keeps_the_type_of_replaced_rows(lake: Lake) -> None:
    lake.run(pa.table({"id": [1], "s": [{"x": 1}]}))
    other = pa.table({"id": [2], "s": [{"x": "a"}]})
    with pytest.raises(ContractViolation, match="do not fit struct<x: int64>"):
        lake.run(other, write_disposition="replace", schema_contract={"data_type": "freeze"})
    assert lake.read() == [{"id": 1, "s": {"x": 1}}]


def test_seed_d105_a_table_that_was_made_without_rows(lake: Lake) -> None:
    table = Table("t", {"id": Column("id", "bigint"), "s": Column("s", "json")})
    lake.pipeline.save_schema(lake.pipeline.schema.with_tables(table.with_defaults()))
    assert lake.stored()["s"] == "string"
    lake.run(pa.table({"id": [1], "s": [{"x": 1}]}))
    assert lake.values("s") == [{"x": 1}]
    assert lake.stored()["s"] == "struct<x: int64>"


def test_seed_d104_replacing_json_text_by_nested_values(lake: Lake) -> None:
    lake.run([{"id": 1, "s": {"x": 1}}], columns={"s": {"data_type": "json"}})
    assert lake.values("s") == ['{"x":1}']
    lake.run(pa.table({"id": [2], "s": [{"x": 1}]}), "other")
    rows = pa.table({"id": [2], "s": [{"x": 2}]})
    settings = {"add_dlt_id": True, "add_dlt_load_id": True}
    again = trellis.pipeline("farm", to=f"parquet:{lake.folder}", settings=settings)
    again.run(rows, table_name="t")
    assert lake.values("s") == ['{"x":1}', '{"x":2}']
    again.run(rows, table_name="t", write_disposition="replace")
    assert lake.values("s") == [{"x": 2}]


def test_seed_d105_records_into_a_column_with_a_nested_type(lake: Lake) -> None:
    kinds = pa.struct(
        [
            ("x", pa.int8()),
            ("at", pa.timestamp("ms", "UTC")),
            ("m", pa.map_(pa.string(), pa.list_(pa.float64()))),
            ("d", pa.decimal128(10, 2)),
        ]
    )
    settings = {"add_dlt_id": True, "add_dlt_load_id": True}
    pipe = trellis.pipeline("farm", to=f"parquet:{lake.folder}", settings=settings)
    pipe.run(pa.table({"id": [1], "s": pa.array([None], kinds)}), table_name="t")
    fits = {"x": 7, "at": "2024-05-06T07:08:09.123Z", "m": {"k": [1, None, 2.5]}, "d": 1.25}
    pipe.run([{"id": 2, "s": fits}, {"id": 3}], table_name="t")
    at = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
    assert lake.values("s") == [
        None,
        {"x": 7, "at": at, "m": [("k", [1.0, None, 2.5])], "d": Decimal("1.25")},
        None,
    ]
    for misfit in ({"x": 128}, {"x": 1, "new": 2}, {"at": "2024-05-06T07:08:09.123456Z"}, {"d": 1.255}, [1]):
        with pytest.raises(ContractError, match=r"table t, column s: .* does not fit struct<x: int8, "):
            pipe.run([{"id": 4, "s": misfit}], table_name="t")
    assert len(lake.values("id")) == 3


def test_seed_d105_records_of_files_and_tables_that_are_loaded(lake: Lake, tmp_path: Path) -> None:
    settings = {"add_dlt_id": True, "add_dlt_load_id": True}
    pipe = trellis.pipeline("farm", to=f"parquet:{lake.folder}", settings=settings)
    pipe.run(pa.table({"id": [0], "s": [{"x": 1.5, "l": ["a"]}], "l": [["b"]]}), table_name="t")
    lines = [f'{{"id":{at},"s":{{"x":{at},"l":["{at}"]}},"l":["{at}",null]}}' for at in range(1, 4)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    pipe.load(str(tmp_path / "t.jsonl"), table="t")
    pipe.load(pa.table({"id": [4], "s": [{"x": 4}], "l": [[]]}), table="t")
    assert [(row["id"], row["s"], row["l"]) for row in pipe.destination.query("", "t")] == [
        (0, {"x": 1.5, "l": ["a"]}, ["b"]),
        (1, {"x": 1.0, "l": ["1"]}, ["1", None]),
        (2, {"x": 2.0, "l": ["2"]}, ["2", None]),
        (3, {"x": 3.0, "l": ["3"]}, ["3", None]),
        (4, {"x": 4.0, "l": None}, []),
    ]


# ---- required columns


def test_seed_d105_a_required_nested_column(lake: Lake) -> None:
    columns = {"s": {"nullable": False}}
    lake.run(
        pa.table(
            {
                "id": [1],
                "s": [
                    {"x": None},
                ],
            },
            schema=pa.schema([("id", pa.int64()), ("s", pa.struct([("x", pa.int8())]))]),
        ),
        columns=columns,
    )
    with pytest.raises(ContractError, match="s is null, but column s of table t may not be null"):
        lake.run(pa.table({"id": [2], "s": pa.array([None], pa.struct([("x", pa.int8())]))}))
    assert lake.values("s") == [{"x": None}]


# ---- what a person sees


def test_seed_d103_the_type_is_shown_readably(lake: Lake) -> None:
    table = pa.table({"id": [1], "s": [{"x": 1}]})
    lake.run(table)
    shown = CliRunner().invoke(app, ["schema", "show", "--at", lake.pipeline.where, "--name", "farm"])
    assert "struct<x: int64>" in shown.output
    assert "arrow-ipc" not in shown.output
    lake.run(pa.table({"id": [1], "s": [{"y": 1}]}), write_disposition="replace")
    arguments = ["schema", "history", "--to", lake.pipeline.where, "--name", "farm"]
    printed = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert "t.s: its nested values get another type" in printed.output
    other = trellis.pipeline("farm", to=f"{lake.pipeline.to}-2")
    planned = other.plan([{"id": 2}], table="t", schema=lake.pipeline.schema)
    (created,) = [statement for statement in planned.statements if statement.startswith('CREATE TABLE "t" ')]
    assert '("id" int64, "s" struct<y: int64>' in created


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("json:x", "it begins with 'json:x', not with 'arrow-ipc:'"),
        ("arrow-ipc:%", "it is damaged"),
        ("arrow-ipc:" + "AAAA", "it is damaged"),
        (hint_of(pa.int8()), "int8 is not nested"),
        (hint_of(pa.list_(pa.null())), "list<item: null> cannot be kept in a Parquet file"),
    ],
)
def test_seed_d103_a_hint_that_holds_no_nested_type(lake: Lake, hint: str, message: str) -> None:
    with pytest.raises(
        SchemaError, match=f"column s: its x-nested-type holds no type of nested values: {message}"
    ):
        lake.run([{"s": {"x": 1}}], columns={"s": {"data_type": "json", NESTED_TYPE: hint}})
