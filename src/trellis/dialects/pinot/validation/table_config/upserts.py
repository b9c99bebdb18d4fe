"""Upsert and dedup: what a table needs for them, and what excludes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.validation.table_config.checked_table import (
    DEDUP,
    PARTITIONS,
    UPSERT,
    CheckedTable,
    Rule,
)

_STRATEGIES: Final = f"{UPSERT}/partialUpsertStrategies"
_DELETING_TYPES: Final = (
    PinotType.BOOLEAN,
    PinotType.STRING,
    *(data_type for data_type in PinotType if data_type.numeric),
)


def exclusive_modes(table: CheckedTable) -> Iterator[Fault]:
    if table.upsert and table.dedup:
        yield Fault(DEDUP, "a table has upsert or dedup, not both")
    if table.dedup and not table.realtime:
        yield Fault(DEDUP, "dedup needs a REALTIME table")
    if table.upsert and not table.realtime and not table.value(PARTITIONS):
        needed = "tableIndexConfig.segmentPartitionConfig with columnPartitionMap"
        yield Fault(UPSERT, f"upsert in an OFFLINE table needs {needed}")


def keyed_table(table: CheckedTable) -> Iterator[Fault]:
    """What both upsert and dedup need and exclude."""
    if not table.upsert and not table.dedup:
        return
    key_place = UPSERT if table.upsert else DEDUP
    if not table.schema.primary_key:
        yield Fault(key_place, "Upsert/Dedup table must have primary key columns in the schema")
    for name in table.schema.primary_key:
        if name in table.columns and not table.columns[name].single_value:
            message = f"Upsert/Dedup primary key column: {name} cannot be of multi-value type"
            yield Fault(key_place, message, name)
    selector = table.text("/routing/instanceSelectorType").lower()
    if selector not in ("strictreplicagroup", "multistagereplicagroup"):
        yield Fault("/routing", "upsert and dedup need routing.instanceSelectorType strictReplicaGroup")
    aggregation = "/tableIndexConfig/aggregateMetrics"
    if table.uses(aggregation):
        yield Fault(aggregation, "upsert and dedup exclude the aggregation of metrics")
    star_tree = "/tableIndexConfig/enableDefaultStarTree"
    if table.has(UPSERT) and table.uses(star_tree):
        yield Fault(star_tree, "an upsert table cannot have star-tree indexes")


def deletion(table: CheckedTable) -> Iterator[Fault]:
    """The column that rows are deleted by."""
    place = f"{UPSERT}/deleteRecordColumn"
    for _, name in table.names(place) if table.upsert else ():
        spec = table.columns.get(name)
        if spec is None or not spec.single_value or spec.data_type not in _DELETING_TYPES:
            noun = "a column of the schema with one BOOLEAN, STRING or number per row"
            yield Fault(place, f"deleteRecordColumn {name} must be {noun}")


def partial_upsert(table: CheckedTable) -> Iterator[Fault]:
    if table.text(f"{UPSERT}/mode") != "PARTIAL":
        return
    if not table.schema.column_nulls and not table.flag("/tableIndexConfig/nullHandlingEnabled"):
        needed = "enableColumnBasedNullHandling in the schema, or nullHandlingEnabled in tableIndexConfig"
        yield Fault(f"{UPSERT}/mode", f"mode PARTIAL needs {needed}")
    strategies = table.value(_STRATEGIES) or {}
    for column, strategy in strategies.items():
        if problem := _strategy_problem(table, column, strategy):
            place = _STRATEGIES + pointer(column)
            yield Fault(place, f"{strategy} cannot be applied to {column}: {problem}")


def _strategy_problem(table: CheckedTable, column: str, strategy: str) -> str:
    spec = table.columns.get(column)
    if spec is None:
        return "it is not in the schema"
    if column in table.schema.primary_key:
        return "it is a primary key column"
    compared = [name for _, name in table.names(f"{UPSERT}/comparisonColumns/*")]
    if column in (compared or [table.time_column]):
        return "rows are compared by it"
    if strategy == "INCREMENT" and (
        not spec.data_type.stored.numeric or spec.field_type in (FieldType.DATE_TIME, FieldType.COMPLEX)
    ):
        return "it is no number that can be added up"
    if strategy in ("APPEND", "UNION") and spec.single_value:
        return "it has one value per row"
    return ""


RULES: Final[tuple[Rule, ...]] = (exclusive_modes, keyed_table, deletion, partial_upsert)
