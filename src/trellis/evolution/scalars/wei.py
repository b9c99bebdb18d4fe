"""How many digits a column of wei holds, and what follows from that.

A column holds the digits that it declares, or else those that its destination gives every wei: 38 by default,
78 before and 78 after the point in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from trellis.evolution.scalars.coerce import coercer
from trellis.evolution.scalars.kinds import Kind
from trellis.evolution.scalars.values import MISFIT, WEI_SIZE
from trellis.schema.model import Column, Schema, number_size

Size = tuple[int, int]
"""Precision and scale."""


def with_default_precision(schema: Schema, default: Size) -> Schema:
    """The schema with a precision for every column of wei: for a load only, it is not stored."""
    if default == WEI_SIZE:
        return schema
    changed = []
    for table in schema.tables.values():
        columns = [_sized(column, default) for column in table.columns.values() if column.data_type == "wei"]
        if columns:
            changed.append(table.with_columns(*columns))
    return schema.with_tables(*changed)


def _sized(column: Column, default: Size) -> Column:
    precision, scale = number_size(column, default)
    return replace(column, precision=precision, scale=scale)


def with_room(kind_of: Callable[[Any], Kind], size: Size) -> Callable[[Any], Kind]:
    """`kind_of` for columns of wei of this size: a wider column takes more numbers than the default one."""
    if size == WEI_SIZE:
        return kind_of
    convert = coercer("wei", precision=size[0], scale=size[1])

    def widened(value: Any) -> Kind:
        kind = kind_of(value)
        is_settled = "wei" in kind.fits or "double" not in kind.fits  # what fits wei fits double too
        return kind if is_settled or convert(value) is MISFIT else _fitting_wei(kind)

    return widened


@cache
def _fitting_wei(kind: Kind) -> Kind:
    return replace(kind, fits=kind.fits | {"wei"})
