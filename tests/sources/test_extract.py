"""What comes out of a source: rows by table in their order, whatever they were made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import dlt
import pandas as pd
import pyarrow as pa
import pytest

from sources.conftest import part, read, rows
from trellis import sources as trellis
from trellis.errors import SchemaError, UsageError
from trellis.schema.model import Schema
from trellis.sources.extraction.extract import extract
from trellis.sources.extraction.spool import Spool
from trellis.sources.extraction.validation import Dropped


@dataclass
class Point:
    x: int


class Pair(NamedTuple):
    a: int
    b: int


def test_a_list_is_taken_as_it_is() -> None:
    data = [{"a": 1}, {"a": 2}]
    extracted = part(trellis.resource(data, name="r"))
    assert extracted.source is data
    assert (extracted.resource, extracted.table_name, extracted.form) == ("r", "r", "records")


def test_items_and_pages_of_all_kinds_become_records() -> None:
    @trellis.resource
    def mixed() -> Iterator[Any]:
        yield {"a": 1}
        yield [{"a": 2}, {"a": 3}]
        yield []
        yield None
        yield ({"a": number} for number in (4, 5))
        yield 6
        yield ["text", None]
        yield Point(7)
        yield Pair(8, 9)

    assert rows(mixed) == {
        "mixed": [
            {"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}, {"a": 5},
            {"value": 6}, {"value": "text"}, {"value": None}, {"x": 7}, {"a": 8, "b": 9},
        ]
    }  # fmt: skip


def test_rows_can_be_read_again_and_do_not_stay_in_memory() -> None:
    extracted = part(trellis.resource(({"n": number} for number in range(12_000)), name="r"))
    assert isinstance(extracted.source, Spool)
    assert [len(chunk) for chunk in extracted.source.chunks()] == [5000, 5000, 2000]
    assert list(extracted.source) == list(extracted.source) == [{"n": number} for number in range(12_000)]
    assert len(extracted.source) == 12_000


def test_rows_that_no_file_takes_stay_in_memory() -> None:
    spool, function = Spool(chunk=1), len
    spool.append({"f": function})
    assert list(spool) == list(spool) == [{"f": function}]


def test_items_of_a_class_come_back_as_that_class() -> None:
    spool = Spool(chunk=2, item_class=Dropped)
    dropped = [Dropped(n, {"id": Decimal(n)}, "no id", key="id") for n in range(3)]
    spool.extend(dropped)
    assert list(spool) == dropped


def test_typed_data() -> None:
    table, frame = pa.table({"a": [1]}), pd.DataFrame({"a": [2]})
    whole = part(trellis.resource(table, name="r"))
    assert (whole.form, whole.source is table) == ("whole", True)
    extracted = part(trellis.resource(iter([table, frame]), name="r"))
    assert extracted.form == "pieces"
    assert [type(piece) for piece in extracted.source] == [pa.Table, pd.DataFrame]
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert [piece.to_pylist() for piece in part(trellis.resource(reader, name="r")).source] == [[{"a": 1}]]


def test_rows_and_frames_of_spark_are_told_by_their_class() -> None:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    from trellis.sources.extraction.parts import is_typed

    assert rows(trellis.resource([Row(a=1, b="x")], name="r")) == {"r": [{"a": 1, "b": "x"}]}
    frame = object.__new__(ClassicFrame)
    assert isinstance(frame, DataFrame)
    assert is_typed(frame)


def test_files() -> None:
    extracted = part(
        trellis.resource(trellis.files("data/orders-2024-*.jsonl", "more.jsonl"), primary_key="id")
    )
    assert (extracted.table_name, extracted.form) == ("orders", "whole")
    assert extracted.source == trellis.Files(("data/orders-2024-*.jsonl", "more.jsonl"))
    with pytest.raises(UsageError, match="has no name; give name="):
        trellis.resource(trellis.files("*.jsonl"))
    with pytest.raises(UsageError, match="no step and no cursor gets their rows"):
        read(trellis.resource(trellis.files("a.jsonl")).add_map(dict))


def test_a_resource_without_rows_is_still_there() -> None:
    @trellis.resource(write_disposition="replace")
    def empty() -> Iterator[Any]:
        yield from ()

    extracted = part(empty)
    assert (list(extracted.source), extracted.declared.table.hints["write_disposition"]) == ([], "replace")
    assert read(trellis.resource([], name="r", table_name=lambda item: "t")).parts == []


def test_steps_in_their_order() -> None:
    def two(item: dict[str, int]) -> Iterator[dict[str, int]]:
        yield item
        yield {"a": -item["a"]}

    resource = trellis.resource([{"a": 1}, {"a": 2}, {"a": 3}], name="r")
    resource.add_filter(lambda item: item["a"] != 2).add_yield_map(two).add_map(
        lambda item: {"a": item["a"] * 10}
    )
    assert rows(resource) == {"r": [{"a": 10}, {"a": -10}, {"a": 30}, {"a": -30}]}
    assert list(resource) == [{"a": 10}, {"a": -10}, {"a": 30}, {"a": -30}]


def test_pipes_into_functions() -> None:
    def double(item: dict[str, int]) -> dict[str, int]:
        return {"a": item["a"] * 2}

    def twice(item: dict[str, int]) -> Iterator[dict[str, int]]:
        yield from (item, item)

    assert rows(trellis.resource([{"a": 1}], name="r") | double | twice) == {"r": [{"a": 2}, {"a": 2}]}


@pytest.mark.parametrize("count_rows", [False, True])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_limits_are_those_of_dlt(most: int, count_rows: bool) -> None:
    def pages() -> Iterator[Any]:
        yield [{"a": 1}, {"a": 2}]
        yield {"a": 3}
        yield [{"a": 4}]

    ours = trellis.resource(pages, name="r").add_limit(most, count_rows=count_rows)
    theirs = dlt.resource(pages, name="r").add_limit(most, count_rows=count_rows)
    assert list(ours) == list(theirs)


def test_a_limit_closes_the_generator_and_counts_what_the_cursor_lets_through() -> None:
    closed: list[bool] = []

    @trellis.resource(incremental=trellis.incremental("a", initial_value=3))
    def numbers() -> Iterator[Any]:
        try:
            for number in range(100):
                yield {"a": number}
        finally:
            closed.append(True)

    assert rows(numbers.add_limit(2)) == {"numbers": [{"a": 3}, {"a": 4}]}
    assert closed == [True]


def test_arguments() -> None:
    @trellis.resource(name="numbers")
    def counted(first: int, last: int = 3) -> Iterator[Any]:
        yield from ({"n": number} for number in range(first, last))

    assert rows(counted(1)) == {"numbers": [{"n": 1}, {"n": 2}]}
    assert rows(counted(0, last=1)) == {"numbers": [{"n": 0}]}
    with pytest.raises(UsageError, match="resource numbers: missing a required argument: 'first'"):
        rows(counted)
    with pytest.raises(UsageError, match="resource numbers: got an unexpected keyword argument 'step'"):
        counted(1, step=2)
    with pytest.raises(UsageError, match="has its arguments already"):
        counted(1)(2)
    with pytest.raises(UsageError, match="takes no arguments"):
        trellis.resource([], name="r")(1)


def test_functions_that_return() -> None:
    assert rows(trellis.resource(lambda: [{"a": 1}], name="r")) == {"r": [{"a": 1}]}
    with pytest.raises(UsageError, match="resource r: its function gave nothing"):
        read(trellis.resource(lambda: None, name="r"))
    with pytest.raises(UsageError, match="its function gave a resource"):
        read(trellis.resource(lambda: trellis.resource([], name="x"), name="r"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a.jsonl", r"rows cannot be read from a str; .* trellis.files\('...'\) for paths"),
        ({"a": 1}, "rows cannot be read from a dict"),
        (5, "rows cannot be read from a int"),
    ],
)
def test_what_is_no_data(data: Any, message: str) -> None:
    with pytest.raises(UsageError, match=f"resource r: {message}"):
        trellis.resource(data, name="r")


def test_data_without_a_name() -> None:
    with pytest.raises(UsageError, match="the resource made of a list has no name; give name="):
        trellis.resource([{"a": 1}])


def test_transformers_get_what_their_parent_yields() -> None:
    visited: list[int] = []

    @trellis.resource
    def users() -> Iterator[Any]:
        for number in (1, 2):
            visited.append(number)
            yield [{"id": number}]

    @trellis.transformer(data_from=users, primary_key="of")
    def details(page: list[Any]) -> Iterator[Any]:
        for user in page:
            yield {"of": user["id"]}

    @trellis.transformer
    def counts(page: list[Any], add: int) -> Any:
        return {"n": len(page) + add}

    assert rows(users, details, users | counts(5)) == {
        "users": [{"id": 1}, {"id": 2}],
        "details": [{"of": 1}, {"of": 2}],
        "counts": [{"n": 6}, {"n": 6}],
    }
    assert visited == [1, 2]
    assert rows(details) == {"details": [{"of": 1}, {"of": 2}]}
    assert list(details) == [{"of": 1}, {"of": 2}]
    with pytest.raises(UsageError, match=r"transformer counts gets no rows: give it data_from="):
        rows(counts(1))
    with pytest.raises(UsageError, match="resource users is no transformer"):
        details | users


def test_a_parent_that_is_used_twice_is_read_once() -> None:
    visited: list[int] = []

    @trellis.source
    def shop() -> Any:
        @trellis.resource
        def users() -> Iterator[Any]:
            visited.append(1)
            yield {"id": 1}

        first = trellis.transformer(lambda user: {"a": user["id"]}, name="first", data_from=users)
        second = trellis.transformer(lambda user: {"b": user["id"]}, name="second", data_from=users)
        return users, first, second

    extracted = extract(shop().with_resources("first", "second"), {}, Schema("shop"))
    assert [(table.table_name, list(table.source)) for table in extracted.parts] == [
        ("first", [{"a": 1}]),
        ("second", [{"b": 1}]),
    ]
    assert visited == [1]


# --- marks -------------------------------------------------------------------------------------------------


def test_rows_marked_with_a_table() -> None:
    @trellis.resource(columns={"a": {"data_type": "text"}})
    def events() -> Iterator[Any]:
        yield {"a": 1}
        yield trellis.mark.with_table_name([{"a": 2}, {"a": 3}], "others")
        yield {"a": 4}

    events.apply_hints(table_name="others", columns={"b": {}}, primary_key="b", create_table_variant=True)
    parts = read(events).parts
    assert [(table.table_name, list(table.source)) for table in parts] == [
        ("events", [{"a": 1}, {"a": 4}]),
        ("others", [{"a": 2}, {"a": 3}]),
    ]
    assert [list(table.declared.table.columns) for table in parts] == [["a"], ["a", "b"]]
    assert [table.declared.table.columns_with("primary_key") for table in parts] == [(), ("b",)]
    assert [table.declared.table.hints["resource"] for table in parts] == ["events", "events"]


def test_hints_that_come_with_rows_hold_from_then_on() -> None:
    @trellis.resource
    def events() -> Iterator[Any]:
        yield {"a": 1}
        hints = trellis.mark.make_hints(columns={"a": {"data_type": "text"}}, write_disposition="replace")
        yield trellis.mark.with_hints({"a": 2}, hints)
        yield {"a": 3}

    extracted = part(events)
    assert list(extracted.source) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert extracted.declared.table.columns["a"].data_type == "text"
    assert extracted.declared.table.hints["write_disposition"] == "replace"
    assert dict(events.columns) == {}


def test_hints_that_come_with_rows_may_name_another_table() -> None:
    def events(variant: bool) -> Iterator[Any]:
        hints = trellis.mark.make_hints(table_name="t2", primary_key="id")
        yield {"id": 1}
        yield trellis.mark.with_hints({"id": 2}, hints, create_table_variant=variant)
        yield {"id": 3}

    resource = trellis.resource(events)
    assert rows(resource(True)) == {"events": [{"id": 1}, {"id": 3}], "t2": [{"id": 2}]}
    assert rows(resource(False)) == {"events": [{"id": 1}], "t2": [{"id": 2}, {"id": 3}]}


def test_a_mark_within_a_mark() -> None:
    hints = trellis.mark.make_hints(primary_key="id")

    def rows() -> Any:
        yield trellis.mark.with_hints(trellis.mark.with_table_name({"id": 1}, "a"), hints)
        yield trellis.mark.with_table_name(trellis.mark.with_hints({"id": 2}, hints), "b")

    parts = read(trellis.resource(rows, name="r")).parts
    assert [(part.table_name, list(part.source)) for part in parts] == [
        ("a", [{"id": 1}]),
        ("b", [{"id": 2}]),
    ]
    assert [part.declared.table.columns["id"].hint("primary_key") for part in parts] == [True, True]


def test_marks_pass_through_the_steps() -> None:
    marked = trellis.mark.with_table_name({"a": 1}, "t")
    resource = trellis.resource(iter([marked, {"a": 2}]), name="r").add_map(lambda item: {"a": item["a"] + 1})
    assert rows(resource) == {"t": [{"a": 2}], "r": [{"a": 3}]}


def test_seed_d106_a_table_can_be_wanted_without_rows() -> None:
    columns = {"a": {"data_type": "text"}, "b": {"nullable": False, "data_type": "bigint"}, "c": {}}
    extracted = part(
        trellis.resource(iter([trellis.mark.materialize_table_schema()]), name="r", columns=columns)
    )
    assert (extracted.declared.materialize, list(extracted.source)) == (True, [])
    assert [column.name for column in extracted.declared.table.complete_columns] == ["a", "b"]
    assert not part(trellis.resource(iter([[]]), name="r", columns=columns)).declared.materialize

    by_item = trellis.resource(
        iter([trellis.mark.materialize_table_schema()]), name="r", table_name=lambda item: "t"
    )
    with pytest.raises(UsageError, match=r"wrap it in mark\.with_table_name"):
        read(by_item)
    marked = trellis.mark.with_table_name(trellis.mark.materialize_table_schema(), "t")
    extracted = part(trellis.resource(iter([marked]), name="r", table_name=lambda item: "t"))
    assert (extracted.table_name, extracted.declared.materialize) == ("t", True)


def test_variants_take_no_functions_and_no_cursor() -> None:
    resource = trellis.resource([], name="r")
    with pytest.raises(UsageError, match="needs table_name= as text"):
        resource.apply_hints(primary_key="id", create_table_variant=True)
    with pytest.raises(UsageError, match="columns= of the variant of table t is a function"):
        resource.apply_hints(table_name="t", columns=lambda item: {}, create_table_variant=True)
    with pytest.raises(UsageError, match="a cursor belongs to the resource"):
        resource.apply_hints(table_name="t", incremental=trellis.incremental("a"), create_table_variant=True)


def test_wrong_marks() -> None:
    with pytest.raises(UsageError, match="there is no hint 'colums'"):
        trellis.mark.make_hints(colums={})
    with pytest.raises(SchemaError, match="takes no 'table_name'"):
        trellis.mark.make_nested_hints(table_name="x")
    with pytest.raises(UsageError, match="give its name"):
        trellis.mark.with_table_name({}, "")
    with pytest.raises(UsageError, match="create_table_variant= needs table_name="):
        trellis.mark.with_hints({}, {}, create_table_variant=True)
