"""Deliveries into a real Pinot 1.5.1: what is asked for comes back as it was written. `make test-pinot`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialects.pinot import every_type
from dialects.pinot.cluster import Cluster, pinot_cluster, wait
from trellis import Pipeline
from trellis.cli.app import run
from trellis.cli.settings import document_of
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.http import Http
from trellis.dialects.pinot.document.defaults import type_default
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.errors import DestinationError

pytestmark = pytest.mark.pinot
ROWS = 400
EXAMPLE = Path(__file__).parents[3] / "examples" / "pinot"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pinot_cluster(tmp_path_factory.mktemp("pinot")) as pinot:
        yield pinot


@pytest.fixture
def controller(cluster: Cluster) -> Controller:
    return Controller(Http.of(cluster.controller))


class Lake:
    """A dataset in a folder, and its deliveries."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster

    def load(
        self,
        schema: dict[str, Any],
        rows: list[dict[str, Any]],
        view: str = "nullable",
        config: str | None = None,
    ) -> Pipeline:
        document, source = self.folder / "schema.json", self.folder / "rows.jsonl"
        document.write_text(json.dumps(schema), encoding="utf-8")
        source.write_text(every_type.lines(rows), encoding="utf-8")
        settings = {"view": view} if not (self.folder / "lake").exists() else {}
        settings |= {"table_config": config} if config is not None else {}
        pipeline = Pipeline("lake", f"parquet:{self.folder}/lake", dialect="pinot", settings=settings)
        report = pipeline.load(str(source), schema=document_of(str(document), "pinot"))
        assert (report.rows.loaded, report.rows.rejected) == (len(rows), 0)
        return pipeline

    def deliver(self, *options: str) -> int:
        place = ("--at", f"parquet:{self.folder}/lake", "--out", str(self.folder / "out"))
        return run(["pinot", "deliver", *place, "--controller", self.cluster.controller, *options])

    def steps(self, capsys: pytest.CaptureFixture[str], *options: str) -> list[tuple[str, str]]:
        capsys.readouterr()
        assert self.deliver("--json", *options) == 0
        return [(step["step"], step["outcome"]) for step in json.loads(capsys.readouterr().out)["steps"]]


@pytest.fixture
def lake(tmp_path: Path, cluster: Cluster) -> Lake:
    return Lake(tmp_path, cluster)


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_every_type_comes_back_as_it_was_written(lake: Lake, cluster: Cluster, format: str) -> None:
    name, rows = f"all_{format}", every_type.records(ROWS)
    schema = every_type.schema(name)
    lake.load(schema, rows)
    assert lake.deliver("--format", format, "--rows", "150") == 0
    cluster.run_job(name, lake.folder / "out" / "ingestion-job.yaml")
    assert cluster.query(
        f"SELECT $segmentName, COUNT(*) FROM {name} GROUP BY $segmentName ORDER BY $segmentName"
    ) == [
        [f"{name}_part-00000", 150],
        [f"{name}_part-00001", 150],
        [f"{name}_part-00002", 100],
    ]
    response = cluster.respond(f"SET enableNullHandling=true; SELECT * FROM {name} ORDER BY id LIMIT 1000")
    assert response["exceptions"] == []
    names = response["resultTable"]["dataSchema"]["columnNames"]
    got = [dict(zip(names, values, strict=True)) for values in response["resultTable"]["rows"]]
    for row, answer in zip(rows, got, strict=True):
        assert answer == every_type.answered(row)


def test_segments_built_in_tasks_are_pushed(
    lake: Lake, cluster: Cluster, pinot_jars: Path, capsys: Any
) -> None:
    rows = every_type.records(40)
    lake.load(every_type.schema("pushed"), rows)
    assert lake.deliver("--rows", "30") == 0
    command = ["pinot", "segments", str(lake.folder / "out"), "--controller", cluster.controller]
    for _ in range(2):  # a segment that is pushed again replaces the one of its name
        capsys.readouterr()
        assert run([*command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["pushed"] == 2
    cluster.settle("pushed")
    response = cluster.respond("SET enableNullHandling=true; SELECT * FROM pushed ORDER BY id LIMIT 100")
    names = response["resultTable"]["dataSchema"]["columnNames"]
    stored = [dict(zip(names, values, strict=True)) for values in response["resultTable"]["rows"]]
    assert stored == [every_type.answered(row) for row in rows]


def test_delivered_again_nothing_is_doubled(lake: Lake, cluster: Cluster, capsys: Any) -> None:
    rows = every_type.records(30)
    lake.load(every_type.schema("again"), rows)
    assert lake.steps(capsys) == [
        ("check schema again", "done"),
        ("add schema again", "done"),
        ("add table again_OFFLINE", "done"),
    ]
    cluster.run_job("again", lake.folder / "out" / "ingestion-job.yaml")
    lake.load(every_type.schema("again"), [{**row, "id": row["id"] + 30} for row in rows])
    assert lake.steps(capsys) == [
        ("check schema again", "done"),
        ("update schema again", "nothing to do"),
        ("update table again_OFFLINE", "nothing to do"),
    ]
    cluster.run_job("again", lake.folder / "out" / "ingestion-job.yaml")
    wait(lambda: cluster.query("SELECT COUNT(*), MAX(id) FROM again") == [[60, 59.0]], 20)


def test_u01_an_added_column_has_its_default_in_every_old_row(
    lake: Lake, cluster: Cluster, capsys: Any
) -> None:
    schema = every_type.schema("u01")
    lake.load(schema, every_type.records(50))
    assert lake.deliver() == 0
    cluster.run_job("u01", lake.folder / "out" / "ingestion-job.yaml")
    schema["dimensionFieldSpecs"].append({"name": "added", "dataType": "INT"})
    lake.load(schema, [])
    assert lake.steps(capsys) == [
        ("check schema u01", "done"),
        ("update schema u01", "done"),
        ("update table u01_OFFLINE", "nothing to do"),
        ("reload table u01_OFFLINE", "started"),
    ]
    query = "SELECT added, COUNT(*) FROM u01 GROUP BY added"
    wait(lambda: not cluster.respond(query)["exceptions"], 20)
    assert cluster.query(query) == [[-2147483648, 50]]


def test_the_view_stored_delivers_the_defaults(lake: Lake, cluster: Cluster) -> None:
    schema = {
        "schemaName": "stored",
        "dimensionFieldSpecs": [{"name": "n", "dataType": "INT"}, {"name": "s", "dataType": "STRING"}],
        "metricFieldSpecs": [{"name": "m", "dataType": "DOUBLE"}],
    }
    lake.load(schema, [{"n": 1, "s": "a", "m": 0.5}, {"n": None, "s": None}], view="stored")
    assert lake.deliver() == 0
    cluster.run_job("stored", lake.folder / "out" / "ingestion-job.yaml")
    assert cluster.query("SELECT n, s, m FROM stored ORDER BY n") == [
        [-2147483648, "null", 0.0],
        [1, "a", 0.5],
    ]


@pytest.mark.parametrize("view", ["nullable", "stored"])
def test_the_example_comes_back_as_trellis_keeps_it(lake: Lake, cluster: Cluster, view: str) -> None:
    """Pinot's own pipeline finds nothing to do in rows that went through ours."""
    name = f"rides_{view}"
    document = json.loads((EXAMPLE / "rides-schema.json").read_text())
    config = json.loads((EXAMPLE / "rides-table.json").read_text())
    records = [*map(json.loads, (EXAMPLE / "rides.jsonl").read_text().splitlines())]
    kept = lake.load(
        {**document, "schemaName": name}, records, view, json.dumps({**config, "tableName": name})
    )
    assert lake.deliver() == 0
    cluster.run_job(name, lake.folder / "out" / "ingestion-job.yaml")
    response = cluster.respond(
        f"SET enableNullHandling=true; SELECT * FROM {name} ORDER BY ride_id LIMIT 1000"
    )
    names = response["resultTable"]["dataSchema"]["columnNames"]
    got = [dict(zip(names, values, strict=True)) for values in response["resultTable"]["rows"]]
    rows = sorted(kept.destination.query("", name), key=lambda row: row["ride_id"])
    assert len(rows) == 200
    short = {spec["name"] for spec in document["metricFieldSpecs"] if spec["dataType"] == "FLOAT"}
    for row in rows:
        row.update({name: float(str(np.float32(row[name]))) for name in short if row[name] is not None})
    for row, answer in zip(rows, got, strict=True):
        assert answer == {column: written(value) for column, value in row.items() if column in names}


def written(value: Any) -> Any:
    """A value of a dataset as the broker's JSON has it."""
    if isinstance(value, datetime):
        return every_type.moment(round(value.timestamp() * 1000))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return [*map(written, value)] if isinstance(value, list) else value


def test_seed_p68_p69_virtual_columns_can_be_asked_for(lake: Lake, cluster: Cluster) -> None:
    lake.load(small("virtual"), [{"s": "a"}, {"s": "b"}, {"s": "c"}])
    assert lake.deliver("--rows", "2") == 0
    cluster.run_job("virtual", lake.folder / "out" / "ingestion-job.yaml")
    response = cluster.respond("SELECT $segmentName, $docId, $hostName, s FROM virtual ORDER BY s")
    assert response["resultTable"]["dataSchema"]["columnDataTypes"] == ["STRING", "INT", "STRING", "STRING"]
    rows = response["resultTable"]["rows"]
    assert [(segment, at, value) for segment, at, _, value in rows] == [
        ("virtual_part-00000", 0, "a"),
        ("virtual_part-00000", 1, "b"),
        ("virtual_part-00001", 0, "c"),
    ]
    assert all(host for _, _, host, _ in rows)
    assert (
        "$docId" not in cluster.respond("SELECT * FROM virtual")["resultTable"]["dataSchema"]["columnNames"]
    )


# --- REST ------------------------------------------------------------------------------------------------


def small(name: str, **more: Any) -> dict[str, Any]:
    return {"schemaName": name, "dimensionFieldSpecs": [{"name": "s", "dataType": "STRING"}], **more}


def refusal(method: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(DestinationError) as raised:
        method(*args, **options)
    return str(raised.value)


def test_r01_an_unknown_key_is_told(controller: Controller) -> None:
    assert controller.add_schema(small("r01", zz=1)) == {"/zz": 1}


def test_r02_a_schema_that_is_there_is_not_replaced(controller: Controller) -> None:
    controller.add_schema(small("r02"))
    reason = refusal(controller.add_schema, small("r02"))
    assert reason == f"{controller.url}: cannot add schema r02: Schema: r02 already exists (409)"


def test_r03_another_name_is_refused(controller: Controller) -> None:
    controller.add_schema(small("r03"))
    assert refusal(controller.update_schema, small("y"), name="r03") == (
        f"{controller.url}: cannot update schema r03: Schema name mismatch for uploaded schema, tried to add "
        "schema with name y as r03 (400)"
    )


def test_what_the_controller_refuses_is_said_in_one_sentence(controller: Controller) -> None:
    controller.add_schema(small("fit"))
    other = {"schemaName": "fit", "dimensionFieldSpecs": [{"name": "s", "dataType": "INT"}]}
    assert refusal(controller.update_schema, other) == (
        f"{controller.url}: cannot update schema fit: Backward incompatible schema fit. Only allow "
        "adding new columns (400)"
    )


def test_the_types_are_those_that_this_pinot_knows(controller: Controller) -> None:
    """Every default of 1.5.1 is the one that we take."""
    known = json.loads(controller.http.send("GET", "/schemas/fieldSpec").body)["fieldTypes"]
    for role, types in known.items():
        if role == "TIME":
            continue
        for name, spec in types["allowedDataTypes"].items():
            if name == "STRUCT":
                continue
            ours: Any = type_default(FieldType[role], PinotType[name])
            theirs = spec["nullDefault"]
            ours = ours.hex() if isinstance(ours, bytes) else ours
            assert theirs == (str(ours).replace("inf", "Infinity") if theirs == "-Infinity" else ours)


def test_a_schema_comes_back_as_it_was_sent(controller: Controller) -> None:
    document = every_type.schema("round")
    controller.add_schema(document)
    assert controller.schema("round") == read_schema(document)
