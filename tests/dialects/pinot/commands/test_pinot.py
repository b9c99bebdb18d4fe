"""`trellis pinot`: what a user sees of schemas, formats, plans and deliveries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dialects.pinot.delivery.standin import Said, Standin, recorded, standin

RIDES = {key: value for key, value in recorded()["validate ok"]["request"].items() if key != "zz"}
BAD = {
    "schemaName": "rides",
    "dimensionFieldSpecs": [
        {"name": "s", "dataType": "STRING", "maxLengt": 9},
        {"name": "n", "dataType": "INT", "notNull": True},
    ],
    "metricFieldSpecs": [{"name": "d", "dataType": "STRING"}],
    "primaryKeyColumn": ["n"],
}
OFFLINE = {
    "tableName": "rides",
    "tableType": "OFFLINE",
    "segmentsConfig": {},
    "tenants": {},
    "tableIndexConfig": {},
}
TABLE = {**OFFLINE, "segmentsConfig": {"timeColumnName": "nope"}}


@pytest.fixture
def cluster() -> Iterator[Standin]:
    with standin() as server:
        yield server


@pytest.fixture
def written(folder: Path):
    """Write JSON files."""

    def write(**documents: object) -> None:
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")

    return write


def test_there_are_all_commands(trellis):
    commands = ("validate", "plan", "deliver", "infer")
    out = trellis("pinot").out
    assert [word for word in commands if f"│ {word} " not in out] == []


# --- validate --------------------------------------------------------------------------------------------


def test_validate_tells_all_at_once(trellis, written):
    written(bad=BAD)
    ran = trellis("pinot", "validate", "bad.json")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.splitlines() == [
        "           Of      Where                            Column  What",
        (
            "  fault    schema  /metricFieldSpecs/0/dataType     d       Unsupported data type: STRING in "
            "METRIC field: d"
        ),
        (
            "  ignored  schema  /primaryKeyColumn                        is ignored: did you mean "
            "'primaryKeyColumns'?"
        ),
        "  ignored  schema  /dimensionFieldSpecs/0/maxLengt          is ignored: did you mean 'maxLength'?",
        (
            "  mind     schema  /dimensionFieldSpecs/1/notNull   n       notNull has no effect unless "
            "enableColumnBasedNullHandling is true"
        ),
        "",
        "bad.json: 1 fault, Pinot refuses it",
    ]  # fmt: skip


def test_validate_what_is_right(trellis, written):
    written(rides=RIDES)
    ran = trellis("pinot", "validate", "rides.json")
    assert (ran.code, ran.out) == (0, "rides.json: Pinot takes it, schema rides with 4 columns")


def test_validate_with_a_table_config_as_json(trellis, written):
    written(rides=RIDES, table=TABLE)
    ran = trellis("pinot", "validate", "rides.json", "--table-config", "table.json", "--json")
    assert ran.code == 2
    assert ran.json == {
        "schema": "rides",
        "valid": False,
        "findings": [
            {
                "level": "fault",
                "source": "table config",
                "pointer": "/segmentsConfig/timeColumnName",
                "column": "nope",
                "message": "Cannot find valid fieldSpec for timeColumn: nope from the table config: "
                "rides, in the "
                "schema: rides: name a dateTime column",
            }
        ],
    }


def test_validate_what_was_not_checked(trellis, written):
    transform = {"columnName": "s", "transformFunction": "urlDomain(u)"}
    table = {**OFFLINE, "ingestionConfig": {"transformConfigs": [transform]}}
    written(rides=RIDES, table=table)
    argv = ("pinot", "validate", "rides.json", "--table-config", "table.json")
    ran = trellis(*argv)
    verdict = "rides.json: no fault, but 1 part not checked, schema rides with 4 columns"
    assert (ran.code, ran.out.splitlines()[-1]) == (0, verdict)
    answer = json.loads(trellis(*argv, "--json").out)
    assert answer["valid"] is None
    assert answer["findings"] == [
        {
            "level": "unchecked",
            "source": "table config",
            "pointer": "/ingestionConfig/transformConfigs/0/transformFunction",
            "column": "s",
            "message": "transform function 'urlDomain(u)': Trellis does not carry out Pinot's function "
            "urlDomain: let Pinot's own classes do it with --option functions=pinot-jars, or compute "
            "its result before the load",
        }
    ]  # fmt: skip
    transform["transformFunction"] = "concat(urlDomain(u), lowr(u))"
    written(table=table)
    ran = trellis(*argv)
    assert (ran.code, ran.out.splitlines()[-1]) == (2, "rides.json: 1 fault, Pinot refuses it")


def test_a_load_refuses_what_it_does_not_carry_out(trellis, written, lines):
    transform = {"columnName": "s", "transformFunction": "urlDomain(u)"}
    table = {
        "tableName": "rides",
        "tableType": "OFFLINE",
        "ingestionConfig": {"transformConfigs": [transform]},
    }
    written(rides=RIDES, table=table)
    lines("a.jsonl", '{"u":"https://example.com/a"}')
    ran = trellis(
        "load", "a.jsonl", "--to", "parquet:lake", "--dialect", "pinot", "--schema", "rides.json", "--option",
        "table_config=table.json",
    )  # fmt: skip
    assert (ran.code, ran.out) == (2, "")
    assert "Trellis does not carry out Pinot's function urlDomain: let Pinot's own classes do it" in ran.err


def test_validate_what_does_not_load(trellis, written):
    written(bad={"schemaName": "r", "dimensionFieldSpecs": [{"name": "s"}], "zz": 1})
    ran = trellis("pinot", "validate", "bad.json", "--json")
    assert ran.code == 2
    assert [(finding["level"], finding["pointer"]) for finding in ran.json["findings"]] == [
        ("fault", "/dimensionFieldSpecs/0"),
        ("ignored", "/zz"),
    ]


def test_validate_tells_what_a_load_would_refuse_of_a_table_config(trellis, written):
    ingestion = {
        "transformConfigs": [{"columnName": "s", "transformFunction": "lowr(x)"}],
        "continueOnErorr": True,
    }
    written(rides=RIDES, table={**OFFLINE, "ingestionConfig": ingestion})
    ran = trellis("pinot", "validate", "rides.json", "--table-config", "table.json", "--json")
    assert ran.code == 2
    transform = "/ingestionConfig/transformConfigs/0/transformFunction"
    assert [
        (finding["level"], finding["pointer"], finding["message"]) for finding in ran.json["findings"]
    ] == [
        (
            "fault",
            transform,
            ("Invalid transform function 'lowr(x)': unknown function lowr: did you mean 'lower'?"),
        ),
        ("ignored", "/ingestionConfig/continueOnErorr", "is ignored: did you mean 'continueOnError'?"),
    ]
    refused = trellis("pinot", "validate", "rides.json", "--table-config", "rides.json")
    assert refused.err == (
        "error: rides.json: this is a schema, not a table config: pass the document that has tableName"
    )
    refused = trellis("pinot", "validate", "table.json")
    assert refused.err == (
        "error: table.json: this is a table config, not a schema: pass the document that has schemaName"
    )


def test_a_schema_of_pinot_is_not_linted_as_one_of_trellis(trellis, written):
    written(rides=RIDES)
    ran = trellis("schema", "lint", "rides.json")
    assert (ran.code, ran.err) == (
        2,
        (
            "error: rides.json: this is a schema of Pinot, not of Trellis: "
            "`trellis schema convert rides.json --to yaml` makes one of Trellis of it"
        ),
    )


def test_a_schema_of_pinot_is_shown_as_one_of_trellis(trellis, written):
    written(rides=RIDES)
    ran = trellis("schema", "show", "rides.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("schema rides, 1 table")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("ride.json",), "ride.json: no such file: did you mean 'rides.json'?"),
        (("text.json",), "text.json, line 1, column 1: not JSON: Expecting value"),
        (("list.json",), "list.json: a schema document is a JSON object, not []"),
        (("rides.json", "--table-config", "list.json"), "list.json: a table config is a JSON object, not []"),
    ],
)
def test_validate_what_cannot_be(trellis, written, folder, argv, message):
    written(rides=RIDES, list=[])
    (folder / "text.json").write_text("nope")
    ran = trellis("pinot", "validate", *argv)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: {message}"
    assert "abc" not in ran.err


# --- plan ------------------------------------------------------------------------------------------------

OLD = {"schemaName": "rides", "dimensionFieldSpecs": [{"name": "n", "dataType": "INT"}]}
ADDED = {**OLD, "metricFieldSpecs": [{"name": "m", "dataType": "LONG"}]}
WIDER = {"schemaName": "rides", "dimensionFieldSpecs": [{"name": "n", "dataType": "LONG"}]}


def test_plan_in_place(trellis, written):
    written(old=OLD, new=ADDED)
    ran = trellis("pinot", "plan", "old.json", "new.json", "--exit-code", "--controller", "http://ctl:9000/")
    document = (
        '{"schemaName":"rides","enableColumnBasedNullHandling":false,"dimensionFieldSpecs":[{"name":"n","dataType":'
        '"INT","fieldType":"DIMENSION"}],"metricFieldSpecs":[{"name":"m","dataType":"LONG","fieldType":"METRIC"}]}'
    )
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()[:2]] == [
        ["Change", "What", "is", "there", "already", "Takes"],
        ["m:", "added:", "METRIC", "LONG", "every", "row", "that", "is", "there", "gets", "0", "reload"],
    ]
    assert ran.out.splitlines()[2:] == [
        "",
        "Pinot accepts it in place; the steps, in this order",
        "  1. check the new schema",
        (
            "     curl -sSf -X POST http://ctl:9000/schemas/validate -H 'Content-Type: application/json' -d "
            f"'{document}'"
        ),
        "  2. replace the schema; do not reload yet",
        (
            "     curl -sSf -X PUT 'http://ctl:9000/schemas/rides?reload=false' -H 'Content-Type: "
            "application/json' -d "
            f"'{document}'"
        ),
        "  3. reload the OFFLINE table at once: until it is done, queries see old and new segments",
        "     curl -sSf -X POST 'http://ctl:9000/segments/rides/reload?type=OFFLINE'",
        "  4. wait until every segment is reloaded",
        "     curl -sSf -X GET 'http://ctl:9000/segments/segmentReloadStatus/{jobId}'",
    ]


def test_plan_beside(trellis, written):
    written(old=OLD, new=WIDER)
    ran = trellis("pinot", "plan", "old.json", "new.json", "--exit-code", "--json")
    assert ran.code == 1
    assert ran.json["problems"] == [
        "Incompatible field specifications: [n (old: DIMENSION INT, new: DIMENSION LONG)]"
    ]
    assert [(step["method"], step["path"]) for step in ran.json["steps"]] == [
        ("POST", "/schemas"),
        ("POST", "/tables"),
        (None, None),
        ("GET", "/tables/rides_v2/size"),
        (None, None),
        ("DELETE", "/tables/rides?type=offline"),
        ("DELETE", "/schemas/rides"),
    ]
    assert '"segmentsConfig":{"replication":"1"' in ran.json["steps"][1]["command"]


def test_plan_of_nothing(trellis, written):
    written(old=OLD)
    ran = trellis("pinot", "plan", "old.json", "old.json", "--exit-code")
    assert (ran.code, ran.out) == (0, "the schemas are equal: nothing to do")


# --- deliver ---------------------------------------------------------------------------------------------


@pytest.fixture
def lake(trellis, written, lines):
    """Three rows, with true nulls."""
    written(rides=RIDES)
    lines("a.jsonl", '{"s":"a","n":1,"d":0.5,"t":1700000000}', '{"t":1700000001}', '{"s":"c","t":1700000002}')
    ran = trellis(
        "load", "a.jsonl", "--to", "parquet:lake", "--dialect", "pinot", "--schema", "rides.json", "--option",
        "view=nullable",
    )  # fmt: skip
    assert ran.code == 0
    return ("--at", "parquet:lake", "--out", "out")


def test_deliver_a_folder(trellis, lake, folder):
    ran = trellis("pinot", "deliver", *lake)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "Delivered 3 rows of rides from parquet:lake to out",
        "",
        "  schema          out/schema.json",
        "  OFFLINE table   out/table-offline.json",
        "  job             out/ingestion-job.yaml",
        "  1 file of rows  out/data/*.parquet",
        "",
        "the rows hold true nulls, so the tables have nullHandlingEnabled",
        "",
        "pinot-admin.sh LaunchDataIngestionJob -jobSpecFile out/ingestion-job.yaml",
    ]


def test_deliver_into_a_cluster(trellis, lake, cluster):
    cluster.on("POST /schemas/validate", "validate ok").on("GET /schemas/rides", "get unknown")
    cluster.on("GET /tables/rides", "table get unknown").on("POST /schemas", "post").on(
        "POST /tables", "table"
    )
    ran = trellis("pinot", "deliver", *lake, "--format", "json", "--controller", cluster.url)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-5:] == [
        "",
        f"In the cluster of {cluster.url}",
        "  check schema rides       done  Pinot ignores /zz",
        "  add schema rides         done",
        "  add table rides_OFFLINE  done",
    ]
    cluster.on("POST /tables", "table bad time column")
    ran = trellis("pinot", "deliver", *lake, "--controller", cluster.url)
    assert ran.code == 3
    assert ran.out.splitlines()[-1] == "  add table rides_OFFLINE  failed"
    assert ran.err == (
        f"error: {cluster.url}: cannot add table rides_OFFLINE: Cannot find valid fieldSpec for "
        "timeColumn: nope from "
        "the table config: rides_OFFLINE, in the schema: rides (400)"
    )


def test_deliver_nothing_yet(trellis, lake, cluster, folder):
    cluster.on("POST /schemas/validate", "validate ok").on("GET /schemas/rides", "get")
    cluster.on("GET /tables/rides", "table get").on("GET /segments/rides_OFFLINE/needReload", "needReload")
    cluster.on("GET /segments/rides", Said(200, '[{"OFFLINE":[]}]'))
    ran = trellis("pinot", "deliver", *lake, "--dry-run", "--controller", cluster.url)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "Would deliver 3 rows of rides from parquet:lake to out; nothing was written",
        "",
        "the rows hold true nulls, so the tables have nullHandlingEnabled",
        "",
        f"In the cluster of {cluster.url}",
        "  check schema rides          done           Pinot ignores /zz",
        "  update schema rides         nothing to do  already up to date",
        "  update table rides_OFFLINE  would          changed: tableIndexConfig.nullHandlingEnabled",
    ]
    assert not (folder / "out").exists()


def test_credentials_are_sent_and_not_shown(trellis, lake, cluster, monkeypatch):
    cluster.on("POST /schemas/validate", Said(401, "", "text/plain"))
    argv = ("pinot", "deliver", *lake, "--dry-run", "--controller", cluster.url)
    monkeypatch.setenv("TRELLIS_PINOT_USER", "me:secret")
    runs = [trellis(*argv)]
    monkeypatch.setenv("TRELLIS_PINOT_TOKEN", "s3cr3t")
    runs += [trellis(*argv)]
    assert [request.headers["Authorization"] for request in cluster.asked] == [
        "Basic bWU6c2VjcmV0", "Bearer s3cr3t",
    ]  # fmt: skip
    for ran in runs:
        assert ran.code == 3
        assert ran.err == (
            f"error: {cluster.url}: cannot validate the schema: the controller requires authentication "
            "(401); set TRELLIS_PINOT_TOKEN, or TRELLIS_PINOT_USER to name:password"
        )


def test_deliver_as_json(trellis, lake):
    ran = trellis(
        "pinot", "deliver", *lake, "--format", "json",
        "--rows", "2", "--json",
    )  # fmt: skip
    assert ran.code == 0
    assert ran.json == {
        "table": "rides",
        "out": "out",
        "dry_run": False,
        "rows": 3,
        "files": [
            {"path": "out/data/part-00000.json", "rows": 2},
            {"path": "out/data/part-00001.json", "rows": 1},
        ],
        "notes": ["the rows hold true nulls, so the tables have nullHandlingEnabled"],
        "steps": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--format", "parket"), "unknown format 'parket': did you mean 'parquet'?"),
        (("--time-column", "n"), "time column 'n' is not a dateTime column of rides: it may be one of t"),
        (("--data", "s3://lake/rides"), "s3: Pinot needs the region; set AWS_REGION, such as eu-west-1"),
        (
            ("--controller", "localhost:9000"),
            "'localhost:9000' is not a controller: use its URL, such as http://localhost:9000",
        ),
        (
            ("--out", "lake"),
            "--out lake: it holds other files; choose a new folder, or one of an earlier delivery",
        ),
        (
            ("--at", "parquet:nowhere"),
            "parquet:nowhere: holds no schema yet; load something into it, or import a schema",
        ),
    ],
)  # fmt: skip
def test_deliver_what_cannot_be(trellis, lake, folder, argv, message, monkeypatch):
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    ran = trellis("pinot", "deliver", *lake, *argv)
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {message}")
    assert not (folder / "out").exists()


def test_deliver_what_is_not_of_pinot(trellis, lines):
    lines("a.jsonl", '{"a":1}')
    trellis("load", "a.jsonl", "--to", "parquet:other")
    ran = trellis("pinot", "deliver", "--at", "parquet:other", "--out", "out")
    assert ran.err == (
        "error: parquet:other holds no Pinot schema; load into another dataset with --dialect pinot --schema "
        "FILE; `trellis schema convert --at parquet:other --to pinot` writes a schema of this one, for "
        "--schema FILE"
    )
    assert ran.code == 2


# --- what another dialect loaded -------------------------------------------------------------------------


@pytest.fixture
def plain(trellis, lines):
    """Two rows of another dialect, with a schema of Pinot for them, and the command that delivers them."""
    lines("rides.jsonl", '{"id":1,"home town":"Bern","fare":7.5}', '{"id":2,"fare":3.25}')
    load = ("load", "rides.jsonl", "--to", "duckdb:plain.duckdb", "--option", "naming=direct")
    assert trellis(*load).code == 0
    convert = ("schema", "convert", "--at", "duckdb:plain.duckdb", "--to", "pinot", "--table", "rides")
    assert trellis(*convert, "--out", "schema.json").code == 0
    return ("pinot", "deliver", "--at", "duckdb:plain.duckdb", "--out", "out")


def test_a_converted_schema_delivers_what_another_dialect_loaded(trellis, plain, folder):
    assert "for --schema FILE" in trellis(*plain).err
    ran = trellis(*plain, "--schema", "schema.json")
    assert (ran.code, ran.out.splitlines()[0]) == (
        0,
        "Delivered 2 rows of rides from duckdb:plain.duckdb, dataset main to out",
    )
    launch = "pinot-admin.sh LaunchDataIngestionJob -jobSpecFile out/ingestion-job.yaml"
    assert ran.out.splitlines()[-1] == launch
    rows = pq.read_table(folder / "out/data/part-00000.parquet").to_pylist()
    assert rows == [{"id": 1, "home_town": "Bern", "fare": 7.5}, {"id": 2, "home_town": None, "fare": 3.25}]


def test_a_table_config_does_not_shape_what_another_dialect_loaded(trellis, plain, written):
    transform = {"columnName": "home_town", "transformFunction": "lower(town)"}
    written(table={**OFFLINE, "ingestionConfig": {"transformConfigs": [transform]}})
    ran = trellis(*plain, "--schema", "schema.json", "--table-config", "table.json")
    assert (ran.code, ran.err) == (
        2,
        (
            "error: --table-config: transformConfigs would not be applied to rows that another dialect "
            "loaded: load them with --dialect pinot, or remove it"
        ),
    )


def test_a_schema_of_a_table_that_was_not_loaded(trellis, plain, written):
    written(other={**RIDES, "schemaName": "ride"})
    ran = trellis(*plain, "--schema", "other.json")
    assert (ran.code, ran.err) == (2, "error: --schema: there is no table 'ride': did you mean 'rides'?")


def test_a_dataset_with_a_pinot_schema_takes_no_other(trellis, written, lines):
    written(rides=RIDES)
    lines("a.jsonl", '{"s":"a"}')
    trellis("load", "a.jsonl", "--to", "parquet:lake", "--dialect", "pinot", "--schema", "rides.json")
    ran = trellis("pinot", "deliver", "--at", "parquet:lake", "--out", "out", "--schema", "rides.json")
    assert (ran.code, ran.err) == (
        2,
        "error: --schema: parquet:lake holds a Pinot schema already; leave --schema out",
    )
