"""Table configs generated for a schema: what Pinot requires, and what follows from the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy_time import migrate_time_field
from trellis.dialects.pinot.table.config import TableKind, table_config
from trellis.errors import UsageError, nearest

SHAPING: Final = (
    "enrichmentConfigs",
    "complexTypeConfig",
    "transformConfigs",
    "schemaConformingTransformerConfig",
    "filterConfig",
    "aggregationConfigs",
)
"""The parts of `ingestionConfig` that make the values of rows: Trellis has applied them already."""
CHOOSING: Final = ("upsertConfig", "dedupConfig")
"""The parts that choose a row for each key: applied too, and only a stream needs them."""
NO_TIME: Final = "none"
"""The choice of no main time column."""
_STREAMS: Final = ("streamIngestionConfig",)
_FILES: Final = ("batchIngestionConfig",)


@dataclass(frozen=True)
class Kafka:
    """The Kafka source of a REALTIME table: brokers as `host:port,host:port`, and a topic."""

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
            "stream.kafka.consumer.prop.auto.offset.reset": "smallest",
            "realtime.segment.flush.threshold.rows": "0",
            "realtime.segment.flush.threshold.time": "24h",
            "realtime.segment.flush.threshold.segment.size": "200M",
        }


@dataclass(frozen=True)
class TargetTable:
    """A table config. `declared` is the part that the user wrote: the rest changes no existing table."""

    config: Mapping[str, Any]
    declared: Mapping[str, Any]

    @staticmethod
    def of(
        config: Mapping[str, Any], authored: Mapping[str, Any] | None = None, time_column: str | None = None
    ) -> TargetTable:
        """From the config of the user, and the time column that the user chose.

        >>> config = {"tableType": "OFFLINE", "segmentsConfig": {"replication": "1", "timeColumnName": "t"}}
        >>> TargetTable.of(config, {"segmentsConfig": {"replication": "1"}}).declared
        {'segmentsConfig': {'replication': '1'}}
        """
        required: dict[str, Any] = {} if time_column is None else {"segmentsConfig": {"timeColumnName": ""}}
        for part, key in (
            ("tableIndexConfig", "nullHandlingEnabled"),
            ("ingestionConfig", "streamIngestionConfig"),
        ):
            if key in config.get(part, {}):
                required[part] = {key: ""}
        both = _merged(authored or {}, required)
        return TargetTable(config, _restricted_to(config, both))


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, **{key: {**(one.get(key) or {}), **value} for key, value in other.items()}}


def _restricted_to(config: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a config whose keys are in `values`."""
    return {
        key: _restricted_to(value, values[key])
        if isinstance(value, Mapping) and isinstance(values[key], Mapping)
        else value
        for key, value in config.items()
        if key in values and key not in ("tableName", "tableType")
    }


def offline_table(
    schema: PinotSchema,
    authored: Mapping[str, Any] | None = None,
    time_column: str | None = None,
    real_nulls: bool = False,
) -> dict[str, Any]:
    """The config of the OFFLINE table for rows that Trellis wrote.

    `authored` is the config of the user: it is kept, except for streams and for what makes or chooses rows.
    `real_nulls`: the rows hold nulls, which stay null. Raises UsageError for a time column that is not a
    dateTime column.

    >>> offline_table(PinotSchema("rides"))["tableName"]
    'rides'
    """
    document = _base_config(schema, authored, "OFFLINE", time_column, real_nulls)
    document["segmentsConfig"].setdefault("segmentPushType", "APPEND")
    document["tableIndexConfig"].setdefault("loadMode", "MMAP")
    document["tableIndexConfig"].pop("streamConfigs", None)
    document = {key: value for key, value in document.items() if key not in CHOOSING}
    return _without(document, (*SHAPING, *_STREAMS))


def has_stream(authored: Mapping[str, Any] | None) -> bool:
    """Whether a config is that of a REALTIME table with its stream."""
    config = authored or {}
    ingestion, indexing = (config.get(key) or {} for key in ("ingestionConfig", "tableIndexConfig"))
    return str(config.get("tableType")).upper() == "REALTIME" and bool(
        ingestion.get("streamIngestionConfig") or indexing.get("streamConfigs")
    )


def realtime_table(
    schema: PinotSchema,
    stream: Kafka | None,
    authored: Mapping[str, Any] | None = None,
    time_column: str | None = None,
    real_nulls: bool = False,
) -> dict[str, Any]:
    """The config of the REALTIME table, which creates its rows from raw events.

    `stream` takes the place of the streams of the user's config. Raises UsageError.
    """
    document = _base_config(schema, authored, "REALTIME", time_column, real_nulls)
    if "timeColumnName" not in document["segmentsConfig"]:
        raise UsageError(
            f"{schema.name}: a REALTIME table needs a time column, and the schema has no dateTime column"
        )
    document["segmentsConfig"].pop("segmentPushType", None)
    document = _without(document, _FILES)
    if stream is None:
        return document
    document["tableIndexConfig"].pop("streamConfigs", None)
    ingestion = document.setdefault("ingestionConfig", {})
    streams = ingestion.get("streamIngestionConfig") or {}
    ingestion["streamIngestionConfig"] = {**streams, "streamConfigMaps": [stream.document()]}
    return document


def time_column_of(
    schema: PinotSchema, authored: Mapping[str, Any] | None = None, choice: str | None = None
) -> str | None:
    """The main time column: the choice, that of the config, or without a config the first dateTime column."""
    times = [spec.name for spec in migrate_time_field(schema).date_times]
    if choice == NO_TIME and choice not in times:
        return None
    if choice is not None and choice not in times:
        raise UsageError(
            f"time column {choice!r} is not a dateTime column of {schema.name}{nearest(choice, times)}"
        )
    if choice is not None or authored:
        return choice or table_config(authored).time_column
    return next(iter(times), None)


def _base_config(
    schema: PinotSchema,
    authored: Mapping[str, Any] | None,
    kind: TableKind,
    time_column: str | None,
    real_nulls: bool,
) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(json.dumps(dict(authored or {}), default=dict))
    main = time_column_of(schema, authored, time_column)
    segments = {"replication": "1", **(known.get("segmentsConfig") or {})}
    segments.pop("timeColumnName", None)
    indexing = dict(known.get("tableIndexConfig") or {})
    if real_nulls and not schema.column_nulls:
        indexing["nullHandlingEnabled"] = True
    return {
        **known,
        "tableName": schema.name,
        "tableType": kind,
        "segmentsConfig": {**({"timeColumnName": main} if main else {}), **segments},
        "tenants": known.get("tenants") or {},
        "tableIndexConfig": indexing,
        "metadata": known.get("metadata") or {},
    }


def _without(document: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The config without these parts of `ingestionConfig`."""
    if "ingestionConfig" not in document:
        return document
    left = {key: value for key, value in document["ingestionConfig"].items() if key not in keys}
    return {**document, "ingestionConfig": left}


def omitted_parts(authored: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The parts of a config that its OFFLINE table omits, because Trellis has applied them."""
    ingestion = (authored or {}).get("ingestionConfig") or {}
    shaping = tuple(key for key in SHAPING if ingestion.get(key))
    return (*shaping, *(key for key in CHOOSING if (authored or {}).get(key)))
