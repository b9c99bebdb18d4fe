"""The statements that make and alter tables, as each warehouse wants them (spec rudderstack.md, 6 and 7).

Text only; nothing is run. Names and types come in as `Names` and type inference make them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from trellis.dialects.rudderstack.standard import DISCARDS, USERS
from trellis.dialects.rudderstack.warehouses import Neutral, Provider

Columns = Sequence[tuple[str, Neutral]]

MAX_ADDED = 100
"""Columns that one statement adds, where the warehouse takes several."""


def create_schema(provider: Provider, dataset: str) -> str:
    return _sql(provider).create_schema(dataset)


def create_table(provider: Provider, dataset: str, table: str, columns: Columns) -> str:
    """A table of at least one column.

    >>> from trellis.dialects.rudderstack.warehouses import provider_of
    >>> create_table(provider_of("POSTGRES"), "shop", "pages", [("id", "string"), ("name", "string")])
    'CREATE TABLE IF NOT EXISTS "shop"."pages" ("id" text, "name" text)'
    """
    return _sql(provider).create_table(dataset, table, columns)


def add_columns(provider: Provider, dataset: str, table: str, columns: Columns) -> list[str]:
    sql = _sql(provider)
    chunks = (columns[i : i + sql.at_once] for i in range(0, len(columns), sql.at_once))
    return [sql.add_columns(dataset, table, chunk) for chunk in chunks]


def widen(provider: Provider, dataset: str, table: str, columns: Iterable[str], tag: str) -> list[str]:
    """Make text of string columns; nothing where a string is as long as a text anyway.

    `tag` is a UUID: Redshift needs names for the moment that are nobody else's. There the last statement of
    each column fails if a view depends on it; the old column then stays, as `<column>-deprecated-<tag>`.
    """
    return list(chain.from_iterable(_sql(provider).widen(dataset, table, name, tag) for name in columns))


class _Sql:
    """What most warehouses say; what one says differently is in a class below."""

    schema = "CREATE SCHEMA IF NOT EXISTS"
    table = "CREATE TABLE IF NOT EXISTS"
    add = "ADD COLUMN IF NOT EXISTS {}"
    add_all = "{}"
    at_once = MAX_ADDED

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def qualified(self, dataset: str, table: str) -> str:
        return f"{self.quoted(dataset)}.{self.quoted(table)}"

    def type(self, neutral: Neutral) -> str:
        return self.provider.types[neutral]

    def column(self, table: str, name: str, neutral: Neutral) -> str:
        return f"{self.quoted(name)} {self.type(neutral)}"

    def columns(self, table: str, columns: Columns) -> list[str]:
        return [self.column(table, *each) for each in columns]

    def storage(self, table: str, names: Sequence[str]) -> list[str]:
        """The clauses behind the columns of a new table."""
        return []

    def create_schema(self, dataset: str) -> str:
        return f"{self.schema} {self.quoted(dataset)}"

    def create_table(self, dataset: str, table: str, columns: Columns) -> str:
        listed = ", ".join(self.columns(table, columns))
        clauses = self.storage(table, [name for name, _ in columns])
        return " ".join((self.table, self.qualified(dataset, table), f"({listed})", *clauses))

    def add_columns(self, dataset: str, table: str, columns: Columns) -> str:
        added = ", ".join(self.add.format(self.column(table, *each)) for each in columns)
        return f"ALTER TABLE {self.qualified(dataset, table)} {self.add_all.format(added)}"

    def widen(self, dataset: str, table: str, column: str, tag: str) -> list[str]:
        return []


class _Redshift(_Sql):
    add = "ADD COLUMN {}"
    at_once = 1
    longest = 127

    def storage(self, table: str, names: Sequence[str]) -> list[str]:
        clauses = {"id": "DISTSTYLE KEY DISTKEY ({})", "received_at": "SORTKEY ({})"}
        return [clause.format(self.quoted(name)) for name, clause in clauses.items() if name in names]

    def widen(self, dataset: str, table: str, column: str, tag: str) -> list[str]:
        alter = f"ALTER TABLE {self.qualified(dataset, table)}"
        update = f"UPDATE {self.qualified(dataset, table)}"
        name, text = self.quoted(column), self.type("text")
        staging, deprecated = (self._tagged(column, what, tag) for what in ("staging", "deprecated"))
        return [
            f"{alter} ADD COLUMN {staging} {text}",
            f"{update} SET {staging} = CAST({name} AS {text}) WHERE {name} IS NOT NULL",
            f"{alter} RENAME COLUMN {name} TO {deprecated}",
            f"{alter} RENAME COLUMN {staging} TO {name}",
            f"{alter} DROP COLUMN {deprecated}",
        ]

    def _tagged(self, column: str, what: str, tag: str) -> str:
        """Where it would be too long, only the start of the column's name is in it."""
        end = f"-{what}-{tag}"
        return self.quoted(column[: self.longest - len(end)] + end)


class _Snowflake(_Sql):
    add = "IF NOT EXISTS {}"
    add_all = "ADD COLUMN {}"


class _Escaped(_Sql):
    def quoted(self, name: str) -> str:
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


class _BigQuery(_Escaped):
    def type(self, neutral: Neutral) -> str:
        native = self.provider.types[neutral]
        return {"FLOAT": "FLOAT64"}.get(native, native)  # FLOAT is the word of the API alone

    def storage(self, table: str, names: Sequence[str]) -> list[str]:
        return ["PARTITION BY _PARTITIONDATE"]


class _ClickHouse(_Escaped):
    """Rows of equal sort keys become one in time; of users only within a partition, so they have none."""

    schema = "CREATE DATABASE IF NOT EXISTS"
    keys: Mapping[str, tuple[str, ...]] = {
        USERS: ("id",),
        DISCARDS: ("received_at", "row_id", "column_name", "table_name"),
    }
    few_values = ("event", "event_text")

    def column(self, table: str, name: str, neutral: Neutral) -> str:
        native = self.type(neutral)
        if table == USERS:
            native = f"SimpleAggregateFunction(anyLast, Nullable({native}))"
        elif name in self.few_values and native == self.type("string"):
            native = f"LowCardinality({native})"
        else:
            native = f"Nullable({native})"
        return f"{self.quoted(name)} {native}"

    def columns(self, table: str, columns: Columns) -> list[str]:
        key = self.key(table, [name for name, _ in columns])
        return [
            f"{self.quoted(name)} {self.type(neutral)}" if name in key else self.column(table, name, neutral)
            for name, neutral in columns
        ]

    def key(self, table: str, names: Sequence[str]) -> tuple[str, ...]:
        key = self.keys.get(table, ("received_at", "id"))
        return key if {*key} <= {*names} else ()

    def storage(self, table: str, names: Sequence[str]) -> list[str]:
        key = self.key(table, names)
        if not key:
            return ["ENGINE = MergeTree", "ORDER BY tuple()"]
        order = f"ORDER BY ({', '.join(map(self.quoted, key))})"
        if table == USERS:
            return ["ENGINE = AggregatingMergeTree", order]
        return ["ENGINE = ReplacingMergeTree", f"PARTITION BY toDate({self.quoted(key[0])})", order]


class _Doubled(_Sql):
    add = "{}"
    add_all = "ADD COLUMNS ({})"

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"


class _Delta(_Doubled):
    day = "event_date"

    def columns(self, table: str, columns: Columns) -> list[str]:
        declared = super().columns(table, columns)
        if self.has_day([name for name, _ in columns]):
            received = self.quoted("received_at")
            declared.append(f"{self.quoted(self.day)} DATE GENERATED ALWAYS AS (CAST({received} AS DATE))")
        return declared

    def storage(self, table: str, names: Sequence[str]) -> list[str]:
        by = [f"PARTITIONED BY ({self.quoted(self.day)})"] if self.has_day(names) else []
        return ["USING DELTA", *by]

    def has_day(self, names: Sequence[str]) -> bool:
        return "received_at" in names and self.day not in names


class _SqlServer(_Sql):
    table = "CREATE TABLE"
    add = "{}"
    add_all = "ADD {}"

    def quoted(self, name: str) -> str:
        return "[" + name.replace("]", "]]") + "]"

    def create_schema(self, dataset: str) -> str:
        statement = f"CREATE SCHEMA {self.quoted(dataset)}"  # must be alone in its batch
        return f"IF SCHEMA_ID({_text(dataset)}) IS NULL EXEC({_text(statement)})"

    def create_table(self, dataset: str, table: str, columns: Columns) -> str:
        name = _text(self.qualified(dataset, table))
        return f"IF OBJECT_ID({name}, N'U') IS NULL {super().create_table(dataset, table, columns)}"


class _Lake(_Doubled):
    table = "CREATE EXTERNAL TABLE IF NOT EXISTS"

    def storage(self, table: str, names: Sequence[str]) -> list[str]:
        return ["STORED AS PARQUET"]

    def widen(self, dataset: str, table: str, column: str, tag: str) -> list[str]:
        alter, name = f"ALTER TABLE {self.qualified(dataset, table)}", self.quoted(column)
        return [f"{alter} CHANGE COLUMN {name} {name} {self.type('text')}"]


def _text(value: str) -> str:
    return "N'" + value.replace("'", "''") + "'"


_SPOKEN: Mapping[str, type[_Sql]] = {
    "POSTGRES": _Sql,
    "RS": _Redshift,
    "SNOWFLAKE": _Snowflake,
    "SNOWPIPE_STREAMING": _Snowflake,
    "BQ": _BigQuery,
    "BQSTREAM_ALL_EVENTS": _BigQuery,
    "DELTALAKE": _Delta,
    "CLICKHOUSE": _ClickHouse,
    "MSSQL": _SqlServer,
    "AZURE_SYNAPSE": _SqlServer,
    "S3_DATALAKE": _Lake,
    "GCS_DATALAKE": _Lake,
    "AZURE_DATALAKE": _Lake,
}


def _sql(provider: Provider) -> _Sql:
    return _SPOKEN[provider.name](provider)
