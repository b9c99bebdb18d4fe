"""Keys that an object of a table config needs, and values of a closed set or of one form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trellis.dialects.pinot.date_time.units import UNITS
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.json_object import ReadReport, shown
from trellis.dialects.pinot.table.known_keys import INNER_PLACES, check_value_kinds
from trellis.dialects.pinot.validation.table_config import value_forms as forms
from trellis.dialects.pinot.validation.table_config.checked_table import (
    DEDUP,
    FIELDS,
    PARTITIONS,
    UPSERT,
    CheckedTable,
    Rule,
    unchecked_part,
    words,
)
from trellis.dialects.pinot.validation.table_config.value_forms import Form, form_faults
from trellis.errors import nearest

_INDEX: Final = f"{FIELDS}/indexes"
_BATCH: Final = "/ingestionConfig/batchIngestionConfig"
_SEGMENTS: Final = "/segmentsConfig"
_INDEXING: Final = "/tableIndexConfig"
_STREAMS: Final = "/ingestionConfig/streamIngestionConfig"
REQUIRED_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("tableName", "tableType", "segmentsConfig", "tenants", "tableIndexConfig"),
    FIELDS: ("name",),
    "/task": ("taskTypeConfigsMap",),
    "/tunerConfigs/*": ("name",),
    "/segmentsConfig/completionConfig": ("completionMode",),
    "/tableIndexConfig/segmentPartitionConfig": ("columnPartitionMap",),
    f"{PARTITIONS}/*": ("functionName", "numPartitions"),
    "/ingestionConfig/enrichmentConfigs/*": ("enricherType",),
}
_INDEX_TYPES: Final = words("INVERTED SORTED TEXT FST IFST H3 JSON TIMESTAMP VECTOR RANGE")
_CODECS: Final = words(
    "PASS_THROUGH SNAPPY ZSTANDARD LZ4 GZIP MV_ENTRY_DICT CLP CLPV2 CLPV2_ZSTD CLPV2_LZ4 DELTA DELTADELTA"
)
_HASHES: Final = words("NONE MD5 MURMUR3 UUID XXHASH XXH128")
_ENABLEMENTS: Final = words("ENABLE DISABLE DEFAULT")
_STRATEGIES: Final = words("APPEND IGNORE INCREMENT MAX MIN OVERWRITE FORCE_OVERWRITE UNION")
CHOICES: Final[Mapping[str, frozenset[str]]] = {
    f"{FIELDS}/encodingType": words("RAW DICTIONARY"),
    f"{FIELDS}/indexType": _INDEX_TYPES,
    f"{FIELDS}/indexTypes/*": _INDEX_TYPES,
    f"{FIELDS}/compressionCodec": _CODECS,
    f"{FIELDS}/indexes/forward/compressionCodec": _CODECS,
    f"{FIELDS}/timestampConfig/granularities/*": words(
        "MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR"
    ),
    f"{UPSERT}/mode": words("FULL PARTIAL NONE"),
    f"{UPSERT}/hashFunction": _HASHES,
    f"{UPSERT}/snapshot": _ENABLEMENTS,
    f"{UPSERT}/preload": _ENABLEMENTS,
    f"{UPSERT}/defaultPartialUpsertStrategy": _STRATEGIES,
    f"{UPSERT}/partialUpsertStrategies/*": _STRATEGIES,
    f"{DEDUP}/hashFunction": _HASHES,
    f"{DEDUP}/preload": _ENABLEMENTS,
    "/ingestionConfig/enrichmentConfigs/*/enricherType": words("generateColumn clpEnricher"),
}
CHOICES_IN_ANY_CASE: Final[Mapping[str, frozenset[str]]] = {
    f"{_SEGMENTS}/retentionTimeUnit": frozenset(UNITS),
    f"{_BATCH}/batchConfigMaps/*/inputFormat": words(
        "AVRO GZIPPED_AVRO CSV JSON PINOT THRIFT PARQUET ORC PROTO OTHER PROTOBUF"
    ),
}


def _places(place: str, keys: str) -> list[str]:
    return [f"{place}/{key}" for key in keys.split()]


def _of(form: Form, place: str, keys: str) -> dict[str, Form]:
    return dict.fromkeys(_places(place, keys), form)


FORMS: Final[Mapping[str, Form]] = {
    **_of(forms.COUNT, f"{PARTITIONS}/*", "numPartitions"),
    **_of(forms.MILLISECONDS, f"{_BATCH}/batchConfigMaps/*", "segment.uploadTimeMs"),
    **_of(forms.SIZE, "/quota", "storage"),
    **_of(forms.POSITIVE, "/quota", "maxQueriesPerSecond"),
    **_of(forms.POSITIVE, "/query", "timeoutMs maxQueryResponseSizeBytes maxServerResponseSizeBytes"),
    **_of(forms.PROBABILITY, "/tableIndexConfig/bloomFilterConfigs/*", "fpp"),
    **_of(forms.FLAG, f"{_INDEX}/*", "disabled"),
    **_of(forms.PROBABILITY, f"{_INDEX}/bloom", "fpp"),
    **_of(forms.INTEGER, f"{_INDEX}/bloom", "maxSizeInBytes"),
    **_of(forms.FLAG, f"{_INDEX}/bloom", "loadOnHeap"),
    **_of(forms.FLAG, f"{_INDEX}/dictionary", "onHeap"),
    **_of(forms.INTEGER, f"{_INDEX}/forward", "rawIndexWriterVersion targetDocsPerChunk"),
    **_of(forms.FLAG, f"{_INDEX}/forward", "deriveNumDocsPerChunk"),
    **_of(forms.AUTOMATON, f"{_INDEX}/fst", "type"),
    **_of(forms.RESOLUTION, f"{_INDEX}/h3", "resolution"),
    **_of(forms.AUTOMATON, f"{_INDEX}/ifst", "type"),
    **_of(forms.INTEGER, f"{_INDEX}/json", "maxLevels maxValueLength maxBytesSize"),
    **_of(forms.FLAG, f"{_INDEX}/json", "excludeArray disableCrossArrayUnnest skipInvalidJson"),
    **_of(forms.INTEGER, f"{_INDEX}/range", "version"),
    **_of(forms.INTEGER, f"{_INDEX}/text", "luceneMaxBufferSizeMB luceneNRTCachingDirectoryMaxBufferSizeMB"),
    **_of(forms.FLAG, f"{_INDEX}/text", "queryCache useANDForMultiTermQueries luceneUseCompoundFile"),
    **_of(forms.FLAG, f"{_INDEX}/text", "reuseMutableIndex caseSensitive"),
    **_of(forms.AUTOMATON, f"{_INDEX}/text", "fst"),
}
UNCHECKED: Final = (
    *_places("", "instanceAssignmentConfigMap tableSamplers tenants/tagOverrideConfig tierConfigs"),
    *_places("/ingestionConfig", "aggregationConfigs schemaConformingTransformerConfig"),
    *_places(_STREAMS, "disasterRecoveryMode parallelSegmentConsumptionPolicy pauselessConsumptionEnabled"),
    *_places(_SEGMENTS, "peerSegmentDownloadScheme replicaGroupStrategyConfig"),
    *_places(_SEGMENTS, "untrackedSegmentsRetentionTimeUnit untrackedSegmentsRetentionTimeValue"),
    *_places(_INDEXING, "multiColumnTextIndexConfig starTreeIndexConfigs varLengthDictionaryColumns"),
    *_places(f"{FIELDS}/properties", "forwardIndexDisabled"),
    *_places(f"{_INDEX}/dictionary", "useVarLengthDictionary"),
    *_places(f"{_INDEX}/forward", "chunkCompressionType dictIdCompressionType disabled"),
    *_places(UPSERT, "consistencyMode deletedKeysTTL enableDeletedKeysCompactionConsistency metadataTTL"),
    *_places(UPSERT, "outOfOrderRecordColumn partialUpsertMergerClass"),
    *_places(DEDUP, "ignoreNonDefaultTiers metadataTTL"),
)
"""Parts that few tables have, whose rules are not implemented."""


def kind_faults(table: CheckedTable) -> list[Fault]:
    """Values of another kind than Pinot reads; the other rules need these first."""
    report = ReadReport()
    check_value_kinds(table.document, report, INNER_PLACES)
    return report.faults


def missing_keys(table: CheckedTable) -> Iterator[Fault]:
    for pattern, keys in REQUIRED_KEYS.items():
        for place, document in table.objects(pattern):
            for key in keys:
                if document.get(key) is None:
                    yield Fault(place, f"{key} is missing: Pinot requires it")


def unknown_choices(table: CheckedTable) -> Iterator[Fault]:
    for pattern, choices in CHOICES.items():
        for place, value in table.values(pattern):
            if str(value) not in choices:
                yield _unknown_choice(place, value, choices)
    for pattern, choices in CHOICES_IN_ANY_CASE.items():
        for place, value in table.names(pattern):
            if value.upper() not in choices:
                yield _unknown_choice(place, value, choices)


def _unknown_choice(place: str, value: object, choices: frozenset[str]) -> Fault:
    return Fault(place, f"unknown value {shown(value)}{nearest(str(value).upper(), sorted(choices))}")


def value_forms(table: CheckedTable) -> Iterator[Fault]:
    return form_faults(table, FORMS)


def unchecked_parts(table: CheckedTable) -> Iterator[Fault]:
    for pattern in UNCHECKED:
        yield from (unchecked_part(place) for place, _ in table.values(pattern) if table.uses(place))


RULES: Final[tuple[Rule, ...]] = (missing_keys, unknown_choices, value_forms, unchecked_parts)
