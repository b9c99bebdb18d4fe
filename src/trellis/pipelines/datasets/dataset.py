"""A dataset read back: its tables as DataFrames, Arrow, pandas or DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trellis.destinations.refusals import unknown_table
from trellis.destinations.spark_relation import ReadableBySpark
from trellis.destinations.sql.names import alias_prefix
from trellis.dialects import get_dialect
from trellis.dialects.documents import from_stored
from trellis.engine.arrow.types import arrow_type
from trellis.errors import UsageError, nearest
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.pipelines.datasets.table_query import DuckDBSql, ReadTable, SparkSql, SqlEngine, TableQuery
from trellis.schema.model import Column, Schema
from trellis.schema.system import is_system

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from trellis.destinations.base import CatalogTable, Destination

LAST = "last"


@dataclass(frozen=True)
class Dataset:
    """The tables of one dataset. `master` and `remote` say where Spark is, if none is active."""

    destination: Destination
    dataset: str
    dialect: str
    master: str | None = None
    remote: str | None = None

    def table(
        self,
        name: str,
        *,
        load: str | datetime | None = None,
        nested: bool = False,
        system_columns: bool = True,
    ) -> StoredTable:
        """A table. Nothing is read before one of its methods is called.

        `load` is the id of a load, `last`, or a time: then the rows that the last load up to it brought.
        `nested` puts the rows of each table below into a list. `system_columns=False` leaves out what the
        records did not have. Raises UsageError for a table or load that is not there.
        """
        if name not in self._catalog:
            raise unknown_table(self.destination.url, name, self._catalog)
        load_id = None if load is None else self._load_id(load)
        if load_id is not None and self._keys(self._root(name)).load_id is None:
            raise UsageError(
                f"table {name}: the dialect {self.dialect} does not keep which load brought a row; leave "
                "load= out"
            )
        return StoredTable(self, name, load_id, nested, system_columns)

    @cached_property
    def _catalog(self) -> Mapping[str, CatalogTable]:
        return self.destination.catalog(self.dataset)

    @cached_property
    def _schema(self) -> Schema:
        """The newest versions of all schemas of the dataset as one."""
        metadata = get_dialect(self.dialect).metadata.tables()
        newest = {str(row["schema_name"]): row for row in self.destination.history(self.dataset, metadata)}
        schemas = [
            from_stored(str(row["schema"]), f"{self.destination.url}, newest version of schema {name}")
            for name, row in newest.items()
        ]
        tables = {name: table for schema in schemas for name, table in schema.tables.items()}
        return Schema("dataset", tables, normalizers=schemas[-1].normalizers if schemas else {})

    def _load_id(self, load: str | datetime) -> str:
        metadata = get_dialect(self.dialect).metadata.tables()
        rows: list[dict[str, Any]] = []
        if metadata.loads in self._catalog:
            rows = self.destination.query(self.dataset, metadata.loads)
        at_of = {str(row[metadata.load_id]): _in_utc(row["inserted_at"]) for row in rows if _is_complete(row)}
        where = f"{self.destination.url}, dataset {self.dataset}" if self.dataset else self.destination.url
        if isinstance(load, datetime) or load == LAST:
            until = _in_utc(load) if isinstance(load, datetime) else datetime.max.replace(tzinfo=timezone.utc)
            earlier = {load_id: at for load_id, at in at_of.items() if at <= until}
            if not earlier:
                when = f" up to {until.isoformat()}" if isinstance(load, datetime) else ""
                raise UsageError(f"{where}: no load was completed{when}")
            return max(earlier, key=lambda load_id: (earlier[load_id], load_id))
        if load not in at_of:
            raise UsageError(
                f"{where}: there is no complete load {load!r}{nearest(load, [*at_of][-20:])}; "
                "trellis loads lists them"
            )
        return load

    @property
    def _separator(self) -> str:
        """What stands between the name of a table and that of a key."""
        naming = get_dialect(self.dialect).naming
        return naming.naming(self._schema, self.destination.abilities.max_identifier).separator

    def _root(self, table: str) -> str:
        return self._schema.root_of(table).name if table in self._schema.tables else table

    def _ancestors(self, table: str) -> list[str]:
        """The tables above a table, its parent first."""
        known = self._schema.tables.get(table)
        return [known.parent, *self._ancestors(known.parent)] if known and known.parent else []

    def _keys(self, table: str) -> RowKeys:
        if table not in self._schema.tables:
            return RowKeys()
        return get_dialect(self.dialect).system_columns.row_keys(self._schema, table)

    def _columns(self, table: str, system_columns: bool) -> list[str]:
        kept = self._keys(table).columns
        prefix = get_dialect(self.dialect).capabilities.system_prefix
        return [
            name
            for name in self._catalog[table].types
            if system_columns or not (name in kept or is_system(name.lower(), prefix))
        ]

    def _arrow(self, table: str) -> pa.Table:
        """All rows of a table as it is."""
        import pyarrow as pa

        batches = [pa.Table.from_batches([batch]) for batch in self.destination.batches(self.dataset, table)]
        if batches:
            return pa.concat_tables(batches, promote_options="default").select([*self._catalog[table].types])
        types = self._catalog[table].types.items()
        fields = [(name, arrow_type(Column(name, data_type or "text"))) for name, data_type in types]
        return pa.schema(fields).empty_table()


@dataclass(frozen=True)
class StoredTable:
    """A table of a dataset, or the rows of one load of it. Each method reads it anew."""

    dataset: Dataset = field(repr=False)
    name: str
    load_id: str | None = None
    nested: bool = False
    system_columns: bool = True

    def spark(self) -> DataFrame:
        """A Spark DataFrame, of the active session or a new one. Raises SparkError, DestinationError.

        Files are read by Spark's executors; rows of a database travel through this process. Times of day and
        decimals of more than 38 digits are text.
        """
        from trellis.engine.spark.session import get_session
        from trellis.engine.spark.settings import add_settings
        from trellis.engine.spark.tables import frame_of, read_frame, select_frame

        source, session = self.dataset, get_session(self.dataset.master, self.dataset.remote)
        table, ancestors = self._tables(SparkSql(), "{{t{}}}")
        frames = {}
        for number, name in enumerate(self._names(table, ancestors)):
            relation = None
            if isinstance(source.destination, ReadableBySpark):
                relation = source.destination.spark_relation(source.dataset, name)
            if relation is None:
                frames[f"t{number}"] = frame_of(session, source._arrow(name))
                continue
            add_settings(session, relation.settings)
            frames[f"t{number}"] = read_frame(session, relation.format, relation.locations, relation.options)
        return select_frame(session, self._query(SparkSql(), table, ancestors), frames)

    def duckdb(self) -> duckdb.DuckDBPyRelation:
        """A relation of a DuckDB in memory. Raises DestinationError."""
        import duckdb

        table, ancestors = self._tables(DuckDBSql(), "t{}")
        db = duckdb.connect(":memory:")
        db.execute("SET TimeZone = 'UTC'")
        for number, name in enumerate(self._names(table, ancestors)):
            db.register(f"t{number}", self.dataset._arrow(name))
        return db.sql(self._query(DuckDBSql(), table, ancestors))

    def arrow(self) -> pa.Table:
        """An Arrow table, in memory. Raises DestinationError."""
        if not self.nested and self.load_id is None:
            columns = self.dataset._columns(self.name, self.system_columns)
            return self.dataset._arrow(self.name).select(columns)
        return self.duckdb().to_arrow_table()

    def pandas(self) -> pd.DataFrame:
        """A pandas DataFrame, in memory. Raises DestinationError."""
        return self.arrow().to_pandas()

    def _query(self, engine: SqlEngine, table: ReadTable, ancestors: Sequence[ReadTable]) -> str:
        columns = (name for read in (*table.tree(), *ancestors) for name in (*read.columns, read.field))
        return TableQuery(table, ancestors, engine, alias_prefix(columns), self.load_id).render()

    def _names(self, table: ReadTable, ancestors: Sequence[ReadTable]) -> list[str]:
        return [read.name for read in (*table.tree(), *ancestors)]

    def _tables(self, engine: SqlEngine, relation: str) -> tuple[ReadTable, list[ReadTable]]:
        """The table with those that are joined into it, and its ancestors; their relations are numbered."""
        numbers = iter(range(1 << 20))
        table = self._read_table(self.name, numbers, relation, "", self.system_columns)
        above = self.dataset._ancestors(self.name) if self.load_id is not None else []
        return table, [self._read_table(name, numbers, relation, "", True, is_leaf=True) for name in above]

    def _read_table(
        self,
        name: str,
        numbers: Iterator[int],
        relation: str,
        field_name: str,
        system_columns: bool,
        is_leaf: bool = False,
    ) -> ReadTable:
        source, number = self.dataset, next(numbers)
        shown, children = source._columns(name, system_columns), list[ReadTable]()
        for child in source._schema.children(name) if self.nested and not is_leaf else ():
            if child.name not in source._catalog or not source._columns(child.name, False):
                continue
            short = child.name.removeprefix(f"{name}{source._separator}")
            free = child.name if short in source._catalog[name].types else short
            children.append(self._read_table(child.name, numbers, relation, free, False))
        return ReadTable(
            name,
            relation.format(number),
            [*source._catalog[name].types],
            shown,
            source._keys(name),
            field_name,
            tuple(children),
        )


def _is_complete(row: Mapping[str, Any]) -> bool:
    """Whether a row of the record of loads is of one that was completed: another program may note others."""
    return not row.get("status")


def _in_utc(moment: Any) -> datetime:
    assert isinstance(moment, datetime)
    return moment.astimezone(timezone.utc) if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
