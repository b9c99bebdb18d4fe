"""The strategy scd2, in every destination: rows W19 to W24, and what lies around them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destinations.commits import Warehouse, table
from destinations.conftest import merging
from destinations.postgres_server import Server
from trellis.destinations.base import History, TableTreeWrite
from trellis.errors import SchemaError
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import Strategy
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import Column, Schema, Table

RowsOf = Callable[..., list[dict[str, Any]]]
Rows = list[dict[str, Any]]
FROM, TO = "_dlt_valid_from", "_dlt_valid_to"
BEGINS, ENDS = Column(FROM, "timestamp"), Column(TO, "timestamp")
D1, D2, D3, D4 = DAYS = [datetime(2026, 1, day, tzinfo=timezone.utc) for day in (1, 2, 3, 4)]
FOREVER = datetime(9999, 12, 31, tzinfo=timezone.utc)


def told(
    at: datetime,
    valid_from: Column = BEGINS,
    valid_to: Column = ENDS,
    until: datetime | None = None,
    **more: Column,
) -> Schema:
    """A table `t` with scd2, as a user declares it who says when the load happens."""
    columns = (
        valid_from.with_hints(**{"x-valid-from": True}),
        valid_to.with_hints(
            **{"x-valid-to": True, **({"x-active-record-timestamp": until.isoformat()} if until else {})}
        ),
        *more.values(),
    )
    hints = {
        "write_disposition": "merge",
        "x-merge-strategy": "scd2",
        "x-boundary-timestamp": at.isoformat(),
    }
    return Schema("shop", {"t": Table("t", {c.name: c for c in columns}, hints=hints)})


def load(shop: Pipeline, at: datetime, rows: Rows, **options: Any) -> None:
    declared = options.pop("schema", None) or told(at)
    assert shop.load(rows, table="t", schema=declared, **options).balanced


def spans(shop: Pipeline, *columns: str, valid: Sequence[str] = (FROM, TO)) -> list[tuple[Any, ...]]:
    """Columns of the rows, and from when until when they are valid: their number in DAYS."""
    days: dict[datetime | None, str] = {None: "-", FOREVER: "forever"}
    days.update({day: f"d{number}" for number, day in enumerate(DAYS, 1)})
    rows = shop.destination.query(shop.dataset, "t")
    versions = ((*(row[c] for c in columns), *(days[row[name]] for name in valid)) for row in rows)
    return sorted(versions, key=repr)


@merging
def test_w19_versions(shop: Pipeline) -> None:
    one, new, two = {"nk": 1, "c": "a"}, {"nk": 1, "c": "aa"}, {"nk": 2, "c": "b"}
    load(shop, D1, [one, two])
    load(shop, D2, [new, two])
    load(shop, D3, [new])
    load(shop, D4, [new, two])
    assert spans(shop, "nk", "c") == [
        (1, "a", "d1", "d2"),
        (1, "aa", "d2", "-"),
        (2, "b", "d1", "d3"),
        (2, "b", "d4", "-"),
    ]


@merging
def test_w20_natural_key_as_merge_key(shop: Pipeline) -> None:
    keys: Any = {"merge_keys": ("nk",)}
    load(shop, D1, [{"nk": 1, "c": "a"}, {"nk": 2, "c": "b"}], **keys)
    load(shop, D2, [{"nk": 1, "c": "aa"}], **keys)
    assert spans(shop, "nk", "c") == [(1, "a", "d1", "d2"), (1, "aa", "d2", "-"), (2, "b", "d1", "-")]


@merging
def test_w21_partition_as_merge_key(shop: Pipeline) -> None:
    keys: Any = {"merge_keys": ("part",)}
    load(shop, D1, [{"part": "x", "c": "a"}, {"part": "x", "c": "b"}], **keys)
    load(shop, D2, [{"part": "y", "c": "c"}], **keys)
    load(shop, D3, [{"part": "x", "c": "a"}, {"part": "x", "c": "bb"}], **keys)
    assert spans(shop, "part", "c") == [
        ("x", "a", "d1", "-"),
        ("x", "b", "d1", "d3"),
        ("x", "bb", "d3", "-"),
        ("y", "c", "d2", "-"),
    ]


@merging
def test_w22_active_timestamp_and_names(shop: Pipeline) -> None:
    begins, ends = Column("begins", "timestamp"), Column("ends", "timestamp")
    for at, value in ((D1, "a"), (D2, "aa"), (D3, "aa")):
        load(shop, at, [{"nk": 1, "c": value}], schema=told(at, begins, ends, FOREVER))
    assert spans(shop, "c", valid=("begins", "ends")) == [("a", "d1", "d2"), ("aa", "d2", "forever")]
    assert not {FROM, TO} & {*shop.destination.catalog(shop.dataset)["t"].columns}


@merging
def test_w23_own_version_column(shop: Pipeline, rows_of: RowsOf) -> None:
    version = Column("h", "text", nullable=False).with_hints(**{"x-row-version": True})
    first = {"nk": 1, "c": "a", "h": "v1", "k": [1]}
    second, third = {"nk": 1, "c": "b", "h": "v1", "k": [2]}, {"nk": 1, "c": "c", "h": "v2", "k": [3]}
    for at, row in zip(DAYS, (first, second, third), strict=False):
        load(shop, at, [row], schema=told(at, h=version))
    assert spans(shop, "c", "h") == [("a", "v1", "d1", "d3"), ("c", "v2", "d3", "-")]
    assert rows_of(shop, "t__k", "value") == [{"value": 1}, {"value": 3}]
    rows = shop.destination.query(shop.dataset, "t")
    assert len({row["_dlt_id"] for row in rows}) == 2


@merging
def test_w24_null_is_another_version(shop: Pipeline) -> None:
    for at, row in zip(DAYS, ({"nk": 1}, {"nk": 1, "z": None}, {"nk": 1, "z": 2}), strict=False):
        load(shop, at, [row])
    assert spans(shop, "z") == [
        (2, "d3", "-"),
        (None, "d1", "d2"),
        (None, "d2", "d3"),
    ]


@merging
def test_time_of_the_load_if_nothing_is_said(shop: Pipeline) -> None:
    before = datetime.now(timezone.utc) - timedelta(seconds=1)
    for value in ("a", "b"):
        shop.load([{"nk": 1, "c": value}], table="t", mode="merge", strategy="scd2")
    old, new = sorted(shop.destination.query(shop.dataset, "t"), key=lambda row: row["c"])
    assert before < old[FROM] < old[TO] == new[FROM]
    assert new[TO] is None


@merging
def test_nested_tables_over_three_loads(shop: Pipeline) -> None:
    one = {"nk": 1, "k": [{"a": 1, "g": [1, 2]}, {"a": 2}]}
    changed = {"nk": 1, "k": [{"a": 1, "g": [1]}, {"a": 3, "g": [3]}]}
    two = {"nk": 2, "k": [{"a": 9}]}
    for at, rows in ((D1, [one, two]), (D2, [changed, two]), (D3, [one, two])):
        load(shop, at, rows)
    assert spans(shop, "nk") == [(1, "d1", "d2"), (1, "d2", "d3"), (1, "d3", "-"), (2, "d1", "-")]
    # a change inside makes another version, and the version that comes back has its nested rows already
    assert joined(shop) == [
        (1, "d1", 1, (1, 2)),
        (1, "d1", 2, ()),
        (1, "d2", 1, (1,)),
        (1, "d2", 3, (3,)),
        (1, "d3", 1, (1, 2)),
        (1, "d3", 2, ()),
        (2, "d1", 9, ()),
    ]
    counts = shop.destination.row_counts(shop.dataset)
    assert (counts["t__k"], counts["t__k__g"]) == (5, 4)


def joined(shop: Pipeline) -> list[tuple[Any, ...]]:
    """Each row with each of its nested rows: key, since when, value, the values two levels below."""
    roots, nested, below = (shop.destination.query(shop.dataset, name) for name in ("t", "t__k", "t__k__g"))
    days = {day: f"d{number}" for number, day in enumerate(DAYS, 1)}
    return sorted(
        (
            row["nk"],
            days[row[FROM]],
            nested_row["a"],
            tuple(sorted(g["value"] for g in below if g["_dlt_parent_id"] == nested_row["_dlt_id"])),
        )
        for row in roots
        for nested_row in nested
        if nested_row["_dlt_parent_id"] == row["_dlt_id"]
    )


@merging
def test_same_row_twice_in_a_load(shop: Pipeline) -> None:
    load(shop, D1, [{"nk": 1}, {"nk": 1}, {"nk": 2}])
    load(shop, D2, [{"nk": 1}])
    assert spans(shop, "nk") == [(1, "d1", "-"), (1, "d1", "-"), (2, "d1", "d2")]
    load(shop, D3, [{"nk": 2}, {"nk": 2}])
    assert spans(shop, "nk") == [
        (1, "d1", "d3"),
        (1, "d1", "d3"),
        (2, "d1", "d2"),
        (2, "d3", "-"),
        (2, "d3", "-"),
    ]


@merging
def test_load_without_rows_ends_nothing(shop: Pipeline) -> None:
    load(shop, D1, [{"nk": 1}])
    load(shop, D2, [])
    assert spans(shop, "nk") == [(1, "d1", "-")]


@merging
def test_same_load_again(shop: Pipeline) -> None:
    load(shop, D1, [{"nk": 1}])
    for _ in range(2):
        load(shop, D2, [{"nk": 2}], load_id="1700000000.5")
    assert spans(shop, "nk") == [(1, "d1", "d2"), (2, "d2", "-")]


@merging
def test_compound_merge_key_with_null(shop: Pipeline) -> None:
    """A row with NULL in its merge key is like no staged row, so its time does not end."""
    keys: Any = {"merge_keys": ("a", "b"), "columns": (Column("b", "text", nullable=True),)}
    rows = [{"a": 1, "b": "x", "c": 1}, {"a": 1, "b": "y", "c": 2}, {"a": 1, "b": None, "c": 3}]
    load(shop, D1, rows, **keys)
    load(
        shop,
        D2,
        [{"a": 1, "b": "x", "c": 4}, {"a": 2, "b": "y", "c": 5}, {"a": 1, "b": None, "c": 6}],
        **keys,
    )
    assert spans(shop, "c") == [
        (1, "d1", "d2"),
        (2, "d1", "-"),
        (3, "d1", "-"),
        (4, "d2", "-"),
        (5, "d2", "-"),
        (6, "d2", "-"),
    ]


@merging
@pytest.mark.parametrize("precision", [0, 3])
@pytest.mark.parametrize("timezone_", [None, False])
def test_validity_columns_of_another_type(shop: Pipeline, precision: int, timezone_: bool | None) -> None:
    kind: Any = {"data_type": "timestamp", "precision": precision, "timezone": timezone_}
    until = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)
    at = [day.replace(microsecond=123_456) for day in DAYS]
    for day, value in zip(at, ("a", "b", "b"), strict=False):
        columns = Column("begins", **kind), Column("ends", **kind)
        load(shop, day, [{"c": value}], schema=told(day, *columns, until))
    digits = 0 if precision == 0 else 123_000
    rows = sorted(shop.destination.query(shop.dataset, "t"), key=lambda row: row["c"])
    versions = [
        (row["c"], row["begins"].replace(tzinfo=None), row["ends"].replace(tzinfo=None)) for row in rows
    ]
    one, two = (day.replace(tzinfo=None, microsecond=digits) for day in DAYS[:2])
    last = until.replace(tzinfo=None, microsecond=0 if precision == 0 else 999_000)
    assert versions == [("a", one, two), ("b", two, last)]
    assert (rows[0]["begins"].tzinfo is None) == (timezone_ is False)


@merging
def test_from_append_to_versions(shop: Pipeline) -> None:
    """Rows that were there before are active, and end as soon as they are not brought any more."""
    shop.load([{"nk": 1}, {"nk": 2}], table="t")
    load(shop, D2, [{"nk": 2}])
    assert spans(shop, "nk") == [(1, "-", "d2"), (2, "-", "d2"), (2, "d2", "-")]


@merging
def test_validity_that_comes_with_the_data_is_not_taken(shop: Pipeline) -> None:
    columns = (Column("begins", "timestamp"), Column("ends", "timestamp"))
    row = {"nk": 1, "begins": "1999-01-01T00:00:00Z", "ends": "1999-01-01T00:00:00Z"}
    load(shop, D1, [row], schema=told(D1, *columns))
    assert spans(shop, "nk", valid=("begins", "ends")) == [(1, "d1", "-")]


@merging
def test_version_column_without_values(shop: Pipeline) -> None:
    version = Column("h").with_hints(**{"x-row-version": True})
    with pytest.raises(SchemaError, match="scd2 distinguishes versions by the column h, which has no"):
        load(shop, D1, [{"nk": 1}], schema=told(D1, h=version))


@merging
def test_validity_column_that_is_no_time(shop: Pipeline) -> None:
    with pytest.raises(SchemaError, match="table t, column ends: scd2 keeps a time in it"):
        load(shop, D1, [{"nk": 1}], schema=told(D1, valid_to=Column("ends", "text")))


RECORD = st.fixed_dictionaries(
    {"nk": st.integers(0, 3), "part": st.none() | st.integers(0, 1), "c": st.integers(0, 2)},
    optional={"k": st.lists(st.integers(0, 2), max_size=2)},
)


def expected(now: Rows, coming: Rows, at: datetime, by_part: bool) -> Rows:
    """Section 14 of the spec in Python. A row of `now` has its record, `from` and `to`."""
    if not coming:
        return now
    brought = [row["record"] for row in coming]
    parts = {row["part"] for row in brought if row["part"] is not None}
    active = [row for row in now if row["to"] is None]
    come = [row for row in coming if row["record"] not in [active_row["record"] for active_row in active]]
    ended = [
        {**row, "to": at}
        if row["to"] is None
        and row["record"] not in brought
        and (not by_part or row["record"]["part"] in parts)
        else row
        for row in now
    ]
    return ended + [{**row, "from": at, "to": None} for row in come]


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.booleans(), st.lists(st.lists(RECORD, max_size=5), min_size=1, max_size=3))
def test_any_sequence_of_loads(postgres: Server, database: str, by_part: bool, loads: list[Rows]) -> None:
    seed = [{"nk": 99, "part": 9, "c": 0, "k": [1]}]
    options: Any = {"columns": (Column("part", "bigint", nullable=True),)}
    if by_part:
        options["merge_keys"] = ("part",)
    with tempfile.TemporaryDirectory() as folder:
        for url in (f"duckdb:{folder}/shop.duckdb", postgres.url(database)):
            # one name for each example, as all of them share the one database
            pipe, now = pipeline("shop", to=url, dataset=f"d{secrets.token_hex(4)}"), list[dict[str, Any]]()
            for number, rows in enumerate((seed, *loads)):
                at = D1 + timedelta(days=number)
                load(pipe, at, rows, **options)
                now = expected(now, [{"record": row} for row in rows], at, by_part)
            stored = pipe.destination.query(pipe.dataset, "t")
            nested: dict[str, set[tuple[int, int]]] = {}
            for row in pipe.destination.query(pipe.dataset, "t__k"):
                nested.setdefault(row["_dlt_parent_id"], set()).add((row["_dlt_list_idx"], row["value"]))
            versions = [
                (row["nk"], row["part"], row["c"], sorted(nested.get(row["_dlt_id"], ())), row[FROM], row[TO])
                for row in stored
            ]
            model = [
                (r["nk"], r["part"], r["c"], list(enumerate(r.get("k", ()))), row["from"], row["to"])
                for row in now
                for r in (row["record"],)
            ]
            assert shown(versions) == shown(model), url
            assert set(nested) <= {row["_dlt_id"] for row in stored}, url


def shown(rows: list[tuple[Any, ...]]) -> list[str]:
    """The rows in an order of their own, with times as text."""
    times = ([str(cell) if isinstance(cell, datetime) else cell for cell in row] for row in rows)
    return sorted(map(repr, times))


@merging
def test_with_root_keys(shop: Pipeline) -> None:
    """Then nested rows know their root, and follow it from there."""
    normalizers = {"json": {"config": {"root_key_propagation": True}}}
    one, two = {"nk": 1, "k": [{"a": 1, "g": [1]}]}, {"nk": 2, "k": [{"a": 2}]}
    for at, rows in ((D1, [one]), (D2, [two]), (D3, [one])):
        load(shop, at, rows, schema=replace(told(at), normalizers=normalizers))
    assert joined(shop) == [(1, "d1", 1, (1,)), (1, "d3", 1, (1,)), (2, "d2", 2, ())]
    ids = {row["_dlt_id"] for row in shop.destination.query(shop.dataset, "t")}
    for name in ("t__k", "t__k__g"):
        assert {row["_dlt_root_id"] for row in shop.destination.query(shop.dataset, name)} <= ids


@merging
@pytest.mark.parametrize("strategy", ["delete-insert", "upsert", "insert-only", "scd2"])
def test_rows_in_nested_tables_only(destination_url: str, tmp_path: Path, strategy: Strategy) -> None:
    """A load made by hand: nested rows without any root row, or none at all, change nothing."""
    warehouse = Warehouse(destination_url, tmp_path)
    root = Table(
        "t",
        {
            "id": Column("id", "bigint").with_hints(primary_key=True),
            "row": Column("row", "text"),
            "begins": Column("begins", "timestamp"),
            "ends": Column("ends", "timestamp"),
        },
    )
    below = replace(table("t__k", value="bigint", parent="text", row="text"), parent="t")
    history = History("row", "begins", "ends", D1) if strategy == "scd2" else None
    more: Any = {
        "chains": (TableTreeWrite("t", "merge", strategy, history),),
        "keys": {"t": RowKeys("row"), "t__k": RowKeys("row", parent_id="parent")},
    }
    nested = [{"value": 1, "parent": "r1", "row": "k1"}]
    warehouse.run([root, below], {"t": [[{"id": 1, "row": "r1"}]], "t__k": [nested]}, **more)
    warehouse.run([root, below], {"t__k": [[{"value": 2, "parent": "r1", "row": "k2"}]]}, **more)
    warehouse.run([root, below], {"t": [[]], "t__k": [[]]}, **more)
    warehouse.run([root, below], {}, **more)
    assert warehouse.rows("t", "id", "ends") == [(1, None)]
    assert warehouse.rows("t__k", "value") == [(1,)]
