"""Upsert and dedup: what a table needs for them, and what excludes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.units import FormatError
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import (
    DEDUP,
    UPSERT,
    CheckedTable,
    Rule,
    period_millis,
)

_ROUTING: Final = "/routing/instanceSelectorType"
_PARTITIONS: Final = "/tableIndexConfig/segmentPartitionConfig/columnPartitionMap"
_TREES: Final = "/tableIndexConfig/starTreeIndexConfigs"
_DEFAULT_TREE: Final = "/tableIndexConfig/enableDefaultStarTree"
_AGGREGATION: Final = "/tableIndexConfig/aggregateMetrics"
_AGGREGATIONS: Final = "/ingestionConfig/aggregationConfigs"
_TAGS: Final = "/tenants/tagOverrideConfig"
_COMPLETED: Final = "/instanceAssignmentConfigMap/COMPLETED"


def exclusive_modes(table: CheckedTable) -> Iterator[Fault]:
    if table.upsert and table.dedup:
        yield Fault(DEDUP, "a table has upsert or dedup, not both")
    if table.dedup and not table.realtime:
        yield Fault(DEDUP, "dedup needs a REALTIME table")
    if table.upsert and not table.realtime and not table.value(_PARTITIONS):
        yield Fault(
            UPSERT,
            "upsert in an OFFLINE table needs tableIndexConfig.segmentPartitionConfig with"
            " columnPartitionMap",
        )


def keyed_table(table: CheckedTable) -> Iterator[Fault]:
    """What both upsert and dedup need and exclude."""
    if not table.upsert and not table.dedup:
        return
    place = UPSERT if table.upsert else DEDUP
    if not table.schema.primary_key:
        yield Fault(place, "Upsert/Dedup table must have primary key columns in the schema")
    for name in table.schema.primary_key:
        if name in table.columns and not table.columns[name].single_value:
            message = f"Upsert/Dedup primary key column: {name} cannot be of multi-value type"
            yield Fault(place, message, name)
    if table.text(_ROUTING).lower() not in ("strictreplicagroup", "multistagereplicagroup"):
        yield Fault("/routing", "upsert and dedup need routing.instanceSelectorType strictReplicaGroup")
    for place in (f"{_TAGS}/realtimeConsuming", f"{_TAGS}/realtimeCompleted") if table.realtime else ():
        if table.value(place) is not None:
            key = place.rpartition("/")[2]
            yield Fault(place, f"upsert and dedup exclude {key}: segments stay in place")
    if table.realtime and table.value(_COMPLETED) is not None:
        yield Fault(_COMPLETED, "upsert and dedup exclude COMPLETED instance partitions")
    for place, is_set, part in (
        ("/tierConfigs", table.value("/tierConfigs") is not None, "tiers"),
        (_TREES, bool(table.value(_TREES)), "star-tree indexes"),
        (_DEFAULT_TREE, table.flag(_DEFAULT_TREE), "star-tree indexes"),
    ):
        if is_set and table.value(UPSERT) is not None:
            yield Fault(place, f"an upsert table cannot have {part}")
    for place, is_set in (
        (_AGGREGATION, table.flag(_AGGREGATION)),
        (_AGGREGATIONS, bool(table.value(_AGGREGATIONS))),
    ):
        if is_set:
            yield Fault(place, "upsert and dedup exclude the aggregation of metrics")


def comparison_columns(table: CheckedTable) -> Iterator[Fault]:
    for pattern in (f"{UPSERT}/comparisonColumns/*", f"{UPSERT}/comparisonColumn"):
        for place, column in table.names(pattern) if table.upsert else ():
            if column not in table.columns:
                yield Fault(place, f"comparison column {column} is not in the schema")


def delete_column(table: CheckedTable) -> Iterator[Fault]:
    place = f"{UPSERT}/deleteRecordColumn"
    name = table.text(place)
    spec = table.columns.get(name)
    if not name or not table.upsert:
        return
    if spec is None:
        yield Fault(place, f"deleteRecordColumn {name} is not in the schema")
    elif not spec.single_value or not (
        spec.data_type in (PinotType.BOOLEAN, PinotType.STRING) or spec.data_type.numeric
    ):
        message = "deleteRecordColumn is one BOOLEAN, STRING or number per row"
        yield Fault(place, message, name)


def out_of_order_column(table: CheckedTable) -> Iterator[Fault]:
    place = f"{UPSERT}/outOfOrderRecordColumn"
    name = table.text(place)
    spec = table.columns.get(name)
    if not name or not table.upsert:
        return
    if table.flag(f"{UPSERT}/dropOutOfOrderRecord"):
        yield Fault(place, "outOfOrderRecordColumn and dropOutOfOrderRecord exclude each other")
    if spec is None or not spec.single_value or spec.data_type is not PinotType.BOOLEAN:
        yield Fault(place, f"outOfOrderRecordColumn {name} must be a BOOLEAN column of the schema")


def compaction_consistency(table: CheckedTable) -> Iterator[Fault]:
    place = f"{UPSERT}/enableDeletedKeysCompactionConsistency"
    if not table.upsert or not table.flag(place):
        return
    tasks = table.value("/task/taskTypeConfigsMap") or {}
    for wrong, reason in (
        (table.number(f"{UPSERT}/metadataTTL") != 0, "excludes metadataTTL"),
        (table.text(f"{UPSERT}/preload") == "ENABLE", "excludes preload"),
        (table.number(f"{UPSERT}/deletedKeysTTL") <= 0, "needs deletedKeysTTL"),
        (table.text(f"{UPSERT}/snapshot") == "DISABLE", "needs snapshot"),
        (
            not {"UpsertCompactionTask", "UpsertCompactMergeTask"} & {*tasks},
            "needs the task UpsertCompactionTask or UpsertCompactMergeTask",
        ),
    ):
        if wrong:
            yield Fault(place, f"enableDeletedKeysCompactionConsistency {reason}")


def consistency_mode(table: CheckedTable) -> Iterator[Fault]:
    place = f"{UPSERT}/consistencyMode"
    mode = table.text(place, "NONE")
    if not table.upsert or mode == "NONE":
        return
    tracking = table.value(f"{UPSERT}/newSegmentTrackingTimeMs")
    for wrong, reason in (
        (tracking is not None and table.number(f"{UPSERT}/newSegmentTrackingTimeMs") <= 0,
         "needs newSegmentTrackingTimeMs above 0"),
        (table.flag(f"{UPSERT}/dropOutOfOrderRecord"), "excludes dropOutOfOrderRecord"),
        (bool(table.text(f"{UPSERT}/outOfOrderRecordColumn")), "excludes outOfOrderRecordColumn"),
    ):  # fmt: skip
        if wrong:
            yield Fault(place, f"consistencyMode {mode} {reason}")


def upsert_expiry(table: CheckedTable) -> Iterator[Fault]:
    """Keys expire by one comparison column or by the time column, a number."""
    metadata, deleted = table.number(f"{UPSERT}/metadataTTL"), table.number(f"{UPSERT}/deletedKeysTTL")
    if not table.upsert or not (metadata or deleted):
        return
    named = [name for _, name in table.names(f"{UPSERT}/comparisonColumns/*")]
    if len(named) > 1:
        yield Fault(
            f"{UPSERT}/comparisonColumns", "metadataTTL and deletedKeysTTL allow one comparison column"
        )
    yield from _expiry_column(table, UPSERT, named[0] if named else "")
    if metadata > 0 and table.text(f"{UPSERT}/snapshot") == "DISABLE":
        yield Fault(f"{UPSERT}/snapshot", "metadataTTL needs snapshot")
    if deleted > 0 and not table.text(f"{UPSERT}/deleteRecordColumn"):
        yield Fault(f"{UPSERT}/deletedKeysTTL", "deletedKeysTTL needs deleteRecordColumn")


def dedup_expiry(table: CheckedTable) -> Iterator[Fault]:
    if not table.dedup or table.number(f"{DEDUP}/metadataTTL") <= 0:
        return
    named = table.text(f"{DEDUP}/dedupTimeColumn")
    yield from _expiry_column(table, DEDUP, named)
    if table.value("/tierConfigs") is None:
        return
    if named and named.lower() != table.time_column.lower():
        yield Fault(
            f"{DEDUP}/dedupTimeColumn",
            f"with tiers dedupTimeColumn is the time column {table.time_column}, not {named}",
        )
    yield from _tiers_after_expiry(table)


def _expiry_column(table: CheckedTable, place: str, named: str) -> Iterator[Fault]:
    name = named or table.time_column
    spec = table.columns.get(name)
    if not name:
        yield Fault(place, "a TTL needs a comparison column or a time column")
    elif spec is None and named:
        yield Fault(place, f"column {name} of the TTL is not in the schema")
    elif spec is not None and not spec.data_type.stored.numeric:
        yield Fault(place, f"a TTL needs a column of numbers or times, not {spec.data_type.value}", name)


def _tiers_after_expiry(table: CheckedTable) -> Iterator[Fault]:
    ages: list[int] = []
    for place, tier in table.objects("/tierConfigs/*"):
        age = period_millis(str(tier.get("segmentAge")))
        if str(tier.get("segmentSelectorType")).lower() != "time":
            yield Fault(place, "dedup with a TTL needs tiers of segmentSelectorType time")
        elif age is not None:
            ages.append(age)
    millis = _expiry_millis(table, table.columns.get(table.time_column))
    if ages and millis is not None and millis >= min(ages):
        yield Fault(f"{DEDUP}/metadataTTL", "metadataTTL is shorter than the segmentAge of every tier")


def _expiry_millis(table: CheckedTable, spec: FieldSpec | None) -> int | None:
    """The TTL of dedup, which counts in the unit of the time column."""
    try:
        form = parse_format((spec.format if spec else None) or "")
        return form.to_millis(int(table.number(f"{DEDUP}/metadataTTL")))
    except (FormatError, OverflowError):
        return None


def partial_upsert(table: CheckedTable) -> Iterator[Fault]:
    if table.text(f"{UPSERT}/mode") != "PARTIAL":
        return
    if not table.schema.column_nulls and not table.flag("/tableIndexConfig/nullHandlingEnabled"):
        yield Fault(
            f"{UPSERT}/mode",
            "mode PARTIAL needs enableColumnBasedNullHandling in the schema, or nullHandlingEnabled in"
            " tableIndexConfig",
        )
    strategies = [*table.names(f"{UPSERT}/partialUpsertStrategies/*")]
    if table.text(f"{UPSERT}/partialUpsertMergerClass").strip():
        if strategies:
            yield Fault(
                f"{UPSERT}/partialUpsertMergerClass",
                "partialUpsertMergerClass and partialUpsertStrategies exclude each other",
            )
        return
    columns = [column for _, column in table.keys(f"{UPSERT}/partialUpsertStrategies")]
    for column, (_, strategy) in zip(columns, strategies, strict=False):
        problem = _strategy_problem(table, column, strategy)
        if problem:
            place = f"{UPSERT}/partialUpsertStrategies{pointer(column)}"
            yield Fault(place, f"{strategy} cannot be applied to {column}: {problem}")


def _strategy_problem(table: CheckedTable, column: str, strategy: str) -> str:
    compared = [name for _, name in table.names(f"{UPSERT}/comparisonColumns/*")]
    spec = table.columns.get(column)
    if spec is None:
        return "it is not in the schema"
    if column in table.schema.primary_key:
        return "it is a primary key column"
    if column in (compared or [table.time_column]):
        return "rows are compared by it"
    if strategy == "INCREMENT" and (
        not spec.data_type.stored.numeric or spec.field_type in (FieldType.DATE_TIME, FieldType.COMPLEX)
    ):
        return "it is no number that can be added up"
    if strategy in ("APPEND", "UNION") and spec.single_value:
        return "it has one value per row"
    return ""


RULES: Final[tuple[Rule, ...]] = (
    exclusive_modes,
    keyed_table,
    comparison_columns,
    delete_column,
    out_of_order_column,
    compaction_consistency,
    consistency_mode,
    upsert_expiry,
    dedup_expiry,
    partial_upsert,
)
