"""Whether a property fits the column that is there (docs/conformance/snowplow.md, R-51 to R-58)."""

from __future__ import annotations

from typing import Final, Literal

from trellis.dialects.snowplow.columns.column_types import ColumnType, TypeName
from trellis.dialects.snowplow.columns.profiles import Profile

Fit = Literal["fits", "widens", "breaks"]

BARE_DECIMAL: Final = (18, 0)
"""The digits of a decimal that declares none."""
_DIGITS: Final[dict[TypeName, int]] = {"SMALLINT": 5, "INT": 10, "BIGINT": 19}
_TEXT_LENGTHS: Final[dict[TypeName, int]] = {**_DIGITS, "DATE": 10, "TIMESTAMP": 25, "BOOLEAN": 5}
_NARROWER: Final[dict[TypeName, tuple[TypeName, ...]]] = {
    "SMALLINT": ("INT", "BIGINT", "DOUBLE"),
    "INT": ("BIGINT", "DOUBLE"),
    "BIGINT": ("DOUBLE",),
    "DECIMAL": ("DOUBLE",),
}
_TEXTS: Final = frozenset[TypeName](("CHAR", "VARCHAR"))
_NUMBERS: Final = frozenset[TypeName]((*_DIGITS, "DECIMAL", "DOUBLE"))
_INEXACT: Final = frozenset[tuple[TypeName, TypeName]]((("BIGINT", "DOUBLE"), ("DECIMAL", "DOUBLE")))


def fit(old: ColumnType, new: ColumnType, profile: Profile) -> Fit:
    """Whether values of the new type go into a column of the old one, or the column can be widened for them.

    >>> from trellis.dialects.snowplow.columns.profiles import PROFILES
    >>> from trellis.dialects.snowplow.columns.column_types import INT, SMALLINT
    >>> [fit(SMALLINT, INT, PROFILES[name]) for name in ("redshift", "spark")]
    ['breaks', 'widens']
    """
    if holds(old, new):
        return "fits"
    keeps_values = {old.name, new.name} <= _TEXTS or {old.name, new.name} <= _NUMBERS
    is_exact = (old.name, new.name) not in _INEXACT
    if keeps_values and is_exact and holds(new, old) and profile.can_change(old, new):
        return "widens"
    return "breaks"


def holds(column: ColumnType, value: ColumnType) -> bool:
    """Whether a column of one type takes values of another, written as text."""
    if column == value or column.name in _NARROWER.get(value.name, ()):
        return True
    if column.name == "VARCHAR":
        length = column.size or 0
        if value.name in _TEXTS:
            return length >= (value.size or 0)
        digits = _digits(value)[0] if value.name == "DECIMAL" else _TEXT_LENGTHS.get(value.name)
        return digits is not None and length >= digits
    if column.name == "CHAR":
        return value.name == "CHAR" and (column.size or 0) >= (value.size or 0)
    if column.name == "DECIMAL":
        precision, scale = _digits(column)
        if value.name == "DECIMAL":
            needed = _digits(value)
            return precision >= needed[0] and scale >= needed[1]
        return value.name in _DIGITS and precision - scale >= _DIGITS[value.name]
    return False


def _digits(decimal: ColumnType) -> tuple[int, int]:
    return BARE_DECIMAL if decimal.size is None else (decimal.size, decimal.scale)
