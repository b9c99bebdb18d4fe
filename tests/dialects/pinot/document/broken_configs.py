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
_AGGREGATIONS: Final = "ingestionConfig/aggregationConfigs"
_TREES: Final = "tableIndexConfig/starTreeIndexConfigs"
_ASSIGNMENT: Final = {
    "tagPoolConfig": {"tag": "DefaultTenant_REALTIME"},
    "replicaGroupPartitionConfig": {"replicaGroupBased": True},
}
_TIER: Final = {
    "name": "cold",
    "segmentSelectorType": "time",
    "segmentAge": "30d",
    "storageType": "pinot_server",
    "serverTag": "cold_OFFLINE",
}
_TREE: Final = {"dimensionsSplitOrder": ["city"], "functionColumnPairs": ["SUM__fare"]}
_NO_DICTIONARY: Final = {"tableIndexConfig/noDictionaryColumns": ["fare"]}


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
        "/fieldConfigList/0/compressionCodec: column fare: ZSTD needs a dictionary, and the column has none",
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
    "unknown peer scheme": offline(
        {"segmentsConfig/peerSegmentDownloadScheme": "ftp", "segmentsConfig/replication": "2"},
        "/segmentsConfig/peerSegmentDownloadScheme: unknown value 'ftp': it may be one of HTTP, HTTPS",
    ),
    "peers of one replica": offline(
        {"segmentsConfig/peerSegmentDownloadScheme": "http"},
        "/segmentsConfig/peerSegmentDownloadScheme: peerSegmentDownloadScheme needs a replication of at"
        " least 2",
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
    "untracked retention without value": offline(
        {"segmentsConfig/untrackedSegmentsRetentionTimeUnit": "DAYS"},
        "/segmentsConfig/untrackedSegmentsRetentionTimeUnit: untrackedSegmentsRetentionTimeUnit needs"
        " untrackedSegmentsRetentionTimeValue as well",
    ),
    "untracked retention of zero": offline(
        {
            "segmentsConfig/untrackedSegmentsRetentionTimeUnit": "DAYS",
            "segmentsConfig/untrackedSegmentsRetentionTimeValue": "0",
        },
        "/segmentsConfig/untrackedSegmentsRetentionTimeValue: untrackedSegmentsRetentionTimeValue is a whole"
        " number above 0, not '0'",
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
    "two streams of one topic": realtime(
        {_MAPS: [STREAM, STREAM]},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/1: a second stream reads topic rides",
    ),
    "two streams of two kinds": realtime(
        {
            _MAPS: [
                STREAM,
                {
                    **{key.replace("kafka", "pulsar"): value for key, value in STREAM.items()},
                    "streamType": "pulsar",
                    "stream.pulsar.topic.name": "more",
                },
            ]
        },
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps/1: all streams of a table have the same"
        " streamType",
    ),
    "pauseless without peers": realtime(
        {
            "segmentsConfig/replication": "2",
            "ingestionConfig/streamIngestionConfig/pauselessConsumptionEnabled": True,
        },
        "/ingestionConfig/streamIngestionConfig: pauselessConsumptionEnabled with several replicas needs"
        " peerSegmentDownloadScheme http or https",
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
            "varLengthDictionaryColumns",
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
    "vector index of one value": offline(
        indexed(
            "fare", indexTypes=["VECTOR"], properties={"vectorIndexType": "HNSW", "vectorDimension": "3"}
        ),
        "/fieldConfigList/0: column fare: the vector index needs a multi-value column",
        "/fieldConfigList/0: column fare: the vector index needs a FLOAT column",
    ),
    "vector index of another kind": offline(
        indexed(
            "vector", indexTypes=["VECTOR"], properties={"vectorIndexType": "IVF", "vectorDimension": "3"}
        ),
        "/fieldConfigList/0/properties/vectorIndexType: unknown value 'IVF': it may be one of HNSW",
    ),
    "vector index of no kind": offline(
        indexed("vector", indexes={"vector": {"vectorDimension": 3}}),
        "/fieldConfigList/0/indexes/vector: column vector: vectorIndexType is missing: Pinot requires it",
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
    "var-length dictionary of numbers": offline(
        {"tableIndexConfig/varLengthDictionaryColumns": ["seats"]},
        "/tableIndexConfig/varLengthDictionaryColumns/0: column seats: a var-length dictionary cannot"
        " hold INT",
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
    "two codecs of the forward index": offline(
        indexed(
            "city",
            encodingType="RAW",
            indexes={"forward": {"chunkCompressionType": "LZ4", "dictIdCompressionType": "MV_ENTRY_DICT"}},
        ),
        "/fieldConfigList/0/indexes/forward: chunkCompressionType and dictIdCompressionType exclude each"
        " other",
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
    "var-length dictionary of numbers in indexes": offline(
        indexed("seats", indexes={"dictionary": {"useVarLengthDictionary": True}}),
        "/fieldConfigList/0/indexes/dictionary: column seats: a var-length dictionary cannot hold INT",
    ),
    "delta of text": offline(
        indexed("city", encodingType="RAW", compressionCodec="DELTA"),
        "/fieldConfigList/0/compressionCodec: column city: DELTA needs an INT or LONG column of one value per"
        " row",
    ),
    "log codec of a number": offline(
        indexed("seats", encodingType="RAW", compressionCodec="CLP"),
        "/fieldConfigList/0/compressionCodec: column seats: CLP needs a column that is stored as STRING",
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
    # --- star-trees
    "star-tree of a column that does not exist": offline(
        {_TREES: [{**_TREE, "dimensionsSplitOrder": ["town"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/dimensionsSplitOrder/0: column town is not in the schema",
    ),
    "star-tree without dictionary": offline(
        {_TREES: [_TREE], "tableIndexConfig/noDictionaryColumns": ["city"]},
        "/tableIndexConfig/starTreeIndexConfigs/0/dimensionsSplitOrder/0: column city: a dimension of a"
        " star-tree needs a dictionary, and the column has none",
    ),
    "star-tree of several values": offline(
        {_TREES: [{**_TREE, "dimensionsSplitOrder": ["tags"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/dimensionsSplitOrder/0: column tags: a dimension of a"
        " star-tree has one value per row",
    ),
    "star-tree that skips another dimension": offline(
        {_TREES: [{**_TREE, "skipStarNodeCreationForDimensions": ["id"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/skipStarNodeCreationForDimensions: id is not in"
        " dimensionsSplitOrder",
    ),
    "star-tree without functions": offline(
        {_TREES: [{"dimensionsSplitOrder": ["city"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0: a star-tree needs functionColumnPairs or"
        " aggregationConfigs,"
        " and not both",
    ),
    "star-tree of no function": offline(
        {_TREES: [{"dimensionsSplitOrder": ["city"], "aggregationConfigs": [{"columnName": "fare"}]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/aggregationConfigs/0: aggregationFunction is missing: Pinot"
        " requires it",
    ),
    "star-tree of an unknown function": offline(
        {_TREES: [{**_TREE, "functionColumnPairs": ["TOTAL__fare"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/functionColumnPairs/0: 'TOTAL__fare' is not"
        " FUNCTION__column"
        " of a known function",
    ),
    "star-tree of a function twice": offline(
        {_TREES: [{**_TREE, "functionColumnPairs": ["SUM__fare", "sum__fare"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/functionColumnPairs/1: SUM of fare is computed twice",
    ),
    "star-tree of all columns": offline(
        {_TREES: [{**_TREE, "functionColumnPairs": ["MAX__*"]}]},
        "/tableIndexConfig/starTreeIndexConfigs/0/functionColumnPairs/0: MAX needs a column: only COUNT"
        " takes *",
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
    "upsert with moved tenants": upsert(
        {"tenants/tagOverrideConfig/realtimeCompleted": "cold_OFFLINE"},
        "/tenants/tagOverrideConfig/realtimeCompleted: upsert and dedup exclude realtimeCompleted: segments"
        " stay in place",
    ),
    "upsert with tiers": upsert({"tierConfigs": [_TIER]}, "/tierConfigs: an upsert table cannot have tiers"),
    "upsert with star-tree": upsert(
        {_TREES: [_TREE]},
        "/tableIndexConfig/starTreeIndexConfigs: an upsert table cannot have star-tree indexes",
    ),
    "upsert with two streams": upsert(
        {_MAPS: [STREAM, {**STREAM, "stream.kafka.topic.name": "more"}]},
        "/ingestionConfig/streamIngestionConfig/streamConfigMaps: an upsert table has one stream only",
    ),
    "upsert with aggregated metrics": upsert(
        {"tableIndexConfig/aggregateMetrics": True},
        "/tableIndexConfig/aggregateMetrics: upsert and dedup exclude the aggregation of metrics",
    ),
    "upsert with completed instances": upsert(
        {"instanceAssignmentConfigMap/COMPLETED": _ASSIGNMENT},
        "/instanceAssignmentConfigMap/COMPLETED: upsert and dedup exclude COMPLETED instance partitions",
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
    "late rows marked in a number": upsert(
        {"upsertConfig/outOfOrderRecordColumn": "seats"},
        "/upsertConfig/outOfOrderRecordColumn: outOfOrderRecordColumn seats must be a column of the schema"
        " with one BOOLEAN per row",
    ),
    "late rows marked and dropped": upsert(
        {"upsertConfig/outOfOrderRecordColumn": "paid", "upsertConfig/dropOutOfOrderRecord": True},
        "/upsertConfig/outOfOrderRecordColumn: outOfOrderRecordColumn and dropOutOfOrderRecord exclude each"
        " other",
    ),
    "expiry by text": upsert(
        {"upsertConfig/metadataTTL": 10, "upsertConfig/comparisonColumns": ["day"]},
        "/upsertConfig: column day: a TTL needs a column of numbers or times, not STRING",
    ),
    "expiry by two columns": upsert(
        {"upsertConfig/metadataTTL": 10, "upsertConfig/comparisonColumns": ["at", "seats"]},
        "/upsertConfig/comparisonColumns: metadataTTL and deletedKeysTTL allow one comparison column",
    ),
    "expiry without snapshot": upsert(
        {"upsertConfig/metadataTTL": 10, "upsertConfig/snapshot": "DISABLE"},
        "/upsertConfig/snapshot: metadataTTL needs snapshot",
    ),
    "deleted keys without column": upsert(
        {"upsertConfig/deletedKeysTTL": 10},
        "/upsertConfig/deletedKeysTTL: deletedKeysTTL needs deleteRecordColumn",
    ),
    "dedup expiry by text": Broken(
        {"dedupConfig/metadataTTL": 10, "dedupConfig/dedupTimeColumn": "day"},
        ("/dedupConfig: column day: a TTL needs a column of numbers or times, not STRING",),
        DEDUP,
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
    "merger and strategies": Broken(
        {"upsertConfig/partialUpsertMergerClass": "org.example.Merger"},
        (
            (
                "/upsertConfig/partialUpsertMergerClass: partialUpsertMergerClass and partialUpsertStrategies"
                " exclude each other"
            ),
        ),
        PARTIAL,
    ),
    # --- tiers, instances, tasks
    "two tiers of a name": offline(
        {"tierConfigs": [_TIER, _TIER]}, "/tierConfigs/1/name: a second tier named cold"
    ),
    "tier without age": offline(
        {"tierConfigs": [{**_TIER, "segmentAge": "soon"}]},
        "/tierConfigs/0: segmentAge is a period such as 30d or 24h, not 'soon'",
    ),
    "tier of another selector": offline(
        {"tierConfigs": [{**_TIER, "segmentSelectorType": "size"}]},
        "/tierConfigs/0/segmentSelectorType: unknown value 'size': it may be one of FIXED, TIME",
    ),
    "tier of another storage": offline(
        {"tierConfigs": [{**_TIER, "storageType": "s3"}]},
        "/tierConfigs/0/storageType: unknown value 's3': it may be one of PINOT_SERVER",
    ),
    "tier of no server": offline(
        {"tierConfigs": [{**_TIER, "serverTag": "cold"}]},
        "/tierConfigs/0/serverTag: serverTag is a tag that ends in _OFFLINE or _REALTIME, not 'cold'",
    ),
    "instances twice": offline(
        {"instanceAssignmentConfigMap/OFFLINE": _ASSIGNMENT, "instancePartitionsMap": {"OFFLINE": "p"}},
        "/instanceAssignmentConfigMap/OFFLINE: OFFLINE is in instancePartitionsMap as well: keep one",
    ),
    "replica groups twice": offline(
        {
            "instanceAssignmentConfigMap/OFFLINE": _ASSIGNMENT,
            "segmentsConfig/replicaGroupStrategyConfig": {"numInstancesPerPartition": 1},
        },
        "/instanceAssignmentConfigMap/OFFLINE/replicaGroupPartitionConfig: replicaGroupStrategyConfig is"
        " there"
        " as well: keep one",
    ),
    "instances without tag": offline(
        {"instanceAssignmentConfigMap/OFFLINE": {**_ASSIGNMENT, "tagPoolConfig": {}}},
        "/instanceAssignmentConfigMap/OFFLINE/tagPoolConfig: tag is missing: Pinot requires it",
    ),
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
    "schedule of another cron": offline(
        {"task/taskTypeConfigsMap": {"MergeRollupTask": {"schedule": "0 2 * * *"}}},
        "/task/taskTypeConfigsMap/MergeRollupTask/schedule: '0 2 * * *' is not a schedule of Quartz: 6 or 7"
        " fields are expected, not 5",
    ),
    "schedule on a day that is not": offline(
        {"task/taskTypeConfigsMap": {"MergeRollupTask": {"schedule": "0 0 2 ? * 0"}}},
        "/task/taskTypeConfigsMap/MergeRollupTask/schedule: '0 0 2 ? * 0' is not a schedule of Quartz: the"
        " day of the week cannot be '0'",
    ),
    "schedule in a month by the name of a day": offline(
        {"task/taskTypeConfigsMap": {"MergeRollupTask": {"schedule": "0 0 2 1 MON ?"}}},
        "/task/taskTypeConfigsMap/MergeRollupTask/schedule: '0 0 2 1 MON ?' is not a schedule of Quartz: the"
        " month cannot be 'MON'",
    ),
    "schedule at any hour": offline(
        {"task/taskTypeConfigsMap": {"MergeRollupTask": {"schedule": "0 0 ? * * ?"}}},
        "/task/taskTypeConfigsMap/MergeRollupTask/schedule: '0 0 ? * * ?' is not a schedule of Quartz: the"
        " hour cannot be '?'",
    ),
    "two compactions": upsert(
        {
            "task/taskTypeConfigsMap": {
                "UpsertCompactionTask": {},
                "UpsertCompactMergeTask": {"minNumSegmentsPerTask": "1"},
            }
        },
        "/task/taskTypeConfigsMap/UpsertCompactMergeTask/minNumSegmentsPerTask: minNumSegmentsPerTask is"
        " above 1"
        " beside UpsertCompactionTask, which would do the same work",
    ),
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
            "tableIndexConfig/varLengthDictionaryColumns": ["city"],
            "tableIndexConfig/sortedColumn": ["at"],
            _TREES: [
                {**_TREE, "functionColumnPairs": ["COUNT__*", "DISTINCT_COUNT_HLL__id", "PERCENTILE95__fare"]}
            ],
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
                {
                    "name": "vector",
                    "encodingType": "RAW",
                    "indexTypes": ["VECTOR"],
                    "properties": {"vectorIndexType": "HNSW", "vectorDimension": "3"},
                },
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
    "schedules": patched(
        OFFLINE,
        {
            "task/taskTypeConfigsMap": {
                "MergeRollupTask": {"schedule": "0 0/5 2 L-3 JAN-MAR ? 2026-2030"},
                "PurgeTask": {"schedule": "0 0 2 ? * MON,WED"},
            }
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
    "star-tree with aggregations": patched(
        OFFLINE,
        {
            _TREES: [
                {
                    "dimensionsSplitOrder": ["city", "seats"],
                    "skipStarNodeCreationForDimensions": ["seats"],
                    "aggregationConfigs": [
                        {"columnName": "fare", "aggregationFunction": "SUM", "compressionCodec": "LZ4"},
                        {"columnName": "*", "aggregationFunction": "COUNT"},
                    ],
                    "maxLeafRecords": 1000,
                }
            ]
        },
    ),
    "keys that expire": patched(
        UPSERT,
        {
            "upsertConfig/comparisonColumns": ["seats"],
            "upsertConfig/deleteRecordColumn": "paid",
            "upsertConfig/metadataTTL": 86400,
            "upsertConfig/deletedKeysTTL": 86400,
            "upsertConfig/snapshot": "ENABLE",
            "upsertConfig/hashFunction": "MURMUR3",
        },
    ),
    "dedup that expires": patched(
        DEDUP, {"dedupConfig/metadataTTL": 3600000, "dedupConfig/dedupTimeColumn": "at"}
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
            "segmentsConfig/peerSegmentDownloadScheme": "http",
            "segmentsConfig/replication": "2",
            "instanceAssignmentConfigMap/CONSUMING": _ASSIGNMENT,
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
            "segmentsConfig/untrackedSegmentsRetentionTimeUnit": "DAYS",
            "segmentsConfig/untrackedSegmentsRetentionTimeValue": "3",
        },
    ),
    "dimension table": patched(
        OFFLINE,
        {"isDimTable": True, "ingestionConfig/batchIngestionConfig/segmentIngestionType": "REFRESH"},
    ),
    "tiers and tasks": patched(
        OFFLINE,
        {
            "tierConfigs": [
                _TIER,
                {
                    "name": "hot",
                    "segmentSelectorType": "fixed",
                    "segmentList": ["rides_0", "rides_1"],
                    "storageType": "pinot_server",
                    "serverTag": "hot_OFFLINE",
                    "tierBackend": "s3",
                    "tierBackendProperties": {"region": "eu-west-1"},
                },
            ],
            "quota": {"storage": "100G", "maxQueriesPerSecond": "5.5"},
            "task/taskTypeConfigsMap": {"MergeRollupTask": {"schedule": "0 0/5 2 ? * MON-FRI"}},
            "segmentsConfig/retentionTimeUnit": "days",
            "segmentsConfig/retentionTimeValue": "30",
        },
    ),
    "two streams": patched(REALTIME, {_MAPS: [STREAM, {**STREAM, "stream.kafka.topic.name": "more"}]}),
}
