"""How rows go in, by warehouse and mode, and what input is bad (3.6, 4)."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialects.rudderstack.conformance.loading import INT_STRING, Opens, Shop, event, identify, moment, track
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import PROVIDERS
from trellis.dialects.rudderstack.warehouse.write_policy import table_loads
from trellis.engine.records.files import FileRecords
from trellis.engine.runner import InlineRunner, Runner
from trellis.engine.spark.job import SparkRunner
from trellis.errors import UsageError
from trellis.evolution.table_writes import KeyedWrite, TableTreeWrite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[tuple[Any, ...]]

EARLY, LATE, AGAIN = ("x", "early"), ("x", "late"), ("x", "again")
ALL = sorted([EARLY, LATE, AGAIN])


def two_loads(shop: Shop, **options: Any) -> Rows:
    """Rows of one id: two in a load, the later first; then one in another load, as early as the first."""
    shop.load(track("x", at=2, v="late"), track("x", at=1, v="early"))
    shop.load(track("x", at=1, v="again"), **options)
    assert len(shop.rows("tracks", "id")) == len(shop.rows("sale", "id"))
    return shop.rows("sale", "id", "v")


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        pytest.param("POSTGRES", [AGAIN], id="C77-POSTGRES"),
        ("RS", [AGAIN]),
        ("MSSQL", [AGAIN]),
        ("BQ", ALL),
        ("CLICKHOUSE", [AGAIN, LATE]),
        ("S3_DATALAKE", ALL),
    ],
)
def test_rows_of_one_id(open_shop: Opens, provider: str, expected: Rows) -> None:
    assert two_loads(open_shop(provider)) == expected


def test_c77_snowflake_keeps_the_row_that_is_there(open_shop: Opens) -> None:
    shop = open_shop("SNOWFLAKE")
    shop.load(track("x", at=2, v="late"), track("x", at=1, v="early"))
    shop.load(track("x", at=9, v="again"), track("y", at=9, v="new"))
    assert shop.rows("SALE", "ID", "V") == [("x", "late"), ("y", "new")]


def test_snowflake_overwrites_what_cloud_sources_send(open_shop: Opens) -> None:
    shop = open_shop("SNOWFLAKE", source_category="cloud")
    shop.load(track("x", at=2, v="late"))
    shop.load(track("x", at=1, v="again"))
    assert shop.rows("SALE", "ID", "V") == [AGAIN]


@pytest.mark.parametrize(
    ("provider", "expected"),
    [("POSTGRES", [AGAIN, LATE]), ("RS", ALL), ("MSSQL", [AGAIN]), ("CLICKHOUSE", [AGAIN, LATE])],
)
def test_append_is_preferred(open_shop: Opens, provider: str, expected: Rows) -> None:
    assert two_loads(open_shop(provider, preferAppend=True)) == expected


@pytest.mark.parametrize(
    ("settings", "options", "expected"),
    [
        ({"preferAppend": True, "source_category": "cloud"}, {}, [AGAIN]),
        ({"preferAppend": True}, {"mode": "merge"}, [AGAIN, EARLY, LATE]),
        ({}, {"mode": "append"}, [AGAIN, LATE]),
        ({}, {"mode": "replace"}, [AGAIN]),
    ],
    ids=["cloud", "merge", "append", "replace"],
)
def test_modes(open_shop: Opens, settings: Any, options: Any, expected: Rows) -> None:
    shop = open_shop("RS", **settings)
    if options.get("mode") == "merge":  # two rows are there that have the id already: both give way
        assert two_loads(shop, **options) == [AGAIN]
    else:
        assert two_loads(shop, **options) == expected


def test_replace_empties_the_tables_of_the_load_alone(shop: Shop) -> None:
    shop.load(track("1", price=5), track("2", "Other", price=5), track("3", price="NA"), identify("u", 1))
    shop.load(track("4", price="x"), mode="replace")
    assert shop.values("sale", "id") == shop.values("tracks", "id") == ["4"]
    assert shop.values("other", "id") == ["2"]
    assert shop.values("users", "id") == ["u"]
    assert [row[0] for row in shop.discards] == ["4"]
    assert shop.types("sale")["price"] == "BIGINT"


MERGES = {
    "POSTGRES": "replace", "RS": "replace", "SNOWFLAKE": "keep", "DELTALAKE": "replace", "MSSQL": "replace",
    "AZURE_SYNAPSE": "replace", "CLICKHOUSE": "replace",
}  # fmt: skip
SURVIVE = ("POSTGRES", "DELTALAKE")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_policy_of_every_warehouse(provider: str) -> None:
    def one(table: str, mode: Any = None, **settings: Any) -> KeyedWrite:
        options = Options(provider=provider, **settings)
        name = table.upper() if "SNOW" in provider else table
        (write,) = table_loads(options, [name], mode)
        assert isinstance(write, KeyedWrite)
        return write

    by_default = one("sale")
    assert by_default.on_match == MERGES.get(provider, "append")
    assert one("sale", "merge") == one("sale", source_category="cloud") or provider == "SNOWFLAKE"
    assert one("sale", source_category="cloud").on_match == (
        "replace" if provider == "SNOWFLAKE" else by_default.on_match
    )
    appended = one("sale", "append")
    assert one("sale", prefer_append=True) == appended
    for category in ("cloud", "singer-protocol", "etl", "replay"):
        again = one("sale", prefer_append=True, source_category=category)
        assert again == one("sale", prefer_append=False, source_category=category)
    if provider in ("MSSQL", "AZURE_SYNAPSE", "CLICKHOUSE"):
        assert appended == by_default
    else:
        assert appended.on_match == "append"
        assert bool(appended.keys) == (provider in SURVIVE)
    users = one("users")
    streams = {"SNOWPIPE_STREAMING", "BQSTREAM_ALL_EVENTS", "S3_DATALAKE", "GCS_DATALAKE", "AZURE_DATALAKE"}
    assert users.on_match == ("append" if provider in streams else "coalesce_latest")
    assert one("users", "append") == users
    assert [key.lower() for key in one("rudder_discards").keys] in (
        [["row_id", "column_name", "table_name"]] if provider in MERGES else [[]]
    )
    assert table_loads(Options(provider=provider), ["sale"], "replace") == (
        TableTreeWrite("sale", "replace"),
    )


def test_discards_of_one_value_are_one(shop: Shop) -> None:
    shop.load(track("1", price=5))
    for at in (3, 2):
        shop.load(track("2", at=at, price=f"v{at}", other="x"))
    assert shop.discards == [("2", "sale", "price", "v2", INT_STRING)]


def test_the_same_file_twice_changes_nothing_but_load_times(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    events = [
        track("1", price=5), track("2", price="NA"), identify("u", 3, plan="a"), event("page", "p", name="x"),
        {"type": "nope"},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(record) + "\n" for record in events))

    shop.load(str(file))
    version, before = shop.pipeline.schema.stored_version, shop.content()
    shop.load(str(file))
    assert shop.content() == before
    assert shop.pipeline.schema.stored_version == version
    assert shop.sql("SELECT count(*) FROM _trellis_loads") == [(2,)]
    assert shop.rejects == [(5, 'Unknown event type: "nope"')] * 2


def test_a_load_of_a_known_id_is_not_repeated(shop: Shop) -> None:
    shop.load(track("1"), load_id="monday")
    report = shop.load(track("2"), load_id="monday")
    assert report.already_loaded
    assert shop.values("tracks", "id") == ["1"]


# --- Times -----------------------------------------------------------------------------------------------


def test_c55_r34_the_time_of_the_load_is_in_every_table(open_shop: Opens) -> None:
    stamps = {"RS": ["uuid_ts"], "BQ": ["uuid_ts", "loaded_at"], "SNOWFLAKE": ["UUID_TS"]}
    for provider, names in stamps.items():
        shop = open_shop(provider, file=provider)
        shop.load(track("1", price=5), track("2", price="x"), identify("u"))
        tables = shop.tables
        assert len(tables) == 5
        for name in names:
            every = " UNION ALL ".join(f'SELECT {name} AS stamp FROM "{table}"' for table in sorted(tables))
            ((low, high),) = shop.sql(f"SELECT min(stamp), max(stamp) FROM ({every})")
            assert shop.sql(f"SELECT 1 FROM ({every}) WHERE stamp IS NULL") == []
            unit = "second" if provider == "BQ" else "millisecond"
            assert shop.sql(f"SELECT date_trunc('{unit}', inserted_at) FROM _trellis_loads") == [(low,)]
            assert low == high


def test_c67_r18_r19_r20_r21_r22_r50_r52_r53_the_seed_s_times(shop: Shop) -> None:
    shop.load(
        event("page", "case 1", 0) | {
            "originalTimestamp": "2020-04-26T07:00:43.400Z",
            "sentAt": "2020-04-26T07:00:45.124Z",
            "receivedAt": "2020-04-26T07:00:45.558Z",
        },
        event("page", "case 2", 0) | {
            "originalTimestamp": "2020-04-26T07:00:45.558Z",
            "sentAt": "2020-04-26T07:00:46.124Z",
            "receivedAt": "2020-04-26T07:00:43.400Z",
        },
        event("page", "told", 1, timestamp="2019-09-26T06:30:12.984+05:30", sentAt="2021-01-01"),
    )  # fmt: skip

    def at(second: float) -> datetime:
        return datetime(2020, 4, 26, 7, tzinfo=timezone.utc) + timedelta(seconds=second)

    names = ("id", "original_timestamp", "sent_at", "received_at", "timestamp")
    assert shop.rows("pages", *names) == [
        ("case 1", at(43.4), at(45.124), at(45.558), at(43.834)),
        ("case 2", at(45.558), at(46.124), at(43.4), at(42.834)),
        ("told", moment(1), datetime(2021, 1, 1, tzinfo=timezone.utc), moment(1),
         datetime(2019, 9, 26, 1, 0, 12, 984000, tzinfo=timezone.utc)),
    ]  # fmt: skip


def test_clocks_years_apart(shop: Shop) -> None:
    shop.load(
        event("page", "1", sentAt="1970-01-01T00:00:00Z", originalTimestamp="2090-01-01T00:00:00Z"),
        event("page", "2", sentAt="0001-01-01T00:00:00Z", originalTimestamp="9999-12-31T23:59:59Z"),
        event("page", "3", sentAt="9999-12-31", originalTimestamp="0001-01-01", receivedAt="0001-01-01"),
    )
    timestamps = dict(shop.rows("pages", "id", "timestamp"))
    assert timestamps["1"] == moment(0) + (datetime(2090, 1, 1) - datetime(1970, 1, 1))
    assert timestamps["2"] == moment(0)  # the corrected time is beyond the year 9999
    assert timestamps["3"] == datetime(1, 1, 1, tzinfo=timezone.utc)


def test_c63_c64_c65_odd_timestamps_in_a_column(shop: Shop) -> None:
    """What section 4 accepts goes into a column of timestamps, all else to the discards."""
    shop.load(track("0", t="2024-02-29"))
    accepted = {
        "2023-02-30": datetime(2023, 3, 2),
        "2024-02-29T10:00:00.123456+0530": datetime(2024, 2, 29, 4, 30, 0, 123000),
        "2024-02-29 10:00": datetime(2024, 2, 29, 10),
        "0001-01-01": datetime(1, 1, 1),
        "9999-12-31T23:59:59.999Z": datetime(9999, 12, 31, 23, 59, 59, 999000),
    }
    strings = (
        "2024/02/29", "29 Feb 2024", "20240229", "2024-13-01", "2024-01-01T24:00:00Z", "+2024-01-01",
        "10:20:30",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2024-02-29T10:00:00." + "0" * 40,
    )  # fmt: skip
    shop.load(*(track(f"id of {text}", t=text) for text in (*accepted, *strings)))
    timestamps = dict(shop.rows("sale", "id", "t"))
    assert {text: timestamps[f"id of {text}"] for text in accepted} == {
        text: at.replace(tzinfo=timezone.utc) for text, at in accepted.items()
    }
    assert {row[3] for row in shop.discards} == {*strings}
    assert {row[4] for row in shop.discards} == {"incompatible schema conversion from datetime to string"}


# --- Bad input -------------------------------------------------------------------------------------------


def test_c57_c58_r27_events_that_are_rejected(shop: Shop, tmp_path: Path) -> None:
    wide = track("wide", **{f"p{number}": number for number in range(1600)})
    lines = [
        json.dumps(track("1")),
        json.dumps({**track("2"), "context": "web"}),
        json.dumps({"messageId": "3", "event": "Sale"}),
        json.dumps(wide),
        json.dumps({**wide, "channel": "sources", "messageId": "wide 2"}),
        "[1]",
        "5",
        '"track"',
        '{"type":"track"',
        '{"type":"track","event":"NaN","properties":{"n":NaN}}',
        '{"type":"track","event":"half","properties":{"s":"\\ud800"}}',
        "",
        "   ",
        json.dumps({**track("4"), "context": None}),
        json.dumps({**track("5"), "type": ["track"]}),
        "null",
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join(lines))
    report = shop.load(str(file))
    assert (report.rows.read, report.rows.loaded, report.rows.rejected) == (14, 3, 11)
    assert shop.values("tracks", "id") == ["1", "4", "wide 2"]
    many = "rs transformer: Too many columns outputted from the event"
    assert [(at, why) for at, why in shop.rejects if at < 6] == [
        (2, "context is not a map"),
        (3, 'Unknown event type: ""'),
        (4, many),
    ]
    assert {at for at, _ in shop.rejects} == {2, 3, 4, 6, 7, 8, 9, 10, 11, 15, 16}
    assert len(shop.types("sale")) > 1600


def test_c58_the_limit_is_another_on_other_warehouses(open_shop: Opens) -> None:
    many = {f"p{number}": number for number in range(1590)}
    shop = open_shop("GCS_DATALAKE")
    assert shop.load(track("1", **many, **{f"q{n}": n for n in range(20)})).rows.loaded == 1
    few = open_shop("POSTGRES", file="few", max_columns=20)
    few.load(*(track(str(most), **{f"p{n}": n for n in range(most)}) for most in (11, 12, 13)))
    assert few.values("sale", "id") == ["11", "12"]
    assert len(few.types("sale")) == 20
    assert few.rejects == [(3, "postgres transformer: Too many columns outputted from the event")]


def test_a_lake_s_ceiling_fails_its_table(open_shop: Opens) -> None:
    shop = open_shop("S3_DATALAKE")
    columns = ", ".join(f"c{number} BIGINT" for number in range(9_993))
    shop.sql(f"CREATE TABLE sale (id VARCHAR, {columns})")
    (failure,) = shop.load(track("1", price=5)).failures
    assert (failure.name, failure.rows) == ("sale", 1)
    assert failure.error.startswith("table sale: it would have 10,002 columns, and 10,000 is the most; set")
    assert shop.tables == {"sale", "tracks", "rudder_discards"}


def test_c22_c33_r26_odd_names(shop: Shop) -> None:
    long = "x" * 300
    shop.load(
        track("1", "users", Id="mine", event="e", receivedAt="r", anonymousId="a", price=1),
        track("2", "_", price=2),
        track("3", "日本", price=3),
        track("4", long, **{long: 4}),
        track("5", "rudder_discards", price="x"),
        track("6", "tracks", uuid_ts="x", context_ip="y", **{"日本": 1, "": 2, "__": 3}),
    )
    assert shop.tables == {
        "tracks", "_users", "_", "x" * 127, "_rudder_discards", "_tracks", "rudder_discards",
    }  # fmt: skip
    row = shop.row("_users", "1")
    assert (row["id"], row["event"], row["price"]) == ("1", "users", 1)
    assert "anonymous_id" not in row
    assert shop.rows("x" * 127, "id", "x" * 127) == [("4", 4)]
    assert dict(shop.rows("tracks", "id", "event")) == {
        "1": "users", "2": "_", "3": None, "4": long, "5": "rudder_discards", "6": "tracks",
    }  # fmt: skip
    lost = {(table, path): why for table, _, path, _, why in shop.lost}
    assert lost == {
        ("_users", "properties.Id"): "reserved",
        ("_users", "properties.receivedAt"): "reserved",
        ("_users", "properties.anonymousId"): "reserved",
        ("_users", "properties.event"): "reserved",
        ("tracks", "properties"): "no event table",
        ("_tracks", "properties.uuid_ts"): "reserved",
        ("_tracks", "properties.context_ip"): "reserved",
        ("_tracks", "properties.日本"): "no name",
        ("_tracks", "properties."): "no name",
    }


def test_odd_text(shop: Shop, tmp_path: Path) -> None:
    huge = "é" * 5_000_000
    file = tmp_path / "events.jsonl"
    lines = [
        json.dumps(track("nul", s="a\x00b", **{"k\x00y": 1}), ensure_ascii=True),
        json.dumps(track("huge", s=huge), ensure_ascii=False),
        json.dumps(track("twice", s="one", S="two")).replace('"S"', '"s"'),
        json.dumps(track("quote", s='"; DROP TABLE tracks; --', **{'"; --': "x"})),
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert shop.load(str(file)).rows.loaded == 4
    texts = dict(shop.rows("sale", "id", "s"))
    assert texts == {"nul": "a\x00b", "huge": huge, "twice": "two", "quote": '"; DROP TABLE tracks; --'}
    assert [row[2:] for row in shop.lost] == [
        ("s", "one", "duplicate key"), ('properties."; --', "x", "no name"),
    ]  # fmt: skip
    assert shop.values("sale", "k_y").count(1) == 1


def test_python_values(shop: Shop) -> None:
    shop.load(track("1", n=1))
    lone = track("2", s="\ud800x", n=float("nan"), x=float("inf"), tags={"a"}, day=date(2024, 2, 29))
    assert shop.load(lone, "not an event", None, 5, [lone]).rows.rejected == 4
    sale = shop.row("sale", "2")
    assert (sale["s"], sale["x"], sale["tags"]) == ("?x", float("inf"), '["a"]')
    assert sale["day"] == datetime(2024, 2, 29, tzinfo=timezone.utc)
    assert "n" not in sale
    assert [row[2:] for row in shop.lost] == [("n", "null", "truncated to an integer")]


def test_empty_files_and_no_events(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text("")
    report = shop.load(str(file))
    assert (report.rows.read, report.discards.count, report.rejects.count) == (0, 0, 0)
    assert shop.load().rows.read == 0
    shop.load(track("1"))
    assert shop.load(str(file)).rows.read == 0
    assert shop.values("tracks", "id") == ["1"]


EVENTS = [
    track("1", price=5, seen=True, at2="2024-02-29T10:00:00Z", nested={"a": [1, 2], "b": None}),
    identify("u", 2, plan="gold", age=35),
    event("page", "3", name="Cart", properties={"url": "x"}),
    track("4", price="NA"),
]


def test_the_same_events_from_any_kind_of_file(tmp_path: Path) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in EVENTS)
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "b.json").write_text(json.dumps(EVENTS, indent=1))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    contents = []
    for name in ("a.jsonl", "b.json", "c.jsonl.gz", None):
        shop = Shop(tmp_path / f"{name}.duckdb")
        shop.load(*(EVENTS if name is None else [str(tmp_path / name)]))
        contents.append(shop.content())
    assert contents[0] == contents[1] == contents[2] == contents[3]
    assert contents[0]["rudder_discards"][1][0][:4] == ("4", "sale", "price", "NA")


@pytest.mark.parametrize("kind", ["parquet", "arrow", "pandas"])
def test_typed_sources(shop: Shop, tmp_path: Path, kind: str) -> None:
    at = datetime(2024, 2, 29, 10, 0, 0, 123456, tzinfo=timezone.utc)
    properties = [
        {"price": 5, "rate": 0.5, "at": at, "tags": ["a"]},
        {"price": None, "rate": 1.0, "at": None, "tags": []},
    ]
    table = pa.table(
        {
            "type": ["track", "track"],
            "messageId": ["1", "2"],
            "event": ["Sale", "Sale"],
            "receivedAt": pa.array([at, at], pa.timestamp("us", "UTC")),
            "properties": properties,
            "context": [{"ip": "0.0.0.0"}, {"ip": None}],
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    source: Any = {
        "parquet": str(tmp_path / "events.parquet"), "arrow": table, "pandas": table.to_pandas(),
    }[kind]  # fmt: skip
    report = shop.pipeline.load(source)
    assert (report.rows.loaded, report.discards.count) == (2, 0)
    row = shop.row("sale", "1")
    cut = at.replace(microsecond=123000)
    assert (row["price"], row["rate"], row["at"], row["tags"]) == (5, 0.5, cut, '["a"]')
    assert row["received_at"] == cut
    assert shop.rows("sale", "id", "price", "context_ip")[1] == ("2", None, None)


def test_a_spark_job_loads_what_this_process_loads(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "events.jsonl"
    events = [
        track(f"t{n}", f"Event {n % 3}", n, price=n if n % 50 else "NA", **{f"p{n // 100}": n})
        for n in range(300)
    ]
    events += [identify(f"u{n % 7}", n, plan=f"p{n}", age=n if n % 30 else "?") for n in range(300)]
    file.write_text("".join(json.dumps(record) + "\n" for record in events) + "{\n")
    outcomes = []
    runners: tuple[Runner, ...] = (SparkRunner(), InlineRunner())
    for runner in runners:
        shop = Shop(
            tmp_path / f"{type(runner).__name__}.duckdb", "SNOWFLAKE", jsonPaths="p1", max_properties=3
        )
        monkeypatch.setattr(
            "trellis.pipelines.records.FileRecords",
            lambda files, *_, runner=runner: FileRecords(files, runner, split_size=20_000),
        )
        report = shop.load(str(file))
        outcomes.append((shop.content("UUID_TS"), report.rows, report.discards, report.rejects))
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0][0]["USERS"][1]) == 7


def test_a_table_cannot_be_named(shop: Shop) -> None:
    with pytest.raises(UsageError, match="the dialect rudderstack names the tables itself"):
        shop.load(track("1"), table="sale")
    with pytest.raises(UsageError, match="keys: tables of events have theirs from the dialect rudderstack"):
        shop.load(track("1"), keys=("id",))
