"""Keys that an object of a table config needs, and values of a closed set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.json_object import ReadReport, shown
from trellis.dialects.pinot.table.known_keys import INNER_PLACES, check_value_kinds
from trellis.dialects.pinot.validation.table_config.checked_table import (
    DEDUP,
    FIELDS,
    UPSERT,
    CheckedTable,
    Rule,
    is_integer,
    words,
)
from trellis.errors import nearest

_ASSIGNMENT: Final = "/instanceAssignmentConfigMap/*"
REQUIRED_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("tableName", "tableType", "segmentsConfig", "tenants", "tableIndexConfig"),
    FIELDS: ("name",),
    "/task": ("taskTypeConfigsMap",),
    "/tierConfigs/*": ("name", "segmentSelectorType", "storageType"),
    "/tunerConfigs/*": ("name",),
    "/tableSamplers/*": ("name", "type"),
    "/segmentsConfig/completionConfig": ("completionMode",),
    "/segmentsConfig/replicaGroupStrategyConfig": ("numInstancesPerPartition",),
    "/tableIndexConfig/multiColumnTextIndexConfig": ("columns",),
    "/tableIndexConfig/segmentPartitionConfig": ("columnPartitionMap",),
    "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap/*": ("functionName", "numPartitions"),
    "/tableIndexConfig/starTreeIndexConfigs/*": ("dimensionsSplitOrder",),
    "/tableIndexConfig/starTreeIndexConfigs/*/aggregationConfigs/*": ("columnName", "aggregationFunction"),
    "/ingestionConfig/aggregationConfigs/*": ("columnName", "aggregationFunction"),
    _ASSIGNMENT: ("tagPoolConfig", "replicaGroupPartitionConfig"),
    f"{_ASSIGNMENT}/tagPoolConfig": ("tag",),
    f"{_ASSIGNMENT}/constraintConfig": ("constraints",),
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
    f"{FIELDS}/indexes/forward/chunkCompressionType": words(
        "PASS_THROUGH SNAPPY ZSTANDARD LZ4 DELTA DELTADELTA"
    ),
    f"{FIELDS}/indexes/forward/dictIdCompressionType": words("MV_ENTRY_DICT"),
    f"{FIELDS}/timestampConfig/granularities/*": words(
        "MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR"
    ),
    f"{UPSERT}/mode": words("FULL PARTIAL NONE"),
    f"{UPSERT}/hashFunction": _HASHES,
    f"{UPSERT}/snapshot": _ENABLEMENTS,
    f"{UPSERT}/preload": _ENABLEMENTS,
    f"{UPSERT}/consistencyMode": words("NONE SYNC SNAPSHOT"),
    f"{UPSERT}/defaultPartialUpsertStrategy": _STRATEGIES,
    f"{UPSERT}/partialUpsertStrategies/*": _STRATEGIES,
    f"{DEDUP}/hashFunction": _HASHES,
    f"{DEDUP}/preload": _ENABLEMENTS,
    f"{DEDUP}/ignoreNonDefaultTiers": _ENABLEMENTS,
    f"{_ASSIGNMENT}/partitionSelector": words(
        "FD_AWARE_INSTANCE_PARTITION_SELECTOR INSTANCE_REPLICA_GROUP_PARTITION_SELECTOR "
        "MIRROR_SERVER_SET_PARTITION_SELECTOR IMPLICIT_REALTIME_TABLE_PARTITION_SELECTOR"
    ),
    "/ingestionConfig/streamIngestionConfig/parallelSegmentConsumptionPolicy": words(
        "ALLOW_ALWAYS ALLOW_DURING_BUILD_ONLY ALLOW_DURING_DOWNLOAD_ONLY DISALLOW_ALWAYS"
    ),
    "/ingestionConfig/streamIngestionConfig/disasterRecoveryMode": words("ALWAYS DEFAULT"),
}


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
                suggestion = nearest(str(value).upper(), sorted(choices))
                yield Fault(place, f"unknown value {shown(value)}{suggestion}")


def positive_partitions(table: CheckedTable) -> Iterator[Fault]:
    place = "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap/*/numPartitions"
    for at, number in table.values(place):
        if not is_integer(number) or int(number) <= 0:
            yield Fault(at, f"numPartitions is a whole number above 0, not {shown(number)}")


def empty_lists(table: CheckedTable) -> Iterator[Fault]:
    for pattern in (
        "/tableIndexConfig/starTreeIndexConfigs/*/dimensionsSplitOrder",
        "/tableIndexConfig/multiColumnTextIndexConfig/columns",
    ):
        for place, names in table.values(pattern):
            if names == []:
                yield Fault(place, f"{pattern.rpartition('/')[2]} is empty: name at least one column")


def duplicate_samplers(table: CheckedTable) -> Iterator[Fault]:
    names: set[str] = set()
    for place, name in table.values("/tableSamplers/*/name"):
        folded = str(name).strip().lower()
        if not folded or folded in names:
            message = f"a second sampler named {name}" if folded else "the name of a sampler is blank"
            yield Fault(place, f"{message}: give each its own name")
        names.add(folded)


RULES: Final[tuple[Rule, ...]] = (
    missing_keys,
    unknown_choices,
    positive_partitions,
    empty_lists,
    duplicate_samplers,
)
