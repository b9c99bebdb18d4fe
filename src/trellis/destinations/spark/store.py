"""Tables of any catalog of a Spark session, by its SQL and the commits of their format."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import dropwhile
from typing import TYPE_CHECKING

from trellis.destinations.base import CatalogTable, CommitConflict
from trellis.destinations.catalog import TableLookup
from trellis.destinations.lake.formats import DELTA_FORMAT, FORMATS, ICEBERG_FORMAT, TableFormat
from trellis.destinations.lake.session import catalog_class
from trellis.destinations.lake.spark_tables import SparkTables
from trellis.destinations.lake.store import TableName
from trellis.errors import DestinationError
from trellis.schema.model import Table
from trellis.warehouses.identifiers import BACKTICKS
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_ABOUT_TABLE = "# Detailed Table Information"
_MOMENTS, _MOMENT = 10, 0.3
"""How often at most, and after how many seconds, a look is taken for what another load creates."""


class SparkStore(SparkTables):
    """`catalog_name` is a catalog of the session, `where` the place for messages."""

    def __init__(
        self, catalog_name: str, where: str, warehouse: Warehouse, open_session: Callable[[], SparkSession]
    ) -> None:
        self.catalog_name = catalog_name
        super().__init__(open_session, where, warehouse, self._format_in, self._sql_name)

    def session_settings(self) -> Mapping[str, str]:
        return {}

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        if not self._exists(dataset):
            return {}
        rows = self.spark.run(f"SHOW TABLES IN {self._namespace(dataset)}")
        names = sorted(row["tableName"] for row in rows if not row["isTemporary"])
        return TableLookup({name: partial(self.describe, TableName(dataset, name)) for name in names})

    def find_table(self, name: TableName) -> CatalogTable | None:
        with self.spark.explained():
            exists = self._exists(name.dataset) and self._has_table(name)
        return self.describe(name) if exists else None

    def find_rows(self, name: TableName, column: str, text: str) -> pa.RecordBatchReader | None:
        known = self.find_table(name)
        return super().find_rows(name, column, text) if known and column in known.columns else None

    def describe(self, name: TableName) -> CatalogTable:
        with self.spark.explained():
            entry = self.spark.session.catalog.getTable(self._sql_name(name))
        is_view, comment = "VIEW" in (entry.tableType or ""), entry.description
        try:
            table = super().describe(name)
        except DestinationError:
            if not is_view:
                raise
            table = CatalogTable(name.table)  # what the view shows is gone
        comments = {**(table.comments or {}), **({"": comment} if comment else {})}
        return replace(table, is_view=is_view, comments=comments)

    def check_names(self, name: TableName, table: Table, columns: Iterable[str]) -> None:
        """How tables may be called is known to their catalog alone."""
        is_known = self._exists(name.dataset) and self._has_table(name)
        if is_known:
            self._check_format(name)
        if not (is_known and self._is_set(name, self.format.mapping_property)):
            self.format.check_columns(table, columns)

    def _check_format(self, name: TableName) -> None:
        """A catalog may have tables of other formats, too, which keep no commits. Raises DestinationError."""
        rows = self.spark.run(f"DESCRIBE TABLE EXTENDED {self._sql_name(name)}")
        about = dropwhile(lambda row: row["col_name"] != _ABOUT_TABLE, rows)
        format_ = next((row["data_type"] for row in about if row["col_name"] == "Provider"), "")
        warehouse = self.format.warehouse
        if format_ and format_.lower() != warehouse.name:
            raise DestinationError(
                f"{self.where}, table {name.table}: it is a table of {format_}, and loads need one of "
                f"{warehouse.title}, which keeps what each commit brought; convert it, or load into another"
            )

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        self._create_namespace(name.dataset)
        if self._has_table(name):
            raise CommitConflict
        try:
            super().create_table(name, table, types)
        except DestinationError as bad:
            if self._appears(name):
                raise CommitConflict from bad
            raise

    def _create_namespace(self, dataset: str) -> None:
        """Some catalogs fail where another load creates it at the same moment."""
        try:
            self.spark.run(f"CREATE NAMESPACE IF NOT EXISTS {self._namespace(dataset)}")
        except DestinationError:
            if not self._exists(dataset):
                raise

    def _exists(self, dataset: str) -> bool:
        self._format_in(self.spark.session)
        with self.spark.explained():
            return bool(self.spark.session.catalog.databaseExists(self._namespace(dataset)))

    def _appears(self, name: TableName) -> bool:
        """Whether a table is there in a moment, which another load creates now."""
        for _ in range(_MOMENTS):
            if self._has_table(name):
                return True
            time.sleep(_MOMENT)
        return False

    def _has_table(self, name: TableName) -> bool:
        return bool(self.spark.session.catalog.tableExists(self._sql_name(name)))

    def _format_in(self, session: SparkSession) -> TableFormat:
        """The format of the tables that the catalog creates. Raises DestinationError."""
        class_name = catalog_class(session, self.catalog_name)
        words = {"iceberg": ICEBERG_FORMAT, "delta": DELTA_FORMAT, "unitycatalog": DELTA_FORMAT}
        format_ = next((words[word] for word in words if word in class_name.lower()), None)
        if format_ is None:
            known = " or ".join(other.warehouse.title for other in FORMATS)
            raise DestinationError(
                f"catalog {self.catalog_name}: the Spark session has no catalog of that name whose tables "
                f"commit, such as one of {known}; set spark.sql.catalog.{self.catalog_name} to its class"
            )
        return format_

    def _sql_name(self, name: TableName) -> str:
        return f"{self._namespace(name.dataset)}.{BACKTICKS.quote(name.table)}"

    def _namespace(self, dataset: str) -> str:
        return f"{BACKTICKS.quote(self.catalog_name)}.{BACKTICKS.quote(dataset)}"
