"""How jobs on objects of dataclasses name the rows that they take and give."""

from __future__ import annotations

from types import GenericAlias
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class OutputRow(Generic[R]):
    """A row of a job with the number of the output that it goes to."""

    __slots__ = ("row", "table_index")

    def __init__(self, row: R, table_index: int = 0) -> None:
        self.row = row
        self.table_index = table_index


class Variant:
    """`Variant[First, Second]`: the types of the rows of several tables, in the order of the tables."""

    def __class_getitem__(cls, types: Any) -> GenericAlias:
        return GenericAlias(cls, types)
