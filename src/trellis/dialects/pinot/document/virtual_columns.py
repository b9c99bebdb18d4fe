"""The virtual columns of every table (`VirtualColumnProviderFactory`)."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
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


def built_in(profile: Profile = BASE) -> tuple[FieldSpec, ...]:
    """The virtual columns of every table: dimensions, not in `SELECT *`.

    >>> [column.name for column in built_in()]
    ['$docId', '$hostName', '$segmentName']
    """
    return _BASE + _EXTENDED if profile.extended else _BASE


def reserved(profile: Profile = BASE) -> frozenset[str]:
    """The names that no column may have; none in the profile `base`, where a column of that name wins."""
    return frozenset(each.name for each in built_in(profile)) if profile.extended else frozenset()


def virtual_columns(schema: PinotSchema, profile: Profile = BASE) -> tuple[FieldSpec, ...]:
    """The virtual columns that the table has: the built-in ones whose names its schema does not use."""
    used = {each.name for each in schema.specs()} | ({schema.time.column.name} if schema.time else set())
    return tuple(each for each in built_in(profile) if each.name not in used)
