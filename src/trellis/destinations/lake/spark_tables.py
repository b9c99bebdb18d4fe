"""Tables that Spark reads and changes by their names, with the commits of their format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pyarrow as pa

from trellis.destinations.base import CatalogTable, CommitConflict
from trellis.destinations.lake.formats import TableFormat
from trellis.destinations.lake.layout import TableLayout, comment_clause, properties_clause
from trellis.destinations.lake.replacement import (
    BRANCHES,
    TableReplacement,
    validated_append,
    validated_since,
)
from trellis.destinations.lake.spark_sql import SparkStatements, is_schema_conflict, spark_literal
from trellis.destinations.lake.staged import DataFile, check_columns
from trellis.destinations.lake.store import (
    CommitLabel,
    LabelConflict,
    TableAlteration,
    TableName,
    TableSize,
)
from trellis.destinations.lake.types import arrow_type_of, missing_fields
from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import alias_prefix
from trellis.engine.staging.stage import GROUP_ROWS
from trellis.errors import DestinationError, SchemaError
from trellis.schema.model import NOTHING, Table
from trellis.schema.personal_data import comment_of
from trellis.warehouses import statements as sql
from trellis.warehouses.alterations import Alteration, AlterationWriter
from trellis.warehouses.identifiers import BACKTICKS
from trellis.warehouses.statements import ColumnDefinition
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STATIC_OVERWRITE = {"spark.sql.sources.partitionOverwriteMode": "static"}


class SparkTables:
    """`sql_name` gives the name of a table in statements, with its quotes; `where` is for messages."""

    def __init__(
        self,
        open_session: Callable[[], SparkSession],
        where: str,
        warehouse: Warehouse,
        format_of: Callable[[SparkSession], TableFormat],
        sql_name: Callable[[TableName], str],
    ) -> None:
        self.where = where
        self.warehouse = warehouse
        self.sql_name = sql_name
        self._open_session = open_session
        self._format_of = format_of

    @cached_property
    def spark(self) -> SparkStatements:
        return self.statements()

    @cached_property
    def format(self) -> TableFormat:
        """Raises DestinationError where the session has no such catalog."""
        return self._format_of(self.spark.session)

    def statements(self) -> SparkStatements:
        return SparkStatements(self._open_session, self.where)

    def settings(self, label: CommitLabel, *, merges_staged: bool = False) -> Mapping[str, str]:
        return self.format.settings(label, merges_staged=merges_staged)

    def merge_counts_query(self, name: TableName, label: CommitLabel) -> str:
        table, text = self.sql_name(name), string_literal(label.text)
        return self.format.merge_counts.format(table=table, label=text)

    def describe(self, name: TableName) -> CatalogTable:
        with self.spark.explained():
            schema = self.spark.session.table(self.sql_name(name)).schema
        columns = {field.name: _name_of(field.dataType.simpleString()) for field in schema}
        return CatalogTable(
            name.table,
            columns,
            {column: self.warehouse.data_type(type_) for column, type_ in columns.items()},
            required=[field.name for field in schema if not field.nullable],
            comments={field.name: text for field in schema if (text := field.metadata.get("comment"))},
        )

    def scan(
        self, name: TableName, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        selected = "*" if columns is None else ", ".join(map(BACKTICKS.quote, columns))
        limited = "" if limit is None else f" LIMIT {int(limit)}"
        rows = self.spark.query(f"SELECT {selected} FROM {self.sql_name(name)}{limited}")
        return self._read(rows)

    def find_rows(self, name: TableName, column: str, text: str) -> pa.RecordBatchReader | None:
        same = f"CAST({BACKTICKS.quote(column)} AS STRING) = {string_literal(text)}"
        return self._read(self.spark.query(f"SELECT * FROM {self.sql_name(name)} WHERE {same}"))

    def _read(self, rows: DataFrame) -> pa.RecordBatchReader:
        with self.spark.explained():
            table = rows.toArrow()
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(GROUP_ROWS))

    def count_rows(self, name: TableName) -> int:
        return int(self.spark.run(f"SELECT count(*) FROM {self.sql_name(name)}")[0][0])

    def size(self, name: TableName) -> TableSize | None:
        return None

    def version(self, name: TableName) -> str:
        commits = self._history(name)
        return str(commits[0][self.format.version_column]) if commits else ""

    def version_before(self, name: TableName, label: CommitLabel, earlier: str) -> str:
        return self.format.find_version_before(label, self._history(name), earlier)

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        """Create a table with the layout and the comments of its schema."""
        layout = TableLayout.of(table)
        definitions = [
            ColumnDefinition(
                column.name, types[column.name], column.required, comment_clause(comment_of(column))
            )
            for column in table.complete_columns
        ]
        partitions = [self.format.partition_of(column) for column in layout.partitions]
        parts = [
            sql.create_table(
                self.format.warehouse, self.sql_name(name), definitions, {"partition": partitions}
            ),
            self.format.clusters(table.name, layout),
            comment_clause(table.description),
        ]
        if layout.properties:
            parts.append(properties_clause(layout.properties))
        self._change_schema(" ".join(filter(None, parts)))

    def add_columns(self, name: TableName, types: Mapping[str, str]) -> None:
        table, stored = self.sql_name(name), self.scan(name, limit=0).schema
        definitions = [ColumnDefinition(c, type_) for c, type_ in types.items() if c not in stored.names]
        statements = sql.add_columns(self.format.warehouse, table, definitions) if definitions else []
        for column in stored.names:
            grown = arrow_type_of(types[column]) if column in types else None
            for path, type_ in missing_fields(stored.field(column).type, grown) if grown else ():
                field = ".".join(map(BACKTICKS.quote, (column, *path)))
                statements.append(f"ALTER TABLE {table} ADD COLUMNS ({field} {type_})")
        for statement in statements:
            self._change_schema(statement)

    def _change_schema(self, statement: str) -> None:
        """Raises CommitConflict where another load has just done what the statement does."""
        try:
            self.spark.run(statement)
        except DestinationError as bad:
            if is_schema_conflict(bad):
                raise CommitConflict from bad
            raise

    def check_alteration(self, name: TableName, alteration: TableAlteration) -> None:
        for column, is_required in alteration.required.items():
            if is_required:
                raise SchemaError(
                    f"table {name.table}, column {column}: Spark does not make a column NOT NULL that is "
                    "there; leave it nullable, or load into a new table",
                    table=name.table,
                )

    def alter_table(self, name: TableName, alteration: TableAlteration) -> None:
        table = self.sql_name(name)
        if alteration.properties:
            self.spark.run(f"ALTER TABLE {table} SET {properties_clause(alteration.properties)}")
        if alteration.changes_names and self._is_set(name, self.format.mapping_property):
            for statement in self._name_statements(table, alteration):
                self.spark.run(statement)
            alteration = replace(alteration, renamed={}, dropped=())
        if alteration.changes_names or alteration.changes_rows:
            self._change_rows(name, alteration)
        warehouse, types = self.format.warehouse, self.describe(name).columns if alteration.fills else NOTHING
        for column, value in alteration.fills.items():
            literal = spark_literal(value, types[column])
            fields = {"table": table, "column": BACKTICKS.quote(column), "value": literal}
            self.spark.run(warehouse.syntax.fill_nulls.format(**fields))
        for column, is_required in alteration.required.items():
            if not is_required:
                self.spark.run(sql.drop_not_null(warehouse, table, column))
        for column, comment in alteration.comments.items():
            form = warehouse.syntax.comment_on_column if column else warehouse.syntax.comment_on_table
            text = string_literal(comment)
            self.spark.run(form.format(table=table, column=BACKTICKS.quote(column), text=text))

    def _change_rows(self, name: TableName, alteration: TableAlteration) -> None:
        table, columns = self.sql_name(name), self.describe(name).columns
        changes = [(columns[column], type_) for column, type_ in alteration.types.items()]
        if not alteration.changes_names and self._widens(name, changes):
            for column, type_ in alteration.types.items():
                self.spark.run(f"ALTER TABLE {table} ALTER COLUMN {BACKTICKS.quote(column)} TYPE {type_}")
            if alteration.values:
                assigned = (
                    f"{BACKTICKS.quote(column)} = {spark_literal(value, columns[column])}"
                    for column, value in alteration.values.items()
                )
                self.spark.run(f"UPDATE {table} SET {', '.join(assigned)}")
        else:
            self._rewrite(name, columns, alteration)

    def _name_statements(self, table: str, alteration: TableAlteration) -> Iterator[str]:
        writer = AlterationWriter(self.format.warehouse, lambda _: table)
        for column, name in alteration.renamed.items():
            yield from writer.statements(Alteration("rename column", "", column, name))
        for column in alteration.dropped:
            yield from writer.statements(Alteration("drop column", "", column))

    def _rewrite(self, name: TableName, columns: Mapping[str, str], alteration: TableAlteration) -> None:
        """Replace a table by its rows with other names, types and values, and keep its layout."""
        table, items = self.sql_name(name), dict[str, str]()
        for stored in columns:
            if stored in alteration.dropped:
                continue
            column, item = alteration.renamed.get(stored, stored), BACKTICKS.quote(stored)
            if column in alteration.types:
                item = self.spark.cast(item, columns[stored], alteration.types[column])
            if column in alteration.values:
                item = spark_literal(alteration.values[column], alteration.types.get(column, columns[stored]))
            items[column] = item
        create = sql.create_table(self.format.warehouse, table, []).replace(" ()", "")
        create_anew = create.replace("CREATE TABLE", "CREATE OR REPLACE TABLE", 1)
        layout = self.spark.run(self.format.layout_query.format(table=table))
        clauses = self.format.layout_clauses([row.asDict() for row in layout])
        create_anew = " ".join((create_anew, *clauses))
        if self.format.replaces_unseen:
            TableReplacement(self.spark, table, items).execute(create_anew)
            return
        selected = ", ".join(f"{item} AS {BACKTICKS.quote(column)}" for column, item in items.items())
        self.spark.run(f"{create_anew} AS SELECT {selected} FROM {table}")

    def _widens(self, name: TableName, changes: Sequence[tuple[str, str]]) -> bool:
        """Whether types change without a row being written."""
        if not all(self.format.widens(before, after) for before, after in changes):
            return False
        return not changes or self._is_set(name, self.format.widening_property)

    def _is_set(self, name: TableName, key: str) -> bool:
        """Whether a table has a property of its format, or needs none."""
        if not key:
            return True
        rows = self.spark.run(f"SHOW TBLPROPERTIES {self.sql_name(name)}")
        return {row["key"]: row["value"] for row in rows}.get(key, "none") not in ("false", "none")

    def check_rename(self, name: TableName) -> None:
        """Catalogs differ in whether they rename tables; one that does not says so."""

    def rename_table(self, name: TableName, new: str) -> None:
        self.spark.run(f"ALTER TABLE {self.sql_name(name)} RENAME TO {BACKTICKS.quote(new)}")

    def drop_table(self, name: TableName) -> None:
        self.spark.run(f"DROP TABLE {self.sql_name(name)}")

    def has_label(self, name: TableName, label: CommitLabel) -> bool:
        """Raises DestinationError where commits of others are lost that came while the table was replaced."""
        labels = [self.format.label_of(commit) for commit in self._history(name)]
        if self.format.replaces_unseen and any(text.startswith(BRANCHES) for text in labels):
            self.check_replacement(name)
        return label.text in labels

    def check_replacement(self, name: TableName) -> None:
        TableReplacement(self.spark, self.sql_name(name)).check_earlier()

    def write_files(
        self,
        name: TableName,
        files: Sequence[DataFile],
        label: CommitLabel,
        *,
        overwrite: bool = False,
        unique: Sequence[str] = (),
    ) -> None:
        table, columns = self.sql_name(name), self.describe(name).columns
        check_columns(files, columns)
        staged = {column for file in files for column in file.types}
        types = {column: type_ for column, type_ in columns.items() if column in staged or not staged}
        settings = {**self.settings(label), **_STATIC_OVERWRITE}
        prefix = alias_prefix(columns)
        view = self.spark.stage("written", files, types, f"{prefix}place")
        listed = ", ".join(map(BACKTICKS.quote, types))
        rows = f"SELECT {listed} FROM {view}"
        try:
            if unique:
                self.spark.run(_merge_of_unique(table, listed, rows, unique, prefix), settings)
                if not self._has_all(table, view, types, prefix):
                    raise LabelConflict
            elif self.format.replaces_unseen:
                self.spark.run(partial(self._validated_insert, name, view, types, overwrite), settings)
            else:
                insert = "INSERT OVERWRITE" if overwrite else "INSERT INTO"
                self.spark.run(f"{insert} {table} ({listed}) {rows}", settings)
        finally:
            self.spark.drop_views()

    def _validated_insert(
        self, name: TableName, view: str, staged: Collection[str], overwrite: bool, attempt: int
    ) -> str:
        """An INSERT into the table as it is now, which fails if the table is replaced before it ends."""
        table, columns = self.sql_name(name), self.describe(name).columns
        values = ", ".join(BACKTICKS.quote(column) if column in staged else "NULL" for column in columns)
        snapshot = self.spark.run(f"SHOW TBLPROPERTIES {table} ('current-snapshot-id')")[0]["value"]
        if not snapshot.isdecimal():  # without one it has no files of earlier types either
            insert = f"INSERT {'OVERWRITE' if overwrite else 'INTO'} {table}"
        elif overwrite:
            insert = f"INSERT INTO {table} {validated_since(int(snapshot), 'snapshot')} REPLACE WHERE TRUE"
        else:
            insert = validated_append(table, int(snapshot), columns, attempt)
        return f"{insert} SELECT {values} FROM {view}"

    def _has_all(self, table: str, view: str, columns: Iterable[str], q: str) -> bool:
        """Whether the table has every row of a view, equal in all columns."""
        names = map(BACKTICKS.quote, columns)
        same = " AND ".join(f"{q}current.{name} <=> {q}staged.{name}" for name in names)
        missing = f"SELECT 1 FROM {view} AS {q}staged LEFT ANTI JOIN {table} AS {q}current ON {same} LIMIT 1"
        return not self.spark.run(missing)

    def _history(self, name: TableName) -> Sequence[Mapping[str, str]]:
        rows = self.spark.run(self.format.history.format(table=self.sql_name(name)))
        return [row.asDict() for row in rows]


def _merge_of_unique(table: str, columns: str, rows: str, unique: Sequence[str], q: str) -> str:
    """A MERGE that inserts rows whose values in the unique columns the table does not have yet.

    Of two at once the second sees the row of the first, or fails and is tried again. That takes a clause for
    rows that match: Iceberg appends without a look at others where there is none. It never applies.
    """
    keys = [BACKTICKS.quote(name) for name in unique]
    same = " AND ".join(f"{q}current.{key} = {q}staged.{key}" for key in keys)
    return (
        f"MERGE INTO {table} AS {q}current USING ({rows}) AS {q}staged ON {same} "
        f"WHEN MATCHED AND {q}current.{keys[0]} IS NULL THEN DELETE "
        f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({columns})"
    )


def _name_of(type_: str) -> str:
    """A type as statements name it; the names of fields keep their case."""
    return type_ if "<" in type_ else type_.upper()
