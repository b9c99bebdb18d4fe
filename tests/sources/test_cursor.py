"""Incremental cursors over sequences of loads, against dlt: the rows, and the state that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import dlt
import pandas as pd
import pyarrow as pa
import pytest
from dlt.common.configuration.container import Container
from dlt.common.pipeline import StateInjectableContext
from dlt.extract.source import DltSource

from sources.conftest import read
from trellis import sources as trellis
from trellis.errors import UsageError

UTC = timezone.utc


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2024, 1, day, hour, tzinfo=UTC)


Loads = list[list[Any]]

SEQUENCES: dict[str, tuple[dict[str, Any], dict[str, Any], Loads]] = {
    "grows": (
        {},
        {},
        [
            [{"id": 1, "c": 1}, {"id": 2, "c": 3}],
            [{"id": 2, "c": 3}, {"id": 3, "c": 3}, {"id": 4, "c": 5}],
            [],
        ],
    ),
    "initial": ({"initial_value": 2}, {}, [[{"c": 1}, {"c": 2}, {"c": 3}], [{"c": 2}, {"c": 4}]]),
    "by_key": (
        {},
        {"primary_key": "id"},
        [[{"id": 1, "c": 1, "v": "a"}], [{"id": 1, "c": 1, "v": "b"}, {"id": 2, "c": 1}]],
    ),
    "by_compound_key": (
        {},
        {"primary_key": ["id", "x"]},
        [[{"id": 1, "x": 1, "c": 1}], [{"id": 1, "x": 1, "c": 1}, {"id": 1, "x": 2, "c": 1}]],
    ),
    "own_key": (
        {"primary_key": "x"},
        {"primary_key": "id"},
        [[{"id": 1, "x": 1, "c": 1}], [{"id": 9, "x": 1, "c": 1}, {"id": 1, "x": 2, "c": 1}]],
    ),
    "no_key": ({"primary_key": ()}, {"primary_key": "id"}, [[{"id": 1, "c": 1}], [{"id": 1, "c": 1}]]),
    "min": ({"last_value_func": min, "initial_value": 9}, {}, [[{"c": 8}, {"c": 10}], [{"c": 8}, {"c": 7}]]),
    "own_function": (
        {"last_value_func": lambda values: max(values, key=abs)},
        {},
        [[{"c": -3}, {"c": 2}], [{"c": -5}, {"c": 4}]],
    ),
    "pages": (
        {},
        {},
        [[[{"c": 1}, {"c": 2}], [{"c": 2}, {"c": 1}], [{"c": 3}]], [[{"c": 3}], [{"c": 3, "n": 1}]]],
    ),
    "moments": (
        {"initial_value": at(1)},
        {},
        [[{"c": at(1)}, {"c": at(2, 5)}], [{"c": at(2, 5)}, {"c": at(2)}, {"c": at(3)}]],
    ),
    "naive_rows": (
        {"initial_value": at(2)},
        {},
        [[{"c": datetime(2024, 1, 1)}, {"c": datetime(2024, 1, 2)}], [{"c": datetime(2024, 1, 3)}]],
    ),
    "aware_rows": (
        {"initial_value": datetime(2024, 1, 2)},
        {},
        [[{"c": at(1)}, {"c": at(2)}], [{"c": at(3)}]],
    ),
    "texts": (
        {"initial_value": "2024-01-01"},
        {},
        [[{"c": "2024-01-02"}, {"c": "2023-01-02"}], [{"c": "2024-02-01"}]],
    ),
    "decimals": (
        {},
        {},
        [
            [{"c": Decimal("1.5"), "b": b"x", "d": date(2024, 1, 1)}],
            [{"c": Decimal("1.5"), "b": b"x", "d": date(2024, 1, 1)}, {"c": Decimal(2)}],
        ],
    ),
    "nested_path": (
        {"cursor_path": "a.b"},
        {},
        [[{"a": {"b": 1}}, {"a": {"b": 2}}], [{"a": {"b": 2}}, {"a": {"b": 3}}]],
    ),
    "path_in_lists": (
        {"cursor_path": "a[0].b"},
        {},
        [[{"a": [{"b": 1}]}, {"a": [{"b": 2}, {"b": 0}]}], [{"a": [{"b": 1}]}]],
    ),
    "range_open": (
        {"range_start": "open", "initial_value": 1},
        {},
        [[{"c": 1}, {"c": 2}, {"c": 2}], [{"c": 2}, {"c": 3}]],
    ),
    "end_value": (
        {"initial_value": 2, "end_value": 4},
        {},
        [[{"c": 1}, {"c": 2}, {"c": 4}, {"c": 3}], [{"c": 2}, {"c": 5}]],
    ),
    "range_end_closed": (
        {"initial_value": 2, "end_value": 4, "range_end": "closed"},
        {},
        [[{"c": 1}, {"c": 2}, {"c": 4}, {"c": 5}]],
    ),
    "include": (
        {"on_cursor_value_missing": "include"},
        {},
        [[{"c": 1}, {"x": 1}, {"c": None}], [{"x": 2}, {"c": 0}]],
    ),
    "exclude": (
        {"on_cursor_value_missing": "exclude"},
        {},
        [[{"c": 1}, {"x": 1}, {"c": None}], [{"x": 2}, {"c": 2}]],
    ),
    "lag": (
        {"lag": 2, "initial_value": 0},
        {},
        [[{"c": 1}, {"c": 5}], [{"c": 2}, {"c": 3}, {"c": 4}], [{"c": 6}, {"c": 3}]],
    ),
    "lag_of_seconds": (
        {"lag": 3600, "initial_value": at(1)},
        {},
        [[{"c": at(2, 5)}], [{"c": at(2, 3)}, {"c": at(2, 4)}, {"c": at(2, 6)}]],
    ),
    "lag_of_days": (
        {"lag": 1, "initial_value": date(2024, 1, 1)},
        {},
        [[{"c": date(2024, 1, 5)}], [{"c": date(2024, 1, 3)}, {"c": date(2024, 1, 4)}]],
    ),
    "lag_not_before_initial": ({"lag": 9, "initial_value": 1}, {}, [[{"c": 2}], [{"c": 0}, {"c": 1}]]),
    "asc": ({"row_order": "asc", "initial_value": 1, "end_value": 3}, {}, [[{"c": 1}, {"c": 3}, {"c": 2}]]),
    "desc": (
        {"row_order": "desc", "initial_value": 2},
        {},
        [[{"c": 3}, {"c": 1}, {"c": 4}], [{"c": 5}, {"c": 2}, {"c": 6}]],
    ),
}


@pytest.mark.parametrize(("cursor", "hints", "loads"), SEQUENCES.values(), ids=SEQUENCES)
def test_the_rows_and_the_state_are_those_of_dlt(
    cursor: dict[str, Any], hints: dict[str, Any], loads: Loads
) -> None:
    cursor = {"cursor_path": "c", **cursor}
    state: dict[str, Any] = {}
    their_state: dict[str, Any] = {}
    for number, data in enumerate(loads):
        ours = read(
            trellis.resource(_generator(data), name="r", incremental=trellis.incremental(**cursor), **hints),
            state=state,
        )
        theirs = dlt.resource(
            _generator(data), name="r", incremental=dlt.sources.incremental(**cursor), **hints
        )
        got = by_dlt(theirs, their_state)
        assert list(ours.parts[0].source) == got, f"load {number}"
        assert _state(ours.state) == _state(their_state.get("sources", {}).get("shop", {})), f"load {number}"
        state = ours.state


def by_dlt(resource: Any, state: dict[str, Any]) -> list[Any]:
    """The rows that a resource of dlt gives after these loads; the state is changed in place."""
    source = DltSource(dlt.Schema("shop"), "shop", [resource])
    with Container().injectable_context(StateInjectableContext(state=state)):  # type: ignore[arg-type]
        return list(source)


def _generator(data: list[Any]) -> Iterator[Any]:
    yield from data


def _state(state: dict[str, Any]) -> dict[str, Any]:
    cursors: dict[str, Any] = {}
    for path, cursor in state.get("resources", {}).get("r", {}).get("incremental", {}).items():
        cursors[path] = {**cursor, "unique_hashes": sorted(cursor["unique_hashes"])}
    return cursors


FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "pandas": lambda table: table.to_pandas(),
}
TABLES: dict[str, tuple[dict[str, Any], dict[str, Any], list[dict[str, list[Any]]]]] = {
    "grows": ({}, {}, [{"id": [1, 2], "c": [1, 3]}, {"id": [2, 3, 4], "c": [3, 3, 5]}]),
    "by_key": (
        {"initial_value": 1},
        {"primary_key": "id"},
        [{"id": [1, 2, 3], "c": [0, 1, 1], "v": [1, 2, 3]}, {"id": [2, 4], "c": [1, 1], "v": [7, 8]}],
    ),
    "by_compound_key": (
        {},
        {"primary_key": ["id", "v"]},
        [{"id": [1], "v": [1], "c": [1]}, {"id": [1, 1], "v": [1, 2], "c": [1, 1]}],
    ),
    "min": ({"last_value_func": min}, {}, [{"c": [5, 6]}, {"c": [6, 4]}]),
    "range_open": ({"range_start": "open", "initial_value": 1}, {}, [{"c": [1, 2]}, {"c": [2, 3]}]),
    "end_value": ({"initial_value": 1, "end_value": 3}, {}, [{"c": [0, 1, 2, 3]}]),
    "exclude": ({"on_cursor_value_missing": "exclude"}, {}, [{"c": [1, None]}, {"c": [None, 2]}]),
    "include": ({"on_cursor_value_missing": "include"}, {}, [{"c": [None, 1]}, {"c": [None, 2, 1]}]),
    "moments": ({"initial_value": at(1)}, {}, [{"c": [at(1), at(2)]}, {"c": [at(2), at(3)]}]),
    "lag": ({"lag": 2}, {}, [{"c": [5]}, {"c": [2, 3, 4]}]),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("cursor", "hints", "loads"), TABLES.values(), ids=TABLES)
def test_tables_are_filtered_as_by_dlt(
    cursor: dict[str, Any],
    hints: dict[str, Any],
    loads: list[dict[str, list[Any]]],
    frame: str,
) -> None:
    if frame == "pandas" and any(None in load["c"] for load in loads):
        pytest.skip("pandas turns such integers into floats")
    state: dict[str, Any] = {}
    their_state: dict[str, Any] = {}
    for data in loads:
        frame_data = FRAMES[frame](pa.table(data))
        ours = read(
            trellis.resource(
                iter([frame_data]), name="r", incremental=trellis.incremental("c", **cursor), **hints
            ),
            state=state,
        )
        theirs = dlt.resource(
            iter([frame_data]), name="r", incremental=dlt.sources.incremental("c", **cursor), **hints
        )
        got = by_dlt(theirs, their_state)
        pieces = [piece for part in ours.parts for piece in part.source]
        assert [_rows(piece) for piece in pieces] == [_rows(piece) for piece in got]
        assert all(type(piece) is type(frame_data) for piece in pieces)
        assert _state(ours.state) == _state(their_state.get("sources", {}).get("shop", {}))
        state = ours.state


def _rows(frame: Any) -> list[Any]:
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("records")  # type: ignore[no-any-return]
    return frame.to_pylist() if hasattr(frame, "to_pylist") else frame.to_dicts()  # type: ignore[no-any-return]


LEFT_OUT: dict[str, tuple[dict[str, Any], list[list[int | None]], str]] = {
    "first": ({"initial_value": 3}, [[1, 2, 3, 4]], "2 records: 2 before its start 3"),
    "again": ({}, [[1, 2, 3], [1, 2, 3, 4]], "3 records: 2 before its start 3, 1 loaded before"),
    "open": ({"range_start": "open"}, [[1, 2], [1, 2, 3]], "2 records: 2 up to its start 2"),
    "no_key": ({"primary_key": ()}, [[1, 2], [1, 2, 3]], "1 record: 1 before its start 2"),
    "end": (
        {"initial_value": 2, "end_value": 4},
        [[1, 2, 3, 4, 5]],
        "3 records: 1 before its start 2, 2 from its end 4 on",
    ),
    "end_closed": (
        {"initial_value": 2, "end_value": 4, "range_end": "closed"},
        [[2, 4, 5]],
        "1 record: 1 after its end 4",
    ),
    "missing": ({"on_cursor_value_missing": "exclude"}, [[1, None, None]], "2 records: 2 without a value"),
    "min": ({"last_value_func": min}, [[5], [6, 4]], "1 record: 1 before its start 5"),
    "all": (
        {"on_cursor_value_missing": "exclude"},
        [[2], [1, 2, None, *range(-1999, 1)]],
        "2,003 records: 2,001 before its start 2, 1 loaded before, 1 without a value",
    ),
}


@pytest.mark.parametrize("typed", [False, True], ids=["records", "tables"])
@pytest.mark.parametrize(("cursor", "loads", "note"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_a_cursor_leaves_out_is_counted(
    cursor: dict[str, Any], loads: list[list[int | None]], note: str, typed: bool
) -> None:
    notes: list[tuple[str, ...]] = []
    state: dict[str, Any] = {}
    for values in loads:
        data = pa.table({"c": pa.array(values, pa.int64())}) if typed else [{"c": value} for value in values]
        resource = trellis.resource(iter([data]), name="r", incremental=trellis.incremental("c", **cursor))
        extracted = read(resource, state=state)
        notes.append(extracted.notes)
        state = extracted.state
    assert notes == [()] * (len(loads) - 1) + [(f"cursor c of r left out {note}",)]


def test_what_included_rows_and_pages_add_up_to_is_told_per_resource() -> None:
    def cursor() -> trellis.Incremental:
        return trellis.incremental("c", initial_value=2, on_cursor_value_missing="include")

    pages = [[{"c": 1}, {"c": 2}], [{"c": 0}, {"x": 1}]]
    notes = read(
        trellis.resource(iter(pages), name="a", incremental=cursor()),
        trellis.resource(iter([{"c": 2}]), name="b", incremental=cursor()),
        trellis.resource(iter([{"c": 1}]), name="d", incremental=cursor()),
    ).notes
    assert notes == (
        "cursor c of a left out 2 records: 2 before its start 2",
        "cursor c of d left out 1 record: 1 before its start 2",
    )


def test_the_function_sees_where_to_start() -> None:
    seen: list[Any] = []

    @trellis.resource
    def rows(updated: Any = trellis.incremental("c", initial_value=1)) -> Any:  # noqa: B008
        seen.append((updated.start_value, updated.last_value))
        yield {"c": 4}
        seen.append((updated.start_value, updated.last_value))

    first = read(rows)
    read(rows, state=first.state)
    assert seen == [(1, 1), (1, 4), (4, 4), (4, 4)]
    assert first.parts[0].declared.table.columns["c"].hints == {"incremental": True}


def test_a_last_value_that_is_read_between_pages_is_noted() -> None:
    records = [{"id": number, "day": number % 5} for number in range(20)]

    def page_of(since: int, page: int) -> list[dict[str, int]]:
        return [record for record in records if record["day"] >= since][page * 8 : (page + 1) * 8]

    @trellis.resource
    def moving(after: Any = trellis.incremental("day", initial_value=0)) -> Any:  # noqa: B008
        page = 0
        while rows := page_of(after.last_value, page):
            yield rows
            page += 1

    @trellis.resource
    def staying(after: Any = trellis.incremental("day", initial_value=0)) -> Any:  # noqa: B008
        page = 0
        while rows := page_of(after.start_value, page):
            yield rows
            page += 1

    lossy, whole = read(moving), read(staying)
    assert (len(list(lossy.parts[0].source)), len(list(whole.parts[0].source))) == (8, 20)
    assert whole.notes == ()
    (note,) = lossy.notes
    assert note == (
        "cursor day of moving: last_value was read after it had moved; if it is part of a request for "
        "further pages of the same range, rows are missing: use start_value there"
    )


def test_what_the_caller_passes_changes_the_cursor() -> None:
    @trellis.resource
    def rows(count: int, updated: Any = trellis.incremental("c", initial_value=1)) -> Any:  # noqa: B008
        yield [{"c": number} for number in range(count)]

    def got(resource: Any) -> list[int]:
        return [row["c"] for row in read(resource).parts[0].source]

    assert got(rows(4)) == [1, 2, 3]
    assert got(rows(4, updated=2)) == [2, 3]
    assert got(rows(4, trellis.incremental(initial_value=0, end_value=2))) == [0, 1]
    with pytest.raises(UsageError, match="function rows: its cursor updated= is None; pass a cursor"):
        rows(4, updated=None).incremental  # noqa: B018
    assert got(rows(4).apply_hints(incremental=trellis.incremental("c", initial_value=3))) == [3]


def test_an_annotated_parameter_takes_the_cursor_of_the_hints() -> None:
    @trellis.resource(incremental=trellis.incremental("c", initial_value=2))
    def rows(updated: trellis.Incremental) -> Any:
        yield {"c": updated.start_value}

    assert list(read(rows).parts[0].source) == [{"c": 2}]


def test_an_optional_cursor_may_be_none() -> None:
    def optional(at: trellis.Incremental[int] | None = trellis.incremental("c", initial_value=2)) -> Any:  # noqa: B008
        yield [{"c": 1}, {"c": 2}]

    def unset(at: trellis.Incremental[int] | None = None) -> Any:
        yield {"c": at and at.start_value}

    rows = trellis.resource(optional, name="rows")
    assert list(read(rows).parts[0].source) == [{"c": 2}]
    assert list(read(rows(at=None)).parts[0].source) == [{"c": 1}, {"c": 2}]
    assert list(read(trellis.resource(unset, name="rows")).parts[0].source) == [{"c": None}]


def test_with_an_end_nothing_is_kept() -> None:
    cursor = trellis.incremental("c", initial_value=1, end_value=5)
    assert read(trellis.resource(iter([{"c": 2}]), name="r", incremental=cursor)).state == {}


ORDERED = trellis.incremental("c", initial_value=0, end_value=3, row_order="asc")


def test_an_ordered_source_is_not_read_to_its_end() -> None:
    read_so_far: list[int] = []

    @trellis.resource
    def rows(c: Any = ORDERED) -> Any:
        for number in range(1000):
            read_so_far.append(number)
            yield {"c": number}

    assert len(list(read(rows).parts[0].source)) == 3
    assert read_so_far == [0, 1, 2, 3]


def test_the_state_given_is_not_changed() -> None:
    state: dict[str, Any] = {"resources": {"r": {"incremental": {}}}}
    read(trellis.resource(iter([{"c": 1}]), name="r", incremental=trellis.incremental("c")), state=state)
    assert state == {"resources": {"r": {"incremental": {}}}}


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "missing": (
        {},
        {"x": 1},
        r"resource r: incremental c: a row has no c: \{'x': 1\}; say on_cursor_value_missing",
    ),
    "none": ({}, {"c": None}, "has None as c"),
    "types": ({"initial_value": 1}, {"c": "a"}, "the value 'a' of a row cannot be compared with 1"),
    "key": ({"primary_key": "id"}, {"c": 1}, "a row lacks the key 'id'"),
    "end": ({"end_value": 3}, {"c": 1}, "end_value= needs initial_value="),
    "order": ({"initial_value": 5, "end_value": 3}, {"c": 1}, "end_value 3 comes before initial_value 5"),
    "incomparable": ({"initial_value": "a", "end_value": 3}, {"c": 1}, "cannot be compared"),
    "lag": (
        {"lag": 1, "initial_value": "soon"},
        {"c": "z"},
        "lag= needs a cursor of numbers, dates or times",
    ),
}


@pytest.mark.parametrize(("cursor", "row", "message"), WRONG.values(), ids=WRONG)
def test_errors_say_which_cursor_and_what_to_do(cursor: dict[str, Any], row: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(trellis.resource(iter([row]), name="r", incremental=trellis.incremental("c", **cursor)))


def test_wrong_options() -> None:
    with pytest.raises(UsageError, match="row_order= is 'down'"):
        trellis.incremental("c", row_order="down")
    with pytest.raises(UsageError, match="last_value_func= is 'mix'"):
        trellis.incremental("c", last_value_func="mix")
    with pytest.raises(UsageError, match="names no cursor"):
        read(trellis.resource(iter([{"c": 1}]), name="r", incremental=trellis.incremental(initial_value=1)))


@pytest.mark.parametrize(
    ("value", "lag", "start"),
    [
        ("2024-01-05", 1, "2024-01-04"),
        ("20240105", 1, "20240104"),
        ("2024-01-05T10:00:00Z", 3600, "2024-01-05T09:00:00Z"),
        ("2024-01-05 10:00:00.250+02:00", 60, "2024-01-05 09:59:00.250+02:00"),
        (1.5, 1, 0.5),
        (at(5), 60, at(5) - timedelta(seconds=60)),
    ],
)
def test_lag_keeps_the_form_of_the_value(value: Any, lag: float, start: Any) -> None:
    state = {"resources": {"r": {"incremental": {"c": {"last_value": value}}}}}
    seen: list[Any] = []

    @trellis.resource(name="r")
    def rows(c: Any = trellis.incremental("c", lag=lag)) -> Any:  # noqa: B008
        seen.append(c.start_value)
        yield from ()

    read(rows, state=state)
    assert seen == [start]
