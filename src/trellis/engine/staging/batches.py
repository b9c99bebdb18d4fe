"""Rows of one table as an Arrow batch, with its bookkeeping columns filled in."""

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
from trellis.engine.exact.slots import TableWalk
from trellis.errors import ContractError
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.schema.model import Column, Schema, Table

_WIDE = Context(prec=80)

Origins = npt.NDArray[np.int64]
"""The numbers of the records that rows come from."""


@dataclass
class TableBatch:
    """Equally long columns of one table. Columns that are not here are NULL in all its rows.

    `origins` are the numbers of the records that the rows come from, where that is asked for.
    """

    table: str
    rows: int
    columns: dict[str, pa.Array | pa.ChunkedArray] = field(default_factory=dict)
    origins: Origins | None = None


def _ordinals(origins: Origins) -> list[int]:
    """Counts the rows of each record, which stand together.

    >>> _ordinals(np.array([3, 3, 5, 5, 5]))
    [0, 1, 0, 1, 2]
    """
    starts = np.flatnonzero(np.diff(origins, prepend=-1))
    sizes = np.diff(starts, append=len(origins))
    ordinals: list[int] = (np.arange(len(origins)) - np.repeat(starts, sizes)).tolist()
    return ordinals


class Keyring:
    """The row ids of one block: of the root rows first, then of each table below its parent.

    An id depends on the load and on the place of the record alone, so it does not matter which way a record
    goes, and a task that is retried gives the same ones. `first` is the number of the first record of the
    block.
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
        self.oddities: Counter[str] = Counter()
        self.row_ids: dict[str, Sequence[Any]] = {}
        self.root_ids: dict[str, Sequence[Any]] = {}

    def root(
        self,
        place: str,
        keys: RowKeys,
        rows: int,
        hashed: Sequence[Any],
        own: Sequence[Any] | None,
        tops: Sequence[Any] | None = None,
        origins: Origins | None = None,
    ) -> dict[str, Any]:
        """`tops`: the ids of the root rows above, where lists feed the table.

        `origins`: the numbers of the records of the rows; without them the rows are those of the first
        records.
        """
        dialect = self.dialect
        made: dict[str, Any] = {}
        if keys.root_id and tops is not None:
            made[keys.root_id] = tops
        if keys.load_id:
            made[keys.load_id] = pa.repeat(pa.scalar(self.load_id, pa.string()), rows)
        for name, unit in keys.loaded_at.items():
            made[name] = pa.repeat(pa.scalar(_cut(self.now, unit), pa.timestamp("us", "UTC")), rows)
        if not keys.row_id:
            return made
        if keys.of_item:
            ids: Sequence[Any] = dialect.system_columns.record_ids(hashed)
        elif keys.from_columns:
            ids = dialect.system_columns.hashed_ids(keys.from_columns, hashed)
        elif tops is not None and origins is not None:
            ids = dialect.system_columns.child_ids(tops, place, _ordinals(origins))
        else:
            ids = self._ids_of_places(place, rows, origins)
        ids = _prefer(own, ids)
        self.row_ids[place] = self.root_ids[place] = ids
        made[keys.row_id] = ids
        return made

    def _ids_of_places(self, place: str, rows: int, origins: Origins | None) -> Sequence[Any]:
        seed = self.seed + place.encode()
        if origins is None or not rows:
            return self.dialect.system_columns.root_ids(seed, rows)
        places = origins - self.first
        ids = self.dialect.system_columns.root_ids(seed, int(places.max()) + 1)
        if bool((np.diff(places, prepend=-1) == 1).all()):
            return ids
        chosen = [ids[at] for at in places.tolist()]
        if bool((np.diff(origins) == 0).any()):
            self._tell_apart(chosen, place, _ordinals(origins))
        return chosen

    def _tell_apart(self, ids: list[str], place: str, ordinals: Sequence[int]) -> None:
        """Give all rows of a record but the first an id of their own."""
        others = [at for at, ordinal in enumerate(ordinals) if ordinal]
        parents, numbers = [ids[at] for at in others], [ordinals[at] for at in others]
        for at, own in zip(
            others, self.dialect.system_columns.child_ids(parents, place, numbers), strict=True
        ):
            ids[at] = own

    def tops(self, outer: str, parents: Sequence[int]) -> list[Any]:
        """The ids of the root rows above rows with these parents."""
        return [self.root_ids[outer][at] for at in parents]

    def nested(
        self,
        place: str,
        outer: str,
        keys: RowKeys,
        name: str,
        parents: Sequence[int],
        indexes: Sequence[int],
        own: Sequence[Any] | None,
    ) -> dict[str, Any]:
        above = self.row_ids[outer]
        parent_ids = [above[at] for at in parents]
        ids = _prefer(own, self.dialect.system_columns.child_ids(parent_ids, name, indexes))
        self.row_ids[place] = ids
        self.root_ids[place] = root_ids = self.tops(outer, parents)
        made: dict[str, Any] = {keys.row_id: ids}
        if keys.parent_id:
            made[keys.parent_id] = parent_ids
        if keys.root_id:
            made[keys.root_id] = root_ids
        if keys.list_index:
            made[keys.list_index] = indexes
        return made


def in_order_of_input(batches: Iterable[TableBatch]) -> list[TableBatch]:
    """One batch per table, its rows in the order of the records that they come from."""
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


def batch_of_rows(walk: TableWalk, keyring: Keyring) -> TableBatch:
    """The rows a walk collected. Its parent's batch must have been made before."""
    table, rows, row_id = walk.table, walk.rows, walk.keys.row_id
    origins = np.array(walk.origins, np.int64) if walk.origins else None
    assert table is not None, walk.name
    own = [row.get(row_id) for row in rows] if row_id and any(row_id in row for row in rows) else None
    if walk.parent is None or not walk.linked:
        tops = keyring.tops(walk.parent.place, walk.parents) if walk.parent else None
        filled = keyring.root(walk.place, walk.keys, len(rows), walk.hashed, own, tops, origins)
    else:
        filled = keyring.nested(
            walk.place, walk.parent.place, walk.keys, walk.name, walk.parents, walk.indexes, own
        )
    batch = TableBatch(
        walk.name, len(rows), origins=np.array(walk.origins, np.int64) if walk.origins else None
    )
    for name, values in filled.items():
        if name in table.columns:
            batch.columns[name] = array_of(table, table.columns[name], values)
    given = [column for column in table.complete_columns if column.name not in filled]
    for column, array in zip(given, _arrays(table, given, rows, keyring.oddities), strict=True):
        if array.null_count < len(rows):
            batch.columns[column.name] = array
    return batch


def _arrays(
    table: Table, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], oddities: Counter[str]
) -> list[pa.Array]:
    """The values of each column; all at once where Arrow takes every one as it is."""
    if any(nested_type(column) is not None for column in columns):
        return [
            array_of(table, column, [row.get(column.name) for row in rows], oddities) for column in columns
        ]
    try:
        together = pa.array(rows, pa.struct([(column.name, arrow_type(column)) for column in columns]))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return [
            array_of(table, column, [row.get(column.name) for row in rows], oddities) for column in columns
        ]
    found: list[pa.Array] = together.flatten()
    return found


def array_of(table: Table, column: Column, values: Any, oddities: Counter[str] | None = None) -> pa.Array:
    """The values as the column's Arrow type. Raises ContractError where Arrow cannot hold one."""
    wanted = arrow_type(column)
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values if values.type == wanted else values.cast(wanted)
    if pa.types.is_nested(wanted):
        return _nested(table, column, wanted, values)
    try:
        return pa.array(values, wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if is_number_text(column):
            return number_texts(values)
        return pa.array([_fitted(table, column, wanted, value, oddities) for value in values], wanted)


def _nested(table: Table, column: Column, wanted: pa.DataType, texts: Sequence[str | None]) -> pa.Array:
    """JSON texts as the nested type of their column."""
    try:
        return nested_of_texts(texts, wanted)
    except Misfit as bad:
        raise ContractError(
            f"table {table.name}, column {column.name}: {str(bad)[:80]} does not fit {wanted}, the "
            "nested type its values are stored as; give it that shape, or load it into another table"
        ) from None


def _fitted(
    table: Table, column: Column, wanted: pa.DataType, value: Any, oddities: Counter[str] | None
) -> Any:
    """One value that Arrow did not take as it is: rounded to the column's scale, or an error."""
    if value is None:
        return None
    if pa.types.is_decimal(wanted) and not isinstance(value, str):
        value = Decimal(value).quantize(Decimal(1).scaleb(-wanted.scale), ROUND_HALF_EVEN, _WIDE)
    elif pa.types.is_string(wanted):
        value = value if isinstance(value, str) else str(value)
        made = value.encode("utf-8", "replace").decode()
        if made != value and oddities is not None:
            oddities[f"half of a surrogate pair in {table.name}.{column.name} was stored as ?"] += 1
        value = made
    try:
        pa.scalar(value, wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as bad:
        raise ContractError(
            f"table {table.name}, column {column.name}: {str(value)[:80]!r} does not fit "
            f"{column.data_type} stored as {wanted} ({bad}); give the column a wider precision"
        ) from None
    return value


def _cut(now: datetime, unit: Literal["s", "ms"]) -> datetime:
    return now.replace(microsecond=0 if unit == "s" else now.microsecond // 1000 * 1000)


def _prefer(own: Sequence[Any] | None, made: Sequence[Any]) -> Sequence[Any]:
    if own is None:
        return made
    return [mine if mine is not None else other for mine, other in zip(own, made, strict=True)]
