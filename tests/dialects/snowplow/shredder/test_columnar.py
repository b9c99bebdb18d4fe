"""Ordinary lines are shredded by columns, with what comes out of the exact way."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import trellis
import trellis.engine.columnar.entity_lines.batcher as batcher
import trellis.engine.input.blocks as blocks
from destinations.postgres_server import postgres
from dialects.snowplow.enriched import (
    ENVELOPE,
    VESSEL_CALL,
    enriched_line,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.loading.runs import TABLE
from dialects.snowplow.schemas import instances, objects
from dialects.snowplow.test_laws import growing_families
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.enriched.fields import FIELDS
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.engine.exact.routed_rows import RoutedFlattener
from trellis.engine.runner import InlineRunner
from trellis.pipelines.report import Report

__all__ = ["postgres"]

ODD_TEXTS = (
    "",
    "x",
    "7",
    "-0",
    "007",
    "+1",
    "1e2",
    "1.",
    "12.345",
    "true",
    "0",
    "1",
    "99999999999",
    "ü" * 300,
)
ODD_TIMES = (
    "2031-04-05T06:00:00Z",
    "2031-04-31 06:00:00",
    "2031-02-28 06:00:00.1234567",
    "0999-01-01 00:00:00",
    "2031-12-31 23:59:59.999999",
)
ODD_FIELDS = {
    "etl_tstamp": ODD_TIMES,
    "collector_tstamp": ("", *ODD_TIMES),
    "event_id": ("", "x", "FFFFFFFF-0000-4000-8000-00000000000A"),
    "app_id": ("{", '"q', "\\N", "a\rb", "a\0b", "\u2028", " ", "NULL"),
    "txn_id": ODD_TEXTS,
    "geo_latitude": ODD_TEXTS,
    "tr_total": ODD_TEXTS,
    "br_cookies": ODD_TEXTS,
    "v_etl": ("",),
}
ODD_DATA = (
    "null",
    "[]",
    '"x"',
    "{}",
    '{"a":1,"a":2}',
    '{"a":-0}',
    '{"a":1e400,"b":-0.0}',
    '{"a":12345678901234567890}',
    '{"a":"\\ud800"}',
    '{"\\u0061":1.50}',
    '{"a":"say \\"a\\":7"}',
    '{"a":{"b":[1,{"schema":"iglu:a/b/c/1-0-0","data":{}}]}}',
    '{"a":NaN}',
    '{"a":"\x01"}',
    '{"a":[1],"b":{"c":null}}',
    '{"a": 1.0,  "b" : true}',
    '{"a":7.10,"b":"x\\u0000","unknown":null}',
    '{"a":1}{"a":2}',
    '{"a":1',
)
TABLES = ("events", TABLE, "_trellis_discards")
PLACES = ("unstruct_event", "contexts", "derived_contexts")


@st.composite
def lines(draw: st.DrawFn, schemas: list[SchemaDocument]) -> list[str]:
    """Lines of events with entities of these schemas, most of which are ordinary."""
    count = draw(st.integers(1, 12))
    return [draw(_line(number, schemas)) for number in range(count)]


@st.composite
def _line(draw: st.DrawFn, number: int, schemas: list[SchemaDocument]) -> str:
    fields = {
        name: draw(st.sampled_from(texts))
        for name, texts in ODD_FIELDS.items()
        if draw(st.integers(0, 30)) == 0
    }
    for place in PLACES:
        entities = [draw(_entity(schemas)) for _ in range(draw(st.integers(0, 3)))]
        if entities:
            fields[place] = _envelope(place, entities)
    if draw(st.integers(0, 30)) == 0:
        fields["contexts"] = draw(st.sampled_from(("{", "[]", _envelope("contexts", []))))
    line = _line_with(number, **{"app_id": f"web {number}", **fields})
    return f"{line}\tmore" if draw(st.integers(0, 40)) == 0 else line


def _line_with(number: int, **fields: str) -> str:
    """A line with these texts, also in the fields with entities."""
    texts = enriched_line(number).split("\t")
    return "\t".join(fields.get(field.name, text) for field, text in zip(FIELDS, texts, strict=True))


def _envelope(place: str, entities: list[str]) -> str:
    name = "unstruct_event" if place == "unstruct_event" else "contexts"
    data = entities[0] if place == "unstruct_event" else f"[{','.join(entities)}]"
    return f'{{"schema":"{ENVELOPE}{name}/jsonschema/1-0-0","data":{data}}}'


@st.composite
def _entity(draw: st.DrawFn, schemas: list[SchemaDocument]) -> str:
    schema = draw(st.sampled_from(schemas))
    if draw(st.integers(0, 15)) == 0:
        data = draw(st.sampled_from(ODD_DATA))
    else:
        body = draw(st.sampled_from(schemas)).body if draw(st.integers(0, 9)) == 0 else schema.body
        data = json.dumps(draw(instances(body)), separators=(",", ":"), ensure_ascii=draw(st.booleans()))
    key = str(schema.key) if draw(st.integers(0, 30)) else "iglu:org.harbor/unknown/jsonschema/1-0-0"
    return f'{{"schema":"{key}","data":{data}}}'


def shred(folder: Path, name: str, registry: str, **options: Any) -> tuple[Report, dict[str, Any]]:
    """The report, and what is in the files."""
    out = folder / name
    shredder = Shredder(out, RegistryReferences.open(registry), InlineRunner(), **options)
    [report] = shredder.shred(str(folder))
    return report, {
        path.relative_to(out).as_posix(): _content(path)
        for path in sorted(out.glob("**/*"))
        if path.is_file() and path.suffix != ".lock" and path.name != "shredding_complete.json"
    }


def _content(path: Path) -> Any:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return table.schema, sorted(map(repr, table.to_pylist()))
    return sorted(path.read_bytes().splitlines())


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("validate", ["true", "false"])
@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(data=st.data())
def test_lines_by_columns_give_what_each_gives_alone(format: str, validate: str, data: st.DataObject) -> None:
    family = [*data.draw(growing_families()).values()][:3]
    other = SchemaDocument(SchemaKey.parse("iglu:org.harbor/other/jsonschema/1-0-0"), data.draw(objects(1)))
    schemas = [*family, other]
    events = data.draw(lines(schemas))
    options = {"format": format, "deduplication": "none", "settings": {"validate": validate}}
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        write_run(folder, events)
        registry = write_registry(folder, documents=schemas)
        patch.setattr(batcher, "MIN_LINES", 1)
        patch.setattr(blocks, "SAMPLE_LINES", data.draw(st.sampled_from((1, 256))))
        columnar, files = shred(folder, "columnar", registry, **options)
        patch.setattr(batcher, "MIN_LINES", 1_000)
        exact, exact_files = shred(folder, "exact", registry, **options)
        assert files == exact_files
        assert columnar.rows == exact.rows
        assert columnar.tables == exact.tables


def test_ordinary_lines_go_by_columns_and_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remaining: list[int] = []
    build = batcher.LineBatcher.build_batches

    def keep_remaining(self: Any, placed: Any, *others: Any) -> Any:
        built = build(self, placed, *others)
        remaining.extend(placed.numbers[built.remaining].tolist())
        return built

    monkeypatch.setattr(batcher.LineBatcher, "build_batches", keep_remaining)
    call = {"schema": f"{VESSEL_CALL}1-2-1", "data": {"berth": "A-0", "draughtM": 7.50, "tugCount": 0}}
    late = {"schema": f"{VESSEL_CALL}1-0-0", "data": {"berth": "B", "arrivedAt": "2031-04-30T06:00:00+02:00"}}
    texts = [json.dumps(entity, separators=(",", ":")) for entity in (call, late)]
    ordinary = {
        "unstruct_event": _envelope("unstruct_event", texts),
        "contexts": _envelope("contexts", texts),
    }
    events = [_line_with(number, app_id="web", txn_id="7", **ordinary) for number in range(100)]
    events[40] = enriched_line(40, txn_id="x")
    events[50] = enriched_line(50, contexts=[vessel_call("1-0-0", berth="spaced")])
    write_run(tmp_path, events)
    report, files = shred(tmp_path, "columnar", write_registry(tmp_path), format="csv")
    assert (report.rows.loaded, report.rows.rejected) == (99, 1)
    assert sorted({*remaining}) == [40, 50]
    [rows] = (content for path, content in files.items() if "name=vessel_call" in path)
    assert Counter(row.split(b"\t", 9)[9] for row in rows) == {
        b"A-0\t\\N\t7.5\t\\N\t\\N\t\\N\t0": 196,
        b"B\t2031-04-30T06:00:00+02:00\t\\N\t\\N\t\\N\t\\N\t\\N": 98,
        b"spaced\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N": 1,
    }


def test_lines_wait_for_a_late_schema_without_being_routed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file has two schemas that the first does not show, an unknown one, and bad events."""
    routed: list[int] = []
    spread = RoutedFlattener.spread

    def count(self: Any, item: Any, position: Any, check_big_ints: bool) -> Any:
        if position[0] == 1:
            routed.append(position[-1])
        return spread(self, item, position, check_big_ints)

    monkeypatch.setattr(RoutedFlattener, "spread", count)
    known, late, later = (
        json.dumps({"schema": f"{VESSEL_CALL}{version}", "data": {"berth": "A"}}, separators=(",", ":"))
        for version in ("1-0-0", "1-1-0", "1-2-0")
    )
    unknown = late.replace("1-1-0", "9-0-0")
    contexts = [_envelope("contexts", [known, late])] * 200
    contexts[100] = _envelope("contexts", [later, late])
    contexts[110] = _envelope("contexts", [late, unknown])
    events = [_line_with(number, contexts=text) for number, text in enumerate(contexts)]
    events[120] = _line_with(120, contexts=contexts[0], v_etl="")
    run = write_run(tmp_path, [_line_with(999, contexts=_envelope("contexts", [known]))])
    (run / "part-00001").write_text("".join(f"{event}\n" for event in events))
    report, files = shred(tmp_path, "columnar", write_registry(tmp_path), format="csv")
    assert (report.rows.read, report.rows.loaded, report.rows.rejected) == (201, 199, 2)
    [rows] = (content for path, content in files.items() if "name=vessel_call" in path)
    assert len(rows) == 1 + 2 * 198
    assert Counter(routed) == {0: 1, 100: 1, 110: 2, 120: 1}


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_loads_by_columns_cut_and_convert_as_each_alone(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL has texts with a length: 50 events are cut in app_id, 20 entities in berth."""
    times = ("2031-04-30T06:00:00.5Z", "2031-04-30T06:00:00+02:00")
    events = []
    for number in range(150):
        data = {"berth": "K" * (number % 15), "draughtM": number / 7, "arrivedAt": times[number % 2]}
        text = json.dumps({"schema": f"{VESSEL_CALL}1-2-1", "data": data}, separators=(",", ":"))
        app_id = "w" * (256 if number % 3 == 0 else 255)
        fields = {"unstruct_event": _envelope("unstruct_event", [text]), "tr_total": "12.5"}
        events.append(_line_with(number, app_id=app_id, **fields))
    run, registry = write_run(tmp_path, events), write_registry(tmp_path)
    rows = []
    for least in (1, 1_000):
        monkeypatch.setattr(batcher, "MIN_LINES", least)
        url = f"duckdb:{tmp_path / str(least)}.duckdb"
        if kind == "postgres":
            server = request.getfixturevalue("postgres")
            url = server.url(server.new_database())
        sink = trellis.pipeline(
            "shop", url, dataset="atomic", dialect="snowplow", engine="inline", settings={"validate": "false"}
        )
        sink.load(str(run), schema=registry, load_id="7")
        rows.append({name: _rows(sink.destination.query("atomic", name)) for name in TABLES})
    assert rows[0] == rows[1]
    discards = 70 if kind == "postgres" else 0
    assert [len(rows[0][name]) for name in TABLES] == [150, 150, discards]


def _rows(stored: Any) -> list[str]:
    """Rows as texts in some order, without the times of loads."""
    return sorted(repr({**row, "load_tstamp": None, "discarded_at": None}) for row in stored)
