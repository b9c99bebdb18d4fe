"""The table and its segments: name and push type; dimension tables, tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule

_SEGMENTS: Final = "/segmentsConfig"
_BATCH: Final = "/ingestionConfig/batchIngestionConfig"


def names(table: CheckedTable) -> Iterator[Fault]:
    name = table.text("/tableName")
    for wrong, reason in (
        ("__" in name, "two underscores, __"),
        (name.count(".") > 1, "more than one dot"),
        (any(map(str.isspace, name)), "a blank"),
    ):
        if wrong:
            yield Fault("/tableName", f"table name '{name}' must not contain {reason}")
    if table.value(f"{_SEGMENTS}/timeColumnName") == "":
        message = "timeColumnName is empty: name a dateTime column, or leave it out"
        yield Fault(f"{_SEGMENTS}/timeColumnName", message)


def dimension_table(table: CheckedTable) -> Iterator[Fault]:
    if not table.flag("/isDimTable"):
        return
    if table.realtime:
        yield Fault("/tableType", "a dimension table is OFFLINE, not REALTIME")
    if not table.schema.primary_key:
        yield Fault("/isDimTable", "Dimension table must have primary key[s]")
    if table.has("/ingestionConfig") and table.text(f"{_BATCH}/segmentIngestionType").upper() != "REFRESH":
        needed = "batchIngestionConfig with segmentIngestionType REFRESH"
        yield Fault("/ingestionConfig", f"a dimension table with an ingestionConfig needs {needed}")


def push_type(table: CheckedTable) -> Iterator[Fault]:
    """The first of two places counts."""
    for place in (f"{_BATCH}/segmentIngestionType", f"{_SEGMENTS}/segmentPushType"):
        if table.has(place):
            kind = table.text(place)
            if kind and kind.upper() not in ("APPEND", "REFRESH") and not table.realtime:
                yield Fault(place, f"unknown push type '{kind}': use APPEND or REFRESH")
            return


def tasks(table: CheckedTable) -> Iterator[Fault]:
    """A cluster checks the settings of a task by the class that runs it."""
    for place, name in table.keys("/task/taskTypeConfigsMap"):
        yield Fault(place, f"task {name} is not checked: the controller checks it", unchecked=True)


RULES: Final[tuple[Rule, ...]] = (names, dimension_table, push_type, tasks)
