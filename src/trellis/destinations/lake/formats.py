"""Table formats as Spark sees them, as data: how a commit is labelled, and what the session needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trellis.destinations.lake.layout import (
    DELTA_LAYOUT,
    ICEBERG_LAYOUT,
    TableLayout,
    delta_clauses,
    iceberg_clauses,
)
from trellis.destinations.lake.merge_source import MERGE_METRICS
from trellis.destinations.lake.store import CommitLabel
from trellis.destinations.lake.types import widens_in_delta, widens_in_iceberg
from trellis.engine.input.source_format import DELTA_CATALOG, DELTA_EXTENSION, SourceFormat
from trellis.engine.input.source_format import FORMATS as SOURCES
from trellis.engine.spark.packages import installed_package
from trellis.errors import SchemaError
from trellis.schema.model import NOTHING, Column, DataType, Table
from trellis.warehouses.catalog.lakes import DELTA, ICEBERG
from trellis.warehouses.types import NativeType
from trellis.warehouses.warehouse import Warehouse

LABEL_PROPERTY: Final = "trellis.label"
"""The property of an Iceberg snapshot with the label of its commit."""
NOTES_PROPERTY: Final = "trellis.notes"
SNAPSHOT_PROPERTY: Final = "spark.sql.iceberg.snapshot-property."
"""What the setting begins with that gives a snapshot a property."""
COLUMN_MAPPING: Final = "delta.columnMapping.mode"
"""The property of a Delta table whose files do not name its columns, unless it is `none`."""

_MERGE_SUMMARY: Final = "summary['spark.merge-into.num-target-rows-{}']"
_ICEBERG_COUNTS: Final = (
    f"if(operation = 'append', summary['added-records'], {_MERGE_SUMMARY.format('inserted')})",
    _MERGE_SUMMARY.format("updated"),
    _MERGE_SUMMARY.format("deleted"),
)
"""What a snapshot counts of a MERGE, in the order of `MERGE_METRICS`. One that can only insert appends."""
_MERGE_COUNTS: Final = "SELECT {} FROM {{table}}.snapshots WHERE summary['{}'] = {{label}}".format(
    ", ".join(
        f"coalesce(max(CAST({count} AS BIGINT)), 0) AS {name}"
        for count, name in zip(_ICEBERG_COUNTS, MERGE_METRICS, strict=True)
    ),
    LABEL_PROPERTY,
)


@dataclass(frozen=True)
class TableFormat:
    """`{label}` and `{notes}` in the values of `commit_settings` are those of a commit.

    `history` is a query of the commits of `{table}`, the last one first, with the label in a column;
    `version_before` tells of a commit after which version it came.
    The rows of `layout_query`, of a `{table}`, say by which clauses a table that is replaced lies as it did.
    `widens` tells which changes of a type touch no row, in tables with the `widening_property` if any;
    new names of columns touch none in tables with the `mapping_property` if any.
    """

    warehouse: Warehouse
    source: SourceFormat
    extension: str
    catalog: str
    commit_settings: Mapping[str, str]
    history: str
    label_column: str
    version_column: str
    version_before: Callable[[Mapping[str, Any]], str]
    widens: Callable[[str, str], bool]
    layout_query: str
    layout_clauses: Callable[[Sequence[Mapping[str, Any]]], Iterator[str]]
    widening_property: str = ""
    mapping_property: str = ""
    staged_merge_settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of a MERGE whose source is nothing but staged rows, which no one changes meanwhile."""
    merge_counts: str = ""
    """A query of how many rows of `{table}` the MERGE of `{label}` changed; empty where the MERGE says it."""

    replaces_unseen: bool = False
    """Whether a table is replaced whatever came meanwhile, and rows are added to whatever replaced it."""

    partition_forms: Mapping[DataType, str] = field(default_factory=dict)
    """What a table is partitioned by instead of a column of this type."""
    cluster_form: str = ""
    """The clause for the columns that a table is clustered by; empty where there is none."""
    forbidden: str = ""
    """Characters that the name of a column cannot have, but in tables with the `mapping_property`."""

    @property
    def package(self) -> str:
        """The Maven coordinates of the format's package for the Spark that is installed."""
        return installed_package(self.source)

    def label_of(self, commit: Mapping[str, Any]) -> str:
        """The label of a commit in the history; empty where it has none."""
        return (commit[self.label_column] or "").split("\n")[0]

    def find_version_before(
        self, label: CommitLabel, commits: Iterable[Mapping[str, Any]], earlier: str
    ) -> str:
        """The version before the commit of a label in a part of the history; without one the earlier one."""
        labelled = (commit for commit in commits if self.label_of(commit) == label.text)
        return next(map(self.version_before, labelled), earlier)

    def check_columns(self, table: Table, columns: Iterable[str]) -> None:
        """Raises SchemaError for columns that cannot be called so, unless the table is to map their names."""
        properties = TableLayout.of(table).properties
        if properties.get(self.mapping_property, "none") != "none":
            return
        for column in columns:
            if {*self.forbidden} & {*column}:
                shown = "".join(character for character in self.forbidden if character.isprintable())
                raise SchemaError(
                    f"table {table.name}, column {column!r}: {self.warehouse.title} allows none of the "
                    f"characters {shown!r}, tabs and line ends in the name of a column; rename it",
                    table=table.name,
                )

    def partition_of(self, column: Column) -> str:
        """What a table is partitioned by for a column with the hint."""
        form = self.partition_forms.get(column.data_type, "{}") if column.data_type else "{}"
        return form.format(self.warehouse.quote(column.name))

    def clusters(self, table: str, layout: TableLayout) -> str:
        """The clause for clustered columns, if any. Raises SchemaError beside partitions."""
        if not (self.cluster_form and layout.clusters):
            return ""
        if layout.partitions:
            raise SchemaError(
                f"table {table}: {self.warehouse.title} takes either partitions or clusters; take the hint "
                "partition or the hint cluster from its columns",
                table=table,
            )
        return self.cluster_form.format(", ".join(self.warehouse.quote(c.name) for c in layout.clusters))

    def settings(self, label: CommitLabel, *, merges_staged: bool = False) -> Mapping[str, str]:
        notes = "\n".join((label.text, *label.notes.values()))
        labels = {
            name: value.format(label=label.text, notes=notes) for name, value in self.commit_settings.items()
        }
        return {**labels, **(self.staged_merge_settings if merges_staged else NOTHING)}


DELTA_FORMAT: Final = TableFormat(
    DELTA,
    source=SOURCES["delta"],
    extension=DELTA_EXTENSION,
    catalog=DELTA_CATALOG,
    commit_settings={
        "spark.databricks.delta.write.txnAppId": "{label}",
        "spark.databricks.delta.write.txnVersion": "1",
        "spark.databricks.delta.commitInfo.userMetadata": "{notes}",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    },
    history="DESCRIBE HISTORY {table}",
    label_column="userMetadata",
    version_column="version",
    version_before=lambda commit: str(commit["version"] - 1),
    widens=widens_in_delta,
    layout_query=DELTA_LAYOUT,
    layout_clauses=delta_clauses,
    widening_property="delta.enableTypeWidening",
    mapping_property=COLUMN_MAPPING,
    staged_merge_settings={"spark.databricks.delta.merge.materializeSource": "none"},
    cluster_form="CLUSTER BY ({})",
    forbidden=" ,;{}()=\n\t",
)
ICEBERG_FORMAT: Final = TableFormat(
    # Spark has no type for Iceberg's TIME.
    replace(ICEBERG, types={**ICEBERG.types, "time": NativeType("STRING")}),
    source=SOURCES["iceberg"],
    extension="org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    catalog="org.apache.iceberg.spark.SparkCatalog",
    commit_settings={
        f"{SNAPSHOT_PROPERTY}{LABEL_PROPERTY}": "{label}",
        f"{SNAPSHOT_PROPERTY}{NOTES_PROPERTY}": "{notes}",
    },
    history=(
        f"SELECT summary['{LABEL_PROPERTY}'] AS label, CAST(snapshot_id AS STRING) AS version, "
        "CAST(parent_id AS STRING) AS parent FROM {table}.snapshots ORDER BY committed_at DESC"
    ),
    label_column="label",
    version_column="version",
    version_before=lambda commit: commit["parent"] or "",
    widens=widens_in_iceberg,
    layout_query=ICEBERG_LAYOUT,
    layout_clauses=iceberg_clauses,
    partition_forms={"timestamp": "days({})"},
    merge_counts=_MERGE_COUNTS,
    replaces_unseen=True,
)
FORMATS: Final = (DELTA_FORMAT, ICEBERG_FORMAT)
