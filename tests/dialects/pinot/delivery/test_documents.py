"""The job and the table configs: what Pinot requires, and what the schema says."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.oracle.client import Oracle
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.table.generated_config import (
    TargetTable,
    omitted_parts,
    target_table,
    time_column_of,
)
from trellis.dialects.pinot.table.ingestion_job import ingestion_job
from trellis.dialects.pinot.validation.table_config.all_rules import cluster_faults
from trellis.errors import UsageError

DAY = {"name": "started", "dataType": "LONG", "format": "EPOCH|SECONDS", "granularity": "1:SECONDS"}
END = {"name": "ended", "dataType": "LONG", "format": "EPOCH|SECONDS", "granularity": "1:SECONDS"}


def schema(*times: dict[str, Any], **more: Any) -> Any:
    document = {"schemaName": "rides", "dimensionFieldSpecs": [{"name": "s", "dataType": "STRING"}]}
    return read_schema({**document, "dateTimeFieldSpecs": [*times], **more})


def offline_table(*choices: Any, **options: Any) -> TargetTable:
    return target_table("OFFLINE", *choices, **options)


# --- Tables ----------------------------------------------------------------------------------------------


def test_an_offline_table_has_the_required_keys() -> None:
    assert offline_table(schema(DAY)).config == {
        "tableName": "rides",
        "tableType": "OFFLINE",
        "segmentsConfig": {"timeColumnName": "started", "replication": "1", "segmentPushType": "APPEND"},
        "tenants": {},
        "tableIndexConfig": {"loadMode": "MMAP"},
        "metadata": {},
    }
    assert "timeColumnName" not in offline_table(schema()).config["segmentsConfig"]


STREAM = {
    "streamType": "kafka",
    "stream.kafka.topic.name": "rides",
    "stream.kafka.broker.list": "k:9092",
    "stream.kafka.decoder.class.name": "org.apache.pinot.plugin.stream.kafka.KafkaJSONMessageDecoder",
    "stream.kafka.consumer.factory.class.name": "org.apache.pinot.plugin.stream.kafka30.KafkaConsumerFactory",
}
UPSERT: dict[str, Any] = {
    "tableName": "rides",
    "tableType": "REALTIME",
    "segmentsConfig": {"timeColumnName": "started", "replication": "1"},
    "tenants": {},
    "tableIndexConfig": {},
    "routing": {"instanceSelectorType": "strictReplicaGroup"},
    "upsertConfig": {"mode": "FULL"},
    "ingestionConfig": {
        "transformConfigs": [{"columnName": "s", "transformFunction": "lower(z)"}],
        "streamIngestionConfig": {"streamConfigMaps": [STREAM]},
    },
}


def test_an_upsert_table_is_delivered_as_two_that_pinot_takes() -> None:
    keyed = schema(DAY, primaryKeyColumns=["s"])
    realtime = target_table("REALTIME", keyed, UPSERT).config
    assert realtime == {**UPSERT, "metadata": {}}
    offline = offline_table(keyed, UPSERT).config
    assert offline["tableType"] == "OFFLINE"
    assert {"upsertConfig", "streamIngestionConfig", "transformConfigs"}.isdisjoint(
        {*offline, *offline["ingestionConfig"]}
    )
    assert omitted_parts(UPSERT) == ("transformConfigs", "upsertConfig")
    assert [fault for table in (realtime, offline) for fault in cluster_faults(keyed, table)] == []


@pytest.mark.pinot
def test_pinot_takes_both_tables_of_an_upsert(pinot: Oracle) -> None:
    document = {
        "schemaName": "rides",
        "primaryKeyColumns": ["s"],
        "dimensionFieldSpecs": [{"name": "s", "dataType": "STRING"}],
        "dateTimeFieldSpecs": [DAY],
    }
    keyed = read_schema(document)
    for table in (
        target_table("REALTIME", keyed, UPSERT).config,
        offline_table(keyed, UPSERT).config,
    ):
        assert pinot.ask("table", json=table, schema=document)["tableName"].startswith("rides_")


def test_what_a_config_says_stays_but_rows_are_not_shaped_twice() -> None:
    config = {
        "tableName": "rides_REALTIME",
        "tableType": "REALTIME",
        "segmentsConfig": {"timeColumnName": "ended", "replication": "3", "retentionTimeUnit": "DAYS"},
        "tenants": {"server": "big"},
        "tableIndexConfig": {"invertedIndexColumns": ["s"]},
        "ingestionConfig": {
            "continueOnError": True,
            "transformConfigs": [{"columnName": "s", "transformFunction": "upper(z)"}],
            "filterConfig": {"filterFunction": "z IS NULL"},
            "complexTypeConfig": {"fieldsToUnnest": ["z"]},
            "streamIngestionConfig": {"columnMajorSegmentBuilderEnabled": True, "streamConfigMaps": [{}]},
        },
    }
    offline = offline_table(schema(DAY, END), config).config
    assert offline["segmentsConfig"] == {
        "timeColumnName": "ended", "replication": "3", "retentionTimeUnit": "DAYS",
        "segmentPushType": "APPEND",
    }  # fmt: skip
    assert (offline["tableName"], offline["tenants"]) == ("rides", {"server": "big"})
    assert offline["tableIndexConfig"] == {"invertedIndexColumns": ["s"], "loadMode": "MMAP"}
    assert offline["ingestionConfig"] == {"continueOnError": True}
    assert omitted_parts(config) == ("complexTypeConfig", "transformConfigs", "filterConfig")
    realtime = target_table("REALTIME", schema(DAY, END), config).config["ingestionConfig"]
    assert realtime["filterConfig"] == {"filterFunction": "z IS NULL"}
    assert realtime["streamIngestionConfig"]["columnMajorSegmentBuilderEnabled"] is True
    assert "filterConfig" in config["ingestionConfig"]  # type: ignore[operator]


def test_real_nulls_switch_null_handling_on_where_the_schema_does_not() -> None:
    assert offline_table(schema(), real_nulls=True).config["tableIndexConfig"]["nullHandlingEnabled"] is True
    by_column = schema(enableColumnBasedNullHandling=True)
    assert "nullHandlingEnabled" not in offline_table(by_column, real_nulls=True).config["tableIndexConfig"]
    assert "nullHandlingEnabled" not in offline_table(schema()).config["tableIndexConfig"]


def test_the_time_column() -> None:
    both = schema(DAY, END)
    assert time_column_of(both) == "started"
    assert time_column_of(both, choice="ended") == "ended"
    assert offline_table(both, time_column="ended").config["segmentsConfig"]["timeColumnName"] == "ended"
    assert time_column_of(both, {"tableName": "rides"}) is None
    assert "timeColumnName" not in offline_table(both, {"tableName": "rides"}).config["segmentsConfig"]
    authored = {"tableName": "rides", "segmentsConfig": {"timeColumnName": "ended"}}
    assert time_column_of(both, authored) == "ended"
    assert "timeColumnName" not in offline_table(both, authored, "none").config["segmentsConfig"]
    granule = {"name": "day", "dataType": "INT", "timeType": "DAYS"}
    legacy = schema(timeFieldSpec={"incomingGranularitySpec": granule})
    assert time_column_of(legacy) == "day"
    with pytest.raises(UsageError) as raised:
        time_column_of(both, choice="start")
    assert (
        str(raised.value) == "time column 'start' is not a dateTime column of rides: did you mean 'started'?"
    )


# --- The job ---------------------------------------------------------------------------------------------


def test_the_job_is_that_of_the_manual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    job = ingestion_job("rides", "s3://lake/rides/", controller="http://ctl:9000/")
    standalone = "org.apache.pinot.plugin.ingestion.batch.standalone."
    assert job == {
        "executionFrameworkSpec": {
            "name": "standalone",
            "segmentGenerationJobRunnerClassName": f"{standalone}SegmentGenerationJobRunner",
            "segmentTarPushJobRunnerClassName": f"{standalone}SegmentTarPushJobRunner",
        },
        "jobType": "SegmentCreationAndTarPush",
        "inputDirURI": "s3://lake/rides/",
        "includeFileNamePattern": "glob:**/*.parquet",
        "outputDirURI": "s3://lake/rides_segments/",
        "overwriteOutput": True,
        "pinotFSSpecs": [
            {
                "scheme": "s3",
                "className": "org.apache.pinot.plugin.filesystem.S3PinotFS",
                "configs": {"region": "eu-west-1"},
            }
        ],
        "recordReaderSpec": {
            "dataFormat": "parquet",
            "className": "org.apache.pinot.plugin.inputformat.parquet.ParquetRecordReader",
        },
        "tableSpec": {
            "tableName": "rides",
            "schemaURI": "http://ctl:9000/tables/rides/schema",
            "tableConfigURI": "http://ctl:9000/tables/rides",
        },
        "segmentNameGeneratorSpec": {
            "type": "inputFile",
            "configs": {
                "file.path.pattern": ".+/(.+)\\.parquet",
                "segment.name.template": "rides_\\${filePathPattern:\\1}",
            },
        },
        "pinotClusterSpecs": [{"controllerURI": "http://ctl:9000"}],
        "pushJobSpec": {"pushAttempts": 2, "pushRetryIntervalMillis": 1000},
    }


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("/data/rides", "org.apache.pinot.spi.filesystem.LocalPinotFS"),
        ("gs://lake/rides", "org.apache.pinot.plugin.filesystem.GcsPinotFS"),
        ("hdfs://name/rides", "org.apache.pinot.plugin.filesystem.HadoopPinotFS"),
    ],
)
def test_the_file_system_follows_the_uri(uri: str, name: str) -> None:
    document = ingestion_job("rides", uri)
    assert [spec["className"] for spec in document["pinotFSSpecs"]] == [name]


def test_two_file_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "r")
    document = ingestion_job("rides", "file:///out/data", "s3://lake/segments")
    assert document["pinotFSSpecs"] == [
        {"scheme": "file", "className": "org.apache.pinot.spi.filesystem.LocalPinotFS"},
        {
            "scheme": "s3",
            "className": "org.apache.pinot.plugin.filesystem.S3PinotFS",
            "configs": {"region": "r"},
        },
    ]


def test_the_reader_follows_the_format() -> None:
    document = ingestion_job("rides", "/data", format="json")
    reader = document["recordReaderSpec"]["className"]
    assert reader == "org.apache.pinot.plugin.inputformat.json.JSONRecordReader"
    assert document["includeFileNamePattern"] == "glob:**/*.json"


@pytest.mark.parametrize(
    ("source", "format", "message"),
    [
        ("/d", "csv", "unknown format 'csv': it may be one of parquet, json"),
        (
            "s3a://lake/r",
            "json",
            "s3a://lake/r: Pinot does not support the file system 's3a': did you mean 's3'?",
        ),
        ("s3://lake/r", "json", "s3: Pinot needs the region; set AWS_REGION, such as eu-west-1"),
    ],
)
def test_what_pinot_has_no_name_for(
    source: str, format: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    with pytest.raises(UsageError) as raised:
        ingestion_job("r", source, format=format)
    assert str(raised.value) == message
