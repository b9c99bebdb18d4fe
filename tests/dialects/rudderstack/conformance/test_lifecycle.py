"""The warehouse is the truth: what somebody changed by hand counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import trellis.engine.columnar.event_batcher
import trellis.engine.input.blocks
from dialects.rudderstack.conformance.loading import (
    INT_STRING,
    LakeShop,
    Opens,
    Shop,
    event,
    identify,
    moment,
    track,
)
from trellis.errors import ContractError, SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline

LAKES = [pytest.param(kind, marks=pytest.mark.lake) for kind in ("delta", "iceberg")]
UUID = "b8c3364c-f945-5e10-a33f-cbb3397cc989"


@pytest.fixture(params=["duckdb", *LAKES])
def any_shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    """In a DuckDB file, and in the tables of a lake, whose merges are jobs of Spark."""
    if request.param == "duckdb":
        return Shop(tmp_path / "shop.duckdb")
    request.getfixturevalue("spark")
    return LakeShop(request.param, tmp_path / "shop")


# --- By hand ---------------------------------------------------------------------------------------------


def test_r01_r03_r04_tables_come_with_their_first_event(any_shop: Shop) -> None:
    any_shop.load(track("1", price=5))
    assert any_shop.tables == {"tracks", "sale", "rudder_discards"}
    any_shop.load(
        identify("u", 1), event("page", "2"), event("screen", "3"), event("group", "4"), event("alias", "5")
    )
    assert any_shop.tables == {
        "tracks", "sale", "rudder_discards", "identifies", "users", "pages", "screens", "groups", "aliases",
    }  # fmt: skip
    assert any_shop.sql("SELECT count(*) FROM tracks") == [(1,)]


def test_a_column_added_by_hand_takes_values_as_it_is(shop: Shop) -> None:
    shop.load(track("1", price=5))
    shop.sql(
        "ALTER TABLE sale ADD COLUMN discount DOUBLE",
        "ALTER TABLE sale ADD COLUMN code VARCHAR",
        "ALTER TABLE sale ADD COLUMN fee DECIMAL(10,2)",
        "ALTER TABLE sale ADD COLUMN day DATE",
    )
    report = shop.load(track("2", discount=3, code=789, fee=2.5, day="2024-02-29T10:00:00Z"))
    assert report.changes == ()
    assert report.discards.count == 0
    row = shop.row("sale", "2")
    assert (row["discount"], row["code"], row["fee"]) == (3.0, "789", Decimal("2.50"))
    assert str(row["day"]) == "2024-02-29"
    types = shop.types("sale")
    assert [types[name] for name in ("discount", "code", "fee", "day")] == [
        "DOUBLE", "VARCHAR", "DECIMAL(10,2)", "DATE",
    ]  # fmt: skip


def test_c74_a_column_retyped_by_hand_keeps_its_type(any_shop: Shop) -> None:
    shop = any_shop
    shop.load(track("1", price=5, code="12", seats=1))
    shop.retype("sale", price="DOUBLE", code="BIGINT", seats="VARCHAR")
    report = shop.load(track("2", price=3, code="x", seats=2), track("3", price=2.5, code=7, seats=True))
    assert report.changes == ()
    assert shop.rows("sale", "id", "price", "code", "seats") == [
        ("1", 5.0, 12, "1"), ("2", 3.0, None, "2"), ("3", 2.5, 7, "true"),
    ]  # fmt: skip
    assert shop.discards == [("2", "sale", "code", "x", INT_STRING)]
    types = shop.types("sale")
    assert [types[name] for name in ("price", "code", "seats")] == ["DOUBLE", "BIGINT", "VARCHAR"]


def test_c73_text_comes_into_a_column_of_strings(any_shop: Shop) -> None:
    any_shop.load(track("1", note="short"))
    any_shop.load(track("2", note="x" * 513))
    assert any_shop.values("sale", "note") == ["short", "x" * 513]
    assert any_shop.types("sale")["note"] == "VARCHAR"
    assert any_shop.discards == []


def test_a_column_dropped_by_hand_comes_back_with_the_type_of_the_next_value(any_shop: Shop) -> None:
    shop = any_shop
    shop.load(track("1", price=5, code="a"))
    shop.drop_columns("sale", "price", "code")
    report = shop.load(track("2", price="cheap"))
    assert [change.describe() for change in report.changes] == ["sale.price is new: text"]
    assert shop.rows("sale", "id", "price") == [("1", None), ("2", "cheap")]
    assert "code" not in shop.types("sale")
    shop.load(track("3", code=1))
    assert shop.types("sale")["code"] == "BIGINT"
    assert shop.discards == []


def test_a_standard_column_dropped_by_hand_comes_back(any_shop: Shop) -> None:
    shop = any_shop
    shop.load(track("1"))
    shop.drop_columns("tracks", "uuid_ts", "sent_at")
    shop.load(track("2", at=7))
    row = shop.row("tracks", "2")
    assert row["sent_at"] == moment(7)
    assert "uuid_ts" in row


def test_a_table_dropped_by_hand_comes_back(any_shop: Shop) -> None:
    shop = any_shop
    shop.load(track("1", price=5), track("2", name="Other", price=5))
    shop.drop_tables("sale", "rudder_discards")
    report = shop.load(track("3", price="x"), track("4", name="Other", price="x"))
    assert {table.name: table.created for table in report.tables} == {
        "sale": True, "rudder_discards": True, "tracks": False, "other": False,
    }  # fmt: skip
    assert shop.rows("sale", "id", "price") == [("3", "x")]
    assert shop.discards == [("4", "other", "price", "x", INT_STRING)]


def test_a_type_we_do_not_know_is_left_alone(shop: Shop) -> None:
    odd: dict[str, tuple[str, Any]] = {
        "STRUCT(a INTEGER)": ("c_struct", 5), "INTEGER[]": ("c_list", [1]), "UUID": ("c_uuid", UUID),
        "BLOB": ("c_blob", "x"), "TIME": ("c_time", "10:00:00"),
    }  # fmt: skip
    shop.load(track("1", price=5))
    shop.sql(*(f"ALTER TABLE sale ADD COLUMN {column} {native}" for native, (column, _) in odd.items()))
    report = shop.load(track("2", price=6, **dict(odd.values())), track("3", price=7))
    assert report.rows.loaded == 2
    columns = [column for column, _ in odd.values()]
    assert shop.rows("sale", "id", "price", *columns) == [
        (str(number), number + 4, *(None for _ in odd)) for number in (1, 2, 3)
    ]
    types = shop.types("sale")
    assert [types[column] for column in columns] == [*odd]
    reason = "incompatible schema conversion from {} to {}"
    assert shop.discards == sorted(
        ("2", "sale", column, str(value), reason.format(native, "int" if value == 5 else "string"))
        for native, (column, value) in odd.items()
    )


def test_a_view_in_the_dataset_is_not_seen(shop: Shop) -> None:
    shop.load(track("1", price=5))
    shop.sql("CREATE VIEW tracks_view AS SELECT * FROM tracks", "CREATE VIEW big_sale AS SELECT 1 AS id")
    shop.load(track("2", price=6))
    assert shop.sql("SELECT count(*) FROM tracks_view") == [(2,)]
    assert "tracks_view" not in shop.pipeline.schema.tables
    (failure,) = shop.load(track("3", name="Big Sale")).failures
    assert failure.error == (
        "table big_sale: it is a view in the destination, and a load needs a table; rename the one or the "
        "other"
    )
    assert shop.sql("SELECT count(*) FROM tracks", "SELECT count(*) FROM big_sale") == [(1,)]
    assert shop.values("tracks", "id") == ["1", "2", "3"]


def test_c75_what_rudderstack_leaves_behind_is_not_seen(any_shop: Shop) -> None:
    shop = any_shop
    shop.load(track("1", price=5))
    shop.add_columns("sale", f"note-deprecated-{UUID}", "note-deprecated-2")
    shop.create_tables("rudder_staging_sale_1", "Rudder_Staging_sale_2")
    shop.load(track("2", price=6))
    schema = shop.pipeline.schema
    assert "note-deprecated-2" in schema.tables["sale"].columns
    assert f"note-deprecated-{UUID}" not in schema.tables["sale"].columns
    assert not any("staging" in name for name in schema.tables)
    assert f"note-deprecated-{UUID}" in shop.types("sale")
    assert shop.values("sale", "price") == [5, 6]


def test_a_running_schema_is_taken_over(open_shop: Opens) -> None:
    """Tables of RudderStack itself, and nothing of Trellis."""
    shop = open_shop("RS")
    shop.sql(
        "CREATE TABLE tracks (id VARCHAR, received_at TIMESTAMPTZ, event VARCHAR, event_text VARCHAR)",
        "CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, price DECIMAL(18,4), seen BOOLEAN)",
        "INSERT INTO sale VALUES ('0', '2024-01-01', 9.5, true)",
    )
    report = shop.load(track("1", price=5, seen="yes", extra=1))
    assert {table.name for table in report.tables if table.created} == {"rudder_discards"}
    assert shop.rows("sale", "id", "price", "seen", "extra") == [
        ("0", Decimal("9.5"), True, None), ("1", Decimal(5), None, 1),
    ]  # fmt: skip
    assert shop.types("sale")["price"] == "DECIMAL(18,4)"
    assert shop.discards == [
        ("1", "sale", "seen", "yes", "incompatible schema conversion from boolean to string")
    ]


def test_a_decimal_that_is_too_small_for_a_value(shop: Shop) -> None:
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, price DECIMAL(4,2))")
    shop.load(track("1", price=12.345))
    assert shop.values("sale", "price") == [Decimal("12.35")]
    report = shop.load(track("2", price=123456), track("3", price=1), track("4", price=99.995))
    assert report.rows.loaded == 3
    assert shop.rows("sale", "id", "price") == [
        ("1", Decimal("12.35")), ("2", None), ("3", Decimal(1)), ("4", None),
    ]  # fmt: skip
    assert shop.discards == [
        ("2", "sale", "price", "123456", "value out of range for float"),
        ("4", "sale", "price", "99.995", "value out of range for float"),
    ]


def test_integers_that_are_too_large_for_a_column_made_by_hand(shop: Shop) -> None:
    most = {"INTEGER": 2**31 - 1, "SMALLINT": 2**15 - 1, "TINYINT": 2**7 - 1, "UTINYINT": 255}
    names = {native: f"n_{native.lower()}" for native in most}
    columns = ", ".join(f"{names[native]} {native}" for native in most)
    shop.sql(f"CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, {columns})")
    report = shop.load(
        *(
            track(str(more), **{names[native]: number + more for native, number in most.items()})
            for more in (0, 1)
        )
    )
    assert report.rows.loaded == 2
    assert shop.rows("sale", "id", *names.values()) == [
        ("0", *most.values()), ("1", *(None for _ in most)),
    ]  # fmt: skip
    assert shop.discards == sorted(
        ("1", "sale", names[native], str(number + 1), "value out of range for int")
        for native, number in most.items()
    )


def test_other_types_that_hold_less(shop: Shop) -> None:
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, x REAL, small TINYINT, n UBIGINT)")
    shop.load(
        track("1", x=0.5, small=5, n=2**63 - 1),
        track("2", x=1e39, small=1.9, n=-1),
        track("3", x=10**40, small=200.5),
    )
    assert shop.rows("sale", "id", "x", "small", "n") == [
        ("1", 0.5, 5, 2**63 - 1), ("2", None, 1, None), ("3", None, None, None),
    ]  # fmt: skip
    assert [(*row[:3], row[4]) for row in shop.discards] == [
        ("2", "sale", "n", "value out of range for int"),
        ("2", "sale", "x", "value out of range for float"),
        ("3", "sale", "x", "value out of range for float"),
    ]
    assert [row[3:] for row in shop.lost] == [
        ("1.9", "truncated to an integer"), ("200.5", "truncated to an integer"),
    ]  # fmt: skip
    shop.sql("ALTER TABLE sale ALTER small TYPE BIGINT", "ALTER TABLE sale ALTER x TYPE DOUBLE")
    shop.load(track("4", x=1e39, small=200))
    assert shop.rows("sale", "id", "x", "small")[-1] == ("4", 1e39, 200)


def test_columns_made_by_hand_hold_for_many_events_at_once(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table for each type, so that nothing else about its events is special."""
    kinds: dict[str, tuple[Any, Any, Any]] = {
        "SMALLINT": (1, 5, 40_000), "REAL": (0.5, 1.5, 1e39), "DECIMAL(4,2)": (0.5, 1.5, 123.4),
        "VARCHAR": (True, False, 5), "BIGINT": ("5", 5, "x"), "DATE": ("2024-02-29",) * 3,
        "INTEGER[]": ("[1]", None, "x"),
    }  # fmt: skip
    monkeypatch.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 2_000)
    monkeypatch.setattr(trellis.engine.columnar.event_batcher, "MIN_SPLIT", 2)
    names = {native: f"t {at}" for at, native in enumerate(kinds)}
    shop.load(*(track("first", name, v=kinds[native][0]) for native, name in names.items()))
    shop.sql(*(f"ALTER TABLE t_{at} ALTER v TYPE {native}" for at, native in enumerate(kinds)))
    shop.sql("ALTER TABLE t_0 DROP COLUMN uuid_ts")
    events = [
        track(f"e{number}", name, v=kinds[native][2 if number == 60 else 1])
        for number in range(100)
        for native, name in names.items()
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in events))
    assert shop.load(str(file)).rows.loaded == 700
    counts = [
        shop.sql(f"SELECT count(*), count(v), count(DISTINCT v), count(uuid_ts) FROM t_{at}")[0]
        for at in range(len(kinds))
    ]
    assert counts == [
        (101, 100, 2, 100), (101, 100, 2, 101), (101, 100, 2, 101), (101, 101, 3, 101), (101, 100, 1, 101),
        (101, 101, 1, 101), (101, 1, 1, 101),
    ]  # fmt: skip
    assert [row[:4] for row in shop.discards] == [
        ("e60", "t_0", "v", "40000"), ("e60", "t_1", "v", str(int(1e39))), ("e60", "t_2", "v", "123.4"),
        ("e60", "t_4", "v", "x"), ("e60", "t_6", "v", "x"),
    ]  # fmt: skip


def test_a_column_made_by_hand_is_widened(open_shop: Opens) -> None:
    shop = open_shop("RS", widen="int_to_float")
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, n SMALLINT)")
    shop.load(track("1", n=7), track("2", n=0.5))
    assert shop.rows("sale", "id", "n") == [("1", 7.0), ("2", 0.5)]
    assert shop.types("sale")["n"] == "DOUBLE"


def test_absent_columns_stay(any_shop: Shop) -> None:
    any_shop.load(track("1", price=5, code="a"))
    report = any_shop.load(track("2"))
    assert report.changes == ()
    assert any_shop.rows("sale", "id", "price", "code") == [("1", 5, "a"), ("2", None, None)]


@pytest.mark.xfail(strict=True, raises=SchemaError, reason="names made by hand are taken letter by letter")
@pytest.mark.parametrize(("provider", "table"), [("RS", "sale"), ("SNOWFLAKE", "SALE")])
def test_names_made_by_hand_in_another_case(open_shop: Opens, provider: str, table: str) -> None:
    shop = open_shop(provider)
    shop.load(track("1", price=5))
    shop.sql(f"ALTER TABLE {table} ADD COLUMN Discount DOUBLE", "CREATE TABLE Other (Id VARCHAR)")
    shop.load(track("2", discount=3), track("3", "other"))
    assert shop.values(table, "discount") == [3.0, None]
    assert shop.values("other", "id") == ["3"]


def test_a_change_by_hand_while_a_load_runs(shop: Shop) -> None:
    """What was planned on the old type is planned anew."""
    shop.load(track("1", price=5))

    def events() -> Iterator[dict[str, Any]]:
        yield track("2", price=6)
        shop.sql("ALTER TABLE sale ALTER price TYPE VARCHAR")
        yield track("3", price="NA")

    report = shop.pipeline.load(events())
    assert (report.rows.read, report.discards.count) == (2, 0)
    assert shop.rows("sale", "id", "price") == [("1", "5"), ("2", "6"), ("3", "NA")]


def test_two_schemas_in_one_dataset(any_shop: Shop) -> None:
    any_shop.load(track("1", price=5))
    other = Pipeline("crm", any_shop.to, dialect="rudderstack", settings={"provider": "RS"})
    other.load([track("2", price="x", rate=1)])
    any_shop.load(track("3", price=7, rate="y"))
    assert any_shop.rows("sale", "id", "price", "rate") == [("1", 5, None), ("2", None, 1), ("3", 7, None)]
    assert [row[:4] for row in any_shop.discards] == [("2", "sale", "price", "x"), ("3", "sale", "rate", "y")]


# --- Contracts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contract", "payload"),
    [
        ({"columns": "freeze"}, track("2", price=6, code=1)),
        ({"tables": "freeze"}, track("2", "Other")),
        ("freeze", identify("u")),
    ],
    ids=["columns", "tables", "all"],
)
def test_what_a_contract_freezes(any_shop: Shop, contract: Any, payload: Any) -> None:
    any_shop.load(track("1", price=5))
    with pytest.raises(ContractError, match="freeze"):
        any_shop.load(payload, contract=contract)
    assert any_shop.values("tracks", "id") == ["1"]
    assert any_shop.load(track("3", price="x"), contract="freeze").rows.loaded == 1
    assert [row[0] for row in any_shop.discards] == ["3"]


@pytest.mark.parametrize("contract", ["discard_value", "discard_row"])
def test_what_a_contract_discards(any_shop: Shop, contract: str) -> None:
    any_shop.load(track("1", price=5))
    report = any_shop.load(track("2", price=6, code=1), track("3", "Other", x=1), contract=contract)
    assert (report.rows.loaded, report.changes) == (2, ())
    assert any_shop.values("tracks", "id") == ["1", "2", "3"]
    assert (
        any_shop.rows("sale", "id", "price") == [("1", 5), ("2", 6)][: 1 if contract == "discard_row" else 2]
    )
    assert [(row[0], row[1], row[4]) for row in any_shop.lost] == [
        ("other", "", "contract on tables"), ("sale", "code", "contract on columns"),
    ]  # fmt: skip


# --- Options stay with the dataset -----------------------------------------------------------------------


def test_the_provider_stays_and_cannot_be_another(open_shop: Opens) -> None:
    open_shop("SNOWFLAKE").load(track("1", price=5))
    later = open_shop(None)
    later.load(track("2", price=6))
    assert later.values("SALE", "PRICE") == [5, 6]
    with pytest.raises(UsageError, match=r"option provider=BQ: the names of schema shop follow SNOWFLAKE"):
        open_shop("BQ").load(track("3"))
    open_shop("SNOWFLAKE").load(track("4"))


def test_options_of_the_first_load_hold_until_others_are_said(open_shop: Opens) -> None:
    open_shop("RS", skipTracksTable=True, jsonPaths="a").load(track("1", a={"b": 1}))
    later = open_shop(None)
    later.load(track("2", a={"b": 2}))
    assert later.tables == {"sale", "rudder_discards"}
    assert later.rows("sale", "id", "a") == [("1", '{"b":1}'), ("2", '{"b":2}')]
    open_shop(None, skipTracksTable=False).load(track("3", a=[1]))
    assert later.values("tracks", "id") == ["3"]
    assert later.row("sale", "3")["a"] == "[1]"
    later.load(track("4"))
    assert later.values("tracks", "id") == ["3", "4"]


def test_a_plan_keeps_no_option(open_shop: Opens) -> None:
    shop = open_shop("RS")
    shop.load(track("1"))
    open_shop("RS", skipTracksTable=True).pipeline.plan([track("2")])
    shop.load(track("3"))
    assert shop.values("tracks", "id") == ["1", "3"]


@pytest.mark.parametrize(
    ("to", "provider"), [("duckdb:{}/a.duckdb", "POSTGRES"), ("parquet:{}/lake", "S3_DATALAKE")]
)
def test_a_destination_has_a_provider_of_its_own(tmp_path: Path, to: str, provider: str) -> None:
    shop = Pipeline("shop", to.format(tmp_path), dialect="rudderstack")
    report = shop.plan([track("1")])
    assert report.ddl is not None
    assert report.ddl[0] == provider


def test_r02_r68_a_dataset_is_named_after_its_source(open_shop: Opens) -> None:
    for settings, dataset in (
        ({"source_name": "My Shop v2"}, "my_shop_v2"),
        ({"source_name": "My Shop v2", "namespace": "Order"}, "_order"),
        ({}, "main"),
    ):
        shop = open_shop("RS", **settings)
        shop.load(track("1", price=5))
        assert shop.sql(f'SELECT price FROM "{dataset}".sale') == [(5,)]


def test_a_switch_keeps_the_type_of_times_with_a_short_zone(open_shop: Opens) -> None:
    """Such text is a time in the warehouse that RudderStack filled, and not a discard of ours."""
    shop = open_shop("POSTGRES")
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, paid_at TIMESTAMPTZ)", "SELECT 1")
    shop.load(track("a", paidAt="2024-02-29 10:00:00+00"), track("b", paidAt="2024-02-29T10:00:00.5+05"))
    assert shop.values("sale", "paid_at") == [
        datetime(2024, 2, 29, 5, 0, 0, 500_000, tzinfo=timezone.utc),
        datetime(2024, 2, 29, 10, tzinfo=timezone.utc),
    ]
    assert shop.types("sale")["paid_at"] == "TIMESTAMP WITH TIME ZONE"
    assert shop.discards == []
