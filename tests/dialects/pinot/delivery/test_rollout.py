"""Schema and tables into a cluster: the one order, and where it stops."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialects.pinot.delivery.standin import BROKEN, HTML, Said, Standin, recorded
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.rollout import Rollout, RolloutFailed
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.table.generated_config import TargetTable, target_table

RIDES = {key: value for key, value in recorded()["validate ok"]["request"].items() if key != "zz"}
TABLE = recorded()["table"]["request"]
STORED = json.loads(recorded()["table get"]["body"])["OFFLINE"]
JOB = "80875027-fd37-45d9-b542-f3adad12d7e9"


def declared(config: Any) -> TargetTable:
    """A table of which the user wrote everything."""
    names = ("tableName", "tableType")
    return TargetTable(config, {key: part for key, part in config.items() if key not in names})


def rollout(controller: Controller, schema: Any = RIDES, **options: Any) -> Rollout:
    return Rollout(
        controller,
        read_schema(schema),
        [declared(TABLE)],
        **options,
    )


def wider() -> dict[str, Any]:
    return {**RIDES, "metricFieldSpecs": [*RIDES["metricFieldSpecs"], {"name": "m", "dataType": "LONG"}]}


def outcomes(steps: Any) -> list[tuple[str, str, str]]:
    return [(step.step, step.outcome, step.note) for step in steps]


def reload_note(cluster: Standin) -> str:
    return f"{cluster.url}/segments/segmentReloadStatus/{JOB} shows how far it is"


def filled(cluster: Standin) -> Standin:
    """Schema and table are there."""
    cluster.on("POST /schemas/validate", "validate ok").on("GET /schemas/rides", "get")
    cluster.on("GET /tables/rides", "table get").on("PUT /schemas/rides", "put add column")
    cluster.on("POST /segments/rides/reload", "reload").on("PUT /tables/rides_OFFLINE", "table")
    cluster.on("GET /segments/rides_OFFLINE/needReload", need_reload(False))
    return cluster


def need_reload(needed: bool) -> Said:
    """What a server says of its segments, as of 1.5.1 with verbose=true."""
    server = {"Server_1": {"needReload": needed, "instanceId": "Server_1"}}
    return Said(200, json.dumps({"needReload": needed, "serverToSegmentsCheckReloadList": server}))


def empty(cluster: Standin) -> Standin:
    cluster.on("POST /schemas/validate", "validate explicit default").on("GET /schemas/rides", "get unknown")
    return (
        cluster.on("GET /tables/rides", "table get unknown")
        .on("POST /schemas", "post")
        .on("POST /tables", "table")
    )


def test_into_an_empty_cluster(cluster: Standin, controller: Controller) -> None:
    empty(cluster)
    ignored = "Pinot ignores /dimensionFieldSpecs/0/notNull, /dimensionFieldSpecs/0/singleValueField"
    steps = rollout(controller).run()
    assert [step.step for step in steps] == [
        "check schema rides",
        "add schema rides",
        "add table rides_OFFLINE",
    ]
    assert {step.outcome for step in steps} == {"done"}
    assert steps[0].note.startswith(ignored.partition(",")[0])
    assert cluster.paths == [
        "POST /schemas/validate",
        "GET /schemas/rides",
        "POST /schemas?override=false&force=false",
        "GET /tables/rides?type=offline",
        "POST /tables",
    ]


def test_what_is_there_is_left_alone(cluster: Standin, controller: Controller) -> None:
    assert outcomes(rollout(filled(cluster) and controller).run())[1:] == [
        ("update schema rides", "nothing to do", "already up to date"),
        ("update table rides_OFFLINE", "nothing to do", "already up to date"),
    ]
    assert not [path for path in cluster.paths if path.startswith(("PUT", "POST /tables", "POST /segments"))]


def test_a_new_column_is_put_and_reloaded(cluster: Standin, controller: Controller) -> None:
    filled(cluster)
    assert outcomes(rollout(controller, wider()).run())[1:] == [
        ("update schema rides", "done", "m: added: METRIC LONG"),
        ("update table rides_OFFLINE", "nothing to do", "already up to date"),
        ("reload table rides_OFFLINE", "started", reload_note(cluster)),
    ]
    assert cluster.paths[2:] == [
        "PUT /schemas/rides?reload=false&force=false",
        "GET /tables/rides?type=offline",
        "POST /segments/rides/reload?type=OFFLINE",
    ]


def test_a_reload_that_an_earlier_run_did_not_come_to(cluster: Standin, controller: Controller) -> None:
    """It stopped between PUT and reload: the schema is there, and a server tells what segments lack."""
    filled(cluster).on("GET /segments/rides_OFFLINE/needReload", need_reload(True))
    assert outcomes(rollout(controller).run())[1:] == [
        ("update schema rides", "nothing to do", "already up to date"),
        ("update table rides_OFFLINE", "nothing to do", "already up to date"),
        ("reload table rides_OFFLINE", "started", reload_note(cluster)),
    ]
    assert cluster.paths[3:5] == [
        "GET /segments/rides_OFFLINE/needReload?verbose=true",
        "POST /segments/rides/reload?type=OFFLINE",
    ]
    cluster.asked.clear()
    assert outcomes(rollout(controller, dry=True).run())[-1] == ("reload table rides_OFFLINE", "would", "")
    assert "POST /segments/rides/reload?type=OFFLINE" not in cluster.paths


def test_where_no_server_reports_no_reload_is_due(cluster: Standin, controller: Controller) -> None:
    filled(cluster).on("GET /segments/rides_OFFLINE/needReload", "needReload")
    assert [step.step for step in rollout(controller).run()][3:] == []


def test_a_dry_run_changes_nothing(cluster: Standin, controller: Controller) -> None:
    filled(cluster)
    assert [
        (step, outcome) for step, outcome, _ in outcomes(rollout(controller, wider(), dry=True).run())
    ] == [
        ("check schema rides", "done"),
        ("update schema rides", "would"),
        ("update table rides_OFFLINE", "nothing to do"),
        ("reload table rides_OFFLINE", "would"),
    ]
    assert {path.partition("?")[0] for path in cluster.paths} == {
        "POST /schemas/validate", "GET /schemas/rides", "GET /tables/rides",
    }  # fmt: skip


def test_a_table_keeps_what_only_the_cluster_says(cluster: Standin, controller: Controller) -> None:
    filled(cluster)
    config = {**TABLE, "tableIndexConfig": {"loadMode": "HEAP"}}
    new_rollout = Rollout(controller, read_schema(RIDES), [declared(config)])
    assert outcomes(new_rollout.run())[-1] == (
        "update table rides_OFFLINE", "done", "changed: tableIndexConfig.loadMode",
    )  # fmt: skip
    (put,) = (request for request in cluster.asked if request.method == "PUT")
    assert put.json == {
        **STORED,
        "tableIndexConfig": {**STORED["tableIndexConfig"], "loadMode": "HEAP"},
        "metadata": {},
    }


def test_what_nobody_said_changes_no_table(cluster: Standin, controller: Controller) -> None:
    """A replication of 3 in the cluster stays, as the 1 is only our default."""
    stored = {
        **STORED,
        "segmentsConfig": {**STORED["segmentsConfig"], "replication": "3", "timeColumnName": "u"},
    }
    filled(cluster).on("GET /tables/rides", Said(200, json.dumps({"OFFLINE": stored})))
    schema = read_schema(RIDES)
    table = target_table("OFFLINE", schema)
    assert outcomes(Rollout(controller, schema, [table]).run())[-1][1] == "nothing to do"
    table = target_table("OFFLINE", schema, None, "t", real_nulls=True)
    assert outcomes(Rollout(controller, schema, [table]).run())[-1] == (
        "update table rides_OFFLINE",
        "done",
        "changed: segmentsConfig.timeColumnName, tableIndexConfig.nullHandlingEnabled",
    )
    (put,) = (request for request in cluster.asked if request.method == "PUT")
    assert put.json["segmentsConfig"] == {**stored["segmentsConfig"], "timeColumnName": "t"}


def test_a_schema_that_does_not_fit_is_not_sent(cluster: Standin, controller: Controller) -> None:
    other = {
        **RIDES,
        "dimensionFieldSpecs": [{"name": "s", "dataType": "INT"}, {"name": "n", "dataType": "INT"}],
    }
    filled(cluster)
    with pytest.raises(RolloutFailed) as raised:
        rollout(controller, other).run()
    assert str(raised.value) == (
        f"{cluster.url}: schema rides is incompatible with that of the cluster: Incompatible field "
        "specifications: [s (old: "
        "DIMENSION STRING, new: DIMENSION INT)]; `trellis pinot plan` shows what a new table takes"
    )
    assert not [path for path in cluster.paths if path.startswith("PUT")]


@pytest.mark.parametrize(
    ("request_", "answer", "step", "says"),
    [
        ("POST /schemas/validate", "validate bad metric", "check schema rides", "Unsupported data type"),
        ("GET /schemas/rides", HTML, "look what is there", "a web page (HTML) came back with status 200"),
        ("POST /schemas", "post again override=false", "add schema rides", "already exists (409)"),
        ("POST /schemas", BROKEN, "add schema rides", "ZooKeeper is away (500)"),
        ("POST /tables", "table bad time column", "add table rides_OFFLINE", "Cannot find valid fieldSpec"),
        ("POST /tables", "table again", "add table rides_OFFLINE", "already exists."),
        ("POST /tables", Said(404, "", "text/plain"), "add table rides_OFFLINE", "text/plain came back with"),
    ],
)  # fmt: skip
def test_where_it_stops_is_told_with_what_was_done(
    cluster: Standin, controller: Controller, request_: str, answer: str | Said, step: str, says: str
) -> None:
    empty(cluster).on(request_, answer)
    with pytest.raises(RolloutFailed) as raised:
        rollout(controller).run()
    assert says in str(raised.value)
    assert raised.value.exit_code == 3
    *before, last = raised.value.steps
    assert (last.step, last.outcome) == (step, "failed")
    assert {step.outcome for step in before} <= {"done"}
