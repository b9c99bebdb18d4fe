"""A pipeline into a DuckDB file, looked at as a user does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import trellis
from trellis.pipelines.report import Report
from trellis.schema.model import Schema

Rows = list[dict[str, Any]]
Opens = Callable[..., "Warehouse"]


class Warehouse:
    """A pipeline, and short questions to its schema and to the tables it filled."""

    def __init__(self, path: Path, name: str = "farm") -> None:
        self.path = path
        self.pipeline = trellis.pipeline(name, to=f"duckdb:{path}")

    def load(self, *records: Any, table: str = "t", **options: Any) -> Report:
        """Load the records in one go."""
        return self.pipeline.load(list(records), table=table, **options)

    @property
    def schema(self) -> Schema:
        return self.pipeline.schema

    def columns(self, table: str = "t", system: bool = False) -> dict[str, str | None]:
        """The columns of the schema with their types, in order."""
        definitions = self.schema.tables[table].columns.values()
        return {c.name: c.data_type for c in definitions if system or not c.name.startswith("_dlt")}

    def rows(self, table: str = "t") -> Rows:
        """The values in the columns that are not bookkeeping, row by row."""
        return [
            {name: value for name, value in row.items() if not name.startswith("_dlt")}
            for row in self.raw(table)
        ]

    def values(self, column: str, table: str = "t") -> list[Any]:
        return [row[column] for row in self.raw(table)]

    def raw(self, table: str = "t") -> Rows:
        return self.pipeline.destination.query("main", table)

    def types(self, table: str = "t") -> dict[str, str]:
        """The columns as DuckDB has them."""
        return dict(self.pipeline.destination.catalog("main")[table].columns)

    @property
    def tables(self) -> set[str]:
        """The tables of data in the file."""
        return {name for name in self.pipeline.destination.catalog("main") if not name.startswith("_")}
