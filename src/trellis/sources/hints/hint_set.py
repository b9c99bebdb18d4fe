"""The hints of a resource and those of single tables among the ones it fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from trellis.errors import UsageError
from trellis.schema.model import NOTHING
from trellis.sources.hints.hints import Hints, changed


@dataclass(frozen=True)
class HintSet:
    """`common` are the hints of the resource; `variants` hold instead of them for the tables named."""

    common: Hints
    variants: Mapping[str, Hints] = field(default_factory=lambda: NOTHING)

    def changed(self, resource: str, hints: Mapping[str, Any], variant: bool = False) -> HintSet:
        """After what is said now, of the resource or of the table named."""
        if not variant:
            return replace(self, common=changed(self.common, resource, hints))
        name = hints.get("table_name")
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"resource {resource}: create_table_variant= needs table_name= as text")
        if hints.get("incremental") is not None:
            raise UsageError(
                f"resource {resource}: the variant of table {name} has incremental=, but a cursor belongs to"
                " the resource: leave create_table_variant= out"
            )
        if functions := [
            key for key, value in hints.items() if callable(value) and not isinstance(value, type)
        ]:
            raise UsageError(
                f"resource {resource}: {functions[0]}= of the variant of table {name} is a function, but a"
                " variant is for one table: give a value"
            )
        variant_hints = changed(
            self.variants.get(name) or replace(static(self.common), incremental=None, model=None),
            resource,
            hints,
        )
        return replace(self, variants={**self.variants, name: variant_hints})

    def of(self, table_name: str) -> Hints:
        """The hints that hold for this table."""
        return self.variants.get(table_name, self.common)


def static(hints: Hints) -> Hints:
    """The hints without those that are functions."""
    functions = [field_.name for field_ in fields(hints) if field_.name != "model"]
    return replace(hints, **{name: None for name in functions if callable(getattr(hints, name))})
