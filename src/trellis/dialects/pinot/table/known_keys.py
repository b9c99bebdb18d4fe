"""The objects of a table config, their known keys, and the type of the values of each.

Table configs have many more keys, so a key counts as misspelt only where it is close to one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import pointer
from trellis.dialects.pinot.document.json_object import JsonObject, ReadReport, Unknown, nearest_key, shown
from trellis.dialects.pinot.value.numbers import NotANumber, parse_double


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

    def items(self, key: str) -> list[tuple[int, TableConfigObject]]:
        """The objects of a list, with their indexes."""
        objects = []
        for index, element in enumerate(self.elements(key)):
            if isinstance(element, Mapping):
                objects.append((index, TableConfigObject(element, self.pointer_to(key, index), self._report)))
            else:
                self.fault(f"an element of {key} is an object, not {shown(element)}", key, index)
        return objects

    def elements(self, key: str) -> list[Any]:
        """A list; an empty one where it is absent."""
        value = self.raw_value(key)
        if value is None or isinstance(value, list):
            return value or []
        self.fault(f"{key} is a list, not {shown(value)}", key)
        return []

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

    def number(self, key: str) -> float | None:
        """A number, also as text."""
        value = self.raw_value(key)
        if value is None or value == "":
            return None
        try:
            if not isinstance(value, bool | Mapping | list):
                return parse_double(str(value))
        except NotANumber:
            pass
        self.fault(f"{key} is a number, not {shown(value)}", key)
        return None


CLOSE: Final = 0.85

ValueReader = Callable[[TableConfigObject, str], object]
"""Reads the value of a key; a value of another JSON type becomes a fault."""
Places = Mapping[str, Mapping[str, ValueReader]]
"""The keys of objects, by the pattern of their place; the key `*` stands for all others."""

TEXT: Final = TableConfigObject.text
FLAG: Final = TableConfigObject.flag
INTEGER: Final = TableConfigObject.integer
NUMBER: Final = TableConfigObject.number
OBJECT: Final = TableConfigObject.json_object
TEXTS: Final = TableConfigObject.text_list
LIST: Final = TableConfigObject.items
MAP: Final = TableConfigObject.mapping
OBJECTS: Final = TableConfigObject.object_map
ANY: Final = TableConfigObject.raw_value


def _of(kind: ValueReader, keys: str) -> dict[str, ValueReader]:
    return dict.fromkeys(keys.split(), kind)


TOP: Final[Mapping[str, ValueReader]] = {
    **_of(
        OBJECT,
        "dedupConfig dimensionTableConfig ingestionConfig instanceAssignmentConfigMap "
        "instancePartitionsMap metadata query quota routing segmentAssignmentConfigMap "
        "segmentsConfig tableIndexConfig task tenants upsertConfig",
    ),
    **_of(LIST, "fieldConfigList tableSamplers tierConfigs tunerConfigs"),
    **_of(TEXT, "tableName tableType"),
    **_of(FLAG, "isDimTable"),
    **_of(ANY, "description tags version"),
}
SEGMENTS: Final[Mapping[str, ValueReader]] = {
    **_of(OBJECT, "completionConfig replicaGroupStrategyConfig"),
    **_of(
        TEXT,
        "crypterClassName deletedSegmentsRetentionPeriod peerSegmentDownloadScheme "
        "replicasPerPartition replication retentionTimeUnit retentionTimeValue "
        "segmentAssignmentStrategy segmentPushFrequency segmentPushType timeColumnName timeType "
        "untrackedSegmentsDeletionBatchSize untrackedSegmentsRetentionTimeUnit "
        "untrackedSegmentsRetentionTimeValue",
    ),
    **_of(FLAG, "minimizeDataMovement"),
    **_of(ANY, "allowNullTimeValue schemaName"),
}
INDEXING: Final[Mapping[str, ValueReader]] = {
    **_of(OBJECT, "bloomFilterConfigs jsonIndexConfigs multiColumnTextIndexConfig segmentPartitionConfig"),
    **_of(LIST, "starTreeIndexConfigs"),
    **_of(TEXT, "columnMinMaxValueGeneratorMode loadMode segmentFormatVersion segmentNameGeneratorType"),
    **_of(
        TEXTS,
        "bloomFilterColumns invertedIndexColumns jsonIndexColumns noDictionaryColumns "
        "onHeapDictionaryColumns rangeIndexColumns sortedColumn varLengthDictionaryColumns",
    ),
    **_of(MAP, "noDictionaryConfig streamConfigs"),
    **_of(
        FLAG,
        "aggregateMetrics autoGeneratedInvertedIndex columnMajorSegmentBuilderEnabled "
        "createInvertedIndexDuringSegmentGeneration enableDefaultStarTree "
        "enableDynamicStarTreeCreation nullHandlingEnabled optimizeDictionary "
        "optimizeDictionaryForMetrics optimizeDictionaryType skipSegmentPreprocess",
    ),
    **_of(INTEGER, "rangeIndexVersion"),
    **_of(NUMBER, "noDictionaryCardinalityRatioThreshold noDictionarySizeRatioThreshold"),
    **_of(ANY, "onHeapDictionaryConfigs tierOverwrites vectorIndexConfigs"),
}
INGESTION: Final[Mapping[str, ValueReader]] = {
    **_of(
        OBJECT,
        "batchIngestionConfig complexTypeConfig filterConfig schemaConformingTransformerConfig "
        "schemaConformingTransformerV2Config streamIngestionConfig",
    ),
    **_of(LIST, "aggregationConfigs enrichmentConfigs transformConfigs"),
    **_of(FLAG, "continueOnError retryOnSegmentBuildPrecheckFailure rowTimeValueCheck segmentTimeValueCheck"),
    **_of(ANY, "sourceFieldConfigs"),
}
COMPLEX: Final[Mapping[str, ValueReader]] = {
    **_of(TEXT, "collectionNotUnnestedToJson delimiter"),
    **_of(TEXTS, "fieldsToUnnest"),
    **_of(MAP, "prefixesToRename"),
    **_of(ANY, "fieldsToUnnestAndKeepOriginalValue"),
}
FILTER: Final[Mapping[str, ValueReader]] = _of(TEXT, "filterFunction")
TRANSFORM: Final[Mapping[str, ValueReader]] = _of(TEXT, "columnName transformFunction")
CONFORMING: Final[Mapping[str, ValueReader]] = {
    **_of(
        TEXT,
        "indexableExtrasField jsonKeyValueSeparator mergedTextIndexBeginOfDocAnchor "
        "mergedTextIndexEndOfDocAnchor mergedTextIndexField unindexableExtrasField "
        "unindexableFieldSuffix",
    ),
    **_of(
        TEXTS,
        "fieldPathsToDrop fieldPathsToKeepSameAsInput fieldPathsToKeepSameAsInputWithIndex "
        "fieldPathsToPreserveInput fieldPathsToPreserveInputWithIndex fieldPathsToSkipStorage "
        "fieldsToDoubleIngest mergedTextIndexPathToExclude mergedTextIndexPrefixToExclude",
    ),
    **_of(MAP, "columnNameToJsonKeyPathMap"),
    **_of(
        FLAG,
        "enableIndexableExtras enableUnindexableExtras optimizeCaseInsensitiveSearch "
        "reverseTextIndexKeyValueOrder useAnonymousDotInFieldNames",
    ),
    **_of(INTEGER, "mergedTextIndexBinaryDocumentDetectionMinLength mergedTextIndexDocumentMaxLength"),
    **_of(ANY, "mergedTextIndexSuffixToExclude"),
}


KNOWN_PLACES: Final[Places] = {
    "": TOP,
    "/segmentsConfig": SEGMENTS,
    "/tableIndexConfig": INDEXING,
    "/ingestionConfig": INGESTION,
    "/ingestionConfig/complexTypeConfig": COMPLEX,
    "/ingestionConfig/filterConfig": FILTER,
    "/ingestionConfig/schemaConformingTransformerConfig": CONFORMING,
    "/ingestionConfig/transformConfigs/*": TRANSFORM,
}


_STREAMS: Final = "/ingestionConfig/streamIngestionConfig"
_PARTITIONS: Final = "/tableIndexConfig/segmentPartitionConfig"
INNER_PLACES: Final[Places] = {
    "": _of(OBJECTS, "instanceAssignmentConfigMap"),
    "/instanceAssignmentConfigMap/*": _of(
        OBJECT, "tagPoolConfig constraintConfig replicaGroupPartitionConfig"
    ),
    "/fieldConfigList/*": {
        **_of(TEXT, "name"),
        **_of(TEXTS, "indexTypes"),
        **_of(OBJECT, "timestampConfig"),
        **_of(MAP, "properties"),
        **_of(OBJECTS, "indexes"),
    },
    "/fieldConfigList/*/properties": _of(INTEGER, "vectorDimension"),
    "/fieldConfigList/*/timestampConfig": _of(TEXTS, "granularities"),
    "/upsertConfig": {
        **_of(TEXTS, "comparisonColumns"),
        **_of(OBJECT, "partialUpsertStrategies"),
        **_of(FLAG, "dropOutOfOrderRecord"),
    },
    "/dedupConfig": _of(FLAG, "dedupEnabled"),
    "/ingestionConfig/batchIngestionConfig": _of(LIST, "batchConfigMaps"),
    _STREAMS: _of(LIST, "streamConfigMaps"),
    f"{_STREAMS}/streamConfigMaps/*": _of(TEXT, "*"),
    "/tableIndexConfig": _of(OBJECTS, "bloomFilterConfigs jsonIndexConfigs"),
    "/tableIndexConfig/bloomFilterConfigs/*": _of(FLAG, "loadOnHeap"),
    "/tableIndexConfig/jsonIndexConfigs/*": _of(INTEGER, "maxLevels"),
    "/tableIndexConfig/multiColumnTextIndexConfig": _of(TEXTS, "columns"),
    _PARTITIONS: _of(OBJECTS, "columnPartitionMap"),
    f"{_PARTITIONS}/columnPartitionMap/*": _of(TEXT, "functionName"),
    "/tableIndexConfig/starTreeIndexConfigs/*": {
        **_of(TEXTS, "dimensionsSplitOrder functionColumnPairs"),
        **_of(LIST, "aggregationConfigs"),
    },
    "/tierConfigs/*": {
        **_of(TEXT, "name segmentSelectorType segmentAge storageType serverTag"),
        **_of(TEXTS, "segmentList"),
    },
    "/task": _of(OBJECTS, "taskTypeConfigsMap"),
}
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
