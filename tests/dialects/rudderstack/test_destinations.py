"""Streams of events in every destination, and a schema of RudderStack's own in PostgreSQL taken over."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from destinations.conftest import merging
from destinations.postgres_server import Server
from dialects.rudderstack.conformance.loading import INT_STRING, Event, event, identify, moment, track
from trellis.errors import UsageError
from trellis.pipelines.discards import list_discards, replay_discards
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report

Rows = list[tuple[Any, ...]]
Sql = Callable[..., Rows]

TZ = "timestamp with time zone"
STANDARD = {
    "id": "text",
    **dict.fromkeys(("sent_at", "timestamp", "received_at", "original_timestamp"), TZ),
    "event": "text",
    "event_text": "text",
}


class Stream:
    """A stream into one destination, a new pipeline for every load."""

    def __init__(self, to: str, **settings: Any) -> None:
        self.to, self.settings = to, settings

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline("shop", self.to, dialect="rudderstack", settings=self.settings)

    def load(self, *events: Event, **options: Any) -> Report:
        report = self.pipeline.load(list(events), **options)
        assert report.balanced
        return report

    def rows(self, table: str, *columns: str) -> Rows:
        records = self.pipeline.destination.query(self.pipeline.dataset, table)
        return sorted((tuple(row.get(name) for name in columns) for row in records), key=repr)

    @property
    def discards(self) -> Rows:
        names = ("row_id", "table_name", "column_name", "column_value", "reason")
        return self.rows("rudder_discards", *names)

    def types(self, table: str) -> dict[str, str]:
        return dict(self.pipeline.destination.catalog(self.pipeline.dataset)[table].columns)


# --- In every destination --------------------------------------------------------------------------------


@pytest.fixture
def stream(destination_url: str) -> Stream:
    return Stream(destination_url, provider="POSTGRES")


@merging
def test_c68_c69_c70_c72_c76_c77_several_loads(stream: Stream) -> None:
    stream.load(
        track("1", at=1, price=5, code="a", rate=0.5, seen=True, day="2024-02-29", note="x"),
        track("1", at=0, price=4),
        identify("u", 1, plan="a", city="b"),
    )
    stream.load(
        track("2", at=2, price="NA", code=789, rate=3, seen=1, day="soon", note=["a", 1]),
        track("3", at=3, price=1.9, code=False, new={"a": {"b": 1}}),
        identify("u", 2, plan="c"),
        event("page", "4", name="Cart"),
    )
    report = stream.load(track("1", at=0, price=6), identify("u", 0, plan="old", age=35))
    assert report.changes
    assert stream.rows("sale", "id", "price", "code", "seen", "note", "new_a_b") == [
        ("1", 6, None, None, None, None),
        ("2", None, "789", None, '["a",1]', None),
        ("3", 1, "false", None, None, 1),
    ]
    assert [None if rate is None else float(rate) for _, rate in stream.rows("sale", "id", "rate")] == [
        None, 3.0, None,
    ]  # fmt: skip
    assert stream.rows("tracks", "id") == [("1",), ("2",), ("3",)]
    assert stream.rows("users", "id", "plan", "city", "age", "received_at") == [
        ("u", "c", "b", 35, moment(2)),
    ]  # fmt: skip
    assert stream.rows("identifies", "id", "plan", "age") == [
        ("u/0", "old", 35), ("u/1", "a", None), ("u/2", "c", None),
    ]  # fmt: skip
    assert stream.discards == [
        ("2", "sale", "day", "soon", "incompatible schema conversion from datetime to string"),
        ("2", "sale", "price", "NA", INT_STRING),
        ("2", "sale", "seen", "1", "incompatible schema conversion from boolean to int"),
    ]
    assert stream.rows("pages", "id", "name", "uuid_ts")[0][:2] == ("4", "Cart")


@merging
def test_the_same_load_twice(stream: Stream) -> None:
    events = [track("1", price=5), track("2", price="NA"), identify("u", 1, plan="a")]
    stream.load(*events)
    tables = ("sale", "tracks", "users", "identifies", "rudder_discards")
    columns = {name: [column for column in stream.types(name) if column != "uuid_ts"] for name in tables}
    before = {name: stream.rows(name, *columns[name]) for name in tables}
    version = stream.pipeline.schema.stored_version
    assert stream.load(*events).changes == ()
    assert {name: stream.rows(name, *columns[name]) for name in tables} == before
    assert stream.pipeline.schema.stored_version == version


@merging
def test_widening(destination_url: str) -> None:
    stream = Stream(destination_url, provider="POSTGRES", widen="int_to_float")
    stream.load(track("1", price=5))
    stream.load(track("2", price=0.5))
    stream.load(track("3", price=7))
    assert [(id, float(price)) for id, price in stream.rows("sale", "id", "price")] == [
        ("1", 5.0), ("2", 0.5), ("3", 7.0),
    ]  # fmt: skip
    assert stream.discards == []


@merging
def test_c79_identities(destination_url: str) -> None:
    stream = Stream(destination_url, provider="BQ", identity_resolution=True)
    stream.load(identify("u0", 0))
    stream.load({**identify("u1", 1), "anonymousId": "a1"})
    stream.load({**identify("u2", 2), "anonymousId": "a2"})
    stream.load(event("alias", "3", userId="u1", previousId="u2"))
    mappings = stream.rows("rudder_identity_mappings", "merge_property_value", "rudder_id")
    ids = dict(mappings)
    assert {*ids} == {"a1", "a2", "u0", "u1", "u2"}
    assert len({ids[value] for value in ("a1", "a2", "u1", "u2")}) == 1
    assert ids["u0"] != ids["u1"]


@merging
def test_json_and_long_text(destination_url: str) -> None:
    stream = Stream(destination_url, provider="RS", jsonPaths="j")
    stream.load(track("1", j={"k": 1}, note="x"))
    stream.load(track("2", j=[1, "a"], note="y" * 600), track("3", j=5))
    assert [(id, str(j).replace(" ", "")) for id, j in stream.rows("sale", "id", "j")] == [
        ("1", '{"k":1}'), ("2", '[1,"a"]'), ("3", "5"),
    ]  # fmt: skip
    assert stream.rows("sale", "note")[1:] == [("y" * 600,), (None,)]
    version = stream.pipeline.schema.stored_version
    stream.load(track("4", j=1))
    assert stream.pipeline.schema.stored_version == version


@merging
@pytest.mark.parametrize("ids", [(1, 2, 3, 4), ("r1", "r2", "r3", "r4")], ids=["numbers", "texts"])
def test_a_json_column_called_like_an_alias(destination_url: str, ids: tuple[Any, ...]) -> None:
    """A column `c` with a field `id` was taken for the id of the row in the table, and rows were deleted."""
    stream = Stream(destination_url, provider="POSTGRES", jsonPaths="extract.properties.c")
    extracts = [event("extract", event="orders", recordId=id, properties={"c": {"id": 10}}) for id in ids]
    stream.load(*extracts[:3])
    stream.load({**extracts[3], "properties": {"c": {"id": ids[3]}}})
    stream.load(extracts[0])
    rows = [(id, json.loads(c)) for id, c in stream.rows("orders", "id", "c")]
    assert rows == [*((id, {"id": 10}) for id in ids[:3]), (ids[3], {"id": ids[3]})]


@merging
def test_values_at_the_edge(stream: Stream) -> None:
    stream.load(
        track("1", most=2**63 - 1, least=-(2**63), nul="a\x00b", tiny=1.5e-300, x=0.5, long="y" * 10**6)
    )
    stream.load(track("2", first="0001-01-01", last="9999-12-31T23:59:59.999Z", most=2**63, x=1.5))
    one, two = stream.rows("sale", "id", "most", "least", "tiny", "x", "nul", "long", "first", "last")
    assert one[1:3] == (2**63 - 1, -(2**63))
    assert [float(number) for number in (*one[3:5], two[4])] == [1.5e-300, 0.5, 1.5]
    assert one[5] in ("a\x00b", "a\ufffdb")
    assert one[6] == "y" * 10**6
    assert two[7:] == (
        datetime(1, 1, 1, tzinfo=timezone.utc),
        datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc),
    )
    assert stream.discards == [("2", "sale", "most", str(2**63), "value out of range for int")]


@pytest.mark.parametrize("destination_url", ["duckdb", "postgres"], indirect=True)
def test_discards_go_back(stream: Stream, request: pytest.FixtureRequest) -> None:
    stream.load(track("1", price=5), identify("u", 1, age=35))
    stream.load(track("2", price="NA"), track("3", price="12"), identify("u", 2, age="old"))
    assert [(discard.table, discard.column, discard.count) for discard in list_discards(stream.pipeline)] == [
        ("sale", "price", 2), ("identifies", "age", 1), ("users", "age", 1),
    ]  # fmt: skip
    run = _sql(stream, request)
    run("ALTER TABLE sale ALTER price TYPE varchar", "UPDATE sale SET price = 'mine' WHERE id = '3'")
    done = replay_discards(stream.pipeline)
    assert (done.restored, done.left) == ({("sale", "price"): 1}, 3)
    assert stream.rows("sale", "id", "price") == [("1", "5"), ("2", "NA"), ("3", "mine")]


def _sql(stream: Stream, request: pytest.FixtureRequest) -> Sql:
    if stream.to.startswith("duckdb"):
        import duckdb

        def run(*statements: str) -> Rows:
            with duckdb.connect(stream.to.removeprefix("duckdb:")) as db:
                for statement in statements:
                    rows = db.execute(statement).fetchall()
                return rows

        return run
    return request.getfixturevalue("sql")


def test_rows_of_one_id_are_not_merged_in_parquet(tmp_path: Path) -> None:
    stream = Stream(f"parquet:{tmp_path}/lake", provider="POSTGRES")
    with pytest.raises(UsageError, match=r"^table tracks is merged by its key: plain Parquet files "):
        stream.load(track("1", price=5))
    assert stream.pipeline.destination.catalog("") == {}


def test_a_lake_keeps_every_row(tmp_path: Path) -> None:
    stream = Stream(f"parquet:{tmp_path}/lake")
    for at in (2, 1):
        stream.load(track("1", at=at, price=at), identify("u", at, plan=f"p{at}"))
    assert stream.rows("sale", "id", "price") == [("1", 1), ("1", 2)]
    assert stream.rows("users", "id", "plan") == [("u", "p1"), ("u", "p2")]
    assert stream.rows("tracks", "_timestamp") == [(moment(1),), (moment(2),)]
    assert "sent_at" not in stream.types("users")


@pytest.mark.parametrize("kind", ["parquet", "delta", "iceberg"])
def test_json_stays_json_where_it_is_kept_as_text(kind: str, tmp_path: Path) -> None:
    stream = Stream(f"{kind}:{tmp_path}/lake", provider="SNOWPIPE_STREAMING", jsonPaths="j")
    for id, value in (("1", {"a": 1}), ("2", "x"), ("3", 5)):
        stream.load(track(id, j=value))
    assert stream.rows("SALE", "ID", "J") == [("1", '{"a":1}'), ("2", '"x"'), ("3", "5")]
    assert stream.pipeline.schema.tables["SALE"].columns["J"].data_type == "json"


# --- PostgreSQL ------------------------------------------------------------------------------------------


@pytest.fixture
def sql(postgres: Server, database: str) -> Sql:
    return lambda *statements: postgres.run(*statements, database=database)


@pytest.fixture
def warehouse(postgres: Server, database: str) -> Stream:
    return Stream(postgres.url(database))


def types(sql: Sql, table: str) -> dict[str, str]:
    rows = sql(
        "SELECT column_name, data_type FROM information_schema.columns "
        f"WHERE table_schema = 'public' AND table_name = '{table}' ORDER BY ordinal_position"
    )
    return dict(rows)


def test_r37_types_are_those_of_rudderstack(warehouse: Stream, sql: Sql) -> None:
    warehouse.settings = {"jsonPaths": "j", "storeFullEvent": True}
    warehouse.load(
        track("1", n=1, x=0.5, b=True, d="2024-02-29", s="a", j={"a": 1}, array=[1], long="x" * 70_000),
        track("2", n="x"),
    )
    assert types(sql, "sale") == {
        **STANDARD, "n": "bigint", "x": "numeric", "b": "boolean", "d": TZ, "s": "text", "j": "jsonb",
        "_array": "text", "long": "text", "uuid_ts": TZ,
    }  # fmt: skip
    assert types(sql, "tracks") == {**STANDARD, "rudder_event": "jsonb", "uuid_ts": TZ}
    assert types(sql, "rudder_discards") == {
        **dict.fromkeys(("row_id", "table_name", "column_name", "column_value", "reason"), "text"),
        **dict.fromkeys(("received_at", "uuid_ts"), TZ),
    }
    assert sql(
        "SELECT j->>'a', rudder_event->'properties'->>'s' FROM sale JOIN tracks USING (id) WHERE n = 1"
    ) == [("1", "a")]


def test_the_plan_is_what_postgres_gets(warehouse: Stream) -> None:
    plan = warehouse.pipeline.plan([track("1", price=0.5)])
    assert plan.ddl is None
    (create,) = (statement for statement in plan.statements if '"sale"' in statement)
    assert '"price" numeric' in create and f'"received_at" {TZ}'.replace(TZ, "timest") in create


RUNNING = """
CREATE TABLE tracks ("id" text, "received_at" timestamptz, "event" text, "event_text" text,
    "uuid_ts" timestamptz);
CREATE TABLE add_to_cart ("id" text, "received_at" timestamptz, "event" text, "event_text" text,
    "price" numeric, "qty" bigint, "seen" boolean, "extra" jsonb, "uuid_ts" timestamptz);
CREATE TABLE users ("id" text PRIMARY KEY, "received_at" timestamptz, "plan" text, "score" numeric,
    "uuid_ts" timestamptz);
CREATE TABLE identifies ("id" text, "user_id" text, "anonymous_id" text, "received_at" timestamptz,
    "plan" text, "uuid_ts" timestamptz);
CREATE TABLE rudder_discards ("row_id" text, "table_name" text, "column_name" text, "column_value" text,
    "received_at" timestamptz, "uuid_ts" timestamptz);
CREATE INDEX ON tracks (received_at);
CREATE VIEW tracks_view AS SELECT * FROM tracks;
INSERT INTO tracks VALUES ('old', '2024-01-01', 'add_to_cart', 'Add to Cart', now());
INSERT INTO add_to_cart VALUES ('old', '2024-01-01', 'add_to_cart', 'Add to Cart', 9.99, 1, true);
INSERT INTO users VALUES ('u', '2024-01-01', 'free', 1.5), ('late', '2025-01-01', 'free', 1.5);
"""


def test_r01_r03_a_running_schema_is_taken_over(warehouse: Stream, sql: Sql) -> None:
    sql(RUNNING)
    report = warehouse.load(
        track("1", "Add to Cart", price=5, qty=2.5, seen="yes", extra="text", coupon="TEA"),
        track("old", "Add to Cart", price=1, qty=1),
        identify("u", 1, plan="gold", city="Bern"),
        identify("late", 1, plan="gold", city="Bern"),
    )
    assert [table.name for table in report.tables if table.created] == []
    assert types(sql, "add_to_cart")["price"] == "numeric"
    assert types(sql, "add_to_cart")["coupon"] == "text"
    assert sql("SELECT id, price, qty, seen, extra::text, coupon FROM add_to_cart ORDER BY id") == [
        ("1", Decimal(5), 2, None, '"text"', "TEA"),
        ("old", Decimal(1), 1, None, None, None),
    ]
    assert sql("SELECT id, plan, score, city FROM users ORDER BY id") == [
        ("late", "free", Decimal("1.5"), "Bern"), ("u", "gold", Decimal("1.5"), "Bern"),
    ]  # fmt: skip
    assert types(sql, "identifies")["score"] == "numeric"
    assert warehouse.discards == [
        ("1", "add_to_cart", "seen", "yes", "incompatible schema conversion from boolean to string"),
    ]  # fmt: skip
    assert types(sql, "rudder_discards")["reason"] == "text"
    assert sql("SELECT count(*) FROM tracks_view") == [(2,)]
    assert warehouse.load(track("2", "Add to Cart", price=0.1)).changes == ()
    assert sql("SELECT price FROM add_to_cart WHERE id = '2'") == [(Decimal("0.1"),)]


def test_c74_columns_retyped_by_hand(warehouse: Stream, sql: Sql) -> None:
    warehouse.load(track("1", price=5, code="12", n=1, s="a", r=1))
    sql(
        "ALTER TABLE sale ALTER price TYPE numeric(6,2)", "ALTER TABLE sale ALTER code TYPE bigint USING 12",
        "ALTER TABLE sale ALTER n TYPE smallint", "ALTER TABLE sale ALTER s TYPE varchar(3)",
        "ALTER TABLE sale ALTER r TYPE real", "ALTER TABLE sale ADD COLUMN u uuid",
        "ALTER TABLE sale ADD COLUMN tags text[]", "ALTER TABLE sale ADD COLUMN day date",
        "ALTER TABLE sale ADD COLUMN twice bigint GENERATED ALWAYS AS (n * 2) STORED",
    )  # fmt: skip
    report = warehouse.load(
        track("2", price=2.345, code="x", n=7, s="abc", r=0.5, u="x", tags=[1], day="2024-02-29", twice=3),
        track("3", price=123456, code=7, n=40_000, s="abcd", r=1e39),
    )
    assert report.rows.loaded == 2
    assert sql(
        "SELECT id, price, code, n, s, r, to_char(day, 'YYYY-MM-DD'), twice FROM sale ORDER BY id"
    ) == [
        ("1", Decimal("5.00"), 12, 1, "a", 1.0, None, 2),
        ("2", Decimal("2.35"), None, 7, "abc", 0.5, "2024-02-29", 14),
        ("3", None, 7, None, None, None, None, None),
    ]
    assert {(row[0], row[2]): row[4] for row in warehouse.discards} == {
        ("2", "code"): INT_STRING,
        ("2", "u"): "incompatible schema conversion from uuid to string",
        ("2", "tags"): "incompatible schema conversion from text[] to string",
        ("2", "twice"): "incompatible schema conversion from bigint to int",
        ("3", "price"): "value out of range for float",
        ("3", "n"): "value out of range for int",
        ("3", "s"): "value out of range for string",
        ("3", "r"): "value out of range for float",
    }
    sql("ALTER TABLE sale ALTER s TYPE text", "ALTER TABLE sale ALTER price TYPE numeric")
    done = replay_discards(warehouse.pipeline)
    assert done.restored == {("sale", "s"): 1, ("sale", "price"): 1}
    assert sql("SELECT s, price FROM sale WHERE id = '3'") == [("abcd", Decimal(123456))]


def test_ddl_of_a_dataset_of_its_own(postgres: Server, database: str, sql: Sql) -> None:
    stream = Stream(postgres.url(database), source_name="My Shop v2")
    stream.load(track("1", "Order", **{"select": 1, "x" * 70: 2}))
    assert sql("SELECT _select FROM my_shop_v2._order") == [(1,)]
    assert ("x" * 63,) in sql(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'my_shop_v2'"
    )


def test_users_with_columns_of_other_types(warehouse: Stream, sql: Sql) -> None:
    warehouse.load(identify("u", 1, plan="a"), identify("v", 1, plan="a"))
    sql(
        "ALTER TABLE users ADD COLUMN tags text[]", "ALTER TABLE users ADD COLUMN ref uuid",
        "ALTER TABLE users ADD COLUMN mood smallint", "ALTER TABLE users ADD COLUMN code varchar(3)",
        "ALTER TABLE users ADD COLUMN twice text GENERATED ALWAYS AS (plan || plan) STORED",
        "UPDATE users SET tags = '{x}', mood = 3, code = 'abc' WHERE id = 'u'",
    )  # fmt: skip
    warehouse.load(identify("u", 2, plan="b", tags="y"), identify("w", 2, plan="c", code="abcd"))
    assert sql("SELECT id, plan, tags, ref, mood, code, twice FROM users ORDER BY id") == [
        ("u", "b", ["x"], None, 3, "abc", "bb"),
        ("v", "a", None, None, None, None, "aa"),
        ("w", "c", None, None, None, None, "cc"),
    ]


def test_a_table_that_is_too_wide_for_the_server_fails_alone(warehouse: Stream) -> None:
    """900 properties, and 900 others: the events are good, the table of both is not."""
    events = [track(f"w{part}", "Wide", part, **{f"p{part}_{n}": n for n in range(900)}) for part in (1, 2)]
    report = warehouse.load(*events, track("s", "Sale", 3, price=5))
    assert [(failure.name, failure.rows, failure.error) for failure in report.failures] == [
        (
            "wide",
            2,
            (
                "table wide: it would have 1,808 columns, and 1,600 is the most; set --option "
                "max_properties=NUMBER, or name those to keep with --option properties=NAMES"
            ),
        )
    ]
    assert warehouse.rows("tracks", "id") == [("s",), ("w1",), ("w2",)]
    assert warehouse.rows("sale", "id", "price") == [("s", 5)]
    warehouse.settings["max_properties"] = 1000
    assert warehouse.load(*events, only_tables=("wide",)).rows.loaded == 2
    assert warehouse.rows("wide", "id", "p1_899", "p2_0") == [("w1", 899, None), ("w2", None, 0)]
    assert len(warehouse.rows("tracks", "id")) == 3
