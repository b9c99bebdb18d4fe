"""A table that fails, fails alone: the others are loaded, and its rows come later, without the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dialects.rudderstack.conformance.loading import INT_STRING, Opens, Shop, event, track
from trellis.dialects.rudderstack.dialect import RudderStack
from trellis.dialects.rudderstack.identifiers.names import snake
from trellis.dialects.rudderstack.identifiers.standard import TABLES
from trellis.dialects.rudderstack.profiles.events import events
from trellis.dialects.rudderstack.tables import RudderTables
from trellis.errors import SchemaError, UsageError
from trellis.pipelines.loading.partial import TableSelection
from trellis.schema.model import Schema

WIDE = [track(f"w{part}", "Wide", part, **{f"p{part}_{n}": n for n in range(9)}) for part in (1, 2)]
OTHERS = [
    track("s1", "Sale", 3, price=5),
    track("s2", "Sale", 4, price="NA"),
    event("page", "p1", 5, name="Home"),
]
TOO_WIDE = (
    "table wide: it would have 26 columns, and 20 is the most; set --option max_properties=NUMBER, or name "
    "those to keep with --option properties=NAMES"
)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tables of at most 20 columns."""
    monkeypatch.setattr(RudderTables, "max_columns", lambda self, schema: 20)
    yield


def test_the_other_tables_are_loaded(open_shop: Opens) -> None:
    shop = open_shop("POSTGRES")
    report = shop.load(*WIDE, *OTHERS)
    assert report.failures[0].error == TOO_WIDE
    assert [(failure.name, failure.rows) for failure in report.failures] == [("wide", 2)]
    assert report.balance == "rows in 5 = loaded 3 + rejected 0 + dropped 0 + failed 2"
    assert shop.tables == {"tracks", "sale", "pages", "rudder_discards"}
    assert shop.values("tracks", "id") == ["s1", "s2", "w1", "w2"]
    assert shop.rows("sale", "id", "price") == [("s1", 5), ("s2", None)]
    assert shop.discards == [("s2", "sale", "price", "NA", INT_STRING)]


def test_a_plan_leaves_the_same_table_out(open_shop: Opens) -> None:
    """Of a table that is too wide, and of one whose rows the database refuses only when they come."""
    shop = open_shop("POSTGRES")
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, must VARCHAR NOT NULL)")
    planned = shop.pipeline.plan([*WIDE, *OTHERS])
    assert [failure.name for failure in planned.failures] == ["wide", "sale"]
    assert shop.tables == {"sale"}
    loaded = shop.load(*WIDE, *OTHERS)
    assert planned.failures == loaded.failures
    assert planned.balance == loaded.balance == "rows in 5 = loaded 1 + rejected 0 + dropped 0 + failed 4"


def test_its_rows_come_alone_once_the_option_is_set(open_shop: Opens) -> None:
    """In a warehouse that appends, so that a row that came twice would be seen."""
    shop = open_shop("BQ")
    wide = [*WIDE, track("w3", "Wide", 6, p1_0="text")]
    shop.load(*wide, *OTHERS)
    before = shop.content("uuid_ts, loaded_at")
    shop.settings["max_properties"] = 5
    report = shop.load(*wide, *OTHERS, only_tables=("wide",))
    assert report.failures == ()
    assert report.balance == "rows in 6 = loaded 3 + rejected 0 + dropped 3"
    after = shop.content("uuid_ts, loaded_at")
    discards = ("w3", "wide", "p1_0", "text", INT_STRING)
    assert {name: after[name] for name in before if name != "rudder_discards"} == {
        name: table for name, table in before.items() if name != "rudder_discards"
    }
    assert shop.discards == [("s2", "sale", "price", "NA", INT_STRING), discards]
    assert shop.rows("wide", "id", "p1_0", "rudder_overflow") == [
        ("w1", 0, '{"p1_5":5,"p1_6":6,"p1_7":7,"p1_8":8}'),
        ("w2", None, '{"p2_0":0,"p2_1":1,"p2_2":2,"p2_3":3,"p2_4":4,"p2_5":5,"p2_6":6,"p2_7":7,"p2_8":8}'),
        ("w3", None, None),
    ]


def test_what_it_discards_comes_with_it(open_shop: Opens) -> None:
    """Neither are its discards there before its rows, nor twice after."""
    shop = open_shop("POSTGRES")
    clash = track("w3", "Wide", 6, A=1, a=2)
    shop.load(*WIDE, clash)
    assert shop.lost == []
    shop.settings["max_properties"] = 5
    for _ in range(2):
        shop.load(*WIDE, clash, only_tables=("wide",), load_id="again")
    assert shop.lost == [("wide", "a", "properties.A", "1", "collision")]


def test_a_table_that_is_there_stays_as_it_was(open_shop: Opens) -> None:
    shop = open_shop("POSTGRES")
    shop.load(WIDE[0])
    before = shop.types("wide")
    assert len(before) == 17
    report = shop.load(WIDE[1], *OTHERS)
    assert [failure.name for failure in report.failures] == ["wide"]
    assert shop.types("wide") == before
    assert shop.values("wide", "id") == ["w1"]
    assert shop.load(track("w4", "Wide", 7, p1_0=1)).failures == ()
    assert shop.values("wide", "id") == ["w1", "w4"]


def test_a_table_whose_rows_the_database_refuses_fails_alone(open_shop: Opens) -> None:
    shop = open_shop("POSTGRES")
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, must VARCHAR NOT NULL)")
    report = shop.load(*OTHERS)
    (failure,) = report.failures
    assert failure.error == (
        "table sale, column must: it is required (NOT NULL), but some rows of this load have no value for "
        "it; add the values, or make the column nullable"
    )
    assert report.balance == "rows in 3 = loaded 1 + rejected 0 + dropped 0 + failed 2"
    assert (shop.values("tracks", "id"), shop.values("sale", "id")) == (["s1", "s2"], [])


def test_a_load_of_nothing_else_fails(open_shop: Opens) -> None:
    shop = open_shop("POSTGRES", skipTracksTable=True)
    with pytest.raises(SchemaError, match="table wide: it would have 26 columns"):
        shop.load(*WIDE)
    assert shop.tables == set()


def test_an_error_of_a_table_that_is_left_out_already_is_one_of_the_load() -> None:
    """Else it would be left out again and again."""
    selection = TableSelection(RudderStack())
    error = SchemaError("table sale: it is a view", table="sale")
    assert selection.fail(error, Schema("shop"), ("sale", "tracks"))
    assert not selection.fail(error, Schema("shop"), ("sale", "tracks"))
    assert selection.failures == {"sale": "table sale: it is a view"}


def test_records_that_are_projected_are_counted_by_their_tables(
    open_shop: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RudderTables, "max_columns", lambda self, schema: 36)
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in events(2_000, Random("1"), 0)))
    shop = open_shop("POSTGRES")
    report = shop.pipeline.load(str(file))
    failed = {failure.name for failure in report.failures}
    kinds = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert report.balanced
    assert 0 < report.rows.failed < 2_000
    assert report.rows.failed == sum(bool(failed & tables_of(kind)) for kind in kinds)


def tables_of(record: dict[str, Any]) -> set[str]:
    """The tables of an event of the profile."""
    if record["type"] == "track":
        return {"tracks", snake(record["event"])}
    return {"identifies", "users"} if record["type"] == "identify" else {TABLES[record["type"]]}


def test_a_dialect_of_whole_loads_takes_no_table_alone(shop: Shop) -> None:
    shop.load(*OTHERS)
    pipeline = shop.pipeline
    with pytest.raises(UsageError, match="the dialect dlt loads all tables or none; leave --only-table out"):
        type(pipeline)("other", f"duckdb:{shop.path}", "d").load([{"a": 1}], "t", only_tables=("t",))
