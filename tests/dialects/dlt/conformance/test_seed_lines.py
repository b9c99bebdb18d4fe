"""What dlt's documentation of schemas says, line by line, as a user of Trellis sees it.

The lines are those of `dlt_seed_rows.txt`; a test names in its name all that it shows.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from datetime import time as clock
from decimal import Decimal
from hashlib import shake_128
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import trellis
from dialects.dlt.conformance.warehouse import Opens, Warehouse
from trellis.dialects.dlt.references import references
from trellis.dialects.dlt.system_tables import new_schema
from trellis.dialects.dlt.warehouses import statements, warehouse_of
from trellis.errors import SchemaError, TrellisError
from trellis.evolution.scalars.detect import detect
from trellis.evolution.scalars.values import HexBytes, Wei
from trellis.schema.documents.document import from_yaml, to_dict, to_yaml
from trellis.schema.documents.validate import DETECTIONS
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import get_naming
from trellis.schema.rules import matches, merge_hints, update_preferred_types
from trellis.schema.version import content_hash

UTC = timezone.utc
ORDER = {
    "id": 1,
    "customerName": "Ann",
    "address": {"city": "Bern"},
    "items": [{"sku": "a", "tags": ["x", "y"]}, {"sku": "b"}],
}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """One load of one nested record, merged by its key."""
    warehouse = Warehouse(tmp_path_factory.mktemp("orders") / "orders.duckdb")
    price = Column("price", "decimal", precision=10, scale=2, description="with tax")
    warehouse.load(ORDER, table="orders", keys=("id",), mode="merge", columns=(price,), contract="evolve")
    yield warehouse


def document(warehouse: Warehouse) -> dict[str, Any]:
    return to_dict(warehouse.schema)


# --- Basics, hash and version ---------------------------------------------------------------------------


def test_seed_d001_seed_d037_a_schema_is_a_structure_and_instructions(orders: Warehouse) -> None:
    stored = document(orders)
    assert stored["tables"]["orders"]["columns"]["customer_name"] == {
        "name": "customer_name",
        "data_type": "text",
        "nullable": True,
    }
    assert stored["tables"]["orders"]["write_disposition"] == "merge"
    assert stored["settings"]["detections"] == ["iso_timestamp"]
    assert stored["normalizers"]["names"] == "snake_case"
    assert set(orders.schema.tables) == set(stored["tables"])


def test_seed_d003_seed_d004_seed_d137_hints_of_a_load_change_columns_and_loading(
    warehouse: Warehouse,
) -> None:
    hints = (Column("qty", "bigint", precision=16, description="pieces"),)
    for qty in (1, 2):
        warehouse.load({"id": 7, "qty": qty}, columns=hints, keys=("id",), mode="merge")
    assert warehouse.types()["qty"] == "SMALLINT"
    assert warehouse.schema.tables["t"].columns["qty"].description == "pieces"
    assert warehouse.rows() == [{"qty": 2, "id": 7}]


def test_seed_d005_seed_d008_seed_d141_a_schema_is_exported_edited_and_imported(warehouse: Warehouse) -> None:
    warehouse.load({"id": 1, "note": "5"})
    text = to_yaml(warehouse.schema)
    edited = from_yaml(text.replace("      note:", "      later: {data_type: date}\n      note:"))
    assert content_hash(edited) != edited.stored_hash == warehouse.schema.stored_hash
    warehouse.load({"id": 2, "later": "2024-05-06"}, schema=edited)
    assert warehouse.values("later") == [None, date(2024, 5, 6)]


def test_seed_d006_a_schema_has_the_name_of_its_source_and_a_table_that_of_its_resource(
    orders: Warehouse,
) -> None:
    assert orders.schema.name == orders.pipeline.name == "farm"
    assert orders.schema.tables["orders"].hints["resource"] == "orders"
    assert "resource" not in orders.schema.tables["orders__items"].hints


def test_seed_d007_seed_d013_the_hash_tells_whether_the_destination_is_migrated(warehouse: Warehouse) -> None:
    for record in ({"a": 1}, {"a": 2}, {"a": 3, "b": 1}):
        warehouse.load(record)
    hashes = warehouse.values("version_hash", "_dlt_version")
    assert len(set(hashes)) == len(hashes) == 2
    assert hashes[-1] == warehouse.schema.stored_hash == content_hash(warehouse.schema)
    assert len(hashes[-1]) == 44
    assert [load["schema_version_hash"] for load in warehouse.raw("_dlt_loads")] == [hashes[0], *hashes]
    assert set(warehouse.types()) == {"a", "b", "_dlt_load_id", "_dlt_id"}


def test_seed_d016_a_column_that_clashes_may_fail_the_load(open_warehouse: Opens) -> None:
    one, other = open_warehouse("one"), open_warehouse("other")
    one.load({"x": 1})
    other.load({"x": "7"})
    with pytest.raises(TrellisError, match=r"table t, column x: .* 'seven' does not fit"):
        other.load({"x": "seven"})
    assert one.values("x") == [1, 7]


# --- Naming ---------------------------------------------------------------------------------------------


def test_seed_d019_names_of_redshift() -> None:
    long = Table("Fields", {"C" * 200: Column("C" * 200, "date")})
    schema = replace(new_schema("shop"), tables={"Fields": long}, normalizers={"names": "sql_cs_v1"})
    statement = statements(warehouse_of("redshift"), "shop", new_schema("shop"), schema)[-1]
    table, column = statement.split('"')[3], statement.split('"')[5]
    assert (table, len(column), column) == ("fields", 127, column.lower())


def test_seed_d020_a_schema_has_a_naming_convention_that_is_set_by_configuration(
    tmp_path: Path, orders: Warehouse
) -> None:
    assert orders.schema.normalizers["names"] == "snake_case"
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/f.duckdb", naming="sql_cs_v1")
    pipe.load([{"createdAt": 1}], table="Orders")
    assert pipe.schema.normalizers["names"] == "sql_cs_v1"
    assert "createdAt" in pipe.destination.catalog("main")["Orders"].columns


def test_seed_d027_names_are_the_same_in_every_destination(tmp_path: Path, orders: Warehouse) -> None:
    lake = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake")
    lake.load([ORDER], table="orders")
    named = {name: set(table.columns) for name, table in lake.destination.catalog("").items()}
    for name in ("orders", "orders__items", "orders__items__tags"):
        assert named[name] - set(orders.types(name)) == set()


def test_seed_d028_names_in_arguments_are_normalized(warehouse: Warehouse) -> None:
    price = Column("UnitPrice", "double")
    warehouse.load(
        {"UnitPrice": 5, "OrderNo": 1}, table="CamelCase", columns=(price,), keys=("OrderNo",), mode="merge"
    )
    assert warehouse.tables == {"camel_case"}
    assert warehouse.rows("camel_case") == [{"unit_price": 5.0, "order_no": 1}]
    assert warehouse.schema.tables["camel_case"].columns_with("primary_key") == ("order_no",)


def test_seed_d030_direct_keeps_names(tmp_path: Path) -> None:
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/f.duckdb", naming="direct")
    pipe.load([{"createdAt": 1, "odd name!": 2}], table="Orders")
    assert list(pipe.destination.catalog("main")["Orders"].columns)[:2] == ["createdAt", "odd name!"]


class AsItIs:
    """A convention of a user: every name stays."""

    is_case_sensitive = True

    def normalize_identifier(self, raw: str) -> str:
        return raw


def test_seed_d032_users_write_conventions(tmp_path: Path) -> None:
    convention = f"{__name__}.AsItIs"
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/f.duckdb", naming=convention)
    pipe.load([{"Müller & Co": 1, "Sub": {"Key": 2}}], table="Größe")
    assert list(pipe.destination.catalog("main")["Größe"].columns)[:2] == ["Müller & Co", "Sub__Key"]
    assert pipe.schema.normalizers["names"] == convention


# --- Normalizer, tables and columns ---------------------------------------------------------------------


def test_seed_d033_seed_d035_input_is_reshaped_and_what_it_becomes_is_in_the_schema(
    orders: Warehouse,
) -> None:
    assert orders.tables == {"orders", "orders__items", "orders__items__tags"}
    assert orders.rows("orders") == [
        {"price": None, "id": 1, "customer_name": "Ann", "address__city": "Bern"}
    ]
    assert orders.columns("orders__items") == {"sku": "text"}
    assert orders.rows("orders__items__tags") == [{"value": "x"}, {"value": "y"}]
    assert set(orders.types("orders__items")) == set(orders.columns("orders__items", system=True))


def test_the_normalizer_is_configured(warehouse: Warehouse) -> None:
    kept = {"names": "snake_case", "json": {"module": "relational_no_coercion", "config": {"max_nesting": 0}}}
    warehouse.load({"a": 1, "d": {"q": [1]}}, {"a": "2"}, schema=Schema("farm", normalizers=kept))
    assert warehouse.tables == {"t"}
    assert warehouse.columns() == {"a": "bigint", "d": "json", "a__v_text": "text"}


@pytest.mark.parametrize("module", ["shop.normalizers.parquet_like", "shop.relational", "relationl"])
def test_another_normalizer_is_refused_not_taken_for_the_relational_one(
    module: str, warehouse: Warehouse
) -> None:
    schema = Schema("farm", normalizers={"json": {"module": module}})
    rows: list[Any] = [{"a": {"b": 1}}]
    for data in (rows, pa.Table.from_pylist([{"a": 1}])):
        with pytest.raises(
            SchemaError, match=rf"farm, normalizers\.json\.module: '{module}' is not run here"
        ):
            warehouse.pipeline.load(data, table="t", schema=schema)
    assert warehouse.tables == set()


@pytest.mark.parametrize(
    "json", [{}, {"module": ""}, {"module": "relational"}, {"config": {"max_nesting": 5}}]
)
def test_the_relational_normalizer_is_that_of_a_schema_that_names_none(
    json: dict[str, Any], warehouse: Warehouse
) -> None:
    warehouse.load({"a": {"b": 1}}, schema=Schema("farm", normalizers={"json": json}))
    assert warehouse.columns() == {"a__b": "bigint"}


def test_seed_d038_seed_d044_names_and_descriptions(warehouse: Warehouse) -> None:
    text = "name: farm\ntables:\n  t:\n    description: one per field\n    columns:\n"
    text += "      id: {description: number of the field}\n"
    warehouse.load({"id": 1}, schema=from_yaml(text))
    table = document(warehouse)["tables"]["t"]
    assert (table["name"], table["description"]) == ("t", "one per field")
    assert (table["columns"]["id"]["name"], table["columns"]["id"]["description"]) == (
        "id",
        "number of the field",
    )


def test_seed_d039_seed_d040_seed_d041_seed_d042_what_a_table_says(orders: Warehouse) -> None:
    tables = document(orders)["tables"]
    assert next(iter(tables["orders__items"]["columns"])) == "sku"
    assert tables["orders"]["write_disposition"] == "merge"
    assert tables["orders"]["schema_contract"] == "evolve"
    assert tables["orders__items"]["parent"] == "orders" and tables["orders__items__tags"]["parent"] == (
        "orders__items"
    )
    assert "parent" not in tables["orders"]


def test_seed_d045_seed_d047_seed_d049_seed_d051_what_a_column_says(orders: Warehouse) -> None:
    columns = document(orders)["tables"]["orders"]["columns"]
    assert columns["id"]["data_type"] == "bigint"
    assert (columns["id"]["nullable"], columns["id"]["primary_key"]) == (False, True)
    assert (columns["price"]["precision"], columns["price"]["scale"]) == (10, 2)
    assert orders.types("orders")["price"] == "DECIMAL(10,2)"
    with duckdb.connect(str(orders.path)) as db:
        required = "SELECT column_name FROM duckdb_columns() WHERE table_name = 'orders' AND NOT is_nullable"
        assert {name for (name,) in db.execute(required).fetchall()} == {"id", "_dlt_load_id", "_dlt_id"}


PRECISE: list[tuple[DataType, int, str]] = [
    ("text", 40, "nvarchar(40)"),
    ("timestamp", 3, "datetimeoffset(3)"),
    ("time", 2, "time(2)"),
    ("bigint", 16, "smallint"),
    ("binary", 16, "varbinary(16)"),
]


def native(warehouse: str, column: Column) -> str:
    return warehouse_of(warehouse).type_of(column, "t")


def test_seed_d046_precision_of_text_timestamp_time_bigint_binary_and_decimal() -> None:
    for data_type, precision, expected in PRECISE:
        assert native("mssql", Column("a", data_type, precision=precision)) == expected
    assert native("mssql", Column("a", "decimal", precision=10, scale=2)) == "decimal(10,2)"


def test_seed_d048_timezone_is_true_unless_said(warehouse: Warehouse) -> None:
    document_text = (
        Column("a", "timestamp"),
        Column("b", "timestamp", timezone=True),
        Column("c", "timestamp", timezone=False),
    )
    warehouse.load(dict.fromkeys("abc", "2024-05-06T01:02:03Z"), columns=document_text)
    zoned = "TIMESTAMP WITH TIME ZONE"
    assert [warehouse.types()[name] for name in "abc"] == [zoned, zoned, "TIMESTAMP"]


def test_seed_d050_variants_are_marked(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, {"a": "s"})
    assert document(warehouse)["tables"]["t"]["columns"]["a__v_text"]["variant"] is True
    assert warehouse.schema.tables["t"].columns["a__v_text"].is_variant
    old = "name: s\ntables:\n  t:\n    columns:\n      a__v_text: {data_type: text, is_variant: true}\n"
    assert from_yaml(old).tables["t"].columns["a__v_text"].is_variant


def hinted(**hints: Any) -> Schema:
    column = Column("a", "date").with_hints(**hints)
    return replace(new_schema("shop"), tables={"t": Table("t", {"a": column})})


def made(warehouse: str, schema: Schema) -> str:
    return statements(warehouse_of(warehouse), "shop", new_schema("shop"), schema)[-1]


def test_seed_d052_unique_may_become_an_index() -> None:
    assert made("postgres", hinted(unique=True)).endswith('("a" date UNIQUE)')
    assert made("duckdb", hinted(unique=True)).endswith('("a" DATE)')


def test_seed_d058_seed_d059_seed_d060_seed_d061_performance_hints_are_the_destinations() -> None:
    every = hinted(partition=True, cluster=True, sort=True)
    assert made("redshift", every).endswith(') DISTSTYLE KEY DISTKEY ("a") SORTKEY ("a")')
    assert made("bigquery", every).endswith(") PARTITION BY `a` CLUSTER BY `a`")
    for name in ("duckdb", "postgres"):
        assert made(name, every) == made(name, hinted())


# --- Variants -------------------------------------------------------------------------------------------


def test_seed_d063_seed_d064_seed_d065_seed_d067_the_example_of_the_people(warehouse: Warehouse) -> None:
    def schema() -> list[tuple[str, str | None, bool | None]]:
        columns = warehouse.schema.tables["people"].columns.values()
        return [(c.name, c.data_type, c.nullable) for c in columns if not c.name.startswith("_dlt")]

    warehouse.load({"id": 1, "human_name": "Alice"}, table="people")
    assert schema() == [("id", "bigint", True), ("human_name", "text", True)]
    warehouse.load(
        {"id": 1, "human_name": "Alice"}, {"id": "idx-nr-456", "human_name": "Bob"}, table="people"
    )
    assert schema() == [("id", "bigint", True), ("human_name", "text", True), ("id__v_text", "text", True)]
    warehouse.load({"id": 2.5}, {"id": True}, table="people")
    assert schema()[3:] == [("id__v_double", "double", True), ("id__v_bool", "bool", True)]
    assert [tuple(row.values()) for row in warehouse.rows("people")] == [
        (1, "Alice", None, None, None),
        (1, "Alice", None, None, None),
        (None, "Bob", "idx-nr-456", None, None),
        (None, None, None, 2.5, None),
        (None, None, None, None, True),
    ]


# --- Types ----------------------------------------------------------------------------------------------

AT = datetime(2023, 7, 26, 14, 45, tzinfo=UTC)
TYPES: dict[str, tuple[DataType, Any, Any, bool]] = {
    "seed_d068": ("text", "hello world", "hello world", False),
    "seed_d069": ("double", 45.678, 45.678, False),
    "seed_d070": ("bool", True, True, False),
    "seed_d071-text": ("timestamp", "2023-07-26T14:45:00Z", AT, False),
    "seed_d071-datetime": ("timestamp", AT, AT, False),
    "seed_d072": ("date", date(2023, 7, 26), date(2023, 7, 26), False),
    "seed_d073-text": ("time", "14:01:02", clock(14, 1, 2), True),
    "seed_d073-time": ("time", clock(14, 1, 2), clock(14, 1, 2), False),
    "seed_d074": ("bigint", 9876543210, 9876543210, False),
    "seed_d075": ("binary", b"\x00\x01\x02\x03", b"\x00\x01\x02\x03", False),
    "seed_d076-list": ("json", [4, 5, 6], "[4,5,6]", True),
    "seed_d076-dict": ("json", {"a": 1}, '{"a":1}', True),
    "seed_d077": ("decimal", Decimal("4.56"), Decimal("4.56"), False),
    "seed_d078": ("wei", 2**56, Decimal(2**56), True),
}
"""By line: the type, an example of a value, what is stored, and whether the type needs a hint."""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """All examples in one record, each under the name of its line."""
    warehouse = Warehouse(tmp_path_factory.mktemp("types") / "types.duckdb")
    record = {name.replace("-", "_"): value for name, (_, value, _, _) in TYPES.items()}
    hints = [(name, data_type) for name, (data_type, _, _, hint) in TYPES.items() if hint]
    warehouse.load(record, columns=tuple(Column(n.replace("-", "_"), data_type) for n, data_type in hints))
    yield warehouse


@pytest.mark.parametrize("line", TYPES)
def test_the_examples_of_types(line: str, examples: Warehouse) -> None:
    data_type, _, stored, _ = TYPES[line]
    name = line.replace("-", "_")
    assert examples.columns()[name] == data_type
    assert examples.values(name) == [stored]


@pytest.mark.parametrize(
    ("warehouse", "column", "type_"),
    [
        ("postgres", Column("a", "text", precision=40), "varchar(40)"),
        ("postgres", Column("a", "timestamp", precision=3), "timestamp(3) with time zone"),
        ("postgres", Column("a", "time", precision=3), "time(3)"),
        ("bigquery", Column("a", "binary", precision=40), "BYTES(40)"),
        ("duckdb", Column("a", "bigint", precision=32), "INTEGER"),
        ("duckdb", Column("a", "decimal", precision=9, scale=3), "DECIMAL(9,3)"),
    ],
    ids=["seed_d068", "seed_d071", "seed_d073", "seed_d075", "seed_d074", "seed_d077"],
)
def test_the_precision_of_types(warehouse: str, column: Column, type_: str) -> None:
    assert native(warehouse, column) == type_


def test_seed_d081_lists_and_maps_become_tables_and_columns(warehouse: Warehouse) -> None:
    table = pa.table({"l": [[1, 2], [3]], "s": [{"q": 1}, {"q": 2}]})
    warehouse.pipeline.load(table, table="t")
    assert warehouse.rows() == [{"s__q": 1}, {"s__q": 2}]
    assert warehouse.rows("t__l") == [{"value": 1}, {"value": 2}, {"value": 3}]


# --- Timestamps -----------------------------------------------------------------------------------------

NAIVE = datetime(2024, 5, 6, 10)
AWARE = datetime(2024, 5, 6, 10, tzinfo=timezone(timedelta(hours=2)))
MOMENTS: dict[str, tuple[datetime, bool | None, datetime]] = {
    "seed_d083-seed_d087-unset": (NAIVE, None, NAIVE.replace(tzinfo=UTC)),
    "seed_d084-seed_d087-true": (NAIVE, True, NAIVE.replace(tzinfo=UTC)),
    "seed_d084-seed_d088": (NAIVE, False, NAIVE),
    "seed_d083-seed_d089-unset": (AWARE, None, datetime(2024, 5, 6, 8, tzinfo=UTC)),
    "seed_d084-seed_d089-true": (AWARE, True, datetime(2024, 5, 6, 8, tzinfo=UTC)),
    "seed_d084-seed_d090": (AWARE, False, datetime(2024, 5, 6, 8)),
}


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Warehouse]]:
    """The same moments as Python values, as text and as an Arrow table, under the same hints."""
    names = [f"c{number}" for number in range(len(MOMENTS))]
    columns = tuple(
        Column(name, "timestamp", timezone=timezone)
        for name, (_, timezone, _) in zip(names, MOMENTS.values(), strict=True)
    )
    row = {name: value for name, (value, _, _) in zip(names, MOMENTS.values(), strict=True)}
    sources = {
        "python": [row],
        "text": [{name: value.isoformat() for name, value in row.items()}],
        "arrow": pa.table({name: pa.array([value]) for name, value in row.items()}),
    }
    reports = {}
    for kind, source in sources.items():
        reports[kind] = Warehouse(tmp_path_factory.mktemp(kind) / "moments.duckdb")
        reports[kind].pipeline.load(source, table="t", columns=columns)
    yield reports


@pytest.mark.parametrize("line", MOMENTS)
def test_the_table_of_zones(line: str, moments: dict[str, Warehouse]) -> None:
    name = f"c{list(MOMENTS).index(line)}"
    assert moments["python"].values(name) == [MOMENTS[line][2]]


@pytest.mark.parametrize("kind", ["text", "arrow"])
def test_seed_d086_rules_are_the_same_for_all_kinds_of_records(
    kind: str, moments: dict[str, Warehouse]
) -> None:
    assert moments[kind].rows() == moments["python"].rows()
    assert moments[kind].types() == moments["python"].types()


def test_seed_d085_the_zone_is_never_taken_from_data(warehouse: Warehouse) -> None:
    warehouse.load({"a": NAIVE, "b": "2024-05-06T10:00:00"})
    warehouse.pipeline.load(pa.table({"c": pa.array([NAIVE], pa.timestamp("us"))}), table="u")
    for table, names in (("t", "ab"), ("u", "c")):
        for name in names:
            assert warehouse.schema.tables[table].columns[name].timezone is None
            assert warehouse.types(table)[name] == "TIMESTAMP WITH TIME ZONE"


def test_seed_d091_the_zone_of_the_machine_does_not_matter(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        warehouse.load({"a": NAIVE, "b": "2024-05-06T10:00:00"})
        assert warehouse.rows() == [dict.fromkeys("ab", NAIVE.replace(tzinfo=UTC))]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_seed_d092_destinations_understand_zones_in_their_ways() -> None:
    zoned, plain = Column("a", "timestamp"), Column("a", "timestamp", timezone=False)
    assert native("bigquery", plain) == native("bigquery", zoned) == "TIMESTAMP"
    assert native("athena", plain) == native("athena", zoned) == "timestamp"
    assert native("postgres", zoned) == "timestamp with time zone"
    assert native("mssql", zoned) == "datetimeoffset"


def test_seed_d093_sessions_are_in_utc(moments: dict[str, Warehouse]) -> None:
    (value,) = moments["python"].values("c3")
    assert value.utcoffset() == timedelta(0)
    assert value.isoformat() == "2024-05-06T08:00:00+00:00"


# --- Precision and nulls --------------------------------------------------------------------------------


def test_seed_d094_precision_is_the_destinations_when_a_column_is_made(warehouse: Warehouse) -> None:
    warehouse.load({"a": "longer than five"}, columns=(Column("a", "text", precision=5),))
    assert (warehouse.types()["a"], warehouse.values("a")) == ("VARCHAR", ["longer than five"])
    with pytest.raises(SchemaError, match="column b: DuckDB has no bigint of precision 256; 128 is the most"):
        warehouse.load({"b": 1}, columns=(Column("b", "bigint", precision=256),))


def test_seed_d096_fractions_of_a_second_are_nothing_to_nine_digits_and_six_unless_said() -> None:
    def types(**zone: Any) -> list[str]:
        digits = (None, 0, 3, 6, 9)
        return [
            native("duckdb", Column("a", "timestamp", precision=precision, **zone)) for precision in digits
        ]

    assert types(timezone=False) == ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"]
    assert native("snowflake", Column("a", "timestamp", precision=9)) == "TIMESTAMP_LTZ(9)"
    with pytest.raises(SchemaError, match="has no timestamp of precision 10; 9 is the most"):
        native("snowflake", Column("a", "timestamp", precision=10))


def test_seed_d097_where_timestamps_have_a_precision() -> None:
    column = Column("a", "timestamp", precision=3, timezone=False)
    having = {
        "postgres": "timestamp(3) without time zone",
        "duckdb": "TIMESTAMP_MS",
        "snowflake": "TIMESTAMP_NTZ(3)",
        "synapse": "datetime2(3)",
        "mssql": "datetime2(3)",
    }
    assert {name: native(name, column) for name in having} == having
    assert native("redshift", column) == "timestamp"


def test_seed_d098_seed_d099_nanoseconds_come_from_tables_alone(tmp_path: Path) -> None:
    column = Column("a", "timestamp", precision=9, timezone=False)
    nanoseconds = pa.table({"a": pa.array([1_700_000_000_123_456_789], pa.timestamp("ns"))})
    at = datetime(2023, 11, 14, 22, 13, 20, 123456)
    for to in (f"duckdb:{tmp_path}/farm.duckdb", f"parquet:{tmp_path}/lake"):
        pipe = trellis.pipeline("farm", to=to)
        pipe.load(nanoseconds, table="t", columns=(column,))
        pipe.load([{"a": at}], table="t")
        times = [row["a"] for row in pipe.destination.query(pipe.dataset, "t")]
        assert [time.isoformat() for time in times] == [
            "2023-11-14T22:13:20.123456789",
            "2023-11-14T22:13:20.123456",
        ]


def test_seed_d102_null_in_a_required_column_of_a_table(tmp_path: Path) -> None:
    pipe = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake")
    with pytest.raises(TrellisError, match="a is null, but column a of table t may not be null"):
        pipe.load(pa.table({"a": [1, None]}), table="t", columns=(Column("a", "bigint", nullable=False),))
    assert pipe.destination.catalog("") == {}


def test_seed_d106_a_schema_becomes_tables_without_data(warehouse: Warehouse) -> None:
    table = Table("t", {"a": Column("a", "bigint", nullable=False), "b": Column("b", "json")})
    warehouse.pipeline.save_schema(warehouse.schema.with_tables(table))
    assert warehouse.types() == {"a": "BIGINT", "b": "JSON"}
    assert warehouse.rows() == []


# --- References and keys --------------------------------------------------------------------------------


def test_seed_d107_seed_d108_seed_d109_references_come_from_lists_and_from_users(
    warehouse: Warehouse,
) -> None:
    reference = {"referenced_table": "nowhere", "columns": ["buyer"], "referenced_columns": ["id"]}
    table = Table("t").with_hints(references=[reference])
    warehouse.load({"buyer": 1, "l": [1]}, schema=replace(new_schema("farm"), tables={"t": table}))
    references_found = [
        (r.table, r.columns, r.referenced_table, r.referenced_columns, r.label)
        for r in references(warehouse.schema)
        if not r.table.startswith("_dlt")
    ]
    assert references_found == [
        ("t", ("_dlt_load_id",), "_dlt_loads", ("load_id",), "_dlt_load"),
        ("t", ("buyer",), "nowhere", ("id",), None),
        ("t__l", ("_dlt_parent_id",), "t", ("_dlt_id",), "_dlt_parent"),
    ]


def test_seed_d054_seed_d055_seed_d056_seed_d110_seed_d111_seed_d112_seed_d113_seed_d114_seed_d118_links(
    orders: Warehouse,
) -> None:
    tables = orders.schema.tables
    chain = ("orders", "orders__items", "orders__items__tags")
    assert [tables[name].column_with("row_key") for name in chain] == ["_dlt_id"] * 3
    assert [tables[name].column_with("parent_key") for name in chain] == [None, *["_dlt_parent_id"] * 2]
    assert [tables[name].column_with("root_key") for name in chain] == [None, *["_dlt_root_id"] * 2]
    assert [tables[name].parent for name in chain] == [None, *chain[:2]]
    (root,), items, tags = (orders.raw(name) for name in chain)
    assert {row["_dlt_parent_id"] for row in items} == {root["_dlt_id"]}
    assert {row["_dlt_parent_id"] for row in tags} == {items[0]["_dlt_id"]}
    assert {row["_dlt_root_id"] for row in (*items, *tags)} == {root["_dlt_id"]}


def test_seed_d114_replace_and_merge_follow_the_links(warehouse: Warehouse) -> None:
    warehouse.load({"id": 1, "l": [1, 2]}, {"id": 2, "l": [3]}, keys=("id",), mode="merge")
    warehouse.load({"id": 1, "l": [9]})
    assert warehouse.values("value", "t__l") == [3, 9]
    warehouse.load({"id": 5}, mode="replace")
    assert (warehouse.values("id"), warehouse.values("value", "t__l")) == ([5], [])


def test_seed_d116_the_key_of_a_nested_row_is_a_hash(orders: Warehouse) -> None:
    for row in orders.raw("orders__items"):
        text = f"{row['_dlt_parent_id']}_orders__items_{row['_dlt_list_idx']}"
        digest = b64encode(shake_128(text.encode()).digest(10)).decode().rstrip("=")
        assert row["_dlt_id"] == digest


# --- Settings -------------------------------------------------------------------------------------------


def test_seed_d126_global_rules(warehouse: Warehouse) -> None:
    text = "name: farm\nsettings:\n  default_hints: {primary_key: [id]}\n"
    text += "  preferred_types: {'re:timestamp': timestamp}\n"
    warehouse.load({"id": 1, "my_timestamp": "2024-01-01", "l": [{"id": 2}]}, schema=from_yaml(text))
    tables = warehouse.schema.tables
    assert [tables[name].columns_with("primary_key") for name in ("t", "t__l")] == [("id",), ("id",)]
    assert warehouse.values("my_timestamp") == [datetime(2024, 1, 1, tzinfo=UTC)]


def test_seed_d127_detectors_tell_the_type_of_a_value(warehouse: Warehouse) -> None:
    text = "name: farm\nsettings:\n  detections: [timestamp, iso_timestamp, iso_date, large_integer]\n"
    now = round(time.time())
    record = {"a": now, "b": "2024-05-06T07:08:09Z", "c": "2024-05-06", "d": 2**64, "e": 5, "f": "x"}
    warehouse.load(record, schema=from_yaml(text))
    assert warehouse.columns() == {
        "a": "timestamp",
        "b": "timestamp",
        "c": "date",
        "d": "wei",
        "e": "bigint",
        "f": "text",
    }
    assert warehouse.values("a") == [datetime.fromtimestamp(now, UTC)]


@pytest.mark.parametrize(
    ("name", "value", "data_type"),
    [
        ("timestamp", time.time(), "timestamp"),
        ("iso_timestamp", "2024-05-06T07:08:09Z", "timestamp"),
        ("iso_date", "2024-05-06", "date"),
        ("large_integer", 2**64, "wei"),
        ("hexbytes_to_text", HexBytes(b"\x01"), "text"),
        ("wei_to_double", Wei(5), "double"),
    ],
    ids=lambda value: value if value in DETECTIONS else "",
)
def test_seed_d129_there_are_six_detectors(name: str, value: Any, data_type: str) -> None:
    assert detect(value, [name]) == data_type
    assert detect("x", [name]) is None


def test_seed_d132_the_rules_that_are_there(orders: Warehouse) -> None:
    assert orders.schema.settings.default_hints == {
        "row_key": ("_dlt_id",),
        "parent_key": ("_dlt_parent_id",),
        "not_null": ("_dlt_id", "_dlt_root_id", "_dlt_parent_id", "_dlt_list_idx", "_dlt_load_id"),
        "unique": ("_dlt_id",),
        "root_key": ("_dlt_root_id",),
    }


def test_seed_d133_plain_rules_are_exact() -> None:
    assert [matches(("at",), name) for name in ("at", "created_at", "at_home")] == [True, False, False]
    assert [matches(("re:_at$",), name) for name in ("created_at", "at_home")] == [True, False]


def test_seed_d134_hints_directly_under_settings() -> None:
    schema = from_yaml("name: shop\nsettings:\n  partition: ['re:_timestamp$']\n")
    assert schema.settings.default_hints == {"partition": ("re:_timestamp$",)}
    more = merge_hints(schema.settings, {"partition": ["re:_timestamp$", "day"]}, get_naming())
    assert more.default_hints == {"partition": ("re:_timestamp$", "day")}


def test_seed_d136_rules_for_types_mix(warehouse: Warehouse) -> None:
    rules: dict[str, DataType] = {
        "re:timestamp": "timestamp",
        "inserted_at": "timestamp",
        "created_at": "date",
    }
    schema = new_schema("farm")
    settings = update_preferred_types(schema.settings, rules, get_naming())
    warehouse.load(
        {"eventTimestamp": "2024-01-01", "insertedAt": 5, "createdAt": "2024-01-02", "inserted_at_home": 5},
        schema=replace(schema, settings=settings),
    )
    assert warehouse.columns() == {
        "event_timestamp": "timestamp",
        "inserted_at": "timestamp",
        "created_at": "date",
        "inserted_at_home": "bigint",
    }
