"""Columns and conversions in one line, for the tests of values."""

from __future__ import annotations

from typing import Any

from trellis.dialects.pinot.conversion.converter import converter
from trellis.dialects.pinot.conversion.settings import PINOT_DEFAULTS, LossCounts, Settings
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType


def column(target: str, **keys: Any) -> FieldSpec:
    """`INT`, or `INT[]` for several values."""
    data_type = PinotType(target.removesuffix("[]"))
    role = FieldType.COMPLEX if data_type is PinotType.MAP else FieldType.DIMENSION
    return FieldSpec("c", data_type, role, single_value=not target.endswith("[]"), **keys)


def convert(
    value: Any, target: str, settings: Settings = PINOT_DEFAULTS, losses: LossCounts | None = None
) -> Any:
    return converter(column(target), settings, losses)(value)
