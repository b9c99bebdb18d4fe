"""`validate` finds what Pinot refuses in a table config, and nothing in what it takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dialects.pinot.document.broken_configs import BROKEN, GOOD, SCHEMA, STREAM, patched
from dialects.pinot.oracle.client import Oracle, Refused
from trellis.dialects.pinot.cluster import document_check
from trellis.dialects.pinot.cluster.document_check import check

IN_PINOT = "is carried out by Pinot only: a load needs a table config without it"
KEYLESS = "Upsert/Dedup table must have primary key columns in the schema"


def findings(config: dict[str, Any]) -> list[str]:
    result = check(json.dumps(SCHEMA), "rides-schema.json", [config])
    columns = [f"column {finding.column}: " if finding.column else "" for finding in result.findings]
    places = [f"{finding.pointer}: " if finding.pointer else "" for finding in result.findings]
    return [
        f"{place}{column}{finding.message}"
        for place, column, finding in zip(places, columns, result.findings, strict=True)
        if finding.source == "table config" and finding.level != "mind"
    ]


@pytest.mark.parametrize("name", BROKEN)
def test_a_config_that_pinot_refuses_is_found(name: str) -> None:
    assert findings(BROKEN[name].config) == [*BROKEN[name].findings]


@pytest.mark.parametrize("name", GOOD)
def test_a_config_that_pinot_takes_has_no_finding(name: str) -> None:
    assert findings(GOOD[name]) == []


@pytest.mark.parametrize(
    ("patch", "finding"),
    [
        ({"isDimTable": True}, "/isDimTable: Dimension table must have primary key[s]"),
        (
            {"upsertConfig": {}},
            "/upsertConfig: Upsert/Dedup table must have primary key columns in the schema",
        ),
        ({"dedupConfig": {}}, "/dedupConfig: Upsert/Dedup table must have primary key columns in the schema"),
    ],
)
def test_a_table_that_needs_a_primary_key(patch: dict[str, Any], finding: str) -> None:
    keyless = {key: value for key, value in SCHEMA.items() if key != "primaryKeyColumns"}
    result = check(json.dumps(keyless), "rides-schema.json", [{**GOOD["realtime"], **patch}])
    assert finding in [f"{fault.pointer}: {fault.message}" for fault in result.findings]


def test_what_a_load_refuses_and_pinot_takes_is_to_be_minded() -> None:
    enrichers = {"ingestionConfig/enrichmentConfigs": [{"enricherType": "clpEnricher"}]}
    result = check(json.dumps(SCHEMA), "rides-schema.json", [patched(GOOD["offline"], enrichers)])
    assert (result.valid, [(finding.level, finding.message) for finding in result.findings]) == (
        True,
        [
            (
                "mind",
                f"the enricher clpEnricher {IN_PINOT}",
            )
        ],
    )


def test_a_transform_may_feed_an_aggregation() -> None:
    config = patched(
        GOOD["realtime"],
        {
            "ingestionConfig/aggregationConfigs": [
                {"columnName": "fare", "aggregationFunction": 'DISTINCTCOUNTHLL("amount", 12)'}
            ],
            "ingestionConfig/transformConfigs": [
                {"columnName": "amount", "transformFunction": "times(seats, 2)"}
            ],
        },
    )
    (finding,) = findings(config)
    assert finding.startswith("/ingestionConfig/aggregationConfigs: aggregationConfigs is not checked")


def test_a_task_is_not_judged() -> None:
    config = {**GOOD["offline"], "task": {"taskTypeConfigsMap": {"PurgeTask": {"schedule": "0 0 2 * * ?"}}}}
    result = check(json.dumps(SCHEMA), "rides-schema.json", [config])
    assert (result.valid, [finding.message for finding in result.findings]) == (
        None,
        ["task PurgeTask is not checked: the controller checks it"],
    )


@pytest.mark.parametrize(
    ("base", "patch", "place"),
    [
        ("offline", {"ingestionConfig/schemaConformingTransformerConfig": {"indexableExtrasField": "x"}}, ""),
        ("offline", {"tableIndexConfig/multiColumnTextIndexConfig": {"columns": ["city"]}}, ""),
        ("offline", {"tableSamplers": [{"name": "s", "type": "t"}]}, ""),
        (
            "offline",
            {"fieldConfigList": [{"name": "city", "properties": {"forwardIndexDisabled": "true"}}]},
            "fieldConfigList/0/properties/forwardIndexDisabled",
        ),
        ("upsert", {"upsertConfig/consistencyMode": "SYNC"}, ""),
        ("upsert", {"upsertConfig/enableDeletedKeysCompactionConsistency": True}, ""),
        ("upsert", {"upsertConfig/metadataTTL": 10}, ""),
        ("dedup", {"dedupConfig/metadataTTL": 10}, ""),
        ("offline", {"tierConfigs": [{"name": "cold"}]}, ""),
        ("offline", {"instanceAssignmentConfigMap": {"OFFLINE": {}}}, ""),
        ("offline", {"tableIndexConfig/starTreeIndexConfigs": [{"dimensionsSplitOrder": ["town"]}]}, ""),
        ("offline", {"tableIndexConfig/varLengthDictionaryColumns": ["city"]}, ""),
        (
            "offline",
            {"fieldConfigList": [{"name": "seats", "encodingType": "RAW", "compressionCodec": "DELTA"}]},
            "fieldConfigList/0/compressionCodec",
        ),
        ("realtime", {"ingestionConfig/streamIngestionConfig/pauselessConsumptionEnabled": True}, ""),
        (
            "realtime",
            {"ingestionConfig/streamIngestionConfig/streamConfigMaps": [STREAM, STREAM]},
            "ingestionConfig/streamIngestionConfig/streamConfigMaps",
        ),
        ("offline", {"segmentsConfig/peerSegmentDownloadScheme": "http"}, ""),
        ("offline", {"segmentsConfig/untrackedSegmentsRetentionTimeUnit": "DAYS"}, ""),
    ],
)
def test_a_part_whose_rules_are_not_implemented_is_not_judged(
    base: str, patch: dict[str, Any], place: str
) -> None:
    result = check(json.dumps(SCHEMA), "rides-schema.json", [patched(GOOD[base], patch)])
    place = place or next(iter(patch))
    unchecked = [finding for finding in result.findings if finding.level == "unchecked"]
    assert (result.valid, [(finding.pointer, finding.message) for finding in unchecked]) == (
        None,
        [
            (
                f"/{place}",
                f"{place.rpartition('/')[2]} is not checked: Pinot's own classes check it with --pinot-jars",
            )
        ],
    )


def test_a_vector_index_is_not_judged() -> None:
    config = patched(GOOD["offline"], {"fieldConfigList": [{"name": "vector", "indexTypes": ["VECTOR"]}]})
    assert findings(config) == [
        "/fieldConfigList/0: the vector index is not checked: Pinot's own classes check it with --pinot-jars"
    ]


def hybrid(*configs: dict[str, Any]) -> tuple[bool | None, list[str]]:
    result = check(json.dumps(SCHEMA), "rides-schema.json", configs)
    return result.valid, [f"{fault.source}{fault.pointer}: {fault.message}" for fault in result.findings]


def test_both_halves_of_a_hybrid_table_are_checked() -> None:
    offline, realtime = GOOD["offline"], GOOD["realtime"]
    assert hybrid(offline, realtime) == (True, [])
    assert hybrid(offline, offline) == (
        False,
        ["REALTIME config/tableType: a hybrid table has one OFFLINE and one REALTIME config"],
    )
    other = {
        **realtime,
        "segmentsConfig": {"timeColumnName": "day", "replication": "1"},
        "tenants": {"broker": "b"},
        "quota": {"storage": "big"},
    }
    assert hybrid(other, offline) == (
        False,
        [
            "REALTIME config/quota/storage: storage is a size such as 200M, not 'big'",
            (
                "REALTIME config/segmentsConfig/timeColumnName: timeColumnName is day, and at in the OFFLINE"
                " config: use one"
            ),
            "REALTIME config/tenants/broker: broker is b, and DefaultTenant in the OFFLINE config: use one",
        ],
    )


def test_the_schema_of_a_hybrid_table_is_checked_by_pinots_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with each config; what Pinot finds in the schema is shown once."""
    checked: list[Any] = []

    def pinot_faults(text: str, table: Any) -> Iterator[tuple[str, str]]:
        checked.append(table)
        yield "schema", "Pinot refuses it"

    monkeypatch.setattr(document_check, "pinot_faults", pinot_faults)
    configs = (GOOD["offline"], GOOD["realtime"])
    result = check(json.dumps(SCHEMA), "rides-schema.json", configs, pinot_jars=True)
    assert (result.valid, [finding.message for finding in result.findings]) == (False, ["Pinot refuses it"])
    assert checked == [*configs]


def judge(pinot: Oracle, config: dict[str, Any]) -> bool:
    """Whether Pinot's own classes take a config."""
    try:
        pinot.ask("table", json=config, schema=SCHEMA)
    except Refused:
        return False
    return True


@pytest.mark.pinot
def test_pinot_refuses_the_same_configs(pinot: Oracle) -> None:
    assert [name for name, case in BROKEN.items() if judge(pinot, case.config)] == []


@pytest.mark.pinot
def test_pinot_takes_the_same_configs(pinot: Oracle) -> None:
    assert [name for name, config in GOOD.items() if not judge(pinot, config)] == []
