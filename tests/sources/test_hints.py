"""What a resource says of its table, against what dlt makes of the same words."""

from __future__ import annotations

import warnings
from typing import Any

import dlt
import pyarrow as pa
import pytest

from sources.conftest import part, read, rows
from trellis import sources as trellis
from trellis.errors import SchemaError, UsageError
from trellis.schema.dict_form import table_dict
from trellis.schema.model import Column, Table

REFERENCE = {"referenced_table": "customers", "columns": ["customer_id"], "referenced_columns": ["id"]}

HINTS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "seed_d138": {"columns": {"my_column": {"data_type": "bool", "nullable": True}}},
    "list_of_columns": {"columns": [{"name": "b", "data_type": "text"}, {"name": "a", "precision": 3}]},
    "table_name": {"table_name": "My Table"},
    "one_key": {"primary_key": "id", "write_disposition": "merge"},
    "compound_key": {"primary_key": ["a", "b"], "merge_key": ("day",)},
    "key_of_a_declared_column": {
        "primary_key": "id",
        "columns": {"id": {"data_type": "text", "nullable": True}},
    },
    "key_over_that_of_columns": {"primary_key": "b", "columns": {"a": {"primary_key": True}}},
    "empty_key_over_that_of_columns": {"primary_key": (), "columns": {"a": {"primary_key": True}}},
    "replace": {"write_disposition": "replace"},
    "contract": {"schema_contract": {"columns": "freeze"}},
    "contract_word": {"schema_contract": "discard_row"},
    "formats": {"table_format": "delta", "file_format": "parquet"},
    "seed_d125": {"references": [REFERENCE]},
    "upsert": {"write_disposition": {"disposition": "merge", "strategy": "upsert"}, "primary_key": "id"},
    "deduplicated": {
        "write_disposition": {"disposition": "merge", "strategy": "delete-insert", "deduplicated": True}
    },
    "scd2": {"write_disposition": {"disposition": "merge", "strategy": "scd2"}},
    "scd2_behind_columns": {
        "write_disposition": {"disposition": "merge", "strategy": "scd2"},
        "columns": {"nk": {"data_type": "bigint"}, "v": {"data_type": "text"}},
    },
    "scd2_own_names": {
        "write_disposition": {
            "disposition": "merge",
            "strategy": "scd2",
            "validity_column_names": ["from", "To Date"],
            "active_record_timestamp": "9999-12-31",
            "boundary_timestamp": "2024-08-21T12:15:00+00:00",
            "row_version_column_name": "h",
        },
        "merge_key": "nk",
    },
    "scd2_boundary_taken_back": {
        "write_disposition": {"disposition": "merge", "strategy": "scd2", "boundary_timestamp": None}
    },
}


@pytest.mark.parametrize("hints", HINTS.values(), ids=HINTS)
def test_a_table_is_declared_as_by_dlt(hints: dict[str, Any]) -> None:
    theirs = dlt.resource([{"id": 1}], name="orders", **hints).compute_table_schema()
    ours = table_dict(part(trellis.resource([{"id": 1}], name="orders", **hints)).declared.table)
    assert ours == theirs
    assert list(ours["columns"]) == list(theirs["columns"])


ARROW = pa.schema(
    [
        pa.field("a_byte", pa.int8()),
        pa.field("required", pa.uint32(), nullable=False),
        pa.field("camelCase", pa.int64(), metadata={"description": "x"}),
        pa.field("whole", pa.uint64()),
        pa.field("single", pa.float32()),
        pa.field("flag", pa.bool_()),
        pa.field("word", pa.large_string()),
        pa.field("category", pa.dictionary(pa.int32(), pa.string())),
        pa.field("plain", pa.timestamp("us")),
        pa.field("plain_seconds", pa.timestamp("s")),
        pa.field("zoned", pa.timestamp("ms", tz="UTC")),
        pa.field("zoned_nanoseconds", pa.timestamp("ns", tz="Europe/Zurich")),
        pa.field("day", pa.date32()),
        pa.field("hour", pa.time64("us")),
        pa.field("hour_seconds", pa.time32("s")),
        pa.field("price", pa.decimal128(10, 2)),
        pa.field("long_number", pa.decimal256(50, 3)),
        pa.field("some_bytes", pa.binary()),
        pa.field("sixteen_bytes", pa.binary(16)),
        pa.field("numbers", pa.list_(pa.int64())),
        pa.field("point", pa.struct([("x", pa.int32())])),
        pa.field("mapping", pa.map_(pa.string(), pa.int64())),
        pa.field("unknown", pa.null()),
    ]
)


@pytest.mark.parametrize("columns", [ARROW, lambda _: ARROW], ids=["schema", "by_item"])
def test_an_arrow_schema_declares_the_columns_that_it_declares_in_dlt(columns: Any) -> None:
    table_name = "orders" if columns is ARROW else lambda _: "orders"
    theirs = dlt.resource([{"id": 1}], name="orders", columns=ARROW).compute_table_schema()
    declared = part(trellis.resource([{"id": 1}], name="orders", columns=columns, table_name=table_name))
    ours = table_dict(declared.declared.table)
    assert ours == theirs
    assert list(ours["columns"]) == list(theirs["columns"])


def test_how_values_are_stored_in_memory_is_no_matter_of_the_schema() -> None:
    stored = pa.schema(
        [
            ("word", pa.string_view()),
            ("runs", pa.run_end_encoded(pa.int32(), pa.int16())),
            ("id", pa.uuid()),
            ("empty", pa.struct([])),
        ]
    )
    declared = part(trellis.resource([], name="t", columns=stored)).declared.table
    assert list(declared.columns.values()) == [
        Column("word", "text", nullable=True),
        Column("runs", "bigint", nullable=True, precision=16),
        Column("id", "text", nullable=True),
        Column("empty", "json", nullable=True),
    ]


CHANGES: dict[str, list[dict[str, Any]]] = {
    "none_keeps": [{"primary_key": "id", "write_disposition": "merge"}, {"primary_key": None}],
    "a_key_replaces": [{"primary_key": "a"}, {"primary_key": "b"}],
    "an_empty_key_removes": [{"primary_key": "a"}, {"primary_key": ""}],
    "seed_d139": [
        {"columns": {"a": {"data_type": "text"}}},
        {"columns": {"column_name": {"data_type": "json"}}},
    ],
    "columns_merge": [
        {"columns": {"a": {"data_type": "text", "unique": True}, "b": {}}},
        {"columns": {"a": {"data_type": "json"}, "b": {"data_type": "date"}, "c": {"nullable": False}}},
    ],
    "no_columns_removes": [{"columns": {"a": {"data_type": "text"}}}, {"columns": {}}],
    "contract_removed": [{"schema_contract": "freeze"}, {"schema_contract": {}}],
    "name_removed": [{"table_name": "t"}, {"table_name": ""}],
    "format_removed": [
        {"table_format": "delta", "file_format": "csv"},
        {"table_format": "", "file_format": ""},
    ],
    "references_by_target": [
        {"references": [REFERENCE]},
        {"references": [{**REFERENCE, "columns": ["c"]}, {**REFERENCE, "referenced_table": "others"}]},
    ],
    "additional": [{"additional_table_hints": {"x-a": 1, "x-b": 1}}, {"additional_table_hints": {"x-a": 2}}],
    "disposition": [
        {"write_disposition": {"disposition": "merge", "strategy": "scd2"}},
        {"write_disposition": "append"},
    ],
}


@pytest.mark.parametrize("steps", CHANGES.values(), ids=CHANGES)
def test_apply_hints_changes_as_in_dlt(steps: list[dict[str, Any]]) -> None:
    theirs = dlt.resource([{"id": 1}], name="orders")
    ours = trellis.resource([{"id": 1}], name="orders")
    for hints in steps:
        theirs.apply_hints(**hints)
        ours.apply_hints(**hints)
    declared = table_dict(part(ours).declared.table)
    expected = theirs.compute_table_schema()
    assert declared == expected
    assert list(declared["columns"]) == list(expected["columns"])


def test_a_table_and_columns_of_ours_declare_columns() -> None:
    columns = [Column("a", "bigint"), Column("b").with_hints(unique=True)]
    declared = part(trellis.resource([], name="t", columns=columns)).declared.table
    assert declared.columns == {"a": Column("a", "bigint"), "b": Column("b").with_hints(unique=True)}
    again = part(
        trellis.resource([], name="t", columns=Table("x", {"z": Column("z", "date")}))
    ).declared.table
    assert (again.name, again.columns) == ("t", {"z": Column("z", "date")})


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "arrow_type": (
        {"columns": pa.schema([("took", pa.duration("s"))])},
        r"resource r: columns= has took as duration\[s\], which no data type takes; give it another type",
    ),
    "arrow_twice": (
        {"columns": pa.schema([("a", pa.int8()), ("a", pa.int8())])},
        "resource r: columns= has two fields 'a'; rename one",
    ),
    "arrow_table": ({"columns": pa.table({"a": [1]})}, "resource r: "),
    "key": (
        {"columns": {"id": {"data_typ": "text"}}},
        r"resource r: column id.data_typ: unknown key: did you mean 'data_type'",
    ),
    "type": ({"columns": {"id": {"data_type": "string"}}}, r"column id.data_type: no such value 'string'"),
    "nearest_type": ({"columns": {"id": {"data_type": "bigin"}}}, r"did you mean 'bigint'"),
    "list": ({"columns": [{"data_type": "text"}]}, r"resource r: a column in a list needs its name"),
    "columns": ({"columns": "id"}, r"resource r: columns= is 'id'"),
    "disposition": ({"write_disposition": "upsert"}, r"table r: write_disposition: there is no 'upsert'"),
    "strategy": ({"write_disposition": {"disposition": "merge", "strategy": "scd"}}, r"did you mean 'scd2'"),
    "disposition_key": (
        {"write_disposition": {"disposition": "merge", "stratgy": "scd2"}},
        r"no key 'stratgy': did you mean 'strategy'",
    ),
    "history_of_another": (
        {"write_disposition": {"disposition": "merge", "strategy": "upsert", "row_version_column_name": "h"}},
        r"goes with the strategy scd2",
    ),
    "moment": (
        {"write_disposition": {"disposition": "merge", "strategy": "scd2", "boundary_timestamp": "soon"}},
        r"boundary_timestamp is 'soon'",
    ),
    "contract": ({"schema_contract": {"colums": "freeze"}}, r"did you mean 'columns'"),
    "format": (
        {"table_format": "deltas"},
        r"table r.table_format: no such value 'deltas': did you mean 'delta'",
    ),
    "additional": ({"additional_table_hints": {"colour": 1}}, r"table r.colour: unknown key"),
    "reference": ({"references": [{"referenced_table": "t"}]}, r"references\[0\]: key 'columns' is missing"),
    "primary_key": ({"primary_key": 5}, r"resource r: primary_key= is 5"),
    "nested": (
        {"nested_hints": {"k": {"colums": {}}}},
        r"nested_hints of 'k': a nested table takes no 'colums': did you mean 'columns'",
    ),
    "nested_path": ({"nested_hints": {5: {}}}, r"nested_hints has the key 5"),
}


@pytest.mark.parametrize(("hints", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_word_is_named_with_the_nearest_right_one(hints: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        part(trellis.resource([], name="r", **hints))


def test_an_unknown_hint() -> None:
    with pytest.raises(UsageError, match="resource r: there is no hint 'colums': did you mean 'columns'"):
        trellis.resource([], name="r").apply_hints(colums={})
    with pytest.raises(UsageError, match="did you mean 'columns'"):
        trellis.resource([], name="r", colums={})  # type: ignore[call-overload]


def test_hints_by_item_divide_the_rows_by_table() -> None:
    data = [{"kind": "a", "v": 1}, {"kind": "b", "v": 2}, {"kind": "a", "v": 3}]
    parts = read(
        trellis.resource(
            data,
            name="events",
            table_name=lambda item: f"of_{item['kind']}",
            columns=lambda item: {f"col_{item['v']}": {"data_type": "text"}},
            write_disposition=lambda item: "replace" if item["kind"] == "b" else "append",
        )
    ).parts
    assert [(table.table_name, list(table.source)) for table in parts] == [
        ("of_a", [data[0], data[2]]),
        ("of_b", [data[1]]),
    ]
    assert [list(table.declared.table.columns) for table in parts] == [["col_1", "col_3"], ["col_2"]]
    assert [table.declared.table.hints["write_disposition"] for table in parts] == ["append", "replace"]


def test_hints_by_item_need_a_table_name_by_item() -> None:
    with pytest.raises(UsageError, match="primary_key= is a function of the item, so table_name= must be"):
        trellis.resource([], name="r", primary_key=lambda item: "id")


def test_a_table_name_by_item_must_be_a_name() -> None:
    with pytest.raises(SchemaError, match="table_name= gave None"):
        rows(trellis.resource([{"a": 1}], name="r", table_name=lambda item: None))


PURCHASES = {
    "purchases": trellis.mark.make_nested_hints(
        columns=[{"name": "customer_id", "data_type": "bigint"}],
        primary_key=["customer_id", "id"],
        write_disposition="merge",
        references=[REFERENCE],
    )
}


def test_seed_d119_seed_d120_seed_d124_nested_hints_with_a_key_make_a_table_of_its_own() -> None:
    declared = part(
        trellis.resource(
            [], name="customers", primary_key="id", write_disposition="merge", nested_hints=PURCHASES
        )
    ).declared
    ((path, table),) = declared.nested
    assert path == ("purchases",)
    assert table_dict(table) == {
        "name": "purchases",
        "columns": {
            "customer_id": {
                "name": "customer_id",
                "data_type": "bigint",
                "nullable": False,
                "primary_key": True,
            },
            "id": {"name": "id", "nullable": False, "primary_key": True},
        },
        "write_disposition": "merge",
        "references": [REFERENCE],
        "resource": "customers",
    }
    theirs = dlt.resource(
        [],
        name="customers",
        primary_key="id",
        write_disposition="merge",
        nested_hints={
            "purchases": dlt.mark.make_nested_hints(
                columns=[{"name": "customer_id", "data_type": "bigint"}],
                primary_key=["customer_id", "id"],
                write_disposition="merge",
                references=[REFERENCE],
            )
        },
    ).compute_nested_table_schemas("customers", dlt.Schema("s").naming)
    assert {**table_dict(table), "name": "customers__purchases"} == theirs[0]


def test_seed_d121_the_key_of_the_parent_is_pushed_into_the_items() -> None:
    def push(row: dict[str, Any]) -> dict[str, Any]:
        for purchase in row["purchases"]:
            purchase["customer_id"] = row["id"]
        return row

    data = [{"id": 1, "purchases": [{"id": 7}]}]
    tables = rows(trellis.resource(data, name="customers", nested_hints=PURCHASES).add_map(push))
    assert tables == {"customers": [{"id": 1, "purchases": [{"id": 7, "customer_id": 1}]}]}


def test_nested_hints_by_paths_the_shorter_first() -> None:
    declared = part(
        trellis.resource(
            [],
            name="r",
            nested_hints={
                ("a", "b"): {"columns": {"x": {"data_type": "text"}}},
                "a": {"schema_contract": "freeze"},
            },
        )
    ).declared
    assert [(path, list(table.columns), dict(table.hints)) for path, table in declared.nested] == [
        (("a",), [], {"schema_contract": "freeze"}),
        (("a", "b"), ["x"], {}),
    ]


def test_a_nested_table_with_another_disposition_than_its_root_warns() -> None:
    nested = {"k": {"write_disposition": "replace"}}
    with pytest.warns(UserWarning, match="the nested table k has the write disposition 'replace'"):
        part(trellis.resource([], name="r", nested_hints=nested))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part(trellis.resource([], name="r", write_disposition="replace", nested_hints=nested))


def test_nesting_of_a_resource() -> None:
    resource = trellis.resource([], name="r", max_table_nesting=0)
    assert (part(resource).declared.max_nesting, resource.max_table_nesting) == (0, 0)
    resource.max_table_nesting = 2
    assert part(resource).declared.max_nesting == 2
