"""The table and its segments: name, replicas, push type and retention; tiers, instances, quotas, tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trellis.dialects.pinot.date_time.units import UNITS
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.validation.table_config.checked_table import (
    CheckedTable,
    Rule,
    cron_problem,
    is_data_size,
    period_millis,
    words,
)
from trellis.errors import nearest

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
    kind = table.text(f"{_BATCH}/segmentIngestionType")
    if table.value("/ingestionConfig") is not None and kind.upper() != "REFRESH":
        yield Fault(
            "/ingestionConfig",
            "a dimension table with an ingestionConfig needs batchIngestionConfig with segmentIngestionType"
            " REFRESH",
        )


def peer_download(table: CheckedTable) -> Iterator[Fault]:
    place = f"{_SEGMENTS}/peerSegmentDownloadScheme"
    scheme = table.value(place)
    if scheme is None:
        return
    if table.replication is None:
        yield Fault(_SEGMENTS, "peerSegmentDownloadScheme needs replication as a number above 1")
    if str(scheme).lower() not in ("http", "https"):
        yield Fault(place, f"unknown peerSegmentDownloadScheme '{scheme}': use http or https")
    if table.replication is not None and table.replication < 2:
        yield Fault(place, "peerSegmentDownloadScheme needs a replication of at least 2")


def push_type(table: CheckedTable) -> Iterator[Fault]:
    for place in (f"{_BATCH}/segmentIngestionType", f"{_SEGMENTS}/segmentPushType"):
        kind = table.value(place)
        if kind is None:
            continue
        if kind != "" and str(kind).upper() not in ("APPEND", "REFRESH") and not table.realtime:
            yield Fault(place, f"unknown push type '{kind}': use APPEND or REFRESH")
        return


def retention(table: CheckedTable) -> Iterator[Fault]:
    unit_key, value_key = "untrackedSegmentsRetentionTimeUnit", "untrackedSegmentsRetentionTimeValue"
    unit, value = table.text(f"{_SEGMENTS}/{unit_key}"), table.text(f"{_SEGMENTS}/{value_key}")
    if bool(unit) != bool(value):
        present, absent = (unit_key, value_key) if unit else (value_key, unit_key)
        yield Fault(f"{_SEGMENTS}/{present}", f"{present} needs {absent} as well")
    elif unit and not (value.isdecimal() and int(value) > 0):
        yield Fault(f"{_SEGMENTS}/{value_key}", f"{value_key} is a whole number above 0, not '{value}'")
    for key in ("retentionTimeUnit", unit_key):
        unit = table.text(f"{_SEGMENTS}/{key}")
        if unit and unit.upper() not in UNITS:
            yield Fault(f"{_SEGMENTS}/{key}", f"unknown {key} '{unit}'{nearest(unit.upper(), UNITS)}")


_TIERS: Final = "/tierConfigs/*"
_TIER_KEYS: Final = ("name", "segmentSelectorType", "segmentAge", "storageType", "serverTag")
_ASSIGNMENTS: Final = "/instanceAssignmentConfigMap/*"
_RATE: Final = "/quota/maxQueriesPerSecond"
_TASKS: Final = "/task/taskTypeConfigsMap"
_SERVER_TAG: Final = re.compile(r".*_(OFFLINE|REALTIME)")
_IMPLICIT: Final = "IMPLICIT_REALTIME_TABLE_PARTITION_SELECTOR"
_MIRROR: Final = "MIRROR_SERVER_SET_PARTITION_SELECTOR"
_TASK_TYPES: Final = words(
    "SegmentGenerationAndPushTask RealtimeToOfflineSegmentsTask MergeRollupTask PurgeTask RefreshSegmentTask "
    "UpsertCompactionTask UpsertCompactMergeTask ConvertToRawIndexTask"
)
"""The tasks that Pinot ships; another may come from a plugin."""


def tiers(table: CheckedTable) -> Iterator[Fault]:
    names: set[str] = set()
    for place, tier in table.objects(_TIERS):
        name, kind, age, storage, tag = (tier.get(key) for key in _TIER_KEYS)
        if name == "":
            yield Fault(f"{place}/name", "the name of a tier is empty")
        elif name in names:
            yield Fault(f"{place}/name", f"a second tier named {name}")
        names.add(str(name))
        if kind is not None and str(kind).lower() not in ("time", "fixed"):
            yield Fault(place, f"unknown segmentSelectorType '{kind}': use time or fixed")
        elif str(kind).lower() == "time" and period_millis(str(age)) is None:
            yield Fault(place, f"segmentAge is a period such as 30d or 24h, not {_shown(age)}")
        if storage is not None and str(storage).lower() != "pinot_server":
            yield Fault(place, f"unknown storageType '{storage}': use pinot_server")
        elif storage is not None and not _SERVER_TAG.fullmatch(str(tag)):
            yield Fault(place, f"serverTag ends in _OFFLINE or _REALTIME, not {_shown(tag)}")


def _shown(value: object) -> str:
    return "nothing" if value is None else f"'{value}'"


def instances(table: CheckedTable) -> Iterator[Fault]:
    """Instances are assigned, or taken from partitions that exist; a mirror needs both."""
    partitions = table.value("/instancePartitionsMap") or {}
    strategy = table.value("/segmentsConfig/replicaGroupStrategyConfig")
    for place, assignment in table.objects(_ASSIGNMENTS):
        kind, groups = place.rpartition("/")[2], assignment.get("replicaGroupPartitionConfig")
        mirrored = assignment.get("partitionSelector") == _MIRROR
        if partitions and mirrored and kind not in partitions:
            yield Fault(place, f"{_MIRROR} needs {kind} in instancePartitionsMap as well")
        if not mirrored and kind in partitions:
            yield Fault(place, f"{kind} is in instancePartitionsMap as well: keep one")
        if strategy is not None and isinstance(groups, Mapping):
            at = f"{place}/replicaGroupPartitionConfig"
            yield Fault(at, "replicaGroupStrategyConfig is there as well: keep one")
        if assignment.get("partitionSelector") != _IMPLICIT or not isinstance(groups, Mapping):
            continue
        for wrong, reason in (
            (not table.realtime, "needs a REALTIME table"),
            (kind.upper() != "CONSUMING", "is for CONSUMING instances only"),
            (not groups.get("replicaGroupBased"), "needs replicaGroupBased"),
            (bool(groups.get("numPartitions")), "excludes numPartitions"),
            (groups.get("numInstancesPerPartition") not in (None, 0, 1), "allows one instance per partition"),
        ):
            if wrong:
                yield Fault(place, f"{_IMPLICIT} {reason}")


def limits(table: CheckedTable) -> Iterator[Fault]:
    storage, rate = table.value("/quota/storage"), table.value(_RATE)
    if storage is not None and not is_data_size(str(storage)):
        yield Fault("/quota/storage", f"storage is a size such as 100G, not '{storage}'")
    if rate is not None and table.number(_RATE) <= 0:
        yield Fault(_RATE, f"maxQueriesPerSecond is a number above 0, not '{rate}'")
    for key in ("timeoutMs", "maxQueryResponseSizeBytes", "maxServerResponseSizeBytes"):
        if table.value(f"/query/{key}") is not None and table.number(f"/query/{key}") <= 0:
            yield Fault(f"/query/{key}", f"{key} is a number above 0")


def tasks(table: CheckedTable) -> Iterator[Fault]:
    peer = table.value("/segmentsConfig/peerSegmentDownloadScheme")
    for place, name in table.keys(_TASKS):
        if name not in _TASK_TYPES:
            message = f"task {name} is not one that Pinot ships, so it is not checked"
            yield Fault(place, message, unchecked=True)
        schedule = table.value(f"{place}/schedule")
        problem = "" if schedule is None else cron_problem(str(schedule))
        if problem:
            yield Fault(f"{place}/schedule", f"'{schedule}' is not a schedule of Quartz: {problem}")
        if table.flag(f"{place}/allowDownloadFromServer") and peer is None:
            yield Fault(place, "allowDownloadFromServer needs segmentsConfig.peerSegmentDownloadScheme")
    merging = f"{_TASKS}/UpsertCompactMergeTask/minNumSegmentsPerTask"
    both = table.value(f"{_TASKS}/UpsertCompactionTask") is not None and table.value(merging) is not None
    if both and table.number(merging) <= 1:
        message = "minNumSegmentsPerTask is above 1 beside UpsertCompactionTask, which would do the same work"
        yield Fault(merging, message)


RULES: Final[tuple[Rule, ...]] = (
    names,
    dimension_table,
    peer_download,
    push_type,
    retention,
    tiers,
    instances,
    limits,
    tasks,
)
