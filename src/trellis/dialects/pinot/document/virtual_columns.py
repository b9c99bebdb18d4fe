"""The virtual columns of every table (`VirtualColumnProviderFactory`)."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import BASE, PinotType, Profile

_PACKAGE: Final = "org.apache.pinot.segment.local.segment"


def _column(name: str, data_type: PinotType, provider: str, single_value: bool = True) -> FieldSpec:
    return FieldSpec(
        name,
        data_type,
        single_value=single_value,
        virtual_provider=f"{_PACKAGE}.{provider}VirtualColumnProvider",
    )


_BASE: Final = (
    _column("$docId", PinotType.INT, "virtualcolumn.DocId"),
    _column("$hostName", PinotType.STRING, "index.column.DefaultNullValue"),
    _column("$segmentName", PinotType.STRING, "index.column.DefaultNullValue"),
)
_EXTENDED: Final = (
    _column("$partitionId", PinotType.STRING, "virtualcolumn.PartitionId", single_value=False),
    _column("$creationTime", PinotType.TIMESTAMP, "virtualcolumn.SegmentCreationTime"),
    _column("$startTime", PinotType.TIMESTAMP, "virtualcolumn.SegmentStartTime"),
    _column("$endTime", PinotType.TIMESTAMP, "virtualcolumn.SegmentEndTime"),
    _column("$totalDocs", PinotType.INT, "virtualcolumn.SegmentTotalDocs"),
    _column("$crc", PinotType.LONG, "virtualcolumn.SegmentCrc"),
)


def built_in_columns(profile: Profile = BASE) -> tuple[FieldSpec, ...]:
    """The virtual columns of every table: dimensions, not in `SELECT *`.

    >>> [column.name for column in built_in_columns()]
    ['$docId', '$hostName', '$segmentName']
    """
    return _BASE + _EXTENDED if profile.extended else _BASE


def reserved_names(profile: Profile = BASE) -> frozenset[str]:
    """The names that no column may have; in the profile `base` a column may hide a virtual one."""
    return frozenset(column.name for column in built_in_columns(profile)) if profile.extended else frozenset()
