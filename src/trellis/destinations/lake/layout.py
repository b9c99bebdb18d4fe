"""How the rows of a table lie: partitions, clusters, properties.

Of a new table the hints of its schema say so. A table that is replaced keeps what it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trellis.destinations.sql.literals import string_literal
from trellis.schema.model import Column, Table
from trellis.warehouses.identifiers import BACKTICKS
from trellis.warehouses.statements import table_properties

DELTA_LAYOUT: Final = "DESCRIBE DETAIL {table}"
ICEBERG_LAYOUT: Final = "DESCRIBE TABLE {table}"
_PART: Final = re.compile(r"Part \d+")
_PARTITION_COLUMNS: Final = "# Partition Information"
_COUNTERS: Final = ("delta.columnMapping.maxColumnId", "delta.rowTracking.materialized")
"""How properties begin that Delta itself sets."""


@dataclass(frozen=True)
class TableLayout:
    """The columns that a new table is partitioned and clustered by, and its properties."""

    partitions: tuple[Column, ...] = ()
    clusters: tuple[Column, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(table: Table) -> TableLayout:
        """Raises SchemaError for properties that are no names with values."""
        return TableLayout(
            tuple(column for column in table.complete_columns if column.hint("partition")),
            tuple(column for column in table.complete_columns if column.hint("cluster")),
            table_properties(table),
        )


def properties_clause(properties: Mapping[str, str]) -> str:
    """
    >>> properties_clause({"delta.appendOnly": "true"})
    "TBLPROPERTIES ('delta.appendOnly' = 'true')"
    """
    pairs = (map(string_literal, pair) for pair in properties.items())
    return f"TBLPROPERTIES ({', '.join(' = '.join(pair) for pair in pairs)})"


def comment_clause(description: str | None) -> str:
    """Empty without a description."""
    return f"COMMENT {string_literal(description)}" if description else ""


def delta_clauses(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The clauses by the rows of `DELTA_LAYOUT`.

    >>> properties = {"delta.appendOnly": "false"}
    >>> detail = {"partitionColumns": ["day"], "properties": properties, "description": None}
    >>> list(delta_clauses([detail]))
    ['PARTITIONED BY (`day`)', "TBLPROPERTIES ('delta.appendOnly' = 'false')"]
    """
    (detail,) = rows
    for clause, columns in (
        ("PARTITIONED BY", detail["partitionColumns"]),
        ("CLUSTER BY", detail.get("clusteringColumns")),
    ):
        if columns:
            yield f"{clause} ({', '.join(map(BACKTICKS.quote, columns))})"
    if comment := comment_clause(detail["description"]):
        yield comment
    properties = {n: value for n, value in detail["properties"].items() if not n.startswith(_COUNTERS)}
    if properties:
        yield properties_clause(properties)


def iceberg_clauses(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The clauses by the rows of `ICEBERG_LAYOUT`; a table keeps its properties when it is replaced.

    >>> column = {"col_name": "at", "data_type": "timestamp"}
    >>> list(iceberg_clauses([column, {"col_name": "Part 0", "data_type": "days(at)"}]))
    ['PARTITIONED BY (days(at))']
    """
    parts = [row["data_type"] for row in rows if _PART.fullmatch(row["col_name"])]
    names = [row["col_name"] for row in rows]
    if _PARTITION_COLUMNS in names:
        listed = names[names.index(_PARTITION_COLUMNS) + 1 :]
        parts = [BACKTICKS.quote(name) for name in listed if name and not name.startswith("#")]
    if parts:
        yield f"PARTITIONED BY ({', '.join(parts)})"
