"""Rows of one table as an Arrow batch, with its system columns system_columns in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trellis.engine.arrow.nested_types import nested_type
from trellis.engine.arrow.nested_values import Misfit, nested_of_texts
from trellis.engine.arrow.number_text import is_number_text, number_texts
from trellis.engine.arrow.types import arrow_type
from trellis.engine.exact.slots import TableBuilder
from trellis.errors import ContractError
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.schema.model import Column, Schema, Table

_EXACT = Context(prec=80)

Origins = npt.NDArray[np.int64]
"""The numbers of the records that rows come from."""


@dataclass
class TableBatch:
    """Columns of one table, all of the same length. A column that is missing is NULL in every row.

    `origins` are the numbers of the records that the rows come from, where these are tracked.
    """

    table: str
    rows: int
    columns: dict[str, pa.Array | pa.ChunkedArray] = field(default_factory=dict)
    origins: Origins | None = None


def _ordinals(origins: Origins) -> list[int]:
    """The number of each row within its record; rows of one record are adjacent.

    >>> _ordinals(np.array([3, 3, 5, 5, 5]))
    [0, 1, 0, 1, 2]
    """
    starts = np.flatnonzero(np.diff(origins, prepend=-1))
    sizes = np.diff(starts, append=len(origins))
    ordinals: list[int] = (np.arange(len(origins)) - np.repeat(starts, sizes)).tolist()
    return ordinals


class RowIdGenerator:
    """The row ids of one block: of the root rows first, then of each table below its parent.

    An id depends on the load and the position of the record alone: it is the same on the exact and on the
    columnar path, and in a task that is retried. `first` is the number of the first record of the block.
    """

    def __init__(
        self, dialect: Dialect, schema: Schema, load_id: str, seed: bytes, now: datetime, first: int = 0
    ) -> None:
        self.dialect = dialect
        self.schema = schema
        self.load_id = load_id
        self.seed = seed
        self.now = now
        self.first = first
        self.warnings: Counter[str] = Counter()
        self.row_ids: dict[str, Sequence[Any]] = {}
        self.root_ids: dict[str, Sequence[Any]] = {}

    def root_columns(
        self,
        place: str,
        keys: RowKeys,
        rows: int,
        id_sources: Sequence[Any],
        own_ids: Sequence[Any] | None,
        tops: Sequence[Any] | None = None,
        origins: Origins | None = None,
    ) -> dict[str, Any]:
        """The system columns of rows of a root table.

        `own_ids` are ids that the rows bring along, `tops` those of the rows above where lists feed the
        table. `origins` are the numbers of the records; without them there is one row for each of the first
        records.
        """
        dialect = self.dialect
        columns: dict[str, Any] = {}
        if keys.root_id and tops is not None:
            columns[keys.root_id] = tops
        if keys.load_id:
            columns[keys.load_id] = pa.repeat(pa.scalar(self.load_id, pa.string()), rows)
        for name, unit in keys.loaded_at.items():
            columns[name] = pa.repeat(pa.scalar(_truncate(self.now, unit), pa.timestamp("us", "UTC")), rows)
        if not keys.row_id:
            return columns
        if keys.of_item:
            ids: Sequence[Any] = dialect.system_columns.record_ids(id_sources)
        elif keys.from_columns:
            ids = dialect.system_columns.hashed_ids(keys.from_columns, id_sources)
        elif tops is not None and origins is not None:
            ids = dialect.system_columns.child_ids(tops, place, _ordinals(origins))
        else:
            ids = self._ids_by_position(place, rows, origins)
        ids = _prefer(own_ids, ids)
        self.row_ids[place] = self.root_ids[place] = ids
        columns[keys.row_id] = ids
        return columns

    def _ids_by_position(self, place: str, rows: int, origins: Origins | None) -> Sequence[Any]:
        seed = self.seed + place.encode()
        if origins is None or not rows:
            return self.dialect.system_columns.root_ids(seed, rows)
        positions = origins - self.first
        ids = self.dialect.system_columns.root_ids(seed, int(positions.max()) + 1)
        if bool((np.diff(positions, prepend=-1) == 1).all()):
            return ids
        row_ids = [ids[position] for position in positions.tolist()]
        if bool((np.diff(origins) == 0).any()):
            self._replace_repeated_ids(row_ids, place, _ordinals(origins))
        return row_ids

    def _replace_repeated_ids(self, ids: list[str], place: str, ordinals: Sequence[int]) -> None:
        """Replace the ids of all rows of a record but the first, which share one so far."""
        rows = [row for row, ordinal in enumerate(ordinals) if ordinal]
        parents, numbers = [ids[row] for row in rows], [ordinals[row] for row in rows]
        row_ids = self.dialect.system_columns.child_ids(parents, place, numbers)
        for row, row_id in zip(rows, row_ids, strict=True):
            ids[row] = row_id

    def ids_of_roots(self, parent_place: str, parents: Sequence[int]) -> list[Any]:
        """The ids of the root rows that these parent rows belong to."""
        return [self.root_ids[parent_place][row] for row in parents]

    def nested_columns(
        self,
        place: str,
        parent_place: str,
        keys: RowKeys,
        name: str,
        parents: Sequence[int],
        indexes: Sequence[int],
        own_ids: Sequence[Any] | None,
    ) -> dict[str, Any]:
        parent_row_ids = self.row_ids[parent_place]
        parent_ids = [parent_row_ids[row] for row in parents]
        ids = _prefer(own_ids, self.dialect.system_columns.child_ids(parent_ids, name, indexes))
        self.row_ids[place] = ids
        self.root_ids[place] = root_ids = self.ids_of_roots(parent_place, parents)
        columns: dict[str, Any] = {keys.row_id: ids}
        if keys.parent_id:
            columns[keys.parent_id] = parent_ids
        if keys.root_id:
            columns[keys.root_id] = root_ids
        if keys.list_index:
            columns[keys.list_index] = indexes
        return columns


def in_order_of_input(batches: Iterable[TableBatch]) -> list[TableBatch]:
    """One batch per table, its rows in the order of their records."""
    by_table: dict[str, list[TableBatch]] = {}
    for batch in batches:
        by_table.setdefault(batch.table, []).append(batch)
    return [parts[0] if _is_in_order(parts) else _in_order(parts) for parts in by_table.values()]


def _is_in_order(parts: Sequence[TableBatch]) -> bool:
    origins = parts[0].origins
    return len(parts) == 1 and (origins is None or bool((np.diff(origins) >= 0).all()))


def _in_order(parts: Sequence[TableBatch]) -> TableBatch:
    origins = np.concatenate([part.origins for part in parts if part.origins is not None])
    order = np.argsort(origins, kind="stable")
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {name: _stacked(name, parts).take(pa.array(order)) for name in names}
    return TableBatch(parts[0].table, len(origins), columns, origins[order])


def _stacked(name: str, parts: Sequence[TableBatch]) -> pa.Array:
    (type_,) = {part.columns[name].type for part in parts if name in part.columns}
    arrays: list[pa.Array] = []
    for part in parts:
        column = part.columns.get(name)
        if column is None:
            arrays.append(pa.nulls(part.rows, type_))
        elif isinstance(column, pa.ChunkedArray):
            arrays += column.chunks
        else:
            arrays.append(column)
    return pa.concat_arrays(arrays)


def batch_of_rows(builder: TableBuilder, id_generator: RowIdGenerator) -> TableBatch:
    """The rows that a builder collected. The batch of its parent must come first: it has the parent ids."""
    table, rows, row_id = builder.table, builder.rows, builder.keys.row_id
    origins = np.array(builder.origins, np.int64) if builder.origins else None
    assert table is not None, builder.name
    own_ids = [row.get(row_id) for row in rows] if row_id and any(row_id in row for row in rows) else None
    if builder.parent is None or not builder.is_nested_table:
        tops = id_generator.ids_of_roots(builder.parent.place, builder.parents) if builder.parent else None
        system_columns = id_generator.root_columns(
            builder.place, builder.keys, len(rows), builder.id_sources, own_ids, tops, origins
        )
    else:
        system_columns = id_generator.nested_columns(
            builder.place,
            builder.parent.place,
            builder.keys,
            builder.name,
            builder.parents,
            builder.indexes,
            own_ids,
        )
    batch = TableBatch(
        builder.name, len(rows), origins=np.array(builder.origins, np.int64) if builder.origins else None
    )
    for name, values in system_columns.items():
        if name in table.columns:
            batch.columns[name] = array_of(table, table.columns[name], values)
    data_columns = [column for column in table.complete_columns if column.name not in system_columns]
    for column, array in zip(
        data_columns, _arrays(table, data_columns, rows, id_generator.warnings), strict=True
    ):
        if array.null_count < len(rows):
            batch.columns[column.name] = array
    return batch


def _arrays(
    table: Table, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], warnings: Counter[str]
) -> list[pa.Array]:
    """The values of each column; converted together where Arrow takes all of them as they are."""
    if any(nested_type(column) is not None for column in columns):
        return [
            array_of(table, column, [row.get(column.name) for row in rows], warnings) for column in columns
        ]
    try:
        together = pa.array(rows, pa.struct([(column.name, arrow_type(column)) for column in columns]))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return [
            array_of(table, column, [row.get(column.name) for row in rows], warnings) for column in columns
        ]
    arrays: list[pa.Array] = together.flatten()
    return arrays


def array_of(table: Table, column: Column, values: Any, warnings: Counter[str] | None = None) -> pa.Array:
    """The values as the column's Arrow type. Raises ContractError where Arrow cannot hold one."""
    arrow = arrow_type(column)
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values if values.type == arrow else values.cast(arrow)
    if pa.types.is_nested(arrow):
        return _nested(table, column, arrow, values)
    try:
        return pa.array(values, arrow)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if is_number_text(column):
            return number_texts(values)
        return pa.array([_storable_value(table, column, arrow, value, warnings) for value in values], arrow)


def _nested(table: Table, column: Column, arrow: pa.DataType, values: Sequence[Any]) -> pa.Array:
    """JSON texts as the nested type of their column, or values that are of that type already."""
    try:
        if not any(isinstance(value, str) for value in values):
            return pa.array(values, arrow)
        return nested_of_texts(values, arrow)
    except (Misfit, pa.ArrowException) as bad:
        raise ContractError(
            f"table {table.name}, column {column.name}: {str(bad)[:80]} does not fit {arrow}, the "
            "nested type its values are stored as; give it that shape, or load it into another table"
        ) from None


def _storable_value(
    table: Table, column: Column, arrow: pa.DataType, value: Any, warnings: Counter[str] | None
) -> Any:
    """One value that Arrow did not take as it is: rounded to the column's scale, or an error."""
    if value is None:
        return None
    if pa.types.is_decimal(arrow) and not isinstance(value, str):
        value = Decimal(value).quantize(Decimal(1).scaleb(-arrow.scale), ROUND_HALF_EVEN, _EXACT)
    elif pa.types.is_string(arrow):
        value = value if isinstance(value, str) else str(value)
        encoded = value.encode("utf-8", "replace").decode()
        if encoded != value and warnings is not None:
            warnings[f"half of a surrogate pair in {table.name}.{column.name} was stored as ?"] += 1
        value = encoded
    try:
        pa.scalar(value, arrow)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as bad:
        raise ContractError(
            f"table {table.name}, column {column.name}: {str(value)[:80]!r} does not fit "
            f"{column.data_type} stored as {arrow} ({bad}); give the column a wider precision"
        ) from None
    return value


def _truncate(now: datetime, unit: Literal["s", "ms"]) -> datetime:
    return now.replace(microsecond=0 if unit == "s" else now.microsecond // 1000 * 1000)


def _prefer(own_ids: Sequence[Any] | None, generated: Sequence[Any]) -> Sequence[Any]:
    if own_ids is None:
        return generated
    return [
        own_id if own_id is not None else row_id for own_id, row_id in zip(own_ids, generated, strict=True)
    ]
