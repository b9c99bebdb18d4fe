"""Figures of a table that only its rows say: nulls of each column, and the loads that brought them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TableStatistics:
    """`values` counts those that are not null, by column."""

    rows: int = 0
    values: Counter[str] = field(default_factory=Counter)
    load_ids: frozenset[str] = frozenset()

    def nulls(self, column: str) -> int:
        return self.rows - self.values[column]


NO_STATISTICS = TableStatistics()


def read_statistics(batches: Iterable[pa.RecordBatch], load_id: str | None) -> TableStatistics:
    """The figures of all rows; `load_id` is the column that names their loads. A batch may lack columns."""
    import pyarrow.compute as pc

    rows, values, load_ids = 0, Counter[str](), set[str]()
    for batch in batches:
        rows += batch.num_rows
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            values[name] += len(array) - array.null_count
            if name == load_id:
                load_ids.update(map(str, pc.unique(array.drop_null()).to_pylist()))
    return TableStatistics(rows, values, frozenset(load_ids))
