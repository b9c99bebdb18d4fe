"""Every value comes out of PostgreSQL as it went in, or the load says why not."""

from __future__ import annotations

import json
import math
import struct
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destinations.postgres_loads import commit_of, staged
from destinations.postgres_server import Server
from trellis.destinations import open_destination
from trellis.errors import SchemaError
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog.databases import POSTGRES

TEXT = st.text(max_size=30) | st.sampled_from(["", "NULL", "\\N", "\\.", '"', 'a"b,c\r\n', "x\0y", " "])
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
JSON = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
MOMENT = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999))
UTC_MOMENT = MOMENT.map(lambda at: at.replace(tzinfo=timezone.utc))
NASTY_FLOATS = st.sampled_from([5e-324, 1.7976931348623157e308, -0.0, 0.1, 1e22])


def integers(digits: int) -> st.SearchStrategy[int]:
    return st.integers(-(10**digits) + 1, 10**digits - 1)


def bits(width: int) -> st.SearchStrategy[int]:
    least, most = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    return st.integers(least, most) | st.sampled_from([least, most])


VALUES: list[tuple[Column, st.SearchStrategy[Any]]] = [
    (Column("te,xt \"'%", "text"), TEXT),
    (Column("bigint", "bigint"), bits(64)),
    (Column("short", "bigint", precision=16), bits(16)),
    (Column("double", "double"), st.floats() | NASTY_FLOATS),
    (Column("bool", "bool"), st.booleans()),
    (Column("decimal", "decimal"), integers(38).map(lambda n: Decimal(f"{n}E-9"))),
    (Column("wide", "decimal", precision=60, scale=2), integers(60).map(lambda n: Decimal(f"{n}E-2"))),
    (Column("wei", "wei"), integers(38).map(Decimal)),
    (Column("timestamp", "timestamp"), UTC_MOMENT),
    (Column("seconds", "timestamp", precision=0), UTC_MOMENT.map(lambda at: at.replace(microsecond=0))),
    (Column("naive", "timestamp", timezone=False), MOMENT),
    (Column("date", "date"), st.dates()),
    (Column("time", "time"), st.times()),
    (Column("binary", "binary"), st.binary(max_size=20)),
    (Column("json", "json"), JSON.map(json.dumps)),
]
COLUMNS = [column for column, _ in VALUES]
TABLE = Table("t", {column.name: column for column in COLUMNS})
ROWS = st.lists(
    st.fixed_dictionaries({column.name: st.none() | values for column, values in VALUES}),
    min_size=1,
    max_size=12,
)
"""What each type can hold, and nothing."""


def comparable(column: Column, value: Any) -> Any:
    """The value as it is compared: numbers bit by bit, but one NaN; what PostgreSQL cannot hold replaced."""
    if column.data_type == "double" and value is not None:
        return "NaN" if math.isnan(value) else struct.pack(">d", float(value))
    if column.data_type == "json" and value is not None:
        return without_nul(json.loads(value, parse_int=Decimal, parse_float=Decimal))
    return without_nul(value)


def without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, list):
        return [without_nul(member) for member in value]
    if isinstance(value, dict):
        return {without_nul(key): without_nul(member) for key, member in value.items()}
    return value


@pytest.mark.parametrize("native", [{}, {"double": "numeric", "text": "text", "json": "jsonb"}])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_round_trip(postgres: Server, database: str, tmp_path: Path, native: Any, rows: Any) -> None:
    if native:  # a number without bounds knows no -0.0, and one NaN
        unknown = ("-0.0", "nan", "-nan")
        rows = [{**row, "double": None if repr(row["double"]) in unknown else row["double"]} for row in rows]
    destination = open_destination(postgres.url(database))
    postgres.run("DROP TABLE IF EXISTS t", database=database)
    destination.commit(commit_of({"t": staged(tmp_path, TABLE, rows)}, TABLE, native=native))
    stored = destination.query("public", "t")
    for column in COLUMNS:
        values = [comparable(column, row[column.name]) for row in stored]
        assert values == [comparable(column, row[column.name]) for row in rows]


FAR = Table("far", {"day": Column("day", "date"), "at": Column("at", "timestamp")})
FIRST_DAY, LAST_DAY = -2440588, 2145042905
"""4714-11-24 BC and 5874897-12-31, the first and the last that PostgreSQL knows."""
FIRST_TICK, LAST_TICK = FIRST_DAY * 86400 * 10**6, 2**63 - 1


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    days=st.lists(st.integers(FIRST_DAY, LAST_DAY) | st.sampled_from([-719163, -719162, 2932896, 2932897])),
    ticks=st.lists(st.integers(FIRST_TICK, LAST_TICK)),
)
def test_far_days(postgres: Server, database: str, tmp_path: Path, days: list[int], ticks: list[int]) -> None:
    """Days and microseconds since 1970, before Christ and after the year 9999."""
    rows = max(len(days), len(ticks), 1)
    arrays = [
        pa.array(days + [None] * (rows - len(days)), pa.int32()).cast(pa.date32()),
        pa.array(ticks + [None] * (rows - len(ticks)), pa.int64()).cast(pa.timestamp("us", "UTC")),
    ]
    table = pa.Table.from_arrays(arrays, names=["day", "at"])
    postgres.run("DROP TABLE IF EXISTS far", database=database)
    destination = open_destination(postgres.url(database))
    destination.commit(commit_of({"far": staged(tmp_path, FAR, table)}, FAR))
    second = "extract(epoch FROM date_trunc('second', at))::bigint * 1000000"  # exact however far away
    tick = f"{second} + extract(microseconds FROM at)::bigint % 1000000"
    stored = postgres.run(f"SELECT day - date '1970-01-01', {tick} FROM far", database=database)
    assert [day for day, _ in stored if day is not None] == days
    assert [tick for _, tick in stored if tick is not None] == ticks
    assert len(destination.query("public", "far")) == rows


@pytest.mark.parametrize("day", [FIRST_DAY - 1, LAST_DAY + 1])
def test_days_beyond(postgres: Server, database: str, tmp_path: Path, day: int) -> None:
    table = pa.table({"day": pa.array([day], pa.int32()).cast(pa.date32())})
    destination = open_destination(postgres.url(database))
    with pytest.raises(SchemaError, match=r"table far, column day: PostgreSQL does not take a value .*range"):
        destination.commit(commit_of({"far": staged(tmp_path, FAR, table)}, FAR))
    assert dict(destination.row_counts("public")) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'["\\u0000", "\u0000", "a\u0000b"]', ["\\u0000", "\ufffd", "a\ufffdb"]),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (
            r'["\ud83d", "\ud83dx", "\ude00\ud83d", "\uD83D\uDE00"]',
            ["\ufffd", "\ufffdx", "\ufffd" * 2, "\U0001f600"],
        ),
        (r'{"\u0000": 1, "\n": 2}', {"\ufffd": 1, "\n": 2}),
        ('"\0"', "\ufffd"),
    ],
)
def test_json_that_cannot_be_kept(
    postgres: Server, database: str, tmp_path: Path, text: str, expected: Any
) -> None:
    table = Table("t", {"v": Column("v", "json"), "t": Column("t", "text")})
    destination = open_destination(postgres.url(database))
    destination.commit(commit_of({"t": staged(tmp_path, table, [{"v": text, "t": text}])}, table))
    (row,) = destination.query("public", "t")
    assert row["t"] == text.replace("\0", "\ufffd")
    assert json.loads(row["v"]) == expected


TYPES = [
    (Column("c", "text"), "varchar", "text"),
    (Column("c", "text", precision=5), "varchar(5)", "text"),
    (Column("c", "double"), "double precision", "double"),
    (Column("c", "bool"), "boolean", "bool"),
    (Column("c", "bigint", precision=8), "smallint", "bigint"),
    (Column("c", "bigint", precision=16), "smallint", "bigint"),
    (Column("c", "bigint", precision=32), "integer", "bigint"),
    (Column("c", "bigint"), "bigint", "bigint"),
    (Column("c", "timestamp"), "timestamp with time zone", "timestamp"),
    (Column("c", "timestamp", precision=3), "timestamp(3) with time zone", "timestamp"),
    (Column("c", "timestamp", precision=0, timezone=False), "timestamp(0) without time zone", "timestamp"),
    (Column("c", "date"), "date", "date"),
    (Column("c", "time"), "time", "time"),
    (Column("c", "time", precision=3), "time(3)", "time"),
    (Column("c", "binary"), "bytea", "binary"),
    (Column("c", "json"), "jsonb", "json"),
    (Column("c", "decimal"), "numeric(38,9)", "decimal"),
    (Column("c", "decimal", precision=10, scale=2), "numeric(10,2)", "decimal"),
    (Column("c", "wei"), "numeric(156,78)", "decimal"),
]


def test_types_there_and_back(postgres: Server, database: str) -> None:
    destination = open_destination(postgres.url(database))
    for number, (column, type_, _) in enumerate(TYPES):
        assert POSTGRES.type_of(column) == type_
        postgres.run(f"CREATE TABLE t{number} (c {type_})", database=database)
    others = {
        "integer": "bigint", "smallint": "bigint", "numeric": "double", "real": "double", "text": "text",
        "char(3)": "text", "json": "json", "uuid": None, "text[]": None, "interval": None, "xml": None,
        "timetz": None, "inet": None,
    }  # fmt: skip
    columns = ", ".join(f'"{name}" {name}' for name in others)
    postgres.run(
        f"CREATE TABLE others ({columns}, computed bigint GENERATED ALWAYS AS (1) STORED, "
        "number bigint GENERATED ALWAYS AS IDENTITY, free bigint GENERATED BY DEFAULT AS IDENTITY)",
        "CREATE VIEW seen AS SELECT integer FROM others",
        "CREATE TABLE nothing ()",
        database=database,
    )
    catalog = destination.catalog("public")
    for number, (_, _, data_type) in enumerate(TYPES):
        assert dict(catalog[f"t{number}"].types) == {"c": data_type}
    assert dict(catalog["others"].types) == {**others, "computed": None, "number": None, "free": "bigint"}
    assert catalog["others"].columns["char(3)"] == "character(3)"
    assert [name for name, table in catalog.items() if table.is_view] == ["seen"]
    assert dict(catalog["nothing"].columns) == {}
    assert "seen" not in destination.row_counts("public")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (Column("c", "timestamp", precision=9), "PostgreSQL has no timestamp of precision 9; 6 is the most"),
        (Column("c", "time", precision=7), "PostgreSQL has no time of precision 7; 6 is the most"),
        (Column("c", "bigint", precision=128), "PostgreSQL has no bigint of precision 128; 64 is the most"),
    ],
)
def test_types_that_are_not_there(column: Column, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        POSTGRES.type_of(column)
