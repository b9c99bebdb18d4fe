"""Frames whose rows come in the order of the sorted table that they are read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StructType

from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.spark.source import FORMAT, YtDataSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEEPS_ORDER: Final = frozenset(("Project", "Filter", "SubqueryAlias"))
"""Nodes of a plan that change neither the order of rows nor their division into partitions."""


def is_in_table_order(frame: DataFrame, names: Sequence[str]) -> bool:
    """Whether the rows of a frame come sorted by these columns, as they stand in a table sorted by them.

    Spark itself sees the sorts in the plan of a frame and does none twice, but knows no order of tables.
    A frame of Spark Connect has no plan here, so the answer is no.
    """
    if not hasattr(frame, "_jdf"):
        return False
    node: Any = frame._jdf.queryExecution().analyzed()
    columns = _attributes(node)
    while node.getClass().getSimpleName() in _KEEPS_ORDER:
        node = node.child()
    if node.getClass().getSimpleName() != "DataSourceV2Relation" or node.table().name() != FORMAT:
        return False
    table_columns = _attributes(node)
    if any(name not in columns or columns[name] != table_columns.get(name) for name in names):
        return False
    options: Any = CaseInsensitiveDict(node.options().asCaseSensitiveMap())
    keys = YtDataSource(options).reader(StructType([])).keys
    return keys[: len(names)] == tuple(map(SortColumn, names))


def _attributes(node: Any) -> dict[str, int]:
    """The columns of a node, each with the number that Spark knows it by."""
    output = node.output()
    attributes = [output.apply(index) for index in range(output.size())]
    return {attribute.name(): attribute.exprId().id() for attribute in attributes}
