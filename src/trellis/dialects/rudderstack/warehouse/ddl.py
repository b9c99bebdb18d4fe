"""The statements that create and alter tables in each warehouse.

Text only; nothing is run. Names and types come in as `Names` and type inference make them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from trellis.dialects.rudderstack.identifiers.standard import DISCARDS, USERS
from trellis.dialects.rudderstack.providers import Neutral, Provider
from trellis.schema.model import NOTHING
from trellis.warehouses import statements
from trellis.warehouses.statements import ColumnDefinition, Layout

Columns = Sequence[tuple[str, Neutral]]

MAX_ADDED = 100
"""Columns that one statement adds, where the warehouse takes several."""


def create_schema(provider: Provider, dataset: str) -> str:
    (statement,) = statements.create_schema(provider.warehouse, dataset)
    return statement


def create_table(provider: Provider, dataset: str, table: str, columns: Columns) -> str:
    """A table of at least one column.

    >>> from trellis.dialects.rudderstack.providers import provider_of
    >>> create_table(provider_of("POSTGRES"), "shop", "pages", [("id", "string"), ("name", "string")])
    'CREATE TABLE IF NOT EXISTS "shop"."pages" ("id" text, "name" text)'
    """
    tables, relation = _tables(provider), provider.warehouse.quote(dataset, table)
    layout = tables.layout(table, [name for name, _ in columns])
    definitions = tables.definitions(table, columns)
    return statements.create_table(provider.warehouse, relation, definitions, layout, if_missing=True)


def add_columns(provider: Provider, dataset: str, table: str, columns: Columns) -> list[str]:
    tables, relation = _tables(provider), provider.warehouse.quote(dataset, table)
    definitions = [tables.definition(table, *column) for column in columns]
    return statements.add_columns(
        provider.warehouse, relation, definitions, if_missing=True, at_once=MAX_ADDED
    )


def widen(provider: Provider, dataset: str, table: str, columns: Iterable[str], tag: str) -> list[str]:
    """Widen string columns to text; nothing where a string is as long as a text.

    `tag` is a UUID: Redshift needs names for the moment that are nobody else's. There the last statement of
    each column fails if a view depends on it; the old column then stays, as `<column>-deprecated-<tag>`.
    """
    return list(chain.from_iterable(_tables(provider).widen(dataset, table, name, tag) for name in columns))


class _Tables:
    """The tables of most warehouses; a subclass for each one that differs."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.warehouse = provider.warehouse

    def type(self, neutral: Neutral) -> str:
        return self.provider.types[neutral]

    def definition(self, table: str, name: str, neutral: Neutral) -> ColumnDefinition:
        return ColumnDefinition(name, self.type(neutral))

    def definitions(self, table: str, columns: Columns) -> list[ColumnDefinition]:
        """The columns of a new table."""
        return [self.definition(table, *column) for column in columns]

    def layout(self, table: str, names: Sequence[str]) -> Layout:
        return NOTHING

    def widen(self, dataset: str, table: str, column: str, tag: str) -> list[str]:
        return []


class _Redshift(_Tables):
    def layout(self, table: str, names: Sequence[str]) -> Layout:
        parts = {"cluster": "id", "sort": "received_at"}
        return {part: [self.warehouse.quote(name)] for part, name in parts.items() if name in names}

    def widen(self, dataset: str, table: str, column: str, tag: str) -> list[str]:
        relation, text = self.warehouse.quote(dataset, table), self.type("text")
        name = self.warehouse.quote(column)
        staging, deprecated = (self._tagged(column, what, tag) for what in ("staging", "deprecated"))
        return [
            f"ALTER TABLE {relation} ADD COLUMN {staging} {text}",
            f"UPDATE {relation} SET {staging} = CAST({name} AS {text}) WHERE {name} IS NOT NULL",
            f"ALTER TABLE {relation} RENAME COLUMN {name} TO {deprecated}",
            f"ALTER TABLE {relation} RENAME COLUMN {staging} TO {name}",
            f"ALTER TABLE {relation} DROP COLUMN {deprecated}",
        ]

    def _tagged(self, column: str, what: str, tag: str) -> str:
        """Where it would be too long, only the start of the column's name is in it."""
        end = f"-{what}-{tag}"
        return self.warehouse.quote(column[: self.warehouse.identifiers.max_length - len(end)] + end)


class _BigQuery(_Tables):
    def type(self, neutral: Neutral) -> str:
        native = self.provider.types[neutral]
        return {"FLOAT": "FLOAT64"}.get(native, native)  # FLOAT is the word of the API alone

    def layout(self, table: str, names: Sequence[str]) -> Layout:
        return {"partition": ["_PARTITIONDATE"]}


class _ClickHouse(_Tables):
    """Rows of equal sort keys become one in time, users only with others that were received on their day."""

    keys: Final[Mapping[str, tuple[str, ...]]] = {
        USERS: ("id",),
        DISCARDS: ("received_at", "row_id", "column_name", "table_name"),
    }
    partition = "received_at"
    few_values = ("event", "event_text")

    def definition(self, table: str, name: str, neutral: Neutral) -> ColumnDefinition:
        native = self.type(neutral)
        if table == USERS:
            merged = f"SimpleAggregateFunction(anyLast, Nullable({native}))"
            return ColumnDefinition(name, merged, required=True)
        if name in self.few_values and native == self.type("string"):
            return ColumnDefinition(name, f"LowCardinality({native})", required=True)
        return ColumnDefinition(name, native)

    def definitions(self, table: str, columns: Columns) -> list[ColumnDefinition]:
        key = self.key(table, [name for name, _ in columns])
        required = {*key, self.partition} if key else ()
        return [
            ColumnDefinition(name, self.type(neutral), required=True)
            if name in required
            else self.definition(table, name, neutral)
            for name, neutral in columns
        ]

    def key(self, table: str, names: Sequence[str]) -> tuple[str, ...]:
        key = self.keys.get(table, ("received_at", "id"))
        return key if {*key} <= {*names} else ()

    def layout(self, table: str, names: Sequence[str]) -> Layout:
        key = [self.warehouse.quote(name) for name in self.key(table, names)]
        if not key:
            return NOTHING
        engine = "AggregatingMergeTree" if table == USERS else "ReplacingMergeTree"
        partition = [f"toDate({self.warehouse.quote(self.partition)})"] if self.partition in names else []
        return {"engine": [engine], "partition": partition, "sort": key}


class _Databricks(_Tables):
    day = "event_date"

    def definitions(self, table: str, columns: Columns) -> list[ColumnDefinition]:
        definitions = super().definitions(table, columns)
        if self.has_day([name for name, _ in columns]):
            received = self.warehouse.quote("received_at")
            generated = f"GENERATED ALWAYS AS (CAST({received} AS DATE))"
            definitions.append(ColumnDefinition(self.day, "DATE", constraint=generated))
        return definitions

    def layout(self, table: str, names: Sequence[str]) -> Layout:
        return {"partition": [self.warehouse.quote(self.day)]} if self.has_day(names) else NOTHING

    def has_day(self, names: Sequence[str]) -> bool:
        return "received_at" in names and self.day not in names


class _Athena(_Tables):
    def widen(self, dataset: str, table: str, column: str, tag: str) -> list[str]:
        relation = self.warehouse.quote(dataset, table)
        return [statements.set_type(self.warehouse, relation, column, self.type("text"))]


_TABLES: Final[Mapping[str, type[_Tables]]] = {
    "redshift": _Redshift,
    "bigquery": _BigQuery,
    "clickhouse": _ClickHouse,
    "databricks": _Databricks,
    "athena": _Athena,
}


def _tables(provider: Provider) -> _Tables:
    return _TABLES.get(provider.warehouse.name, _Tables)(provider)
