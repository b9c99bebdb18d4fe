"""Where segments go and what is done with them: tiers, instances, quotas, tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule, words
from trellis.dialects.pinot.validation.table_config.time_spans import (
    cron_problem,
    is_data_size,
    period_millis,
)

_TIERS: Final = "/tierConfigs/*"
_ASSIGNMENTS: Final = "/instanceAssignmentConfigMap"
_TASKS: Final = "/task/taskTypeConfigsMap"
_SERVER_TAG: Final = re.compile(r".*_(OFFLINE|REALTIME)")
_IMPLICIT: Final = "IMPLICIT_REALTIME_TABLE_PARTITION_SELECTOR"
_MIRROR: Final = "MIRROR_SERVER_SET_PARTITION_SELECTOR"
_TASK_TYPES: Final = words(
    "SegmentGenerationAndPushTask RealtimeToOfflineSegmentsTask MergeRollupTask PurgeTask RefreshSegmentTask "
    "UpsertCompactionTask UpsertCompactMergeTask ConvertToRawIndexTask"
)
"""The tasks that Pinot ships; another may come from a plugin."""


def tier_names(table: CheckedTable) -> Iterator[Fault]:
    names: set[str] = set()
    for place, name in table.values(f"{_TIERS}/name"):
        if name == "":
            yield Fault(place, None, "the name of a tier is empty")
        elif name in names:
            yield Fault(place, None, f"a second tier named {name}")
        names.add(str(name))


def tier_segments(table: CheckedTable) -> Iterator[Fault]:
    for place, tier in table.objects(_TIERS):
        kind, age = str(tier.get("segmentSelectorType")), tier.get("segmentAge")
        if tier.get("segmentSelectorType") is None:
            continue
        if kind.lower() not in ("time", "fixed"):
            yield Fault(place, None, f"unknown segmentSelectorType '{kind}': use time or fixed")
        elif kind.lower() == "time" and (age is None or period_millis(str(age)) is None):
            shown_age = "nothing" if age is None else f"'{age}'"
            yield Fault(place, None, f"segmentAge is a period such as 30d or 24h, not {shown_age}")


def tier_storage(table: CheckedTable) -> Iterator[Fault]:
    for place, tier in table.objects(_TIERS):
        kind, tag = tier.get("storageType"), tier.get("serverTag")
        if kind is not None and str(kind).lower() != "pinot_server":
            yield Fault(place, None, f"unknown storageType '{kind}': use pinot_server")
        elif kind is not None and not _SERVER_TAG.fullmatch(str(tag)):
            shown_tag = "nothing" if tag is None else f"'{tag}'"
            message = f"serverTag ends in _OFFLINE or _REALTIME, not {shown_tag}"
            yield Fault(place, None, message)


def instance_sources(table: CheckedTable) -> Iterator[Fault]:
    """Instances are assigned, or taken from partitions that exist; a mirror needs both."""
    partitions = table.value("/instancePartitionsMap")
    if not partitions:
        return
    for place, assignment in table.objects(f"{_ASSIGNMENTS}/*"):
        kind = place.rpartition("/")[2]
        mirrored = assignment.get("partitionSelector") == _MIRROR
        if mirrored and kind not in partitions:
            yield Fault(place, None, f"{_MIRROR} needs {kind} in instancePartitionsMap as well")
        if not mirrored and kind in partitions:
            yield Fault(place, None, f"{kind} is in instancePartitionsMap as well: keep one")


def replica_group_sources(table: CheckedTable) -> Iterator[Fault]:
    if table.value("/segmentsConfig/replicaGroupStrategyConfig") is None:
        return
    for place, _ in table.objects(f"{_ASSIGNMENTS}/*/replicaGroupPartitionConfig"):
        yield Fault(place, None, "replicaGroupStrategyConfig is there as well: keep one")


def implicit_partitions(table: CheckedTable) -> Iterator[Fault]:
    for place, assignment in table.objects(f"{_ASSIGNMENTS}/*"):
        groups = assignment.get("replicaGroupPartitionConfig")
        if assignment.get("partitionSelector") != _IMPLICIT or not isinstance(groups, Mapping):
            continue
        for wrong, reason in (
            (not table.realtime, "needs a REALTIME table"),
            (place.rpartition("/")[2].upper() != "CONSUMING", "is for CONSUMING instances only"),
            (not groups.get("replicaGroupBased"), "needs replicaGroupBased"),
            (bool(groups.get("numPartitions")), "excludes numPartitions"),
            (groups.get("numInstancesPerPartition") not in (None, 0, 1), "allows one instance per partition"),
        ):
            if wrong:
                yield Fault(place, None, f"{_IMPLICIT} {reason}")


def quotas(table: CheckedTable) -> Iterator[Fault]:
    storage, rate = table.value("/quota/storage"), table.value("/quota/maxQueriesPerSecond")
    if storage is not None and not is_data_size(str(storage)):
        yield Fault("/quota/storage", None, f"storage is a size such as 100G, not '{storage}'")
    if rate is not None and table.number("/quota/maxQueriesPerSecond") <= 0:
        message = f"maxQueriesPerSecond is a number above 0, not '{rate}'"
        yield Fault("/quota/maxQueriesPerSecond", None, message)


def query_limits(table: CheckedTable) -> Iterator[Fault]:
    for key in ("timeoutMs", "maxQueryResponseSizeBytes", "maxServerResponseSizeBytes"):
        if table.value(f"/query/{key}") is not None and table.number(f"/query/{key}") <= 0:
            yield Fault(f"/query/{key}", None, f"{key} is a number above 0")


def tasks(table: CheckedTable) -> Iterator[Fault]:
    for place, name in table.keys(_TASKS):
        if name not in _TASK_TYPES:
            message = f"task {name} is not one that Pinot ships, so it is not checked"
            yield Fault(place, None, message, unchecked=True)
        schedule = table.value(f"{place}/schedule")
        problem = "" if schedule is None else cron_problem(str(schedule))
        if problem:
            yield Fault(f"{place}/schedule", None, f"'{schedule}' is not a schedule of Quartz: {problem}")
        peer = table.value("/segmentsConfig/peerSegmentDownloadScheme")
        if table.flag(f"{place}/allowDownloadFromServer") and peer is None:
            yield Fault(place, None, "allowDownloadFromServer needs segmentsConfig.peerSegmentDownloadScheme")


def compaction_tasks(table: CheckedTable) -> Iterator[Fault]:
    place = f"{_TASKS}/UpsertCompactMergeTask/minNumSegmentsPerTask"
    both = table.value(f"{_TASKS}/UpsertCompactionTask") is not None and table.value(place) is not None
    if both and table.number(place) <= 1:
        message = "minNumSegmentsPerTask is above 1 beside UpsertCompactionTask, which would do the same work"
        yield Fault(place, None, message)


RULES: Final[tuple[Rule, ...]] = (
    tier_names,
    tier_segments,
    tier_storage,
    instance_sources,
    replica_group_sources,
    implicit_partitions,
    quotas,
    query_limits,
    tasks,
    compaction_tasks,
)
