"""The rows of a resource, divided by the tables they go to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from trellis.engine.input.python_values import mapping_of
from trellis.errors import SchemaError, UsageError
from trellis.sources.cursors.frames import library_of, rows_in
from trellis.sources.extraction.spool import Spool
from trellis.sources.extraction.validation import Dropped
from trellis.sources.files import Files
from trellis.sources.hints.hint_set import HintSet, static
from trellis.sources.hints.hints import for_item
from trellis.sources.hints.table_hints import Declared, declare
from trellis.sources.steps import Page

Form = Literal["records", "pieces", "whole"]


@dataclass
class Part:
    """The rows for one root table of one resource, in the order they came.

    `form` says what `source` is: `records`, a re-iterable of dicts; `pieces`, a re-iterable of tables, frames
    or files; `whole`, one of these as the user gave it. `dropped_items` are those that a model turned away,
    `removed_values` those of items that stay.
    """

    resource: str
    table_name: str
    source: Any
    declared: Declared
    form: Form = "records"
    dropped_items: Spool = field(default_factory=lambda: Spool(item_class=Dropped))
    removed_values: Spool = field(default_factory=lambda: Spool(item_class=Dropped))

    @property
    def dropped(self) -> int:
        """How many items a model turned away."""
        return len(self.dropped_items)


def is_typed(item: Any) -> bool:
    """Whether it is many rows, with types of their own."""
    return isinstance(item, Files) or library_of(item) is not None


def record_of(item: Any) -> dict[Any, Any]:
    """The item as a record: what is no mapping stands under `value`."""
    mapping = mapping_of(item)
    return {"value": item} if mapping is None else mapping


class Sorter:
    """Takes the pages of one resource and makes its parts."""

    def __init__(self, resource: str, hints: HintSet) -> None:
        self.resource = resource
        self.hints = hints
        self.parts: dict[tuple[str, Form], Part] = {}
        self._declared: dict[str, Declared] = {}
        self._stale: set[str] = set()

    def take(self, page: Page) -> None:
        target = self._said(page)
        if page.materialize:
            name = target or self._static("mark.materialize_table_schema")
            self._declare(name, None)
            self._declared[name] = replace(self._declared[name], materialize=True)
            self._part(name, "records")
        for item in page.items:
            self._add(item, target)

    def drop(self, dropped: Dropped, page: Page) -> None:
        """Count an item that was turned away under the table that it was for."""
        name = page.mark.table_name if page.mark is not None else None
        if name is None:
            name = self._name_or_none(dropped.item) or self.resource
        self._declare(name, None)
        part = self._part(name, "records")
        (part.removed_values if dropped.key else part.dropped_items).append(dropped)

    def finished(self) -> list[Part]:
        """All parts; one without rows where nothing came and the table is known."""
        if not self.parts and not callable(self.hints.common.table_name):
            name = self._static("")
            self._declare(name, None)
            self._part(name, "records")
        for (name, _), part in self.parts.items():
            part.declared = self._declared[name]
        return list(self.parts.values())

    def _said(self, page: Page) -> str | None:
        """Take the hints that came with a page; the table that it is for, if that was said."""
        mark = page.mark
        if mark is None:
            return None
        if mark.hints is not None:
            self.hints = self.hints.changed(self.resource, mark.hints, mark.create_table_variant)
            self._stale.update(self._declared)
            if mark.create_table_variant:
                return str(mark.hints["table_name"])
        return mark.table_name

    def _add(self, item: Any, target: str | None) -> None:
        name = target or self._name(item)
        self._declare(name, item)
        if is_typed(item):
            self._part(name, "pieces").source.append(item, rows_in(item) if not _stays(item) else 0)
        else:
            self._part(name, "records").source.append(record_of(item))

    def _name(self, item: Any) -> str:
        table_name = self.hints.common.table_name
        if not callable(table_name):
            return str(table_name or self.resource)
        name = table_name(item)
        if not isinstance(name, str) or not name.strip():
            raise SchemaError(
                f"resource {self.resource}: table_name= gave {name!r} for {str(item)[:80]}; it must give"
                " a name"
            )
        return name

    def _name_or_none(self, item: Any) -> str | None:
        try:
            return self._name(item)
        except Exception:  # the function was made for items that are valid
            return None

    def _static(self, what: str) -> str:
        table_name = self.hints.common.table_name
        if callable(table_name):
            raise UsageError(
                f"resource {self.resource}: {what} does not tell its table, for table_name= is a function;"
                " wrap it in mark.with_table_name"
            )
        return str(table_name or self.resource)

    def _declare(self, name: str, item: Any) -> None:
        """Find out what is said of a table, once, or for every item that may say something else."""
        hints = self.hints.of(name)
        known = self._declared.get(name)
        if known is not None and name not in self._stale and not (hints.dynamic and item is not None):
            return
        if hints.dynamic and item is None:
            hints = static(hints)
        declared = declare(for_item(hints, self.resource, item), self.resource, name)
        if name in self.hints.variants:
            declared = replace(declared, table=declared.table.with_hints(variant_name=name))
        self._stale.discard(name)
        self._declared[name] = (
            declared if known is None else known.merged(declared) if known != declared else known
        )

    def _part(self, name: str, form: Form) -> Part:
        part = self.parts.get((name, form))
        if part is None:
            part = Part(self.resource, name, Spool(), self._declared[name], form)
            self.parts[(name, form)] = part
        return part


def _stays(item: Any) -> bool:
    """Whether it cannot be written into a temporary file, or need not."""
    return isinstance(item, Files) or library_of(item) == "pyspark"


def as_given(resource: str, hints: HintSet, data: Any) -> Part | None:
    """The part of rows that are taken as they are: a table, a frame, files or a list of dicts; else None."""
    common = hints.common
    if callable(common.table_name) or common.model is not None:
        return None
    if is_typed(data):
        form: Form = "whole"
    elif isinstance(data, (list, tuple)) and _all_records(data):
        form = "records"
    else:
        return None
    name = str(common.table_name or resource)
    return Part(resource, name, data, declare(common, resource, name), form)


def _all_records(data: Iterable[Any]) -> bool:
    return all(type(item) is dict for item in data)
