"""What a resource yields to say more of an item than the item itself: its table, its hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trellis.errors import UsageError
from trellis.sources.hints.hints import Hints, hints_of, nested_of


@dataclass(frozen=True)
class Marked:
    """An item, or a list of items, with the table it goes to or with new hints."""

    data: Any
    table_name: str | None = None
    hints: Mapping[str, Any] | None = None
    create_table_variant: bool = False

    def within(self, outer: Marked | None) -> Marked:
        """This mark with what the mark around it adds."""
        if outer is None:
            return self
        hints = {**(outer.hints or {}), **(self.hints or {})} or None
        variant = self.create_table_variant or outer.create_table_variant
        return Marked(self.data, self.table_name or outer.table_name, hints, variant)


class Materialize(list[Any]):
    """No rows, but the table is wanted with all its declared columns."""


def with_table_name(item: Any, table_name: str) -> Marked:
    """The item for this table instead of the one the resource names."""
    if not isinstance(table_name, str) or not table_name.strip():
        raise UsageError(f"mark.with_table_name: the table is {table_name!r}: give its name")
    return Marked(item, table_name)


def with_hints(item: Any, hints: Mapping[str, Any], create_table_variant: bool = False) -> Marked:
    """The item, and hints that hold from it on: for the resource, or only for the table that they name."""
    if not isinstance(hints, Mapping):
        raise UsageError("mark.with_hints: give hints made with mark.make_hints(...)")
    if create_table_variant and not isinstance(hints.get("table_name"), str):
        raise UsageError("mark.with_hints: create_table_variant= needs table_name= in the hints, as text")
    return Marked(item, None, hints, create_table_variant)


def make_hints(**hints: Any) -> dict[str, Any]:
    """Hints for `with_hints`: those that `resource` takes. Raises UsageError and SchemaError."""
    hints_of("of mark.make_hints", hints)
    return {name: value for name, value in hints.items() if value is not None}


def make_nested_hints(**hints: Any) -> Hints:
    """Hints of one nested table, for `nested_hints=`. A primary_key or merge_key makes it stand alone."""
    return nested_of("of mark.make_nested_hints", "it", hints)


def materialize_table_schema() -> Materialize:
    """Yield it to have the table made even if no row comes."""
    return Materialize()
