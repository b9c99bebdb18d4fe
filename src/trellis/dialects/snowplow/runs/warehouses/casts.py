"""Texts of staged rows as values of their columns: what is cast, what is cut, what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trellis.destinations.sql.names import quoted
from trellis.dialects.snowplow.columns.overlay import parse_type
from trellis.dialects.snowplow.columns.profiles import catalog_column, describe_values
from trellis.dialects.snowplow.runs.warehouses.base import CopyColumn

Validity = Callable[[CopyColumn], str]
"""The condition under which the text in a column can be converted into its type."""
BEGIN_OF_VALUE = "'^([-+]?[.0-9]|true$|false$)'"
"""Not that of words that warehouses take for numbers and times: nan, infinity, now, yesterday."""


@dataclass(frozen=True)
class Misfit:
    """Texts that a column does not take, or not whole."""

    column: CopyColumn
    condition: str
    reason: str


def value_of(column: CopyColumn, validity: Validity) -> str:
    """The expression of the value that a text becomes; NULL for one that does not fit."""
    if column.is_text:
        name = quoted(column.source)
        return f"left({name}, {column.length})" if column.length else name
    return f"CASE WHEN {validity(column)} THEN {fitting_value_of(column)} END"


def fitting_value_of(column: CopyColumn) -> str:
    """The expression of the value of a text that fits."""
    name = quoted(column.source)
    if column.is_text:
        return name
    text = f"{name}::timestamptz" if column.type == "TIMESTAMP" else name
    return f"CAST({text} AS {column.type})"


def misfits_of(columns: Sequence[CopyColumn], validity: Validity) -> list[Misfit]:
    """Those of columns that do not take all texts."""
    misfits = []
    for column in columns:
        name = quoted(column.source)
        if not column.is_text:
            condition = f"{name} IS NOT NULL AND NOT ({validity(column)})"
            values = describe_values(catalog_column(parse_type(column.type)))
            misfits.append(Misfit(column, condition, f"not {values}"))
        elif column.length:
            condition = f"length({name}) > {column.length}"
            misfits.append(Misfit(column, condition, f"cut to {column.length} characters"))
    return misfits
