"""Bad input, and input that looks bad: loaded as it is, or kept aside with a reason, never lost."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dialects.snowplow.enriched import (
    ENVELOPE,
    VESSEL_CALL,
    enriched_line,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document
from dialects.snowplow.shredder.test_shred import RUN, lines, shred
from dialects.snowplow.shredder.test_wide import EVENT, load, pipeline
from trellis.dialects.snowplow.runs.manifest import RunManifest

TABLE: Final = "org_harbor_vessel_call_1"
SCHEMA: Final = document(
    "1-0-0",
    {"berth": {"type": "string"}, "tugs": {"type": "integer"}, "size": {"type": "number"}},
)
PARSING: Final = "loader_parsing_error: "
LONG: Final = "x" * 10_000_000
NOT_LONG: Final = f"loader_runtime_error: {VESSEL_CALL}1-0-0: /tugs: 9223372036854775808 is not long"
NOT_DOUBLE: Final = f"loader_runtime_error: {VESSEL_CALL}1-0-0: /size: 1e400 is not double"


def raw_event(data: str) -> str:
    """A line whose event has this text as its data."""
    entity = f'{{"schema":"{VESSEL_CALL}1-0-0","data":{data}}}'
    envelope = f'{{"schema":"{ENVELOPE}unstruct_event/jsonschema/1-0-0","data":{entity}}}'
    return enriched_line(1, unstruct_event=envelope)


@dataclass(frozen=True)
class Case:
    """What becomes of a line: `reason` of a rejection everywhere; else the values of berth, tugs and size.

    `wide` is the reason of a rejection of its wide row, `discard` the value that its table does not take.
    """

    line: str
    reason: str = ""
    values: tuple[Any, ...] = (None, None, None)
    csv: tuple[str, ...] = (r"\N", r"\N", r"\N")
    wide: str = ""
    discard: str = ""


CASES: Final[dict[str, Case]] = {
    "130 fields": Case(
        enriched_line(1).removesuffix("\t"),
        f"{PARSING}the line has 130 fields; expected the 131 of an enriched event, between tabs",
    ),
    "132 fields": Case(
        enriched_line(1) + "\t",
        f"{PARSING}the line has 132 fields; expected the 131 of an enriched event, between tabs",
    ),
    "no UUID": Case(enriched_line(1, event_id=""), f"{PARSING}event_id is empty"),
    "another id": Case(enriched_line(1, event_id="e-1"), f"{PARSING}event_id is 'e-1', not a UUID"),
    "no time": Case(enriched_line(1, collector_tstamp=""), f"{PARSING}collector_tstamp is empty"),
    "year 0": Case(
        enriched_line(1, collector_tstamp="0000-01-01 00:00:00"),
        f"{PARSING}collector_tstamp is '0000-01-01 00:00:00', not a time such as 2031-04-05 06:00:00.123",
    ),
    "year 9999": Case(
        enriched_line(1, vessel_call("1-0-0", berth="A"), collector_tstamp="9999-12-31 23:59:59.999"),
        values=("A", None, None),
        csv=("A", r"\N", r"\N"),
    ),
    "broken JSON": Case(
        enriched_line(1, derived_contexts='{"schema":'),
        f"{PARSING}derived_contexts: not JSON: Expecting value: line 1 column 11 (char 10)",
    ),
    "foreign envelope": Case(
        enriched_line(1, unstruct_event=json.dumps(vessel_call("1-0-0"))),
        f"{PARSING}unstruct_event holds {VESSEL_CALL}1-0-0; expected "
        "iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema",
    ),
    "duplicate keys": Case(
        raw_event('{"berth":"A","berth":"B"}'),
        f'{PARSING}unstruct_event: not JSON: the key "berth" is there twice in one object',
    ),
    "10 MB": Case(
        enriched_line(1, vessel_call("1-0-0", berth=LONG)),
        values=(LONG, None, None),
        csv=(LONG, r"\N", r"\N"),
    ),
    "backslash N": Case(
        enriched_line(1, vessel_call("1-0-0", berth=r"\N")),
        values=(r"\N", None, None),
        csv=(r"\\N", r"\N", r"\N"),
    ),
    "TAB, LF, CR": Case(
        enriched_line(1, vessel_call("1-0-0", berth="a\tb\nc\rd")),
        values=("a\tb\nc\rd", None, None),
        csv=("a b c d", r"\N", r"\N"),
    ),
    "NUL": Case(
        enriched_line(1, vessel_call("1-0-0", berth="a\x00b")),
        values=("a\x00b", None, None),
        csv=("a\x00b", r"\N", r"\N"),
    ),
    "U+2028": Case(
        enriched_line(1, vessel_call("1-0-0", berth="a\u2028b")),
        values=("a\u2028b", None, None),
        csv=("a\u2028b", r"\N", r"\N"),
    ),
    "lone surrogate": Case(
        raw_event(r'{"berth":"a\ud800b"}'),
        values=("a\ufffdb", None, None),
        csv=("a\ufffdb", r"\N", r"\N"),
    ),
    "lone surrogate where no text may be": Case(
        raw_event(r'{"tugs":"a\ud800b"}'),
        reason=f'schema_violations: {VESSEL_CALL}1-0-0: /tugs type: "a\ufffdb" is not of type "integer"',
    ),
    "integer of 65 bits": Case(
        raw_event('{"tugs":9223372036854775808}'),
        csv=(r"\N", r"\N", "9223372036854775808"),
        wide=NOT_LONG,
        discard="9223372036854775808",
    ),
    "1e400": Case(
        raw_event('{"size":1e400}'),
        csv=(r"\N", "1e400", r"\N"),
        wide=NOT_DOUBLE,
        discard='"1E+400"',
    ),
}
"""In files the columns are in the order of their names: berth, size, tugs."""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bad_input_gets_a_clear_answer(case: Case, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[SCHEMA])
    for layout in ("model", "wide"):
        sink = pipeline(tmp_path, f"duckdb:{layout}.duckdb")
        load(sink, tmp_path, [case.line], registry, layout=layout)
        rejects = sink.destination.query("atomic", "_trellis_rejects")
        reason = case.reason or (case.wide if layout == "wide" else "")
        assert [row["reason"] for row in rejects] == ([reason] if reason else [])
        assert [row["text"] for row in rejects] == ([case.line] if reason else [])
        if not reason:
            assert values(sink, layout) == [case.values]
            discards = sink.destination.query("atomic", "_trellis_discards")
            assert [row["value"] for row in discards] == ([case.discard] if case.discard else [])
    write_run(tmp_path / "shred", [case.line])
    [report] = shred(tmp_path / "shred", registry)
    assert (report.rows.loaded, report.rows.rejected) == ((0, 1) if case.reason else (1, 0))
    if not case.reason:
        path = tmp_path / "shred/out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt"
        assert path.read_bytes().decode().removesuffix("\n").split("\t")[9:] == [*case.csv]


def values(sink: Any, layout: str) -> list[tuple[Any, ...]]:
    if layout == "wide":
        rows = [row[EVENT] for row in sink.destination.query("atomic", "events")]
    else:
        rows = sink.destination.query("atomic", TABLE)
    return [(row["berth"], row["tugs"], row["size"]) for row in rows]


def test_an_event_with_5000_entities(tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[SCHEMA])
    contexts = [vessel_call("1-0-0", tugs=number) for number in range(5_000)]
    sink = pipeline(tmp_path)
    report = load(sink, tmp_path, [enriched_line(1, contexts=contexts)], registry, layout="model")
    assert {table.name: table.rows for table in report.tables} == {"events": 1, TABLE: 5_000}
    write_run(tmp_path / "shred", [enriched_line(1, contexts=contexts)])
    shred(tmp_path / "shred", registry)
    path = tmp_path / "shred/out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt"
    assert [row[11] for row in lines(path)] == [str(number) for number in range(5_000)]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("^(a+)+$", f'"{"a" * 40}!" does not match "^(a+)+$"'),
        (r"^(\w+\s?)*\1$", "Error executing regex: Max limit for backtracking count exceeded"),
    ],
)
def test_patterns_that_take_other_programs_years(tmp_path: Path, pattern: str, message: str) -> None:
    registry = write_registry(
        tmp_path, documents=[document("1-0-0", {"berth": {"type": "string", "pattern": pattern}})]
    )
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth=f"{'a' * 40}!"))])
    [report] = shred(tmp_path, registry)
    assert dict(report.rejects.by_reason) == {"schema_violations": 1}
    [bad] = tmp_path.glob("out/**/name=schema_violations/part-*")
    failure = json.loads(bad.read_text())["data"]["failure"]["message"]
    assert failure == f"{VESSEL_CALL}1-0-0: /berth pattern: {message}"


def test_two_shredders_of_one_run_leave_one_run_folder(tmp_path: Path) -> None:
    """The second one waits, and finds the run."""
    registry = write_registry(tmp_path, documents=[SCHEMA])
    write_run(tmp_path, [enriched_line(number, vessel_call("1-0-0", tugs=number)) for number in range(2_000)])
    with ThreadPoolExecutor(2) as pool:
        reports = [*pool.map(lambda _: shred(tmp_path, registry), range(2))]
    assert sorted(report.already_loaded for [report] in reports) == [False, True]
    assert [path.name for path in (tmp_path / "out").iterdir()] == [RUN]
    assert RunManifest.read(tmp_path / "out" / RUN).good == 2_000
    path = tmp_path / "out" / RUN / "vendor=org.harbor/name=vessel_call/model=1"
    assert sum(len(lines(part)) for part in path.iterdir()) == 2_000
