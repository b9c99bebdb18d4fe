"""The table and its segments: name and push type; dimension tables, tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule, words
from trellis.dialects.pinot.validation.table_config.value_forms import cron_problem, number_of

_SEGMENTS: Final = "/segmentsConfig"
_PEERS: Final = f"{_SEGMENTS}/peerSegmentDownloadScheme"
_BATCH: Final = "/ingestionConfig/batchIngestionConfig"
_TASKS: Final = "/task/taskTypeConfigsMap"
_TASK_TYPES: Final = words(
    "SegmentGenerationAndPushTask RealtimeToOfflineSegmentsTask MergeRollupTask PurgeTask RefreshSegmentTask "
    "UpsertCompactionTask UpsertCompactMergeTask ConvertToRawIndexTask"
)
"""The tasks that Pinot ships; another may come from a plugin."""


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
    for place, name in table.keys(_TASKS):
        if name not in _TASK_TYPES:
            message = f"task {name} is not one that Pinot ships, so it is not checked"
            yield Fault(place, message, unchecked=True)
        schedule = table.value(f"{place}/schedule")
        problem = "" if schedule is None else cron_problem(str(schedule))
        if problem:
            yield Fault(f"{place}/schedule", f"'{schedule}' is not a schedule of Quartz: {problem}")
        if table.flag(f"{place}/allowDownloadFromServer") and not table.has(_PEERS):
            yield Fault(place, "allowDownloadFromServer needs segmentsConfig.peerSegmentDownloadScheme")
    merging = f"{_TASKS}/UpsertCompactMergeTask/minNumSegmentsPerTask"
    if table.has(f"{_TASKS}/UpsertCompactionTask") and number_of(table.value(merging)) <= 1:
        message = "minNumSegmentsPerTask is above 1 beside UpsertCompactionTask, which would do the same work"
        yield Fault(merging, message)


RULES: Final[tuple[Rule, ...]] = (
    names,
    dimension_table,
    push_type,
    tasks,
)
