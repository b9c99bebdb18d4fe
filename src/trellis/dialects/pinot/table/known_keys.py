"""The objects of a table config, their known keys, and the type of the values of each.

Table configs have many more keys, so a key counts as misspelt only where it is close to one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import pointer
from trellis.dialects.pinot.document.json_object import JsonObject, ReadReport, Unknown, nearest_key, shown


def values_at(document: Mapping[str, Any], pattern: str) -> Iterator[tuple[str, Any]]:
    """The values at a JSON pointer in which `*` stands for every key or index, each with its own pointer.

    Absent values and nulls are left out.

    >>> [*values_at({"tierConfigs": [{"name": "a"}, {"name": "b"}]}, "/tierConfigs/*/name")]
    [('/tierConfigs/0/name', 'a'), ('/tierConfigs/1/name', 'b')]
    """
    places: list[tuple[str, Any]] = [("", document)]
    for step in pattern.split("/")[1:]:
        places = [inner for place, value in places for inner in _children(place, value, step)]
    yield from places


def _children(place: str, value: Any, step: str) -> Iterator[tuple[str, Any]]:
    entries: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        entries = value.items() if step == "*" else ((step, value.get(step)),)
    elif isinstance(value, list):
        entries = ((at, element) for at, element in enumerate(value) if step in ("*", str(at)))
    return ((place + pointer(key), inner) for key, inner in entries if inner is not None)


class TableConfigObject(JsonObject):
    """An object with its place. No key counts as unknown: a table config has many more."""

    def __init__(self, document: Mapping[str, Any], place: str, report: ReadReport) -> None:
        super().__init__(document, place, report, frozenset(document))

    def child_object(self, key: str) -> TableConfigObject:
        """An object in this one; an empty one where it is absent."""
        return TableConfigObject(self.json_object(key) or {}, self.pointer_to(key), self._report)

    def objects(self, key: str) -> list[TableConfigObject]:
        """The objects of a list."""
        objects = []
        for index, element in enumerate(self.elements(key)):
            if isinstance(element, Mapping):
                objects.append(TableConfigObject(element, self.pointer_to(key, index), self._report))
            else:
                self.fault(f"an element of {key} is an object, not {shown(element)}", key, index)
        return objects

    def mapping(self, key: str) -> dict[str, str]:
        """An object of texts; numbers as they print."""
        node = self.child_object(key)
        texts = {key: node.text(key) for key in node.document}
        return {key: text for key, text in texts.items() if text is not None}

    def object_map(self, key: str) -> None:
        """An object of objects: a fault for any other value in it."""
        node = self.child_object(key)
        for inner in node.document:
            node.json_object(inner)


CLOSE: Final = 0.85

ValueReader = Callable[[TableConfigObject, str], object]
"""Reads the value of a key; a value of another JSON type becomes a fault."""
Places = Mapping[str, Mapping[str, ValueReader]]
"""The keys of objects, by the pattern of their place; the key `*` stands for all others."""

TEXT: Final = TableConfigObject.text
TEXTS: Final = TableConfigObject.text_list
MAP: Final = TableConfigObject.mapping
FLAG: Final = TableConfigObject.flag
INTEGER: Final = TableConfigObject.integer
OBJECT: Final = TableConfigObject.json_object
LIST: Final = TableConfigObject.objects
OBJECTS: Final = TableConfigObject.object_map
ANY: Final = TableConfigObject.raw_value


def _places(kinds: Mapping[str, Mapping[ValueReader, str]]) -> Places:
    return {
        place: {key: reader for reader, keys in readers.items() for key in keys.split()}
        for place, readers in kinds.items()
    }


_STREAMS: Final = "/ingestionConfig/streamIngestionConfig"
_PARTITIONS: Final = "/tableIndexConfig/segmentPartitionConfig"
KNOWN_PLACES: Final = _places(
    {
        "": {
            TEXT: "tableName tableType",
            FLAG: "isDimTable",
            OBJECT: """
                dedupConfig dimensionTableConfig ingestionConfig instanceAssignmentConfigMap
                instancePartitionsMap metadata query quota routing segmentAssignmentConfigMap
                segmentsConfig tableIndexConfig task tenants upsertConfig
            """,
            LIST: "fieldConfigList tableSamplers tierConfigs tunerConfigs",
            ANY: "description tags version",
        },
        "/segmentsConfig": {
            TEXT: """
                crypterClassName deletedSegmentsRetentionPeriod peerSegmentDownloadScheme
                replicasPerPartition replication retentionTimeUnit retentionTimeValue
                segmentAssignmentStrategy segmentPushFrequency segmentPushType timeColumnName timeType
                untrackedSegmentsDeletionBatchSize untrackedSegmentsRetentionTimeUnit
                untrackedSegmentsRetentionTimeValue
            """,
            FLAG: "minimizeDataMovement",
            OBJECT: "completionConfig replicaGroupStrategyConfig",
            ANY: "allowNullTimeValue schemaName",
        },
        "/tableIndexConfig": {
            TEXT: "columnMinMaxValueGeneratorMode loadMode segmentFormatVersion segmentNameGeneratorType",
            FLAG: """
                aggregateMetrics autoGeneratedInvertedIndex columnMajorSegmentBuilderEnabled
                createInvertedIndexDuringSegmentGeneration enableDefaultStarTree
                enableDynamicStarTreeCreation nullHandlingEnabled optimizeDictionary
                optimizeDictionaryForMetrics optimizeDictionaryType skipSegmentPreprocess
            """,
            INTEGER: "rangeIndexVersion",
            OBJECT: "bloomFilterConfigs jsonIndexConfigs multiColumnTextIndexConfig segmentPartitionConfig",
            TEXTS: """
                bloomFilterColumns invertedIndexColumns jsonIndexColumns noDictionaryColumns
                onHeapDictionaryColumns rangeIndexColumns sortedColumn varLengthDictionaryColumns
            """,
            LIST: "starTreeIndexConfigs",
            MAP: "noDictionaryConfig streamConfigs",
            ANY: """
                noDictionaryCardinalityRatioThreshold noDictionarySizeRatioThreshold onHeapDictionaryConfigs
                tierOverwrites vectorIndexConfigs
            """,
        },
        "/ingestionConfig": {
            FLAG: """
                continueOnError retryOnSegmentBuildPrecheckFailure rowTimeValueCheck segmentTimeValueCheck
            """,
            OBJECT: """
                batchIngestionConfig complexTypeConfig filterConfig schemaConformingTransformerConfig
                schemaConformingTransformerV2Config streamIngestionConfig
            """,
            LIST: "aggregationConfigs enrichmentConfigs transformConfigs",
            ANY: "sourceFieldConfigs",
        },
        "/ingestionConfig/complexTypeConfig": {
            TEXT: "collectionNotUnnestedToJson delimiter",
            TEXTS: "fieldsToUnnest",
            MAP: "prefixesToRename",
            ANY: "fieldsToUnnestAndKeepOriginalValue",
        },
        "/ingestionConfig/filterConfig": {TEXT: "filterFunction"},
        "/ingestionConfig/transformConfigs/*": {TEXT: "columnName transformFunction"},
    }
)
INNER_PLACES: Final = _places(
    {
        "": {OBJECTS: "instanceAssignmentConfigMap"},
        "/instanceAssignmentConfigMap/*": {
            OBJECT: "constraintConfig replicaGroupPartitionConfig tagPoolConfig",
        },
        "/fieldConfigList/*": {
            TEXT: "name",
            OBJECT: "timestampConfig",
            TEXTS: "indexTypes",
            MAP: "properties",
            OBJECTS: "indexes",
        },
        "/fieldConfigList/*/properties": {INTEGER: "vectorDimension"},
        "/fieldConfigList/*/timestampConfig": {TEXTS: "granularities"},
        "/upsertConfig": {
            FLAG: "dropOutOfOrderRecord",
            OBJECT: "partialUpsertStrategies",
            TEXTS: "comparisonColumns",
        },
        "/dedupConfig": {FLAG: "dedupEnabled"},
        "/ingestionConfig/batchIngestionConfig": {LIST: "batchConfigMaps"},
        _STREAMS: {LIST: "streamConfigMaps"},
        f"{_STREAMS}/streamConfigMaps/*": {TEXT: "*"},
        "/tableIndexConfig": {OBJECTS: "bloomFilterConfigs jsonIndexConfigs"},
        "/tableIndexConfig/bloomFilterConfigs/*": {FLAG: "loadOnHeap"},
        "/tableIndexConfig/jsonIndexConfigs/*": {INTEGER: "maxLevels"},
        "/tableIndexConfig/multiColumnTextIndexConfig": {TEXTS: "columns"},
        _PARTITIONS: {OBJECTS: "columnPartitionMap"},
        f"{_PARTITIONS}/columnPartitionMap/*": {TEXT: "functionName"},
        "/tableIndexConfig/starTreeIndexConfigs/*": {
            TEXTS: "dimensionsSplitOrder functionColumnPairs",
            LIST: "aggregationConfigs",
        },
        "/tierConfigs/*": {
            TEXT: "name segmentAge segmentSelectorType serverTag storageType",
            TEXTS: "segmentList",
        },
        "/task": {OBJECTS: "taskTypeConfigsMap"},
    }
)
"""Keys that only a cluster reads."""


def misspelt_keys(table: Mapping[str, Any]) -> Iterator[Unknown]:
    """The unknown keys of a table config that are close to a known one.

    >>> [str(key) for key in misspelt_keys({"tableNmae": "t", "ingestionConfig": {"continueOnErorr": True}})]
    ... # doctest: +NORMALIZE_WHITESPACE
    ["/tableNmae is ignored: did you mean 'tableName'?",
     "/ingestionConfig/continueOnErorr is ignored: did you mean 'continueOnError'?"]
    """
    for place, document, keys in _objects(table, KNOWN_PLACES):
        known = frozenset(keys)
        for key, value in document.items():
            close = None if key in keys else nearest_key(key, known, CLOSE)
            if close is not None:
                yield Unknown(place + pointer(key), value, close)


def check_value_kinds(table: Mapping[str, Any], report: ReadReport, places: Places = KNOWN_PLACES) -> None:
    """Adds a fault for each known key whose JSON value has another type than Pinot reads."""
    for place, document, keys in _objects(table, places):
        node = TableConfigObject(document, place, report)
        for key in document:
            reader = keys.get(key) or keys.get("*")
            if reader is not None:
                reader(node, key)


def _objects(
    table: Mapping[str, Any], places: Places
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, ValueReader]]]:
    for pattern, keys in places.items():
        for place, document in values_at(table, pattern):
            if isinstance(document, Mapping):
                yield place, document, keys
