"""What must hold of events that are spread over tables: nothing is lost, the division does not matter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import trellis.engine.columnar.event_batcher
import trellis.engine.input.blocks
from trellis.destinations.base import Commit, Parallel, one_by_one
from trellis.destinations.duckdb.destination import DuckDB
from trellis.destinations.row_changes import RowChanges
from trellis.dialects.rudderstack.events.timestamps import to_text
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.input.files import input_files
from trellis.engine.records.files import FileRecords
from trellis.engine.runner import InlineRunner
from trellis.engine.staging.folder import StagingFolder
from trellis.engine.storage.storage import DEFAULT_STORAGE
from trellis.pipelines.loading.attempt import LoadAttempt
from trellis.pipelines.loading.job import LoadInput, LoadJob
from trellis.pipelines.loading.options import LoadSettings
from trellis.pipelines.loading.reject_limit import RejectLimit
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.records import records_of
from trellis.pipelines.report import Report
from trellis.schema.model import Schema

Event = dict[str, Any]
Row = dict[str, Any]
VARIES = ("load_id", "file", "discarded_at", "rejected_at", "uuid_ts", "loaded_at")
DISCARDS = ("rudder_discards", "RUDDER_DISCARDS")
NOW = datetime(2024, 2, 29, 12, 0, tzinfo=timezone.utc)

KEYS = st.sampled_from(
    ["a", "A", "b", "a_b", "aB", "n", "id", "x y", "", "é", '"; --', "context_os", "price", "event", "__"]
)
TEXTS = st.sampled_from(
    ["", " ", "x", "1", "2.5", "NA", "2024-05-06T01:02:03Z", "2023-02-30", "\x00", "日本", "é" * 513, "[1]"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**53 + 1, 2**63, -(2**70), 10**400])
    | st.sampled_from([0.5, 1.0, -1.9, 1e300, 1e-9, 5e18])
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
CONTEXTS = st.dictionaries(st.sampled_from(["os", "ip", "traits"]), VALUES, max_size=2)
TYPES = st.sampled_from(
    ["track", "track", "track", "identify", "identify", "page", "group", "alias", "Track"]
)
EVENTS = st.builds(
    lambda fields, more: {**fields, **more},
    st.fixed_dictionaries(
        {
            "type": TYPES,
            "messageId": st.sampled_from(["1", "2", "3", 4]),
            "event": st.sampled_from(["Sale", "sale", "Big Sale", "users", "日本"]),
            "properties": OBJECTS,
            "traits": OBJECTS,
            "userId": st.sampled_from(["u", "v", 7]),
        }
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "receivedAt": st.sampled_from(["2024-02-29T10:00:00Z", "2024-02-29T11:00:00Z", "soon"]),
            "context": st.dictionaries(st.sampled_from(["os", "ip", "traits"]), VALUES, max_size=2)
            | st.just("x"),
            "type": st.sampled_from(["nope", None]),
            "foo": VALUES,
            "integrations": st.just({"RS": {"options": {"jsonPaths": ["a"], "skipTracksTable": True}}}),
        },
    ),
)
BAD_LINES = st.sampled_from(
    [b"{", b"nope", b"5", b"null", b'{"a":NaN}', b"\xff", b'{"a":"\\ud800"}', b"", b"  "]
)
LINES = st.lists(EVENTS.map(lambda event: json.dumps(event).encode()) | BAD_LINES, max_size=10)
SETTINGS = st.fixed_dictionaries(
    {"provider": st.sampled_from(["RS", "POSTGRES", "MSSQL", "BQ", "S3_DATALAKE", "SNOWFLAKE"])},
    optional={
        "widen": st.just("int_to_float"),
        "discard_truncated": st.booleans(),
        "max_events": st.integers(0, 2),
        "max_properties": st.integers(0, 4),
        "properties": st.sampled_from(["a", "a,price"]),
        "jsonPaths": st.sampled_from(["a", "identify.traits.a"]),
        "identity_resolution": st.just(True),
    },
)


class Uncommitted(DuckDB):
    """A file to which nothing is ever committed, so that a second load cannot be tried on it."""

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        return {}


class Tables:
    """Events spread over staged files, load after load, and never committed."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        self.folder = folder
        self.pipeline = Pipeline(
            "shop", f"duckdb:{folder}/none.duckdb", dialect="rudderstack", settings=options
        )
        self.destination = Uncommitted(f"{folder}/none.duckdb")
        self.schema = self.pipeline.schema
        self.reports: list[Report] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pipeline, name)

    def look(self, name: str) -> tuple[Schema, None]:
        return self.schema, None

    def spread(self, source: Any, **options: Any) -> Report:
        staging = self.folder / str(len(self.reports))
        staging.mkdir()
        records = source if isinstance(source, FileRecords) else records_of(source, InlineRunner())
        feed = LoadInput(records, LoadSettings(**options).request(""))
        job = LoadJob((feed,), "shop", reject_limit=RejectLimit(percent=100))
        attempt = LoadAttempt(self, job, "1", StagingFolder.of(str(staging), None, "1", DEFAULT_STORAGE))
        attempt.now = NOW
        report = attempt.run(dry_run=True)
        self.schema = report.schema
        self.reports.append(report)
        return report

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Every row with its table, in the order of the input, without NULLs."""
        for path in sorted(self.folder.glob("*/*/*.parquet"), key=lambda path: (int(path.parts[-3]), path)):
            for row in pq.read_table(path).to_pylist():
                yield path.parent.name, {name: value for name, value in row.items() if value is not None}

    def content(self, without: Sequence[str] = ()) -> Counter[str]:
        """The rows as texts, without what differs by its nature."""
        left_out = {*VARIES, *without}
        return Counter(
            json.dumps(
                [table, {name: _plain(value) for name, value in row.items() if name.lower() not in left_out}],
                sort_keys=True,
            )
            for table, row in self.rows()
        )

    def counts(self) -> Counter[str]:
        return Counter(table for table, _ in self.rows())


def _plain(value: Any) -> Any:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


New = Callable[..., Tables]


@pytest.fixture
def new(tmp_path_factory: pytest.TempPathFactory) -> New:
    return lambda options=None: Tables(tmp_path_factory.mktemp("spread"), options or {"provider": "RS"})


def write(path: Path, lines: Sequence[bytes]) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


# --- Nothing is lost -------------------------------------------------------------------------------------

MARKED = ("properties", "traits", "context", "foo")


class Marks:
    """Makes every value that is not blank one that is found again, with a number of its own."""

    def __init__(self) -> None:
        self.number = 0
        self.found: list[str] = []

    def event(self, event: Event) -> Event:
        return {key: self.value(value) if key in MARKED else value for key, value in event.items()}

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if value is None or isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
            return value
        self.number += 1
        marked = _marked(value, self.number)
        self.found.append(str(marked)[:100])
        return marked


def _marked(value: Any, number: int) -> Any:
    if isinstance(value, float):
        return 800_000_000.5 + number
    if isinstance(value, int):
        return 700_000_000 + number if abs(value) < 100 else value + 2 * number
    if value.startswith("2024-"):
        return f"2024-05-06T01:02:{number % 60:02d}.{number % 1000:03d}Z"
    return f"s{number:06d}" + value.replace("\x00", "0")


def _printed(value: Any) -> str:
    return to_text(value) if isinstance(value, datetime) else str(value)


TWICE = [
    {"type": "track", "messageId": "1", "event": "Sale", "properties": {"a": 1, "n": 1}},
    {"type": "track", "messageId": "2", "event": "Sale", "properties": {"a": "NA", "b": [{"x y": 2}]}},
    {"type": "track", "messageId": "3", "event": "Sale", "properties": {"a": 10**400, "A": 0.5, "n": 1.5}},
    {"type": "identify", "messageId": "4", "userId": "u", "traits": {"a": 2**63}, "foo": "x"},
]


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=6), options=SETTINGS)
@example(events=TWICE, options={"provider": "RS", "max_properties": 1})
@example(events=TWICE, options={"provider": "MSSQL", "max_events": 0})
@example(events=TWICE, options={"provider": "SNOWFLAKE", "identity_resolution": True, "properties": "n"})
def test_every_value_of_an_event_is_somewhere(new: New, events: list[Event], options: dict[str, Any]) -> None:
    tables, marks, half = new(options), Marks(), len(events) // 2
    for part in (events[:half], events[half:]):
        report = tables.spread([marks.event(event) for event in part])
        assert report.rows.read == len(part)
        assert report.balanced
    haystack = "\x1e".join(_printed(value) for _, row in tables.rows() for value in row.values())
    assert [mark for mark in marks.found if mark not in haystack] == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, options=SETTINGS, contract=st.sampled_from([None, "discard_row", "discard_value"]))
def test_rows_balance(new: New, lines: list[bytes], options: dict[str, Any], contract: str | None) -> None:
    tables, half = new(options), len(lines) // 2
    for name, part in (("1", lines[:half]), ("2", lines[half:])):
        report = tables.spread(write(tables.folder / f"{name}.jsonl", part), contract=contract)
        assert report.balanced
        assert report.rows.read == sum(bool(line.strip()) for line in part)
    counts = tables.counts()
    assert counts["_trellis_rejects"] == sum(load_report.rows.rejected for load_report in tables.reports)
    discarded = sum(
        load_report.discards.count + load_report.truncated.count for load_report in tables.reports
    )
    assert counts["_trellis_discards"] + sum(counts[name] for name in DISCARDS) == discarded


# --- The division of the input ---------------------------------------------------------------------------


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=LINES,
    options=SETTINGS,
    files=st.integers(1, 3),
    split=st.sampled_from([1 << 20, 700, 50]),
    block=st.sampled_from([1 << 20, 300, 1]),
    times=st.sampled_from([1, 4]),
)
@example(
    lines=[json.dumps(event).encode() for event in TWICE], options={}, files=1, split=50, block=1, times=2
)
def test_the_division_of_the_input_changes_nothing(
    new: New, lines: list[bytes], options: dict[str, Any], files: int, split: int, block: int, times: int
) -> None:
    """Nor does it what is projected: that is only what comes after the first block."""
    lines, whole, parts = lines * times, new(options), new(options)
    one = whole.spread(write(whole.folder / "whole.jsonl", lines))
    size = max(1, -(-len(lines) // files))
    paths = [
        write(parts.folder / f"part-{number}.jsonl", lines[number * size : (number + 1) * size])
        for number in range(files)
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trellis.engine.input.blocks, "BLOCK", block)
        patched.setattr(trellis.engine.input.blocks, "PEEK_BYTES", block)
        patched.setattr(trellis.engine.columnar.event_batcher, "MIN_SPLIT", 1)
        many = parts.spread(FileRecords(input_files(paths), InlineRunner(), split_size=split))
    assert _columns(parts.schema) == _columns(whole.schema)
    # where the overflow column stands is no promise
    if not options.keys() & {"max_events", "max_properties"}:
        assert parts.schema.stored_hash == whole.schema.stored_hash
    places = () if files == 1 else ("position",)
    assert parts.content(places) == whole.content(places)
    assert (many.rows, many.discards, many.rejects) == (one.rows, one.discards, one.rejects)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=6), options=SETTINGS, cut=st.integers(0, 6))
@example(events=TWICE, options={"provider": "RS", "widen": "int_to_float"}, cut=2)
@example(events=TWICE, options={"provider": "RS", "max_properties": 2}, cut=1)
def test_one_load_after_the_other_gives_the_same_tables(
    new: New, events: list[Event], options: dict[str, Any], cut: int
) -> None:
    whole, parts = new(options), new(options)
    whole.spread(events)
    parts.spread(events[:cut])
    parts.spread(events[cut:])
    assert _columns(parts.schema) == _columns(whole.schema)
    assert parts.content(["position"]) == whole.content(["position"])


def _columns(schema: Schema) -> dict[str, list[Any]]:
    """The columns of every table with their types, in whatever order."""
    return {
        name: sorted((column.name, column.data_type, dict(column.hints)) for column in table.columns.values())
        for name, table in schema.tables.items()
    }


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=6), options=SETTINGS)
def test_events_in_memory_are_as_in_a_file(new: New, events: list[Event], options: dict[str, Any]) -> None:
    memory, file = new(options), new(options)
    one = memory.spread(events)
    other = file.spread(write(file.folder / "1.jsonl", [json.dumps(event).encode() for event in events]))
    assert memory.schema.stored_hash == file.schema.stored_hash
    assert memory.content(["text"]) == file.content(["text"])
    assert (one.rows, one.discards, one.rejects) == (other.rows, other.discards, other.rejects)


# --- What waits ------------------------------------------------------------------------------------------


def test_only_the_events_with_something_new_are_read_again(new: New) -> None:
    """Each event once, and those with something new twice."""
    tables, seen = new(), Counter[str]()
    lines = [
        json.dumps({"type": "track", "messageId": str(number), "event": "Sale", "properties": {"a": 1}})
        for number in range(50)
    ]
    lines[30] = lines[30].replace('"a": 1', '"b": 1')
    lines[40] = lines[40].replace("Sale", "Other")
    spread = RoutedFlattener.spread

    def watched(self: RoutedFlattener, item: Any, position: Any, check_big_ints: bool) -> Any:
        became = spread(self, item, position, check_big_ints)
        if position != (0, 0, 0):  # a sample of the records shows a task what they look like
            seen[f"{item['messageId']} {became}"] += 1
        return became

    path = write(tables.folder / "1.jsonl", [line.encode() for line in lines])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RoutedFlattener, "spread", watched)
        patched.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 1000)
        report = tables.spread(path)
    assert report.rows.loaded == 50
    assert [outcome for outcome in seen if outcome.endswith("waits") and int(outcome.split()[0]) > 20] == [
        "30 waits", "40 waits",
    ]  # fmt: skip
    assert {count for outcome, count in seen.items() if int(outcome.split()[0]) > 20} == {1}


def test_what_an_event_that_waits_brought_is_taken_back(new: New) -> None:
    """Rows, discards and refusals of an event count once, however often it is read."""
    tables = new()
    tables.spread([{"type": "track", "messageId": "0", "event": "Sale", "properties": {"a": 1}}])
    sale = {"type": "track", "messageId": "1", "event": "Sale", "properties": {"a": "x", "b": 0.5, "id": "y"}}
    report = tables.spread([sale, {**sale, "messageId": "2", "properties": {"a": 2, "c": 1}}])
    assert dict(report.discards.by_reason) == {
        "incompatible schema conversion from int to string": 1,
        "reserved": 1,
    }
    assert tables.counts() == {
        "tracks": 3, "sale": 3, "rudder_discards": 1, "_trellis_discards": 1,
    }  # fmt: skip
