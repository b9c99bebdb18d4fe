"""Tables of any catalog of a Spark session, by its SQL and the commits of their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from trellis.destinations.base import CatalogTable, CommitConflict
from trellis.destinations.lake.formats import TableFormat
from trellis.destinations.lake.merge_source import MergeSource
from trellis.destinations.lake.spark_sql import SparkStatements, spark_literal
from trellis.destinations.lake.staged import DataFile
from trellis.destinations.lake.store import CommitLabel, LabelConflict, TableName
from trellis.destinations.sql.names import alias_prefix
from trellis.engine.staging.stage import GROUP_ROWS
from trellis.schema.model import Table
from trellis.warehouses import statements as sql
from trellis.warehouses.identifiers import BACKTICKS
from trellis.warehouses.statements import ColumnDefinition
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATIC_OVERWRITE = {"spark.sql.sources.partitionOverwriteMode": "static"}


class SparkStore:
    """`catalog_name` is a catalog of the session, `where` the place for messages."""

    def __init__(
        self,
        catalog_name: str,
        where: str,
        warehouse: Warehouse,
        open_session: Callable[[], SparkSession],
        format_of: Callable[[SparkSession], TableFormat],
    ) -> None:
        self.catalog_name = catalog_name
        self.where = where
        self.warehouse = warehouse
        self._open_session = open_session
        self._format_of = format_of

    @cached_property
    def _spark(self) -> SparkStatements:
        return self.statements()

    @cached_property
    def _format(self) -> TableFormat:
        """Raises DestinationError where the session has no such catalog."""
        return self._format_of(self._spark.session)

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        if not self._exists(dataset):
            return {}
        rows = self._spark.run(f"SHOW TABLES IN {self._namespace(dataset)}")
        names = sorted(row["tableName"] for row in rows if not row["isTemporary"])
        return {name: self._describe(TableName(dataset, name)) for name in names}

    def scan(
        self, name: TableName, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        selected = "*" if columns is None else ", ".join(map(BACKTICKS.quote, columns))
        limited = "" if limit is None else f" LIMIT {int(limit)}"
        rows = self._spark.query(f"SELECT {selected} FROM {self.sql_name(name)}{limited}")
        with self._spark.explained():
            table = rows.toArrow()
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(GROUP_ROWS))

    def count_rows(self, name: TableName) -> int:
        return int(self._spark.run(f"SELECT count(*) FROM {self.sql_name(name)}")[0][0])

    def version(self, name: TableName) -> str:
        commits = self._history(name)
        return str(commits[0][self._format.version_column]) if commits else ""

    def sql_name(self, name: TableName) -> str:
        return f"{self._namespace(name.dataset)}.{BACKTICKS.quote(name.table)}"

    def statements(self) -> SparkStatements:
        return SparkStatements(self._open_session, self.where)

    def settings(self, label: CommitLabel) -> Mapping[str, str]:
        return self._format.settings(label)

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        self._spark.run(f"CREATE NAMESPACE IF NOT EXISTS {self._namespace(name.dataset)}")
        columns = table.complete_columns
        definitions = [ColumnDefinition(c.name, types[c.name], c.required) for c in columns]
        if self._spark.session.catalog.tableExists(self.sql_name(name)):
            raise CommitConflict
        self._spark.run(sql.create_table(self._format.warehouse, self.sql_name(name), definitions))

    def add_columns(self, name: TableName, types: Mapping[str, str]) -> None:
        definitions = [ColumnDefinition(column, type_) for column, type_ in types.items()]
        for statement in sql.add_columns(self._format.warehouse, self.sql_name(name), definitions):
            self._spark.run(statement)

    def change_rows(self, name: TableName, types: Mapping[str, str], values: Mapping[str, pa.Scalar]) -> None:
        columns, table = self._describe(name).columns, self.sql_name(name)
        if all((columns[column], type_) in self._format.widenings for column, type_ in types.items()):
            for column, type_ in types.items():
                self._spark.run(f"ALTER TABLE {table} ALTER COLUMN {BACKTICKS.quote(column)} TYPE {type_}")
            if values:
                assigned = (f"{BACKTICKS.quote(c)} = {spark_literal(v)}" for c, v in values.items())
                self._spark.run(f"UPDATE {table} SET {', '.join(assigned)}")
            return
        shown = {column: BACKTICKS.quote(column) for column in columns}
        changed = {column: f"CAST({shown[column]} AS {type_})" for column, type_ in types.items()}
        changed |= {column: spark_literal(value) for column, value in values.items()}
        selected = ", ".join(f"{changed.get(column, name_)} AS {name_}" for column, name_ in shown.items())
        create = sql.create_table(self._format.warehouse, table, []).replace(" ()", "")
        replace = create.replace("CREATE TABLE", "CREATE OR REPLACE TABLE", 1)
        self._spark.run(f"{replace} AS SELECT {selected} FROM {table}")

    def drop_table(self, name: TableName) -> None:
        self._spark.run(f"DROP TABLE {self.sql_name(name)}")

    def has_label(self, name: TableName, label: CommitLabel) -> bool:
        column = self._format.label_column
        return any((commit[column] or "").split("\n")[0] == label.text for commit in self._history(name))

    def write_files(
        self,
        name: TableName,
        files: Sequence[DataFile],
        label: CommitLabel,
        *,
        overwrite: bool = False,
        unique: Sequence[str] = (),
    ) -> None:
        table, types = self.sql_name(name), self._describe(name).columns
        settings = {**self.settings(label), **_STATIC_OVERWRITE}
        prefix = alias_prefix(types)
        view = self._spark.stage("written", files, types, f"{prefix}place")
        listed = ", ".join(map(BACKTICKS.quote, types))
        rows = f"SELECT {listed} FROM {view}"
        try:
            if unique:
                source = MergeSource(unique, [*types], kept=rows)
                self._spark.run(source.statement(table, prefix), settings)
            elif overwrite:
                self._spark.run(f"INSERT OVERWRITE {table} {rows}", settings)
            else:
                self._spark.run(f"INSERT INTO {table} ({listed}) {rows}", settings)
        finally:
            self._spark.drop_views()
        if unique and not self.has_label(name, label):
            raise LabelConflict

    def _exists(self, dataset: str) -> bool:
        self._format_of(self._spark.session)
        with self._spark.explained():
            return bool(self._spark.session.catalog.databaseExists(self._namespace(dataset)))

    def _history(self, name: TableName) -> Sequence[Mapping[str, str]]:
        rows = self._spark.run(self._format.history.format(table=self.sql_name(name)))
        return [row.asDict() for row in rows]

    def _describe(self, name: TableName) -> CatalogTable:
        with self._spark.explained():
            schema = self._spark.session.table(self.sql_name(name)).schema
        columns = {field.name: _name_of(field.dataType.simpleString()) for field in schema}
        return CatalogTable(
            name.table,
            columns,
            {column: self.warehouse.data_type(type_) for column, type_ in columns.items()},
            required=[field.name for field in schema if not field.nullable],
        )

    def _namespace(self, dataset: str) -> str:
        return f"{BACKTICKS.quote(self.catalog_name)}.{BACKTICKS.quote(dataset)}"


def _name_of(type_: str) -> str:
    """A type as statements name it; the names of fields keep their case."""
    return type_ if "<" in type_ else type_.upper()
