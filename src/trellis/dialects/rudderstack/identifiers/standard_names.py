"""The standard tables and columns of RudderStack under their names in one warehouse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from trellis.dialects.rudderstack.identifiers.names import Names
from trellis.dialects.rudderstack.identifiers.standard import (
    DISCARD_COLUMNS,
    DISCARDS,
    MERGE_RULE_COLUMNS,
    MERGE_RULES,
    USERS,
)
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.schema_document import IDENTIFIES, MAPPINGS
from trellis.evolution.table_writes import IdentityRules
from trellis.schema.model import Column, Table

EVENT_TABLES = ("tracks", IDENTIFIES, "pages", "screens", "groups", "aliases", USERS)
_MAPPING = ("merge_property_type", "merge_property_value", "rudder_id", "updated_at")


@dataclass(frozen=True)
class StandardNames:
    """`names` of standard tables and columns; columns are looked up by their lower-case names."""

    names: Names
    has_loaded_at: bool

    @staticmethod
    @lru_cache(maxsize=64)
    def of(options: Options) -> StandardNames:
        warehouse = options.warehouse
        names = Names(
            warehouse,
            split_digits=options.underscore_divide_numbers,
            skip_escaping=options.skip_reserved_keywords_escaping,
        )
        return StandardNames(names, warehouse.loaded_at)

    def column(self, name: str) -> str:
        return self.names.standard(name)

    def columns(self, *names: str) -> tuple[str, ...]:
        return tuple(map(self.column, names))

    def table(self, name: str) -> str:
        return self.names.standard_table(name)

    @property
    def load_times(self) -> tuple[str, ...]:
        """The columns that get the time of the load."""
        return self.columns(*self._stamps)

    @property
    def standard_tables(self) -> frozenset[str]:
        return self.own_tables.union(map(self.table, EVENT_TABLES))

    @property
    def own_tables(self) -> frozenset[str]:
        """The tables that hold no events."""
        return frozenset(map(self.table, (DISCARDS, MERGE_RULES, MAPPINGS)))

    @property
    def discard_columns(self) -> tuple[str, ...]:
        return self.columns(*DISCARD_COLUMNS)

    @property
    def discard_keys(self) -> tuple[str, ...]:
        return self.columns("row_id", "column_name", "table_name")

    @property
    def rule_columns(self) -> tuple[str, ...]:
        return self.columns(*MERGE_RULE_COLUMNS)

    def discards_table(self) -> Table:
        """The discards (section 8), by the id of their row."""
        return self._table(DISCARDS, DISCARD_COLUMNS, ("received_at", *self._stamps))

    def rules_table(self) -> Table:
        return self._table(MERGE_RULES, MERGE_RULE_COLUMNS, self._stamps)

    def mappings_table(self) -> Table:
        return self._table(MAPPINGS, _MAPPING[:3], _MAPPING[3:])

    def links(self) -> IdentityRules:
        one, two, three, four = self.rule_columns
        return IdentityRules(
            self.table(MERGE_RULES),
            self.table(MAPPINGS),
            ((one, two), (three, four)),
            *self.columns(*_MAPPING),
        )

    @property
    def _stamps(self) -> tuple[str, ...]:
        return ("uuid_ts", "loaded_at") if self.has_loaded_at else ("uuid_ts",)

    def _table(self, name: str, texts: Iterable[str], times: Iterable[str]) -> Table:
        columns = [Column(column, "text", nullable=True) for column in self.columns(*texts)]
        columns += [Column(column, "timestamp", nullable=True) for column in self.columns(*times)]
        table = self.table(name)
        return Table(table, {column.name: column for column in columns}).with_hints(
            write_disposition="append", resource=table, **{"x-normalizer": {"seen-data": True}}
        )
