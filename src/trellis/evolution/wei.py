"""How wide a column of wei is, and what follows from that (spec dlt.md, sections 6 and 16).

A column holds as many digits as it declares, or else as many as its destination gives every wei: 38 where
nothing else is said, 78 before the point and 78 behind it in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from trellis.evolution.coerce import coercer
from trellis.evolution.kinds import Kind
from trellis.evolution.values import MISFIT, WEI_SIZE
from trellis.schema.model import Column, Schema, number_size

Size = tuple[int, int]
"""Precision and scale."""


def sized(schema: Schema, default: Size) -> Schema:
    """The schema with columns of wei that say how wide they are. For a load, not to be stored."""
    if default == WEI_SIZE:
        return schema
    changed = []
    for table in schema.tables.values():
        made = [_sized(column, default) for column in table.columns.values() if column.data_type == "wei"]
        if made:
            changed.append(table.with_columns(*made))
    return schema.with_tables(*changed)


def _sized(column: Column, default: Size) -> Column:
    precision, scale = number_size(column, default)
    return replace(column, precision=precision, scale=scale)


def with_room(kind_of: Callable[[Any], Kind], size: Size) -> Callable[[Any], Kind]:
    """The kinds of values where columns of wei are of this size: more numbers fit them than elsewhere."""
    if size == WEI_SIZE:
        return kind_of
    into = coercer("wei", precision=size[0], scale=size[1])

    def roomy(value: Any) -> Kind:
        kind = kind_of(value)
        is_settled = "wei" in kind.fits or "double" not in kind.fits  # every number of wei is a double, too
        return kind if is_settled or into(value) is MISFIT else _fitting_wei(kind)

    return roomy


@cache
def _fitting_wei(kind: Kind) -> Kind:
    return replace(kind, fits=kind.fits | {"wei"})
