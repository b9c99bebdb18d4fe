"""The table itself: its name, replicas, push type and retention, and what a dimension table needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trellis.dialects.pinot.date_time.units import UNITS
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule
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


RULES: Final[tuple[Rule, ...]] = (names, dimension_table, peer_download, push_type, retention)
