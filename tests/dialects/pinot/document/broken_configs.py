"""Table configs that Pinot refuses, one for each of its rules, and what Trellis says of each."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SCHEMA: Final[dict[str, Any]] = {
    "schemaName": "rides",
    "primaryKeyColumns": ["id"],
    "dimensionFieldSpecs": [
        {"name": "id", "dataType": "LONG"},
        {"name": "city", "dataType": "STRING"},
        {"name": "paid", "dataType": "BOOLEAN"},
        {"name": "point", "dataType": "BYTES"},
        {"name": "extra", "dataType": "JSON"},
        {"name": "tags", "dataType": "STRING", "singleValueField": False},
        {"name": "vector", "dataType": "FLOAT", "singleValueField": False},
        {"name": "seats", "dataType": "INT"},
    ],
    "metricFieldSpecs": [{"name": "fare", "dataType": "DOUBLE"}],
    "dateTimeFieldSpecs": [
        {"name": "at", "dataType": "TIMESTAMP", "format": "TIMESTAMP", "granularity": "1:MILLISECONDS"},
        {
            "name": "day",
            "dataType": "STRING",
            "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
            "granularity": "1:DAYS",
        },
    ],
    "complexFieldSpecs": [
        {
            "name": "attributes",
            "dataType": "MAP",
            "fieldType": "COMPLEX",
            "childFieldSpecs": {
                "key": {"name": "key", "dataType": "STRING", "fieldType": "DIMENSION"},
                "value": {"name": "value", "dataType": "STRING", "fieldType": "DIMENSION"},
            },
        }
    ],
}
OFFLINE: Final[dict[str, Any]] = {
    "tableName": "rides",
    "tableType": "OFFLINE",
    "segmentsConfig": {"timeColumnName": "at", "replication": "1", "segmentPushType": "APPEND"},
    "tenants": {},
    "tableIndexConfig": {"loadMode": "MMAP"},
    "metadata": {},
}
STREAM: Final = {
    "streamType": "kafka",
    "stream.kafka.topic.name": "rides",
    "stream.kafka.broker.list": "kafka:9092",
    "stream.kafka.decoder.class.name": "org.apache.pinot.plugin.inputformat.json.JSONMessageDecoder",
    "realtime.segment.flush.threshold.rows": "0",
    "realtime.segment.flush.threshold.time": "24h",
    "realtime.segment.flush.threshold.segment.size": "200M",
}
REALTIME: Final[dict[str, Any]] = {
    **OFFLINE,
    "tableType": "REALTIME",
    "segmentsConfig": {"timeColumnName": "at", "replication": "1"},
    "ingestionConfig": {"streamIngestionConfig": {"streamConfigMaps": [STREAM]}},
}
UPSERT: Final = {
    **REALTIME,
    "routing": {"instanceSelectorType": "strictReplicaGroup"},
    "upsertConfig": {"mode": "FULL"},
}
DEDUP: Final = {
    **REALTIME,
    "routing": {"instanceSelectorType": "strictReplicaGroup"},
    "dedupConfig": {"dedupEnabled": True},
}
PARTIAL: Final = {
    **UPSERT,
    "tableIndexConfig": {"nullHandlingEnabled": True},
    "upsertConfig": {"mode": "PARTIAL", "partialUpsertStrategies": {"fare": "INCREMENT"}},
}
GONE: Final = object()
"""The value of a key that is removed."""
_MAPS: Final = "ingestionConfig/streamIngestionConfig/streamConfigMaps"


@dataclass(frozen=True)
class Broken:
    """A good config with values put at some paths, and the findings of `validate`."""

    patch: Mapping[str, Any]
    findings: tuple[str, ...]
    base: Mapping[str, Any] = field(default_factory=lambda: OFFLINE)

    @property
    def config(self) -> dict[str, Any]:
        return patched(self.base, self.patch)


def patched(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    config = copy.deepcopy(dict(base))
    for path, value in patch.items():
        target: Any = config
        *steps, last = path.split("/")
        for step in steps:
            target = target[int(step)] if isinstance(target, list) else target.setdefault(step, {})
        if value is GONE:
            del target[last]
        else:
            target[last] = value
    return config


def broken(base: Mapping[str, Any], *findings: str, **patch: Any) -> Broken:
    return Broken(patch, findings, base)


def offline(patch: Mapping[str, Any], *findings: str) -> Broken:
    return Broken(patch, findings)


def realtime(patch: Mapping[str, Any], *findings: str) -> Broken:
    return Broken(patch, findings, REALTIME)


def upsert(patch: Mapping[str, Any], *findings: str) -> Broken:
    return Broken(patch, findings, UPSERT)


def indexed(name: Any, **config: Any) -> dict[str, Any]:
    return {"fieldConfigList": [{"name": name, **config}]}


BROKEN: Final = {
    # --- keys and values
    "no table name": offline({"tableName": GONE}, "tableName is missing: Pinot requires it"),
    "no table type": offline({"tableType": GONE}, "tableType is missing: Pinot requires it"),
    "no segments config": offline({"segmentsConfig": GONE}, "segmentsConfig is missing: Pinot requires it"),
    "no tenants": offline({"tenants": GONE}, "tenants is missing: Pinot requires it"),
    "no indexing config": offline(
        {"tableIndexConfig": GONE}, "tableIndexConfig is missing: Pinot requires it"
    ),
    "field config without name": offline(
        {"fieldConfigList": [{"encodingType": "RAW"}]},
        "/fieldConfigList/0: name is missing: Pinot requires it",
    ),
    "unknown encoding": offline(
        indexed("city", encodingType="PLAIN"),
        "/fieldConfigList/0/encodingType: unknown value 'PLAIN': it may be one of DICTIONARY, RAW",
    ),
    "unknown index type": offline(
        indexed("city", indexTypes=["INVERSE"]),
        "/fieldConfigList/0/indexTypes/0: unknown value 'INVERSE': did you mean 'INVERTED'?",
    ),
    "unknown codec": offline(
        indexed("fare", encodingType="RAW", compressionCodec="ZSTD"),
        "/fieldConfigList/0/compressionCodec: unknown value 'ZSTD': did you mean 'ZSTANDARD'?",
    ),
    "partitions without a number": offline(
        {
            "tableIndexConfig/segmentPartitionConfig": {
                "columnPartitionMap": {"id": {"functionName": "Murmur"}}
            }
        },
        "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap/id: numPartitions is missing: Pinot"
        " requires it",
    ),
    "no partitions": offline(
        {
            "tableIndexConfig/segmentPartitionConfig/columnPartitionMap": {
                "id": {"functionName": "Murmur", "numPartitions": 0}
            }
        },
        "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap/id/numPartitions: numPartitions is a"
        " whole"
        " number above 0, not 0",
    ),
    "streams that are no list": realtime(
        {_MAPS: STREAM},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps: streamConfigMaps is a list, not an object",
    ),
    "index types that are no list": offline(
        indexed("city", indexTypes="TEXT"), "/fieldConfigList/0/indexTypes: indexTypes is a list, not 'TEXT'"
    ),
    "column name that is no text": offline(
        indexed(["city"]), "/fieldConfigList/0/name: name is text, not a list"
    ),
    "index that is no object": offline(
        indexed("point", indexes={"h3": 5}), "/fieldConfigList/0/indexes/h3: h3 is an object, not 5"
    ),
    "flag in words": offline(
        {"tableIndexConfig/bloomFilterConfigs": {"city": {"loadOnHeap": "yes"}}},
        "/tableIndexConfig/bloomFilterConfigs/city/loadOnHeap: loadOnHeap is true or false, not 'yes'",
    ),
    # --- the table
    "underscores in the name": offline(
        {"tableName": "ri__des"},
        "/tableName: the schema of table ri__des is named rides: give them the same name, the table with or"
        " without _OFFLINE or _REALTIME",
        "/tableName: table name 'ri__des' must not contain two underscores, __",
    ),
    "time column that does not exist": offline(
        {"segmentsConfig/timeColumnName": "when"},
        "/segmentsConfig/timeColumnName: column when: Cannot find valid fieldSpec for timeColumn: when"
        " from the"
        " table config: rides, in the schema: rides: name a dateTime column",
    ),
    "empty time column": offline(
        {"segmentsConfig/timeColumnName": ""},
        "/segmentsConfig/timeColumnName: timeColumnName is empty: name a dateTime column, or leave it out",
    ),
    "time column that is no time": offline(
        {"segmentsConfig/timeColumnName": "seats"},
        "/segmentsConfig/timeColumnName: column seats: Cannot find valid fieldSpec for timeColumn: seats from"
        " the table config: rides, in the schema: rides: name a dateTime column",
    ),
    "realtime without time column": realtime(
        {"segmentsConfig/timeColumnName": GONE}, "'timeColumnName' cannot be null in REALTIME table config"
    ),
    "realtime dimension table": realtime(
        {"isDimTable": True},
        "/tableType: a dimension table is OFFLINE, not REALTIME",
        "/ingestionConfig: a dimension table with an ingestionConfig needs batchIngestionConfig with"
        " segmentIngestionType REFRESH",
    ),
    "dimension table that appends": offline(
        {"isDimTable": True, "ingestionConfig/batchIngestionConfig/segmentIngestionType": "APPEND"},
        "/ingestionConfig: a dimension table with an ingestionConfig needs batchIngestionConfig with"
        " segmentIngestionType REFRESH",
    ),
    "unknown push type": offline(
        {"segmentsConfig/segmentPushType": "REPLACE"},
        "/segmentsConfig/segmentPushType: unknown push type 'REPLACE': use APPEND or REFRESH",
    ),
    "unknown ingestion type": offline(
        {"ingestionConfig/batchIngestionConfig/segmentIngestionType": "OVERWRITE"},
        "/ingestionConfig/batchIngestionConfig/segmentIngestionType: unknown push type 'OVERWRITE': use"
        " APPEND"
        " or REFRESH",
    ),
    "unknown retention unit": offline(
        {"segmentsConfig/retentionTimeUnit": "DAY", "segmentsConfig/retentionTimeValue": "30"},
        "/segmentsConfig/retentionTimeUnit: unknown value 'DAY': did you mean 'DAYS'?",
    ),
    # --- streams
    "realtime without stream": realtime(
        {"ingestionConfig": GONE},
        "a REALTIME table needs ingestionConfig.streamIngestionConfig with streamConfigMaps",
    ),
    "no streams": realtime(
        {_MAPS: []},
        "/ingestionConfig/streamIngestionConfig: streamConfigMaps is empty: a REALTIME table needs at"
        " least one"
        " stream",
    ),
    "stream in two places": realtime(
        {"tableIndexConfig/streamConfigs": STREAM},
        "/tableIndexConfig/streamConfigs: the stream is configured twice: remove streamConfigs, as"
        " streamIngestionConfig is there",
    ),
    "stream without type": realtime(
        {f"{_MAPS}/0/streamType": GONE},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0: streamType is missing: kafka, kinesis or"
        " pulsar",
    ),
    "stream without topic": realtime(
        {f"{_MAPS}/0/stream.kafka.topic.name": GONE},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0: stream.kafka.topic.name is missing: Pinot"
        " requires it",
    ),
    "stream without decoder": realtime(
        {f"{_MAPS}/0/stream.kafka.decoder.class.name": GONE},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0: stream.kafka.decoder.class.name is"
        " missing:"
        " Pinot requires it",
    ),
    "protobuf without descriptor": realtime(
        {
            f"{_MAPS}/0/stream.kafka.decoder.class.name": (
                "org.apache.pinot.plugin.inputformat.protobuf.ProtoBufMessageDecoder"
            ),
            f"{_MAPS}/0/stream.kafka.decoder.prop.protoClassName": "Ride",
        },
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0:"
        " stream.kafka.decoder.prop.descriptorFile is"
        " missing: the decoder of protobuf requires it",
    ),
    "flush rows in words": realtime(
        {f"{_MAPS}/0/realtime.segment.flush.threshold.rows": "many"},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0/realtime.segment.flush.threshold.rows:"
        " realtime.segment.flush.threshold.rows is a whole number, not 'many'",
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0: only one flush threshold may be set, not"
        " realtime.segment.flush.threshold.rows, realtime.segment.flush.threshold.segment.size",
    ),
    "two flush thresholds": realtime(
        {f"{_MAPS}/0/realtime.segment.flush.threshold.rows": "1000"},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0: only one flush threshold may be set, not"
        " realtime.segment.flush.threshold.rows, realtime.segment.flush.threshold.segment.size",
    ),
    "flush size in words": realtime(
        {f"{_MAPS}/0/realtime.segment.flush.threshold.segment.size": "big"},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0/realtime.segment.flush.threshold.s"
        "egment.size:"
        " realtime.segment.flush.threshold.segment.size is a size such as 200M, not 'big'",
    ),
    "flush time of zero": realtime(
        {f"{_MAPS}/0/realtime.segment.flush.threshold.time": "0"},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/0: realtime.segment.flush.threshold.time is"
        " above 0, not 0",
    ),
    # --- ingestion
    "unknown input format": offline(
        {"ingestionConfig/batchIngestionConfig/batchConfigMaps": [{"inputFormat": "EXCEL"}]},
        "/ingestionConfig/batchIngestionConfig/batchConfigMaps/0/inputFormat: unknown value 'EXCEL': it may"
        " be one of AVRO, CSV, GZIPPED_AVRO, JSON, ORC, OTHER, PARQUET, PINOT, PROTO, PROTOBUF, THRIFT",
    ),
    "unknown enricher": offline(
        {"ingestionConfig/enrichmentConfigs": [{"enricherType": "geo"}]},
        "/ingestionConfig/enrichmentConfigs/0/enricherType: unknown value 'geo': it may be one of"
        " clpEnricher, generateColumn",
    ),
    "transform of no column": offline(
        {"ingestionConfig/transformConfigs": [{"columnName": "zone", "transformFunction": "lower(city)"}]},
        "/ingestionConfig/transformConfigs/0: column zone: The destination column 'zone' of the transform"
        " function must be present in the schema or as a source column for aggregations",
    ),
    "transform of itself": offline(
        {"ingestionConfig/transformConfigs": [{"columnName": "city", "transformFunction": "lower(city)"}]},
        "/ingestionConfig/transformConfigs/0: column city: Arguments of a transform function 'lower(city)'"
        " cannot contain the destination column 'city'",
    ),
    "column under a renamed prefix": offline(
        {"ingestionConfig/complexTypeConfig/prefixesToRename": {"ci": ""}},
        "/ingestionConfig/complexTypeConfig/prefixesToRename/ci: column city: begins with 'ci', which is"
        " renamed: use the new name",
    ),
    # --- indexes
    **{
        f"{key} of a column that does not exist": offline(
            {f"tableIndexConfig/{key}": ["town"]},
            f"/tableIndexConfig/{key}/0: column town is not in the schema",
        )
        for key in (
            "invertedIndexColumns",
            "rangeIndexColumns",
            "bloomFilterColumns",
            "jsonIndexColumns",
            "noDictionaryColumns",
            "onHeapDictionaryColumns",
            "sortedColumn",
        )
    },
    "partition column that does not exist": offline(
        {
            "tableIndexConfig/segmentPartitionConfig/columnPartitionMap": {
                "town": {"functionName": "Murmur", "numPartitions": 4}
            }
        },
        "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap/town: column town is not in the schema",
    ),
    "field config of a column that does not exist": offline(
        indexed("town", indexTypes=["TEXT"]), "/fieldConfigList/0/name: column town is not in the schema"
    ),
    "index declared twice": offline(
        {"tableIndexConfig/invertedIndexColumns": ["city"], **indexed("city", indexes={"inverted": {}})},
        "/fieldConfigList/0/indexes/inverted: column city: the inverted index of city is declared in two"
        " ways:"
        " keep one",
    ),
    "encodings that differ": offline(
        {"tableIndexConfig/noDictionaryColumns": ["city"], **indexed("city")},
        "/fieldConfigList/0: column city: the column is listed without dictionary in tableIndexConfig: set"
        " encodingType RAW",
    ),
    "json index of several values": offline(
        {"tableIndexConfig/jsonIndexColumns": ["tags"]},
        "/tableIndexConfig/jsonIndexColumns/0: column tags: the json index takes one value per row, and the"
        " column has several",
    ),
    "json index of a number": offline(
        {"tableIndexConfig/jsonIndexColumns": ["seats"]},
        "/tableIndexConfig/jsonIndexColumns/0: column seats: the json index needs a STRING, JSON or MAP"
        " column",
    ),
    "fst index without dictionary": offline(
        indexed("city", encodingType="RAW", indexTypes=["FST"]),
        "/fieldConfigList/0: column city: the fst index needs a dictionary, and the column has none",
    ),
    "fst index of several values": offline(
        indexed("tags", indexTypes=["FST"]),
        "/fieldConfigList/0: column tags: the fst index takes one value per row, and the column has several",
    ),
    "text index of a number": offline(
        indexed("seats", indexTypes=["TEXT"]),
        "/fieldConfigList/0: column seats: the text index needs a column that is stored as STRING",
    ),
    "h3 index of text": offline(
        indexed("city", indexTypes=["H3"], properties={"resolutions": "5"}),
        "/fieldConfigList/0: column city: the h3 index needs a BYTES column",
    ),
    "h3 index without resolutions": offline(
        indexed("point", indexTypes=["H3"]),
        "/fieldConfigList/0: column point: H3 needs resolutions in properties",
    ),
    "range index of text without dictionary": offline(
        {"tableIndexConfig/rangeIndexColumns": ["city"], "tableIndexConfig/noDictionaryColumns": ["city"]},
        "/tableIndexConfig/rangeIndexColumns/0: column city: the range index needs a number or a"
        " dictionary, and"
        " the column has neither",
    ),
    "inverted index of a map": offline(
        {"tableIndexConfig/invertedIndexColumns": ["attributes"]},
        "/tableIndexConfig/invertedIndexColumns/0: column attributes: the inverted index cannot be built on a"
        " MAP column",
    ),
    "bloom filter of a boolean": offline(
        {"tableIndexConfig/bloomFilterColumns": ["paid"]},
        "/tableIndexConfig/bloomFilterColumns/0: column paid: the bloom index cannot be built on a BOOLEAN"
        " column",
    ),
    "bloom filter that is never right": offline(
        {"tableIndexConfig/bloomFilterConfigs": {"city": {"fpp": 1.5}}},
        "/tableIndexConfig/bloomFilterConfigs/city/fpp: fpp is a probability between 0 and 1, not 1.5",
    ),
    "codec with a dictionary": offline(
        indexed("city", compressionCodec="LZ4"),
        "/fieldConfigList/0/compressionCodec: column city: LZ4 needs encodingType RAW: the column has a"
        " dictionary",
    ),
    "codec of the forward index with a dictionary": offline(
        indexed("city", indexes={"forward": {"compressionCodec": "SNAPPY"}}),
        "/fieldConfigList/0/indexes/forward/compressionCodec: column city: SNAPPY needs encodingType RAW: the"
        " column has a dictionary",
    ),
    "property of an index in words": offline(
        indexed("city", indexes={"text": {"luceneMaxBufferSizeMB": "big"}}),
        "/fieldConfigList/0/indexes/text/luceneMaxBufferSizeMB: luceneMaxBufferSizeMB is a whole number, not"
        " 'big'",
    ),
    "index that is perhaps disabled": offline(
        indexed("city", indexes={"inverted": {"disabled": "maybe"}}),
        "/fieldConfigList/0/indexes/inverted/disabled: disabled is true or false, not 'maybe'",
    ),
    "timestamp index of a number": offline(
        indexed("seats", timestampConfig={"granularities": ["DAY"]}),
        "/fieldConfigList/0/timestampConfig: column seats: a timestamp index needs a TIMESTAMP or LONG"
        " column of"
        " one value per row",
    ),
    "unknown granularity": offline(
        indexed("at", timestampConfig={"granularities": ["DAYS"]}),
        "/fieldConfigList/0/timestampConfig/granularities/0: unknown value 'DAYS': did you mean 'DAY'?",
    ),
    "sorted by several values": offline(
        {"tableIndexConfig/sortedColumn": ["tags"]},
        "/tableIndexConfig/sortedColumn/0: column tags: cannot sort by a multi-value column",
    ),
    "partitioned by several values": offline(
        {
            "tableIndexConfig/segmentPartitionConfig/columnPartitionMap": {
                "tags": {"functionName": "Murmur", "numPartitions": 4}
            }
        },
        "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap/tags: column tags: cannot partition by a"
        " multi-value column",
    ),
    # --- upsert and dedup
    "upsert and dedup": upsert(
        {"dedupConfig": {"dedupEnabled": True}}, "/dedupConfig: a table has upsert or dedup, not both"
    ),
    "dedup offline": offline(
        {
            "dedupConfig": {"dedupEnabled": True},
            "routing": {"instanceSelectorType": "strictReplicaGroup"},
        },
        "/dedupConfig: dedup needs a REALTIME table",
    ),
    "upsert offline": offline(
        {"upsertConfig": {"mode": "FULL"}, "routing": {"instanceSelectorType": "strictReplicaGroup"}},
        "/upsertConfig: upsert in an OFFLINE table needs tableIndexConfig.segmentPartitionConfig with"
        " columnPartitionMap",
    ),
    "upsert without routing": upsert(
        {"routing": GONE},
        "/routing: upsert and dedup need routing.instanceSelectorType strictReplicaGroup",
    ),
    "unknown upsert mode": upsert(
        {"upsertConfig/mode": "SOME"},
        "/upsertConfig/mode: unknown value 'SOME': it may be one of FULL, NONE, PARTIAL",
    ),
    "upsert with aggregated metrics": upsert(
        {"tableIndexConfig/aggregateMetrics": True},
        "/tableIndexConfig/aggregateMetrics: upsert and dedup exclude the aggregation of metrics",
    ),
    "comparison column that does not exist": upsert(
        {"upsertConfig/comparisonColumns": ["version"]},
        "/upsertConfig/comparisonColumns/0: column version is not in the schema",
    ),
    "delete column that does not exist": upsert(
        {"upsertConfig/deleteRecordColumn": "deleted"},
        "/upsertConfig/deleteRecordColumn: deleteRecordColumn deleted must be a column of the schema with one"
        " BOOLEAN, STRING or number per row",
    ),
    "delete column of bytes": upsert(
        {"upsertConfig/deleteRecordColumn": "point"},
        "/upsertConfig/deleteRecordColumn: deleteRecordColumn point must be a column of the schema with one"
        " BOOLEAN, STRING or number per row",
    ),
    "partial without null handling": Broken(
        {"tableIndexConfig/nullHandlingEnabled": False},
        (
            (
                "/upsertConfig/mode: mode PARTIAL needs enableColumnBasedNullHandling in the schema, or"
                " nullHandlingEnabled in tableIndexConfig"
            ),
        ),
        PARTIAL,
    ),
    "unknown strategy": Broken(
        {"upsertConfig/partialUpsertStrategies/fare": "ADD"},
        (
            (
                "/upsertConfig/partialUpsertStrategies/fare: unknown value 'ADD': it may be one of APPEND,"
                " FORCE_OVERWRITE, IGNORE, INCREMENT, MAX, MIN, OVERWRITE, UNION"
            ),
        ),
        PARTIAL,
    ),
    "strategy of the key": Broken(
        {"upsertConfig/partialUpsertStrategies/id": "OVERWRITE"},
        (
            (
                "/upsertConfig/partialUpsertStrategies/id: OVERWRITE cannot be applied to id: it is a"
                " primary key column"
            ),
        ),
        PARTIAL,
    ),
    "strategy of the time column": Broken(
        {"upsertConfig/partialUpsertStrategies/at": "MAX"},
        ("/upsertConfig/partialUpsertStrategies/at: MAX cannot be applied to at: rows are compared by it",),
        PARTIAL,
    ),
    "increment of text": Broken(
        {"upsertConfig/partialUpsertStrategies/city": "INCREMENT"},
        (
            (
                "/upsertConfig/partialUpsertStrategies/city: INCREMENT cannot be applied to city: it is no"
                " number that can be added up"
            ),
        ),
        PARTIAL,
    ),
    "append to one value": Broken(
        {"upsertConfig/partialUpsertStrategies/city": "APPEND"},
        (
            (
                "/upsertConfig/partialUpsertStrategies/city: APPEND cannot be applied to city: it has one"
                " value per"
                " row"
            ),
        ),
        PARTIAL,
    ),
    # --- quotas, tasks
    "storage without size": offline(
        {"quota/storage": "lots"}, "/quota/storage: storage is a size such as 200M, not 'lots'"
    ),
    "no queries": offline(
        {"quota/maxQueriesPerSecond": "0"},
        "/quota/maxQueriesPerSecond: maxQueriesPerSecond is a number above 0, not '0'",
    ),
    "no time for queries": offline(
        {"query/timeoutMs": 0}, "/query/timeoutMs: timeoutMs is a number above 0, not 0"
    ),
    "no task types": offline({"task": {}}, "/task: taskTypeConfigsMap is missing: Pinot requires it"),
}
GOOD: Final[dict[str, dict[str, Any]]] = {
    "offline": OFFLINE,
    "realtime": REALTIME,
    "type in lower case": {**REALTIME, "tableType": "realtime"},
    "upsert": UPSERT,
    "dedup": DEDUP,
    "partial": PARTIAL,
    "indexes": patched(
        OFFLINE,
        {
            "tableIndexConfig/invertedIndexColumns": ["city", "tags", ""],
            "tableIndexConfig/rangeIndexColumns": ["fare", "at"],
            "tableIndexConfig/bloomFilterConfigs": {"id": {"fpp": 0.01, "loadOnHeap": True}},
            "tableIndexConfig/jsonIndexConfigs": {"extra": {"maxLevels": 3}},
            "tableIndexConfig/noDictionaryColumns": ["fare"],
            "tableIndexConfig/sortedColumn": ["at"],
            "tableIndexConfig/segmentPartitionConfig/columnPartitionMap": {
                "id": {"functionName": "Murmur", "numPartitions": 4},
                "city": {"functionName": "HashCode", "numPartitions": 2},
            },
            "fieldConfigList": [
                {"name": "city", "indexTypes": ["TEXT", "FST"]},
                {"name": "fare", "encodingType": "RAW", "compressionCodec": "ZSTANDARD"},
                {"name": "tags", "compressionCodec": "MV_ENTRY_DICT"},
                {"name": "at", "timestampConfig": {"granularities": ["DAY", "HOUR"]}},
                {"name": "point", "encodingType": "RAW", "indexes": {"h3": {"resolution": [5]}}},
            ],
        },
    ),
    "numbers as text": patched(
        OFFLINE,
        {
            "tableIndexConfig/bloomFilterConfigs": {"id": {"fpp": "0.01", "loadOnHeap": 1}},
            "tableIndexConfig/segmentPartitionConfig/columnPartitionMap": {
                "id": {"functionName": "Murmur", "numPartitions": "4"}
            },
        },
    ),
    "indexes of fields": patched(
        OFFLINE,
        {
            "fieldConfigList": [
                {
                    "name": "city",
                    "encodingType": "DICTIONARY",
                    "indexes": {
                        "inverted": {},
                        "bloom": {"fpp": 0.01, "maxSizeInBytes": 1000000},
                        "text": {"luceneUseCompoundFile": True, "stopWordsInclude": ["the"]},
                    },
                },
                {"name": "extra", "indexes": {"json": {"maxLevels": 2, "includePaths": ["$.a"]}}},
                {"name": "seats", "encodingType": "DICTIONARY", "indexes": {"range": {"version": 2}}},
                {
                    "name": "fare",
                    "encodingType": "RAW",
                    "indexes": {"forward": {"compressionCodec": "LZ4", "rawIndexWriterVersion": 4}},
                },
            ],
        },
    ),
    "strategies": patched(
        PARTIAL,
        {
            "upsertConfig/partialUpsertStrategies": {"tags": "UNION", "seats": "MAX", "city": "OVERWRITE"},
            "upsertConfig/defaultPartialUpsertStrategy": "IGNORE",
        },
    ),
    "kinesis": patched(
        REALTIME,
        {
            _MAPS: [
                {
                    "streamType": "kinesis",
                    "stream.kinesis.topic.name": "rides",
                    "region": "eu-west-1",
                    "stream.kinesis.decoder.class.name": STREAM["stream.kafka.decoder.class.name"],
                    "realtime.segment.flush.threshold.rows": 500000,
                    "realtime.segment.flush.threshold.time": "3600000",
                }
            ],
            "segmentsConfig/completionConfig": {"completionMode": "DOWNLOAD"},
        },
    ),
    "files by the day": patched(
        OFFLINE,
        {
            "ingestionConfig/batchIngestionConfig": {
                "segmentIngestionType": "append",
                "segmentIngestionFrequency": "DAILY",
                "batchConfigMaps": [{"inputDirURI": "s3://lake/rides", "inputFormat": "parquet"}],
            },
            "ingestionConfig/complexTypeConfig": {"prefixesToRename": {"payload.": ""}},
            "routing": {"segmentPrunerTypes": ["time", "partition"]},
            "query": {"timeoutMs": 5000},
        },
    ),
    "dimension table": patched(
        OFFLINE,
        {"isDimTable": True, "ingestionConfig/batchIngestionConfig/segmentIngestionType": "REFRESH"},
    ),
    "quotas": patched(
        OFFLINE,
        {
            "quota": {"storage": "100G", "maxQueriesPerSecond": "5.5"},
            "segmentsConfig/retentionTimeUnit": "days",
            "segmentsConfig/retentionTimeValue": "30",
        },
    ),
}
