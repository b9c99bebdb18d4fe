"""How each warehouse says that a table or a column is new (spec dlt.md, section 16). Text only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from trellis.dialects.dlt.native import Warehouse
from trellis.errors import SchemaError
from trellis.schema.model import Column, DataType, Table

Named = Callable[[str], str]
"""What a name of the schema is called in the warehouse."""


class Sql:
    """What most warehouses say; what one says differently is in a class below."""

    schema = "CREATE SCHEMA IF NOT EXISTS"
    table = "CREATE TABLE"
    add = "ADD COLUMN {}"
    add_all = "{}"
    together = False
    """Whether one statement adds several columns."""
    uses: tuple[str, ...] = ()
    """The hints that become clauses of a new table, and of nothing else."""

    def __init__(self, warehouse: Warehouse, named: Named, dataset: str, table: Table) -> None:
        self.warehouse = warehouse
        self.named = named
        self.dataset = dataset
        self.of = table
        self.notes: list[str] = []

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def name(self, name: str) -> str:
        return self.quoted(self.named(name))

    def names(self, columns: Iterable[Column]) -> str:
        return ", ".join(self.name(column.name) for column in columns)

    @property
    def qualified(self) -> str:
        return f"{self.name(self.dataset)}.{self.name(self.of.name)}"

    def note(self, text: str) -> None:
        self.notes.append(text)

    def noted(self, statement: str) -> str:
        """The statement with all that was noted meanwhile above it."""
        comments = "".join(f"-- {' '.join(note.split())}\n" for note in self.notes)
        self.notes.clear()
        return comments + statement

    def type(self, column: Column) -> str:
        native, note = self.warehouse.type_of(self.of.name, column)
        if note:
            self.note(note)
        return native

    def required(self, column: Column, new: bool) -> bool:
        """Whether the column is NOT NULL there."""
        if not column.required or self.warehouse.requires == "never":
            return False
        if not new and self.warehouse.requires == "new tables":
            self.note(f"column {self.of.name}.{column.name}: only a new table can have it NOT NULL")
            return False
        return True

    def column(self, column: Column, new: bool) -> str:
        ends = " NOT NULL" if self.required(column, new) else ""
        return f"{self.name(column.name)} {self.type(column)}{ends}"

    def storage(self, columns: Sequence[Column]) -> list[str]:
        """The clauses behind the columns of a new table."""
        return []

    def create_schema(self) -> list[str]:
        return [f"{self.schema} {self.name(self.dataset)}"]

    def create_table(self, columns: Sequence[Column]) -> str:
        listed = ", ".join(self.column(each, new=True) for each in columns)
        return self.noted(" ".join((self.table, self.qualified, f"({listed})", *self.storage(columns))))

    def add_columns(self, columns: Sequence[Column]) -> list[str]:
        return [self.added(each) for each in ([columns] if self.together else [[c] for c in columns])]

    def added(self, columns: Sequence[Column]) -> str:
        listed = ", ".join(self.add.format(self.column(each, new=False)) for each in columns)
        for hint in self.uses:
            for each in _with(hint, columns):
                self.note(f"column {self.of.name}.{each.name}: only a new table takes the hint {hint}")
        return self.noted(f"ALTER TABLE {self.qualified} {self.add_all.format(listed)}")


def _with(hint: str, columns: Iterable[Column]) -> list[Column]:
    return [column for column in columns if column.hint(hint)]


class _DuckDb(Sql):
    """An added column gets its NOT NULL by a statement of its own."""

    def add_columns(self, columns: Sequence[Column]) -> list[str]:
        made = []
        for each in columns:
            made.append(self.added([replace(each, nullable=True)]))
            if each.required:
                name = self.name(each.name)
                made.append(f"ALTER TABLE {self.qualified} ALTER COLUMN {name} SET NOT NULL")
        return made


class _Postgres(Sql):
    def column(self, column: Column, new: bool) -> str:
        return super().column(column, new) + (" UNIQUE" if column.hint("unique") else "")


class _Redshift(Sql):
    uses = ("cluster", "sort")

    def storage(self, columns: Sequence[Column]) -> list[str]:
        clauses, by = [], _with("cluster", columns)
        if by:
            clauses.append(f"DISTSTYLE KEY DISTKEY ({self.names(by[:1])})")
        if len(by) > 1:
            self.note(f"table {self.of.name}: rows are distributed by one column, {by[0].name}")
        if sort := _with("sort", columns):
            clauses.append(f"SORTKEY ({self.names(sort)})")
        return clauses


class _Snowflake(Sql):
    add = "{}"
    add_all = "ADD COLUMN {}"
    together = True

    def storage(self, columns: Sequence[Column]) -> list[str]:
        by = _with("cluster", columns)
        return [f"CLUSTER BY ({self.names(by)})"] if by else []

    def add_columns(self, columns: Sequence[Column]) -> list[str]:
        """The whole table is clustered anew if one of them has the hint."""
        clause = self.storage(self.of.complete_columns) if _with("cluster", columns) else []
        anew = [f"ALTER TABLE {self.qualified} {each}" for each in clause]
        return [*super().add_columns(columns), *anew]


class _Backslashed(Sql):
    together = True

    def quoted(self, name: str) -> str:
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


class _BigQuery(_Backslashed):
    uses = ("partition", "cluster")
    most_clusters = 4
    partitions: Mapping[DataType | None, str] = {
        "date": "{}",
        "timestamp": "DATE({})",
        "bigint": "RANGE_BUCKET({}, GENERATE_ARRAY(-172800000, 691200000, 86400))",
    }
    """By day; a number is taken for the seconds since 1970 of a day."""

    def storage(self, columns: Sequence[Column]) -> list[str]:
        clauses, by = [], _with("partition", columns)
        if len(by) > 1:
            found = " and ".join(each.name for each in by)
            raise SchemaError(
                f"table {self.of.name}: BigQuery partitions by one column, not by {found}; take the hint "
                "partition from the others"
            )
        for each in by:
            if each.data_type in self.partitions:
                how = self.partitions[each.data_type]
                clauses.append(f"PARTITION BY {how.format(self.name(each.name))}")
            else:
                self.note(f"column {self.of.name}.{each.name}: there are no partitions by {each.data_type}")
        cluster = _with("cluster", columns)
        if len(cluster) > self.most_clusters:
            self.note(f"table {self.of.name}: clustered by the first {self.most_clusters} columns")
        if cluster:
            clauses.append(f"CLUSTER BY {self.names(cluster[: self.most_clusters])}")
        return clauses


class _ClickHouse(_Backslashed):
    schema = "CREATE DATABASE IF NOT EXISTS"
    uses = ("primary_key", "sort")

    def column(self, column: Column, new: bool) -> str:
        native = self.type(column)
        return f"{self.name(column.name)} {native if column.required else f'Nullable({native})'}"

    def storage(self, columns: Sequence[Column]) -> list[str]:
        """Rows are in the order of the key and of what is sorted by, where that is never NULL."""
        found = {each.name: each for hint in self.uses for each in _with(hint, columns) if each.required}
        order = f"({self.names(found.values())})" if found else "tuple()"
        return ["ENGINE = MergeTree", f"ORDER BY {order}"]


class _Doubled(Sql):
    add = "{}"
    add_all = "ADD COLUMNS ({})"
    together = True
    using = ""

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"


class _Databricks(_Doubled):
    uses = ("partition",)
    using = "DELTA"

    def storage(self, columns: Sequence[Column]) -> list[str]:
        by = _with("partition", columns)
        return [f"USING {self.using}", *([f"PARTITIONED BY ({self.names(by)})"] if by else [])]


class _Iceberg(_Databricks):
    using = "ICEBERG"


class _Athena(_Doubled):
    """Where the files are is for the reader to add: LOCATION."""

    table = "CREATE EXTERNAL TABLE"

    def storage(self, columns: Sequence[Column]) -> list[str]:
        return ["STORED AS PARQUET"]


class _AthenaIceberg(_Doubled):
    uses = ("partition",)

    def storage(self, columns: Sequence[Column]) -> list[str]:
        by = _with("partition", columns)
        clauses = [f"PARTITIONED BY ({self.names(by)})"] if by else []
        return [*clauses, "TBLPROPERTIES ('table_type' = 'ICEBERG')"]


class _SqlServer(Sql):
    add = "{}"
    add_all = "ADD {}"
    together = True

    def quoted(self, name: str) -> str:
        return "[" + name.replace("]", "]]") + "]"

    def create_schema(self) -> list[str]:
        def text(value: str) -> str:
            return "N'" + value.replace("'", "''") + "'"

        create = f"CREATE SCHEMA {self.name(self.dataset)}"  # must be alone in its batch
        return [f"IF SCHEMA_ID({text(self.named(self.dataset))}) IS NULL EXEC({text(create)})"]


class _Synapse(_SqlServer):
    def storage(self, columns: Sequence[Column]) -> list[str]:
        return ["WITH (HEAP)"]


class _Files(Sql):
    """No statements: the columns of a file and their types."""

    def create_schema(self) -> list[str]:
        return []

    def create_table(self, columns: Sequence[Column]) -> str:
        return self.noted(f"{self.qualified} ({', '.join(self.column(each, new=True) for each in columns)})")

    def add_columns(self, columns: Sequence[Column]) -> list[str]:
        listed = ", ".join(self.column(each, new=False) for each in columns)
        return [self.noted(f"{self.qualified} + ({listed})")]


SPOKEN: Mapping[str, type[Sql]] = {
    "duckdb": _DuckDb,
    "postgres": _Postgres,
    "redshift": _Redshift,
    "snowflake": _Snowflake,
    "bigquery": _BigQuery,
    "databricks": _Databricks,
    "databricks-iceberg": _Iceberg,
    "clickhouse": _ClickHouse,
    "mssql": _SqlServer,
    "synapse": _Synapse,
    "athena": _Athena,
    "athena-iceberg": _AthenaIceberg,
    "parquet": _Files,
    "delta": _Databricks,
    "iceberg": _Iceberg,
}
