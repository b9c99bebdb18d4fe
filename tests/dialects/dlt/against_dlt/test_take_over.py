"""One dataset, two programs: Trellis goes on where dlt was, dlt goes on where Trellis was.

What stands there afterwards is compared with a dataset that dlt loaded alone, on as many machines.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import dlt
import duckdb
import pytest

from destinations.postgres_server import Server
from dialects.dlt.against_dlt.twins import NAME, Content, Place, Step, disagreements
from trellis.schema.version import document_hash

NESTED = (
    Step(
        "Orders",
        [
            {
                "id": 1,
                "when": "2024-01-01T00:00:00Z",
                "total": 1.5,
                "lines": [{"sku": "a", "tags": ["x", "y"]}, {"sku": "b"}],
            },
            {"id": 2, "who": {"name": "Ann", "at": {"city": "Rome"}}, "lines": [{"sku": "q"}]},
        ],
    ),
    Step(
        "Orders",
        [
            {"id": 2, "total": 2, "fresh": True, "lines": [{"sku": "b2", "qty": 1}]},
            {"id": 3, "who": {"name": "Bo"}},
        ],
    ),
    Step("Orders", [{"id": 1, "total": 3, "lines": [{"sku": "c", "tags": ["z"]}], "notes": ["hi"], "x": 1}]),
)
DRIFTING = (
    NESTED[0],
    Step("Orders", [{"id": 2, "total": "n/a", "lines": [{"sku": "b2", "qty": "many"}]}]),
    Step("Orders", [{"id": 3, "total": "none", "when": "soon", "lines": [{"qty": 3}]}]),
)
FLAGGED = (
    Step("orders", [{"id": 1, "v": "a", "gone": False, "k": [1, 2]}, {"id": 2, "v": "b", "k": [3]}]),
    Step("orders", [{"id": 1, "gone": True}, {"id": 2, "v": "bb", "gone": False, "k": [4, 5]}]),
    Step("orders", [{"id": 3, "v": "c", "gone": None}, {"id": 2, "v": "b3", "k": []}]),
)
NEW_ONLY = (
    Step("orders", [{"id": 1, "v": "a", "k": [1]}, {"id": 2, "v": "b", "k": [2]}]),
    Step("orders", [{"id": 2, "v": "bb", "k": [3]}, {"id": 3, "v": "c", "k": [4, 5]}]),
    Step("orders", [{"id": 4, "v": 1.5, "more": True}, {"id": 1, "v": "z"}]),
)
VERSIONS = (
    Step("people", [{"id": 1, "v": "a", "k": [1]}, {"id": 2, "v": "b"}]),
    Step("people", [{"id": 1, "v": "aa", "k": [1, 2]}, {"id": 2, "v": "b"}]),
    Step("people", [{"id": 1, "v": "aa", "k": [1, 2]}, {"id": 3, "v": "c", "new": True}]),
)
KEYS: Mapping[str, Any] = {"mode": "merge", "keys": ("id",)}
SCENARIOS: Mapping[str, tuple[Sequence[Step], Mapping[str, Any]]] = {
    "append": (NESTED, {"mode": "append"}),
    "drift": (DRIFTING, {"mode": "append"}),
    "replace": (NESTED, {"mode": "replace"}),
    "merge": (NESTED, KEYS),
    "merge-drift": (DRIFTING, KEYS),
    "delete-insert": (
        FLAGGED,
        {**KEYS, "strategy": "delete-insert", "columns": {"gone": {"hard_delete": True}}},
    ),
    "upsert": (NESTED, {**KEYS, "strategy": "upsert"}),
    "upsert-flagged": (FLAGGED, {**KEYS, "strategy": "upsert", "columns": {"gone": {"hard_delete": True}}}),
    "insert-only": (NEW_ONLY, {**KEYS, "strategy": "insert-only"}),
    "scd2": (VERSIONS, {"mode": "merge", "strategy": "scd2"}),
    "scd2-keyed": (VERSIONS, {"mode": "merge", "strategy": "scd2", "merge_keys": ("id",)}),
}
"""The loads, and the options of all of them."""

TURNS = {
    "dlt, Trellis, dlt elsewhere": ("dtd", ("a", "b", "c")),
    "dlt, Trellis, dlt again": ("dtd", ("a", "b", "a")),
    "Trellis, dlt, Trellis": ("tdt", ("a", "b", "c")),
    "Trellis twice, dlt": ("ttd", ("a", "b", "c")),
    "Trellis, dlt twice": ("tdd", ("a", "b", "b")),
}
"""Who loads, and on which machine: where Trellis loads, the twin has dlt on that machine."""

Make = Callable[[str], Place]


def steps_of(scenario: str) -> Sequence[Step]:
    steps, options = SCENARIOS[scenario]
    return [replace(step, options={**options, **step.options}) for step in steps]


def played(place: Place, who: str, machines: Sequence[str], steps: Sequence[Step]) -> Content:
    for program, machine, step in zip(who, machines, steps, strict=True):
        place.load(program, step, machine)
    return place.read()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, tuple[str, ...]], Content]:
    """What dlt alone makes of a scenario, in DuckDB."""

    @cache
    def of(scenario: str, machines: tuple[str, ...]) -> Content:
        folder = tmp_path_factory.mktemp("alone")
        return played(Place(f"duckdb:{folder}/x.duckdb", folder), "ddd", machines, steps_of(scenario))

    return of


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(f"duckdb:{tmp_path}/shop.duckdb", tmp_path)


PAIRS = [
    (turns, scenario)
    for turns, (who, _) in TURNS.items()
    for scenario in (
        SCENARIOS if turns == "dlt, Trellis, dlt elsewhere" else ("append", "merge-drift", "upsert")
    )
]


@pytest.mark.parametrize(("turns", "scenario"), PAIRS)
def test_in_turns(
    place: Place, alone: Callable[[str, tuple[str, ...]], Content], turns: str, scenario: str
) -> None:
    who, machines = TURNS[turns]
    twin = alone(scenario, machines)
    assert disagreements(twin, played(place, who, machines, steps_of(scenario)), states=who[0] == "d") == []


@pytest.mark.parametrize("scenario", ["drift", "merge", "upsert"])
@pytest.mark.parametrize("turns", ["dlt, Trellis, dlt elsewhere", "Trellis, dlt, Trellis"])
def test_in_turns_on_postgres(
    postgres: Server, database: str, tmp_path: Path, scenario: str, turns: str
) -> None:
    who, machines = TURNS[turns]
    steps, url = steps_of(scenario), postgres.url(database)
    twin = played(Place(url, tmp_path / "twin", "twin"), "ddd", machines, steps)
    ours = played(Place(url, tmp_path / "ours", "ours"), who, machines, steps)
    assert disagreements(twin, ours, states=who[0] == "d") == []


@pytest.mark.parametrize(
    ("file", "options"),
    [("github_issues.json", KEYS), ("github_events.json", {"mode": "append"})],
)
def test_real_records_in_turns(
    tmp_path: Path, shared_data: Path, file: str, options: Mapping[str, Any]
) -> None:
    records = json.loads((shared_data / file).read_text())
    table, third = file.partition(".")[0], len(records) // 3
    parts = (records[: 2 * third], records[third : 2 * third + 10], records[2 * third :])
    steps = [Step(table, part, options) for part in parts]
    twin = played(Place(f"duckdb:{tmp_path}/twin.duckdb", tmp_path / "twin"), "ddd", "abc", steps)
    ours = played(Place(f"duckdb:{tmp_path}/ours.duckdb", tmp_path / "ours"), "dtd", "abc", steps)
    assert disagreements(twin, ours) == []


# --- What dlt finds in a dataset of Trellis --------------------------------------------------------------


def test_dlt_restores_what_trellis_wrote(place: Place) -> None:
    for step in steps_of("merge")[:2]:
        place.load("t", step)
    pipeline = place.dlt("elsewhere")
    pipeline.sync_destination()
    ours = place.trellis().schema
    assert pipeline.default_schema_name == NAME
    assert pipeline.default_schema.stored_version_hash == ours.stored_hash
    assert pipeline.default_schema.version_hash == ours.stored_hash
    assert pipeline.default_schema.stored_version == ours.stored_version
    assert pipeline.dataset_name == "shop_data"
    assert not pipeline.first_run
    assert pipeline.default_schema.data_table_names() == ["orders", "orders__lines", "orders__lines__tags"]


def test_dlt_writes_nothing_where_nothing_changed(place: Place) -> None:
    """A schema restored from Trellis is stored again at most once, with what dlt says of its own tables."""
    step = steps_of("append")[0]
    place.load("t", step)
    for _ in range(3):
        place.load("d", step, "b")
    hashes = [version_hash for _, version_hash, _ in place.read().versions]
    assert len(hashes) == len(set(hashes)) <= 2


# --- What Trellis finds in a dataset of dlt --------------------------------------------------------------


def test_the_state_of_sources_outlives_a_load_by_trellis(place: Place) -> None:
    @dlt.resource(name="ticks", primary_key="id")
    def ticks(at: Any = dlt.sources.incremental("id")) -> Any:  # noqa: B008
        yield [{"id": number} for number in range(5) if at.last_value is None or number >= at.last_value]

    place.dlt("a").run(ticks())
    place.load("t", Step("other", [{"x": 1}], {"mode": "append"}))
    elsewhere = place.dlt("b")
    elsewhere.sync_destination()
    incremental = elsewhere.state["sources"][NAME]["resources"]["ticks"]["incremental"]["id"]
    assert incremental["last_value"] == 4
    assert {"ticks", "other"} <= {*elsewhere.default_schema.tables}


def test_a_compressed_schema_is_read(place: Place) -> None:
    """dlt stores a schema so where the longest text of the destination is shorter."""
    place.load("d", steps_of("merge")[0])
    with duckdb.connect(place.url.removeprefix("duckdb:")) as db:
        ((text,),) = db.execute("SELECT schema FROM shop_data._dlt_version").fetchall()
        packed = base64.b64encode(zlib.compress(text.encode(), level=9)).decode()
        db.execute("UPDATE shop_data._dlt_version SET schema = ?", [packed])
    before = place.trellis().schema
    assert before.stored_hash == json.loads(text)["version_hash"]
    place.load("t", steps_of("merge")[1])
    assert place.trellis().schema.previous_hashes[0] == before.stored_hash


def test_descriptions_and_hints_stay(place: Place) -> None:
    columns = [
        {"name": "id", "description": "number of the order", "x-annotation": {"owner": "us"}},
        {"name": "total", "data_type": "decimal", "precision": 12, "scale": 2, "sort": True},
        {"name": "never", "data_type": "bool", "nullable": True},
    ]
    resource = dlt.resource([{"id": 1, "total": 1}], name="orders", columns=columns)
    resource.apply_hints(additional_table_hints={"x-annotation": "kept", "description": "all orders"})
    place.dlt().run(resource)
    before = place.read().documents[-1]["tables"]["orders"]
    place.load("t", Step("orders", [{"id": 2, "total": 2.5, "new": "n"}]))
    after = place.read().documents[-1]["tables"]["orders"]
    assert after.pop("columns") == {
        **before.pop("columns"),
        "new": {"name": "new", "data_type": "text", "nullable": True},
    }
    assert after == before


def test_other_schemas_of_the_dataset_are_left_alone(place: Place) -> None:
    def sources() -> list[Any]:  # the first one names the schema of data without a source
        return [
            dlt.source(lambda: dlt.resource([{"id": 1}], name="orders"), name=NAME)(),
            dlt.source(lambda: dlt.resource([{"id": 1, "name": "Ann"}], name="people"), name="crm")(),
        ]

    for source in sources():
        place.dlt("a").run(source)
    place.load("t", Step("orders", [{"id": 2, "more": True}], {"mode": "append"}))
    for source in sources():
        place.dlt("b").run(source)
    content = place.read()
    assert [name for *_, name in content.versions].count("crm") == 1
    assert {name for _, name, *_ in content.loads} == {NAME, "crm"}
    assert len(content.tables["orders"].rows) == 3
    assert [*content.tables["orders"].types] == ["id", "_dlt_load_id", "_dlt_id", "more"]
    assert len(content.tables["people"].rows) == 2


def test_keys_of_a_newer_dlt_are_passed_on(place: Place) -> None:
    place.load("d", NESTED[0])
    with duckdb.connect(place.url.removeprefix("duckdb:")) as db:
        ((text,),) = db.execute("SELECT schema FROM shop_data._dlt_version").fetchall()
        newer = json.loads(text)
        newer["tables"]["orders"]["retention"] = {"days": 7}
        newer["tables"]["orders"]["columns"]["id"]["masked"] = True
        newer["version_hash"] = document_hash(newer)
        db.execute(
            "UPDATE shop_data._dlt_version SET schema = ?, version_hash = ?",
            [json.dumps(newer), newer["version_hash"]],
        )
    place.load("t", NESTED[1])
    orders = place.read().documents[-1]["tables"]["orders"]
    assert (orders["retention"], orders["columns"]["id"]["masked"]) == ({"days": 7}, True)
