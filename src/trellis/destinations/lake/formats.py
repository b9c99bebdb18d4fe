"""Table formats as Spark sees them, as data: how a commit is labelled, and what the session needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from trellis.destinations.lake.store import CommitLabel
from trellis.warehouses.catalog.lakes import DELTA, ICEBERG
from trellis.warehouses.types import NativeType
from trellis.warehouses.warehouse import Warehouse


@dataclass(frozen=True)
class TableFormat:
    """`{label}` and `{notes}` in the values of `label_settings` are those of a commit.

    `history` is a query of the commits of `{table}`, the last one first, with the label in a column.
    `widenings` are changes of a type that touch no row.
    """

    warehouse: Warehouse
    package: str
    extension: str
    catalog: str
    label_settings: Mapping[str, str]
    history: str
    label_column: str
    version_column: str
    widenings: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def settings(self, label: CommitLabel) -> Mapping[str, str]:
        notes = "\n".join((label.text, *label.notes.values()))
        return {
            name: value.format(label=label.text, notes=notes) for name, value in self.label_settings.items()
        }


DELTA_FORMAT: Final = TableFormat(
    DELTA,
    package="io.delta:delta-spark_4.1_2.13:4.4.0",
    extension="io.delta.sql.DeltaSparkSessionExtension",
    catalog="org.apache.spark.sql.delta.catalog.DeltaCatalog",
    label_settings={
        "spark.databricks.delta.write.txnAppId": "{label}",
        "spark.databricks.delta.write.txnVersion": "1",
        "spark.databricks.delta.commitInfo.userMetadata": "{notes}",
    },
    history="DESCRIBE HISTORY {table}",
    label_column="userMetadata",
    version_column="version",
)
ICEBERG_FORMAT: Final = TableFormat(
    # Spark has no type for Iceberg's TIME.
    replace(ICEBERG, types={**ICEBERG.types, "time": NativeType("STRING")}),
    package="org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
    extension="org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    catalog="org.apache.iceberg.spark.SparkCatalog",
    label_settings={
        "spark.sql.iceberg.snapshot-property.trellis.label": "{label}",
        "spark.sql.iceberg.snapshot-property.trellis.notes": "{notes}",
    },
    history=(
        "SELECT summary['trellis.label'] AS label, CAST(snapshot_id AS STRING) AS version "
        "FROM {table}.snapshots ORDER BY committed_at DESC"
    ),
    label_column="label",
    version_column="version",
    widenings=frozenset({("INT", "BIGINT"), ("FLOAT", "DOUBLE")}),
)
FORMATS: Final = (DELTA_FORMAT, ICEBERG_FORMAT)
