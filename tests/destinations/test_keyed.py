"""Loads in which rows of equal keys are one, in every destination that changes rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from destinations.commits import Row, Warehouse, table
from destinations.conftest import merging
from trellis.destinations.base import RowChanges
from trellis.destinations.sql.keyed import EngineSyntax, KeyedStatements
from trellis.engine.staging.stage import StagedFile
from trellis.evolution.table_writes import KeyedWrite, OnMatch
from trellis.schema.model import Column, Table

USERS = table("users", id="text", at="bigint", plan="text", city="text")


@pytest.fixture
def warehouse(destination_url: str, tmp_path: Path) -> Warehouse:
    return Warehouse(destination_url, tmp_path)


def load(on_match: OnMatch, *keys: str, latest: str | None = "at") -> KeyedWrite:
    return KeyedWrite("users", keys or ("id",), latest, on_match)


def user(id: str | None, at: int | None, plan: str | None = None, city: str | None = None) -> Row:
    return {"id": id, "at": at, "plan": plan, "city": city}


# --- Within one load -------------------------------------------------------------------------------------


@merging
@pytest.mark.parametrize("on_match", ["replace", "keep", "append"])
def test_c77_the_latest_row_of_a_load_stays(warehouse: Warehouse, on_match: OnMatch) -> None:
    rows = [user("a", 1, "old"), user("a", 3, "new"), user("a", 2, "mid"), user("b", 1, "only")]
    warehouse.commit(load(on_match), rows, USERS)
    assert warehouse.rows("users") == [("a", 3, "new", None), ("b", 1, "only", None)]


@merging
@pytest.mark.parametrize(
    ("times", "chosen"),
    [((5, 5), 1), ((None, None), 1), ((5, None), 0), ((None, 5), 1), ((2, 1), 0)],
    ids=["equal", "none", "none last", "none first", "earlier last"],
)
@pytest.mark.parametrize("on_match", ["replace", "keep", "append"])
def test_ties_and_missing_times(
    warehouse: Warehouse, on_match: OnMatch, times: Sequence[int | None], chosen: int
) -> None:
    rows = [user("a", at, f"row {number}") for number, at in enumerate(times)]
    warehouse.commit(load(on_match), rows, USERS)
    assert warehouse.rows("users", "plan") == [(f"row {chosen}",)]


@merging
@pytest.mark.parametrize("on_match", ["replace", "keep", "append", "coalesce_latest"])
def test_the_last_file_is_last(warehouse: Warehouse, on_match: OnMatch) -> None:
    files = [[user("a", 1, f"file {number}")] for number in range(12)]
    warehouse.run([USERS], {"users": files}, keyed=(load(on_match),))
    assert warehouse.rows("users", "plan") == [("file 11",)]


@merging
def test_the_first_row_of_a_key_stays(warehouse: Warehouse) -> None:
    first = load("first", latest=None)
    warehouse.commit(first, [user("a", 1, "one"), user("a", 2, "two"), user("b", 1, "only")], USERS)
    warehouse.commit(first, [user("c", 1, "one"), user("c", 2, "two"), user("a", 9, "late")], USERS)
    assert warehouse.rows("users", "id", "plan") == [("a", "one"), ("b", "only"), ("c", "one")]


@merging
def test_without_a_time_the_last_row_stays(warehouse: Warehouse) -> None:
    rows = [user("a", 9, "first"), user("a", 1, "second")]
    warehouse.commit(load("replace", latest=None), rows, USERS)
    assert warehouse.rows("users", "plan") == [("second",)]


@merging
@pytest.mark.parametrize("on_match", ["replace", "keep", "coalesce_latest", "append"])
def test_rows_without_a_whole_key_are_all_loaded(warehouse: Warehouse, on_match: OnMatch) -> None:
    rows = [user(None, 1, "x"), user(None, 1, "x"), user("a", 1, None), user("a", 1, "y")]
    for _ in range(2):
        warehouse.commit(load(on_match, "id", "plan"), rows, USERS)
    twice = 2 if on_match == "append" else 1
    expected = [("a", "y")] * twice + [("a", None)] * 2 + [(None, "x")] * 4
    assert warehouse.rows("users", "id", "plan") == expected


@merging
@pytest.mark.parametrize("on_match", ["replace", "newer", "coalesce_latest"])
def test_rows_without_a_key_are_left_out_where_they_need_one(warehouse: Warehouse, on_match: OnMatch) -> None:
    keyed = KeyedWrite("users", ("id",), "at", on_match, needs_keys=True)
    warehouse.commit(keyed, [user(None, 1, "x"), user("a", 1, "y"), user("a", 2, "z")], USERS)
    warehouse.commit(keyed, [{"at": 3, "plan": "no row has the key"}], USERS)
    assert warehouse.rows("users", "id", "plan") == [("a", "z")]


@merging
@pytest.mark.parametrize("on_match", ["replace", "keep", "coalesce_latest", "append"])
@pytest.mark.parametrize("keys", [(), ("id",)])
def test_without_keys_all_rows_are_loaded(
    warehouse: Warehouse, on_match: OnMatch, keys: tuple[str, ...]
) -> None:
    """A key that no row has is no key."""
    rows = [{"at": 1, "plan": "x"}] * 2
    for _ in range(2):
        warehouse.commit(KeyedWrite("users", keys, "at", on_match), rows, USERS)
    assert warehouse.rows("users") == [(None, 1, "x", None)] * 4


@merging
def test_a_load_of_nothing(warehouse: Warehouse) -> None:
    warehouse.commit(load("replace"), [user("a", 1)], USERS)
    warehouse.run([USERS], {}, keyed=(load("replace"),))
    warehouse.run([USERS], {"users": [[]]}, keyed=(load("replace"),))
    assert warehouse.rows("users", "id") == [("a",)]


# --- Over several loads ----------------------------------------------------------------------------------


@merging
@pytest.mark.parametrize(
    ("on_match", "expected"),
    [
        ("replace", [("a", 1, None, "Rome"), ("b", 5, "free", "Bern"), ("c", 1, "new", None)]),
        ("keep", [("a", 5, "free", "Oslo"), ("b", 5, "free", "Bern"), ("c", 1, "new", None)]),
        ("coalesce_latest", [("a", 5, "free", "Oslo"), ("b", 5, "free", "Bern"), ("c", 1, "new", None)]),
        ("coalesce_matched_only", [("a", 5, "free", "Oslo"), ("b", 5, "free", "Bern")]),
        (
            "append",
            [
                ("a", 1, None, "Rome"),
                ("a", 5, "free", "Oslo"),
                ("b", 5, "free", "Bern"),
                ("c", 1, "new", None),
            ],
        ),
    ],
)
def test_c77_a_key_that_is_there(warehouse: Warehouse, on_match: OnMatch, expected: list[Any]) -> None:
    """PostgreSQL replaces the row, Snowflake keeps it; a user is filled."""
    first = [user("a", 5, "free", "Oslo"), user("b", 5, "free", "Bern")]
    warehouse.commit(load("append"), first, USERS)
    warehouse.commit(load(on_match), [user("a", 1, None, "Rome"), user("c", 1, "new")], USERS)
    assert warehouse.rows("users") == expected


@merging
def test_c76_a_user_is_filled(warehouse: Warehouse) -> None:
    warehouse.commit(load("coalesce_latest"), [user("u", 1, "a", "b")], USERS)
    warehouse.commit(load("coalesce_latest"), [user("u", 2, "c")], USERS)
    assert warehouse.rows("users") == [("u", 2, "c", "b")]


@merging
def test_r32_each_property_is_its_latest(warehouse: Warehouse) -> None:
    """A value in the table is as old as its row."""
    rows = [user("u", 1, "free", "Rome"), user("u", 4, None, "Bern"), user("u", 2, "paid", "Oslo")]
    warehouse.commit(load("coalesce_latest"), rows, USERS)
    assert warehouse.rows("users") == [("u", 4, "paid", "Bern")]
    warehouse.commit(load("coalesce_latest"), [user("u", 3, "late", "late")], USERS)
    assert warehouse.rows("users") == [("u", 4, "paid", "Bern")]
    warehouse.commit(load("coalesce_latest"), [user("u", 5, "late")], USERS)
    assert warehouse.rows("users") == [("u", 5, "late", "Bern")]


@merging
def test_a_row_of_the_load_wins_a_tie(warehouse: Warehouse) -> None:
    warehouse.commit(load("coalesce_latest"), [user("u", 2, "old", "old")], USERS)
    warehouse.commit(load("coalesce_latest"), [user("u", 2, "new"), user("u", 2, None, "new")], USERS)
    assert warehouse.rows("users") == [("u", 2, "new", "new")]


@merging
@pytest.mark.parametrize(
    ("on_match", "expected"),
    [("replace", (2, "new", None)), ("coalesce_latest", (2, "new", "Oslo")), ("keep", (1, "old", "Oslo"))],
)
def test_columns_that_the_load_lacks(warehouse: Warehouse, on_match: OnMatch, expected: Any) -> None:
    warehouse.commit(load("append"), [user("u", 1, "old", "Oslo")], USERS)
    warehouse.commit(load(on_match), [{"id": "u", "at": 2, "plan": "new"}], USERS)
    assert warehouse.rows("users", "at", "plan", "city") == [expected]


@merging
@pytest.mark.parametrize(
    ("on_match", "age"), [("replace", 7), ("coalesce_latest", 7), ("keep", None), ("append", 7)]
)
def test_a_column_that_is_new(warehouse: Warehouse, on_match: OnMatch, age: int | None) -> None:
    warehouse.commit(load("coalesce_latest"), [user("u", 1), user("v", 1)], USERS)
    wider = USERS.with_columns(Column("age", "bigint"))
    warehouse.commit(load(on_match), [{"id": "u", "at": 2, "age": 7}], wider)
    expected = [("u", age), ("v", None)] + ([("u", None)] if on_match == "append" else [])
    assert warehouse.rows("users", "id", "age") == sorted(expected, key=repr)


@merging
def test_a_time_that_only_one_side_has(warehouse: Warehouse) -> None:
    """What has no time is older than what has one."""
    warehouse.commit(load("coalesce_latest"), [user("u", 1, "old", None)], USERS)
    warehouse.commit(load("coalesce_latest"), [{"id": "u", "plan": "new", "city": "Rome"}], USERS)
    assert warehouse.rows("users") == [("u", 1, "old", "Rome")]


@merging
def test_two_keys(warehouse: Warehouse) -> None:
    keys = ("id", "city")
    warehouse.commit(
        load("coalesce_latest", *keys), [user("u", 1, "x", "Rome"), user("u", 1, "y", "Oslo")], USERS
    )
    warehouse.commit(load("coalesce_latest", *keys), [user("u", 2, "z", "Oslo")], USERS)
    assert warehouse.rows("users") == [("u", 1, "x", "Rome"), ("u", 2, "z", "Oslo")]


@merging
@pytest.mark.parametrize("on_match", ["coalesce_latest", "coalesce_matched_only"])
def test_rows_that_stand_twice_in_the_table(warehouse: Warehouse, on_match: OnMatch) -> None:
    """A load never makes one row of several: each gets the columns that the load has."""
    warehouse.commit(load("append"), [user("u", 1, "x", "Rome")], USERS)
    warehouse.commit(load("append"), [user("u", 2, None, "Oslo")], USERS)
    warehouse.commit(load(on_match), [{"id": "u", "at": 3, "plan": "y"}], USERS)
    assert warehouse.rows("users") == [("u", 3, "y", "Oslo"), ("u", 3, "y", "Rome")]


@merging
def test_amend_drops_what_the_table_does_not_hold(warehouse: Warehouse) -> None:
    warehouse.commit(load("coalesce_latest"), [user("u", 1, None, "Rome")], USERS)
    rows = [user("u", 1, "x"), user("v", 1, "x"), user("v", 1, "y"), user(None, 1, "x")]
    warehouse.commit(load("coalesce_matched_only"), rows, USERS)
    warehouse.commit(load("coalesce_matched_only"), [{"plan": "z"}], USERS)
    assert warehouse.rows("users") == [("u", 1, "x", "Rome")]


@merging
def test_two_tables_in_one_load(warehouse: Warehouse) -> None:
    other = table("pages", id="text", at="bigint", plan="text", city="text")
    rows = [[user("u", 1, "x"), user("u", 2, "y")]]
    for _ in range(2):
        warehouse.run(
            [USERS, other],
            {"users": rows, "pages": rows},
            keyed=(load("coalesce_latest"), KeyedWrite("pages", ("id",), "at", "replace")),
        )
    assert warehouse.rows("users") == warehouse.rows("pages") == [("u", 2, "y", None)]


@merging
def test_names_that_the_queries_use_themselves(warehouse: Warehouse) -> None:
    names = ("q_place", "q_turn", "q_key_0", "Q_Latest", "file_index", "file_row_number", 'a"b', "q_staged")
    odd = Table("users", {name: Column(name, "text") for name in names})
    keyed = KeyedWrite("users", ("q_place", "q_turn"), "Q_Latest", "coalesce_latest")
    first = dict.fromkeys(names, "1")
    second = {**dict.fromkeys(names, "2"), "q_place": "1", "q_turn": "1", "q_staged": None}
    warehouse.commit(keyed, [first, second], odd)
    warehouse.commit(keyed, [{**first, "Q_Latest": "3", "file_index": "3"}], odd)
    expected = {**first, "Q_Latest": "3", "file_index": "3"}
    assert warehouse.rows("users", *names) == [tuple(expected[name] for name in names)]


ALL = Table(
    "users",
    {
        column.name: column
        for column in (
            Column("id", "bigint"),
            Column("at", "timestamp", precision=3),
            Column("real", "double"),
            Column("yes", "bool"),
            Column("amount", "decimal"),
            Column("coin", "wei"),
            Column("day", "date"),
            Column("clock", "time"),
            Column("raw", "binary"),
            Column("tree", "json"),
        )
    },
)


@merging
def test_types_survive_a_fill(warehouse: Warehouse) -> None:
    row = {
        "id": 1,
        "at": datetime(2026, 1, 1, 1, 2, 3, 456000, timezone.utc),
        "real": 0.1,
        "yes": True,
        "amount": Decimal("12345678901234567890.123456789"),
        "coin": Decimal(10**37),
        "day": date(2026, 1, 1),
        "clock": time(1, 2, 3, 456789),
        "raw": b"\x00\xff",
        "tree": '{"a":[1]}',
    }
    warehouse.commit(load("coalesce_latest"), [row], ALL)
    before, looks = warehouse.rows("users"), warehouse.destination.catalog(warehouse.dataset)["users"]
    warehouse.commit(
        load("coalesce_latest"), [{"id": 1, "at": row["at"]}, {"id": 2, **dict.fromkeys(["real"])}], ALL
    )
    assert warehouse.rows("users")[0] == before[0]
    assert warehouse.destination.catalog(warehouse.dataset)["users"] == looks


# --- Any loads -------------------------------------------------------------------------------------------

COLUMNS = ("id", "at", "plan", "city")
ROW = st.fixed_dictionaries(
    {"id": st.none() | st.sampled_from("ab")},
    optional={
        "at": st.none() | st.integers(0, 2),
        "plan": st.none() | st.sampled_from("xyz"),
        "city": st.none() | st.sampled_from("xyz"),
    },
)
LOAD = st.tuples(
    st.sampled_from(
        ["replace", "keep", "coalesce_latest", "coalesce_latest", "coalesce_latest", "coalesce_matched_only"]
    ),
    st.lists(st.lists(ROW, min_size=1, max_size=4), max_size=2),
)


def fold(now: list[Row], on_match: OnMatch, rows: Iterable[Row]) -> list[Row]:
    """`KeyedWrite` in Python: rows from the least to the most to be believed, later ones on top."""
    held = {row["id"]: row for row in now if row["id"] is not None}
    loose = [row for row in now if row["id"] is None]
    coming: dict[str, list[Row]] = {}
    for row in ({**dict.fromkeys(COLUMNS), **row} for row in rows):
        if row["id"] is not None:
            coming.setdefault(row["id"], []).append(row)
        elif on_match != "coalesce_matched_only":
            loose.append(row)
    for key, several in coming.items():
        if on_match == "replace" or (on_match == "keep" and key not in held):
            held[key] = max(reversed(several), key=age)
        elif on_match == "coalesce_latest" or (on_match == "coalesce_matched_only" and key in held):
            filled = dict.fromkeys(COLUMNS)
            for row in sorted([*([held[key]] if key in held else []), *several], key=age):
                filled.update({name: value for name, value in row.items() if value is not None})
            held[key] = filled
    return [*held.values(), *loose]


def age(row: Row) -> int:
    return -1 if row["at"] is None else row["at"]


@settings(max_examples=25)
@given(st.lists(LOAD, min_size=1, max_size=4), st.sampled_from([1, 3]))
@example([("coalesce_latest", [[{"id": "a", "at": 1, "plan": "x"}, {"id": "a", "city": "y"}]])], 3)
def test_r32_any_sequence(loads: list[tuple[OnMatch, list[list[Row]]]], passes: int) -> None:
    """FillValues in one pass or in several, the result is that of a few lines of Python."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(KeyedStatements, "_passes", lambda *_: passes)
        warehouse, now = Warehouse(f"duckdb:{folder}/shop.duckdb", Path(folder)), list[Row]()
        for on_match, files in loads:
            warehouse.run([USERS], {"users": files} if files else {}, keyed=(load(on_match),))
            now = fold(now, on_match, [row for rows in files for row in rows])
        assert warehouse.rows("users") == sorted((tuple(r[c] for c in COLUMNS) for r in now), key=repr)


@merging
@pytest.mark.parametrize(
    ("on_match", "changes"),
    [
        ("append", RowChanges(3, 0, 0, 1)),
        ("replace", RowChanges(2, 1, 0, 1)),
        ("newer", RowChanges(2, 1, 0, 1)),
        ("keep", RowChanges(2, 0, 0, 2)),
        ("coalesce_latest", RowChanges(2, 1, 0, 1)),
        ("coalesce_matched_only", RowChanges(0, 1, 0, 3)),
    ],
)
def test_the_changes_of_rows_are_counted(
    warehouse: Warehouse, on_match: OnMatch, changes: RowChanges
) -> None:
    warehouse.commit(load("append"), [{"id": "1", "at": 1, "plan": "a"}], USERS)
    rows = [{"id": key, "at": at, "plan": "b"} for key, at in (("1", 2), ("2", 1), ("2", 2), ("3", 1))]
    warehouse.commit(load(on_match), rows, USERS)
    assert warehouse.row_changes is not None
    assert warehouse.row_changes["users"] == changes


def test_much_is_filled_in_several_passes() -> None:
    syntax = EngineSyntax("temp.main.", "max({value})", cells=100)
    keyed = KeyedStatements(
        load("coalesce_latest"), "users", "staged", COLUMNS, COLUMNS, "q_place", "q_", syntax
    )
    filled = [
        statement.sql
        for statement in keyed.statements(lambda query: 51)
        if "INTO temp.main.q_keyed_filled" in statement.sql
    ]
    assert [statement.count("q_number % 3 = 1") for statement in filled] == [2, 0]
    assert len([*keyed.statements()]) == len([*keyed.statements(lambda query: 1)]) == 7


@merging
def test_a_hundred_thousand_rows(warehouse: Warehouse) -> None:
    """Two rows of a user have every other property each, but few users have one row only."""
    names, rows, users = [f"p{number}" for number in range(8)], range(100_000), 50_001
    wide = table("users", id="text", at="bigint", **dict.fromkeys(names, "text"))
    texts = {name: [str(n) if (n + at) % 2 else None for n in rows] for at, name in enumerate(names)}
    arrow_table = pa.table({"id": [str(n % users) for n in rows], "at": pa.array(rows, pa.int64()), **texts})
    path = warehouse.folder / "rows.parquet"
    expected = []
    for n in range(users):
        again = n + users if n + users in rows else n
        values = (texts[name][n] or texts[name][again] for name in names)
        expected.append((str(n), again, *values))
    for _ in range(2):
        pq.write_table(arrow_table, path, row_group_size=10_000)
        staged = {"users": [StagedFile("users", str(path), arrow_table.num_rows)]}
        warehouse.run([wide], {}, keyed=(load("coalesce_latest"),), files=staged)
        assert warehouse.rows("users") == sorted(expected, key=repr)


@pytest.fixture
def file(tmp_path: Path) -> Warehouse:
    return Warehouse(f"duckdb:{tmp_path}/shop.duckdb", tmp_path)


def by_hand(file: Warehouse, *statements: str) -> None:
    with duckdb.connect(file.destination.url.partition(":")[2]) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize("on_match", ["replace", "keep", "coalesce_latest", "append"])
@pytest.mark.parametrize("type_", ["VARCHAR", "DOUBLE", "HUGEINT"])
def test_a_column_widened_by_hand(file: Warehouse, on_match: OnMatch, type_: str) -> None:
    keyed = KeyedWrite("n", ("id",), "at", on_match)
    numbers = table("n", id="bigint", at="bigint")
    file.commit(keyed, [{"id": 1, "at": 1}], numbers)
    by_hand(file, *(f'ALTER TABLE n ALTER "{name}" TYPE {type_}' for name in ("id", "at")))
    file.commit(keyed, [{"id": 1, "at": 2}, {"id": 1, "at": 0}, {"id": 2, "at": 2}], numbers)
    expected = {"keep": [("1", "1")], "append": [("1", "1"), ("1", "2")]}.get(on_match, [("1", "2")])
    printed = [tuple(str(value).removesuffix(".0") for value in row) for row in file.rows("n")]
    assert printed == [*expected, ("2", "2")]


@pytest.mark.parametrize(
    "on_match", ["replace", "keep", "coalesce_latest", "coalesce_matched_only", "append"]
)
def test_columns_of_types_we_do_not_know(file: Warehouse, on_match: OnMatch) -> None:
    file.commit(load("coalesce_latest"), [user("u", 1, "x")], USERS)
    by_hand(
        file,
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        "ALTER TABLE users ADD COLUMN mood mood",
        "ALTER TABLE users ADD COLUMN tags VARCHAR[]",
        "ALTER TABLE users ADD COLUMN q_staged STRUCT(id VARCHAR)",
        "UPDATE users SET mood = 'good', tags = ['a'], q_staged = {'id': 'v'}",
    )
    types = file.destination.catalog("main")["users"].types
    assert (types["id"], types["mood"], types["tags"], types["q_staged"]) == ("text", None, None, None)
    file.commit(load(on_match), [user("u", 2, "y"), user("v", 2, "y")], USERS)
    kept = on_match in ("keep", "coalesce_latest", "coalesce_matched_only")
    expected = [
        ("u", "x" if on_match == "keep" else "y", *(("good", ["a"], {"id": "v"}) if kept else [None] * 3))
    ]
    if on_match == "append":
        expected.append(("u", "x", "good", ["a"], {"id": "v"}))
    if on_match != "coalesce_matched_only":
        expected.append(("v", "y", None, None, None))
    assert file.rows("users", "id", "plan", "mood", "tags", "q_staged") == sorted(expected, key=repr)
