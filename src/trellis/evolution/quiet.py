"""Decisions that many dialects do not take: rows come flat, nothing is added, nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.evolution.dialect import Catalog, RefusedTable, Request, Restored, RowKeys, State
from trellis.evolution.loading import Links
from trellis.schema.given import take
from trellis.schema.merge import drop_tables
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming
from trellis.schema.system import OURS


class FlatShape:
    """Rows come flat: the dialect has flattened what was nested when it made them."""

    def budget(self, schema: Schema, root: str) -> int:
        return 0

    def keeps_whole(self, schema: Schema, table: str, column: str, budget: int) -> bool:
        return True

    def excludes(self, schema: Schema, table: str, path: str) -> bool:
        return False


def asked_of(request: Request) -> str:
    """What of the hints of a request was said, in words; nothing if none was."""
    said = {
        "keys": request.keys,
        "merge keys": request.merge_keys,
        "a merge strategy": request.strategy,
        "columns": request.columns,
        "max_nesting": request.max_nesting is not None,
    }
    return " and ".join(name for name, each in said.items() if each)


class QuietKeep:
    """What `Keep` asks, answered by no: a dialect says what it does otherwise."""

    prefix = OURS
    follows_catalog = False
    files: tuple[str, ...] = ()

    def document(self, text: str, where: str) -> Schema | None:
        return None

    def taken(self, schema: Schema, given: Schema, naming_of: Callable[[Schema], Naming]) -> Schema:
        return take(schema, given, naming_of, self.prefix)

    def adopt(self, schema: Schema, catalog: Mapping[str, Catalog]) -> Schema:
        return schema

    def saw_data(self, table: Table) -> Table:
        return table.with_hints(**{"x-normalizer": {"seen-data": True}})

    def without(self, schema: Schema, tables: Collection[str]) -> Schema:
        return drop_tables(schema, tables)

    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        return RowKeys()

    def whole_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        return RowKeys()

    def propagated(self, schema: Schema, table: str) -> Mapping[str, str]:
        return {}

    def bookkeeping(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        return ()

    def admits(self, schema: Schema, table: str, column: str | None) -> bool:
        return True

    def overflow(self, schema: Schema, row: Mapping[str, Any], over: Mapping[str, Any]) -> tuple[str, Any]:
        raise AssertionError("nothing is over a quota where all is admitted")

    def refused(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> tuple[str, Mapping[str, Any]] | None:
        return None

    def discards(self, schema: Schema) -> RefusedTable | None:
        return None

    def restored(self, schema: Schema, kept: Mapping[str, Any]) -> Restored | None:
        return None

    def complete(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        return after

    def remarks(self, schema: Schema, roots: Sequence[str]) -> tuple[str, ...]:
        return ()

    def links(self, schema: Schema) -> Links | None:
        return None

    def filled(self, schema: Schema, now: datetime) -> Mapping[str, Mapping[str, Any]]:
        return {}

    def native(self, schema: Schema, family: str) -> Mapping[DataType, str]:
        return {}

    def ddl(
        self, before: Schema, after: Schema, dataset: str, family: str, settings: Mapping[str, Any]
    ) -> tuple[str, Sequence[str]] | None:
        return None

    def recalled(self, row: Mapping[str, Any] | None, pipeline: str, dataset: str) -> State:
        return {}

    def remembered(self, old: State, schema_name: str, sources: State | None) -> State | None:
        return None

    def root_keys(self, seed: bytes, count: int) -> list[str]:
        return []

    def hashed_keys(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
        return []

    def item_keys(self, items: Iterable[Mapping[str, Any]]) -> list[str]:
        return []

    def child_keys(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]:
        return []
