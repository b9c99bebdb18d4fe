"""The columns that every table has."""

from __future__ import annotations

from trellis.dialects.pinot.document.types import EXTENDED_PROFILE, FieldType
from trellis.dialects.pinot.document.virtual_columns import built_in_columns, reserved_names


def test_seed_p68_the_virtual_columns_are_dimensions() -> None:
    assert {column.name: column.data_type.value for column in built_in_columns()} == {
        "$hostName": "STRING",
        "$segmentName": "STRING",
        "$docId": "INT",
    }
    assert all(
        column.field_type is FieldType.DIMENSION and column.single_value for column in built_in_columns()
    )
    assert all(column.virtual for column in built_in_columns())


def test_the_extended_profile_has_more() -> None:
    more = {
        column.name: (column.data_type.value, column.single_value)
        for column in built_in_columns(EXTENDED_PROFILE)[3:]
    }
    assert more == {
        "$partitionId": ("STRING", False),
        "$creationTime": ("TIMESTAMP", True),
        "$startTime": ("TIMESTAMP", True),
        "$endTime": ("TIMESTAMP", True),
        "$totalDocs": ("INT", True),
        "$crc": ("LONG", True),
    }


def test_the_names_are_reserved_in_the_extended_profile_only() -> None:
    assert reserved_names() == frozenset()
    assert "$docId" in reserved_names(EXTENDED_PROFILE)
