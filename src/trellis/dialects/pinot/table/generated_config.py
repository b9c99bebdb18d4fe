"""Table configs generated for a schema: what Pinot requires, and what follows from the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy_time import migrated
from trellis.dialects.pinot.table.config import Kind, table_config
from trellis.errors import UsageError, nearest

SHAPING: Final = ("complexTypeConfig", "schemaConformingTransformerConfig", "filterConfig")
"""What of `ingestionConfig` makes or drops rows: rows that Trellis wrote went through it already."""
_STREAMS: Final = ("streamIngestionConfig",)
_FILES: Final = ("batchIngestionConfig",)


@dataclass(frozen=True)
class Kafka:
    """Where the events of a REALTIME table come from: brokers as `host:port,host:port`, and a topic."""

    brokers: str
    topic: str

    def document(self) -> dict[str, str]:
        """One of `streamConfigMaps`."""
        begin = "org.apache.pinot.plugin.stream.kafka"
        return {
            "streamType": "kafka",
            "stream.kafka.topic.name": self.topic,
            "stream.kafka.broker.list": self.brokers,
            "stream.kafka.decoder.class.name": f"{begin}.KafkaJSONMessageDecoder",
            "stream.kafka.consumer.factory.class.name": f"{begin}30.KafkaConsumerFactory",
        }


@dataclass(frozen=True)
class WantedTable:
    """A table config. `said` is what of it the user said: the rest changes no table that is there."""

    config: Mapping[str, Any]
    said: Mapping[str, Any]

    @staticmethod
    def of(
        config: Mapping[str, Any], authored: Mapping[str, Any] | None = None, time_column: str | None = None
    ) -> WantedTable:
        """Told from the config that was `authored`, and the time column that was asked for.

        >>> config = {"tableType": "OFFLINE", "segmentsConfig": {"replication": "1", "timeColumnName": "t"}}
        >>> WantedTable.of(config, {"segmentsConfig": {"replication": "1"}}).said
        {'segmentsConfig': {'replication': '1'}}
        """
        asked: dict[str, Any] = {} if time_column is None else {"segmentsConfig": {"timeColumnName": ""}}
        for part, key in (
            ("tableIndexConfig", "nullHandlingEnabled"),
            ("ingestionConfig", "streamIngestionConfig"),
        ):
            if key in config.get(part, {}):
                asked[part] = {key: ""}
        both = _both(authored or {}, asked)
        return WantedTable(config, _within(config, both))


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, **{key: {**(one.get(key) or {}), **value} for key, value in other.items()}}


def _within(config: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a config whose keys are said."""
    return {
        key: _within(value, said[key])
        if isinstance(value, Mapping) and isinstance(said[key], Mapping)
        else value
        for key, value in config.items()
        if key in said and key not in ("tableName", "tableType")
    }


def offline_table(
    schema: PinotSchema,
    authored: Mapping[str, Any] | None = None,
    time_column: str | None = None,
    real_nulls: bool = False,
) -> dict[str, Any]:
    """The config of the OFFLINE table for rows that Trellis wrote.

    `authored` is a config that exists already: what it says stays, but for what makes or drops rows and
    for streams. `real_nulls`: the rows hold nulls, which are to stay null. Raises UsageError for a time
    column that is no dateTime column.

    >>> offline_table(PinotSchema("rides"))["tableName"]
    'rides'
    """
    document = _whole(schema, authored, "OFFLINE", time_column, real_nulls)
    document["segmentsConfig"].setdefault("segmentPushType", "APPEND")
    document["tableIndexConfig"].setdefault("loadMode", "MMAP")
    return _without(document, (*SHAPING, *_STREAMS))


def realtime_table(
    schema: PinotSchema,
    stream: Kafka,
    authored: Mapping[str, Any] | None = None,
    time_column: str | None = None,
    real_nulls: bool = False,
) -> dict[str, Any]:
    """The config of the REALTIME table, which makes its rows from events as they came. Raises UsageError."""
    document = _whole(schema, authored, "REALTIME", time_column, real_nulls)
    if "timeColumnName" not in document["segmentsConfig"]:
        raise UsageError(
            f"{schema.name}: a REALTIME table needs a time column, and the schema has no dateTime column"
        )
    document["segmentsConfig"].pop("segmentPushType", None)
    document = _without(document, _FILES)
    ingestion = document.setdefault("ingestionConfig", {})
    streams = ingestion.get("streamIngestionConfig") or {}
    ingestion["streamIngestionConfig"] = {**streams, "streamConfigMaps": [stream.document()]}
    return document


def time_column_of(
    schema: PinotSchema, authored: Mapping[str, Any] | None = None, said: str | None = None
) -> str | None:
    """The main time column: what is said, what the config says, or the first dateTime column."""
    times = [spec.name for spec in migrated(schema).date_times]
    if said is not None and said not in times:
        raise UsageError(f"time column {said!r} is no dateTime column of {schema.name}{nearest(said, times)}")
    return said or table_config(authored).time_column or next(iter(times), None)


def _whole(
    schema: PinotSchema,
    authored: Mapping[str, Any] | None,
    kind: Kind,
    time_column: str | None,
    real_nulls: bool,
) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(json.dumps(dict(authored or {}), default=dict))
    main = time_column_of(schema, authored, time_column)
    segments = {**({"timeColumnName": main} if main else {}), "replication": "1"}
    indexing = dict(known.get("tableIndexConfig") or {})
    if real_nulls and not schema.column_nulls:
        indexing["nullHandlingEnabled"] = True
    return {
        **known,
        "tableName": schema.name,
        "tableType": kind,
        "segmentsConfig": {**segments, **(known.get("segmentsConfig") or {}), **_said_time(time_column)},
        "tenants": known.get("tenants") or {},
        "tableIndexConfig": indexing,
        "metadata": known.get("metadata") or {},
    }


def _said_time(column: str | None) -> dict[str, str]:
    return {} if column is None else {"timeColumnName": column}


def _without(document: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The config without these parts of `ingestionConfig`."""
    if "ingestionConfig" not in document:
        return document
    left = {key: value for key, value in document["ingestionConfig"].items() if key not in keys}
    return {**document, "ingestionConfig": left}


def left_out(authored: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The parts of a config that its OFFLINE table does without, because its rows went through them."""
    said = (authored or {}).get("ingestionConfig") or {}
    return tuple(key for key in SHAPING if said.get(key))
