"""Bad input, and input that looks bad (docs/conformance/snowplow.md, B01 to B28): loaded as it is, or kept
aside with a reason, never lost."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dialects.snowplow.client.static_site import serve_site
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
RUNTIME: Final = f"loader_runtime_error: {VESSEL_CALL}1-0-0: "
NOT_LONG: Final = f"{RUNTIME}/tugs type: 9223372036854775808 is not an integer of 64 bits"
NOT_DOUBLE: Final = f"{RUNTIME}/size type: 1e400 is not a number of at most 1.8e308"


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
    "B01-130 fields": Case(
        enriched_line(1).removesuffix("\t"),
        f"{PARSING}the line has 130 fields; expected the 131 of an enriched event, between tabs",
    ),
    "B01-132 fields": Case(
        enriched_line(1) + "\t",
        f"{PARSING}the line has 132 fields; expected the 131 of an enriched event, between tabs",
    ),
    "B01-one field": Case(
        "no event", f"{PARSING}the line has 1 field; expected the 131 of an enriched event, between tabs"
    ),
    "B02-no UUID": Case(enriched_line(1, event_id=""), f"{PARSING}event_id is empty"),
    "B02-another id": Case(enriched_line(1, event_id="e-1"), f"{PARSING}event_id is 'e-1', not a UUID"),
    "B02-no time": Case(enriched_line(1, collector_tstamp=""), f"{PARSING}collector_tstamp is empty"),
    "B02-year 0": Case(
        enriched_line(1, collector_tstamp="0000-01-01 00:00:00"),
        f"{PARSING}collector_tstamp is '0000-01-01 00:00:00', not a time such as 2031-04-05 06:00:00.123",
    ),
    "B02-year 9999": Case(
        enriched_line(1, vessel_call("1-0-0", berth="A"), collector_tstamp="9999-12-31 23:59:59.999"),
        values=("A", None, None),
        csv=("A", r"\N", r"\N"),
    ),
    "B07-an amount beyond its column": Case(
        enriched_line(1, tr_total="9999999999999999.995"),
        f"{PARSING}tr_total is '9999999999999999.995', not an amount below 10^16",
    ),
    "B03-broken JSON": Case(
        enriched_line(1, derived_contexts='{"schema":'),
        f"{PARSING}derived_contexts: not JSON: Expecting value: line 1 column 11 (char 10)",
    ),
    "B03-foreign envelope": Case(
        enriched_line(1, unstruct_event=json.dumps(vessel_call("1-0-0"))),
        f"{PARSING}unstruct_event holds {VESSEL_CALL}1-0-0; expected "
        "iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema",
    ),
    "B03-duplicate keys": Case(
        raw_event('{"berth":"A","berth":"B"}'),
        f'{PARSING}unstruct_event: not JSON: the key "berth" is there twice in one object',
    ),
    "B05-10 MB": Case(
        enriched_line(1, vessel_call("1-0-0", berth=LONG)),
        values=(LONG, None, None),
        csv=(LONG, r"\N", r"\N"),
    ),
    "B06-backslash N": Case(
        enriched_line(1, vessel_call("1-0-0", berth=r"\N")),
        values=(r"\N", None, None),
        csv=(r"\\N", r"\N", r"\N"),
    ),
    "B06-TAB, LF, CR": Case(
        enriched_line(1, vessel_call("1-0-0", berth="a\tb\nc\rd")),
        values=("a\tb\nc\rd", None, None),
        csv=("a b c d", r"\N", r"\N"),
    ),
    "B06-NUL": Case(
        enriched_line(1, vessel_call("1-0-0", berth="a\x00b")),
        values=("a\x00b", None, None),
        csv=("a\x00b", r"\N", r"\N"),
    ),
    "B06-U+2028": Case(
        enriched_line(1, vessel_call("1-0-0", berth="a\u2028b")),
        values=("a\u2028b", None, None),
        csv=("a\u2028b", r"\N", r"\N"),
    ),
    "B06-lone surrogate": Case(
        raw_event(r'{"berth":"a\ud800b"}'),
        values=("a\ufffdb", None, None),
        csv=("a\ufffdb", r"\N", r"\N"),
    ),
    "B07-lone surrogate where no text may be": Case(
        raw_event(r'{"tugs":"a\ud800b"}'),
        reason=f'schema_violations: {VESSEL_CALL}1-0-0: /tugs type: "a\ufffdb" is not of type "integer"',
    ),
    "B07-integer of 65 bits": Case(
        raw_event('{"tugs":9223372036854775808}'),
        csv=(r"\N", r"\N", "9223372036854775808"),
        wide=NOT_LONG,
        discard="9223372036854775808",
    ),
    "B07-minus zero": Case(raw_event('{"tugs":-0}'), values=(None, 0, None), csv=(r"\N", r"\N", "-0")),
    "B07-1e400": Case(
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


def test_b04_an_event_with_5000_entities(tmp_path: Path) -> None:
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
def test_b12_patterns_that_take_other_programs_years(tmp_path: Path, pattern: str, message: str) -> None:
    registry = write_registry(
        tmp_path, documents=[document("1-0-0", {"berth": {"type": "string", "pattern": pattern}})]
    )
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth=f"{'a' * 40}!"))])
    [report] = shred(tmp_path, registry)
    assert dict(report.rejects.by_reason) == {"schema_violations": 1}
    [bad] = tmp_path.glob("out/**/name=schema_violations/part-*")
    failure = json.loads(bad.read_text())["data"]["failure"]["message"]
    assert failure == f"{VESSEL_CALL}1-0-0: /berth pattern: {message}"


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}},
        {"a": json.loads('{"items":' * 45 + "{}" + "}" * 45)},
    ],
    ids=["references in a circle", "45 levels"],
)
def test_b08_schemas_that_refer_in_circles_or_are_deep_are_taken(
    tmp_path: Path, definitions: dict[str, Any]
) -> None:
    """A registry refuses to store 45 levels; a folder may have them."""
    schema = document("1-0-0", {"berth": {"$ref": "#/definitions/a"}}, definitions=definitions)
    registry = write_registry(tmp_path, documents=[schema])
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    [report] = shred(tmp_path, registry)
    assert (report.rows.loaded, report.rows.rejected) == (1, 0)
    path = tmp_path / "out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt"
    assert [row[9:] for row in lines(path)] == [["A"]]


@pytest.mark.parametrize("version", ["01-0-0", "99999999999-0-0"])
def test_b13_versions_that_are_none(tmp_path: Path, version: str) -> None:
    write_run(tmp_path, [enriched_line(1, vessel_call(version, berth="A"))])
    [report] = shred(tmp_path, write_registry(tmp_path))
    assert dict(report.rejects.by_reason) == {"loader_parsing_error": 1}
    [bad] = tmp_path.glob("out/**/name=loader_parsing_error/part-*")
    assert json.loads(bad.read_text())["data"]["failure"]["message"] == (
        f"unstruct_event: '{version}' is not a version: expected MODEL-REVISION-ADDITION such as 1-0-0, a "
        "model from 1, no leading zeros, each at most 2147483647 (INVALID_SCHEMAVER)"
    )


def test_b15_a_registry_that_is_empty(tmp_path: Path) -> None:
    (tmp_path / "registry").mkdir()
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-0", berth="A")), enriched_line(2)])
    [report] = shred(tmp_path, str(tmp_path / "registry"))
    assert (report.rows.loaded, dict(report.rejects.by_reason)) == (1, {"loader_iglu_error": 1})
    [bad] = tmp_path.glob("out/**/name=loader_iglu_error/part-*")
    assert json.loads(bad.read_text())["data"]["failure"]["message"] == (
        f"{VESSEL_CALL}1-0-0 is not in {tmp_path / 'registry'}"
    )
    note = (
        f"{tmp_path / 'registry'} has none of the schemas that events name ({VESSEL_CALL}1-0-0), and these "
        "events were rejected: publish what is missing or correct --schema, then delete the run folder and "
        "shred the run again; with --option on_missing=stop nothing is written instead"
    )
    assert report.notes == (note,)


def test_b15_a_registry_that_answers_404_to_everything_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    """And the registries of a configuration each."""
    names = [f"com.acme/event{number}/jsonschema/1-0-0" for number in range(5)]
    events = [
        enriched_line(number, {"schema": f"iglu:{name}", "data": {}}) for number, name in enumerate(names)
    ]
    write_run(tmp_path, events)
    with serve_site() as site:
        repositories = [
            {"name": name, "priority": 0, "vendorPrefixes": [], "connection": {"http": {"uri": site.url}}}
            for name in ("Acme", "Central")
        ]
        configuration = tmp_path / "resolver.json"
        schema = "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-1"
        configuration.write_text(json.dumps({"schema": schema, "data": {"repositories": repositories}}))
        [report] = shred(tmp_path, str(configuration))
    assert dict(report.rejects.by_reason) == {"loader_iglu_error": 5}
    [note] = report.to_dict()["notes"]
    assert note.startswith(
        f"{configuration} (Acme, Central) has none of the schemas that events name (iglu:{names[0]}, "
        f"iglu:{names[1]}, iglu:{names[2]} and 2 more), and these events were rejected: "
    )


def test_b16_a_registry_that_changes_during_a_run_has_one_state_for_it(tmp_path: Path) -> None:
    """1-1-0 is published as soon as the run has asked for the list of versions."""
    folder, family = Path(write_registry(tmp_path)), "org.harbor/vessel_call/jsonschema"
    with serve_site() as site:
        for file in (folder / family).iterdir():
            site.files[f"/schemas/{family}/{file.name}"] = file.read_bytes()
        path, published = f"/schemas/{family}/1", ["1-0-0"]

        class Requests(list[str]):
            def append(self, request: str) -> None:
                super().append(request)
                site.files[path] = json.dumps([VESSEL_CALL + version for version in published]).encode()
                published[1:] = ["1-1-0"] if request == path else published[1:]

        site.paths = Requests()
        registry = site.url
        write_run(
            tmp_path,
            [
                enriched_line(1, vessel_call("1-0-0", berth="A")),
                enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1)),
            ],
        )
        [report] = shred(tmp_path, registry)
        assert site.paths.count(path) == 1
        shutil.rmtree(tmp_path / "out")
        [later] = shred(tmp_path, registry)
    assert (report.rows.loaded, dict(report.rejects.by_reason)) == (1, {"loader_iglu_error": 1})
    assert report.notes[0].startswith(f"{registry} lacks schemas that events name ({VESSEL_CALL}1-1-0), and")
    assert (later.rows.loaded, later.rows.rejected, later.notes) == (2, 0, ())


def test_b24_two_shredders_of_one_run_leave_one_run_folder(tmp_path: Path) -> None:
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
