"""Records in columns -> the rows of every table, without a look at single values.

What Arrow's reader does not check is checked here, a column at a time: texts that are no date or time,
numbers that are not finite, missing values that are required. Such records are left out of all tables and
reported, so that the exact path can take them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.layout import Layout, Node
from trellis.engine.columnar.strict import FastPathMiss, single_chunk
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.staging.batches import Origins, RowIdGenerator, TableBatch, array_of
from trellis.schema.model import DataType

Indexes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def build_batches(
    layout: Layout,
    records: pa.Table,
    numbers: Origins,
    id_generator: RowIdGenerator,
    items: Sequence[Any] = (),
) -> tuple[list[TableBatch], Indexes]:
    """The batches of all tables, parents first, and the indexes of the records that they leave out.

    `numbers` are the numbers of the records, which become the origins of the rows. `items` are the parsed
    records, where row ids are hashes of these. Raises FastPathMiss where it is not known which records
    failed.
    """
    batch_builder = _BatchBuilder(id_generator, numbers)
    columns = [single_chunk(records.column(index)) for index in range(records.num_columns)]
    batch_builder.add_root(layout.root, layout.nodes, columns, items)
    misses = np.flatnonzero(batch_builder.misses)
    batches = [_without_misses(batch, numbers, batch_builder.misses) for batch in batch_builder.batches]
    return [batch for batch in batches if batch.rows], misses


def find_misses(layout: Layout, records: pa.Table) -> Indexes:
    """The indexes of the records that `build_batches` would leave out. Raises FastPathMiss as it does."""
    batch_builder = _BatchBuilder(None, np.arange(records.num_rows))
    columns = [single_chunk(records.column(index)) for index in range(records.num_columns)]
    batch_builder.add_root(layout.root, layout.nodes, columns, ())
    return np.flatnonzero(batch_builder.misses)


class _BatchBuilder:
    """Its batches have indexes of records as origins; `misses` marks the records for the exact path.

    Without a generator of row ids its batches lack them.
    """

    def __init__(self, id_generator: RowIdGenerator | None, numbers: Origins) -> None:
        self.id_generator = id_generator
        self.numbers = numbers
        self.batches: list[TableBatch] = []
        self.misses: Mask = np.zeros(len(numbers), np.bool_)

    def add_root(
        self, builder: TableBuilder, nodes: tuple[Node, ...], arrays: list[pa.Array], items: Sequence[Any]
    ) -> None:
        rows = len(self.misses)
        batch = TableBatch(builder.name, rows, origins=np.arange(rows))
        raw: dict[str, pa.Array] = {}
        lists: list[tuple[Node, pa.Array]] = []
        self._add_columns(builder, nodes, arrays, batch, lists, raw)
        id_sources = items
        if builder.keys.from_columns:
            if set(raw) != set(builder.keys.from_columns):
                raise FastPathMiss
            for array in raw.values():
                self._mark_misses(batch, pc.is_null(array))
            id_sources = list(
                zip(*(raw[name].to_pylist() for name in builder.keys.from_columns), strict=True)
            )
        system_columns: Mapping[str, Any] = {}
        if self.id_generator is not None:
            system_columns = self.id_generator.root_columns(
                builder.place, builder.keys, rows, id_sources, None, None, self.numbers
            )
        self._finish_batch(builder, batch, system_columns)
        for node, array in lists:
            self._add_nested(builder, node, array, batch)

    def _add_nested(
        self, parent: TableBuilder, node: Node, array: pa.Array, parent_batch: TableBatch
    ) -> None:
        builder = node.binding.child
        assert builder is not None and parent_batch.origins is not None
        values = pc.list_flatten(array)
        if not len(values):
            return
        parents = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
        if pa.types.is_null(values.type):
            self.misses[parent_batch.origins[parents]] = True
            return
        starts = np.searchsorted(parents, parents, side="left")
        indexes = (np.arange(len(parents)) - starts).tolist()
        batch = TableBatch(builder.name, len(values), origins=parent_batch.origins[parents])
        lists: list[tuple[Node, pa.Array]] = []
        if node.element is not None:
            self._add_columns(builder, (node.element,), [values], batch, lists, {})
        else:
            self._add_columns(builder, node.inner, values.flatten(), batch, lists, {})
        self._finish_batch(
            builder, batch, self._nested_ids(parent, builder, batch, parents.tolist(), indexes)
        )
        for inner, inner_array in lists:
            self._add_nested(builder, inner, inner_array, batch)

    def _nested_ids(
        self,
        parent: TableBuilder,
        builder: TableBuilder,
        batch: TableBatch,
        parent_rows: list[int],
        indexes: list[int],
    ) -> Mapping[str, Any]:
        """The ids and links of rows of lists, by the numbers of their parents and their places in lists."""
        id_generator = self.id_generator
        if id_generator is None:
            return {}
        if builder.is_nested_table:
            return id_generator.nested_columns(
                builder.place, parent.place, builder.keys, builder.name, parent_rows, indexes, None
            )
        tops, origins = id_generator.ids_of_roots(parent.place, parent_rows), self.numbers[batch.origins]
        return id_generator.root_columns(builder.place, builder.keys, batch.rows, (), None, tops, origins)

    def _add_columns(
        self,
        builder: TableBuilder,
        nodes: tuple[Node, ...],
        arrays: list[pa.Array],
        batch: TableBatch,
        lists: list[tuple[Node, pa.Array]],
        raw: dict[str, pa.Array],
    ) -> None:
        present = [node for node in nodes if node.type is not None]
        for node, array in zip(present, arrays, strict=True):
            if pa.types.is_struct(node.type):
                self._add_columns(builder, node.inner, array.flatten(), batch, lists, raw)
            elif pa.types.is_list(node.type):
                lists.append((node, array))
            elif not pa.types.is_null(node.type):
                self._add_column(builder, node, array, batch, raw)

    def _add_column(
        self, builder: TableBuilder, node: Node, array: pa.Array, batch: TableBatch, raw: dict[str, pa.Array]
    ) -> None:
        binding = node.binding
        column = binding.column
        assert column is not None and column.data_type is not None
        if binding.required and array.null_count:
            self._mark_misses(batch, pc.is_null(array))
        if binding.name in builder.keys.from_columns:
            raw[binding.name] = array
        try:
            fitted, misses = _CONVERT[column.data_type](array)
            batch.columns[binding.name] = fitted.cast(arrow_type(column))
        except pa.ArrowException:
            raise FastPathMiss from None
        if misses is not None:
            self._mark_misses(batch, misses)

    def _mark_misses(self, batch: TableBatch, rows: pa.Array) -> None:
        """Leave the records of these rows of a batch to the exact path."""
        assert batch.origins is not None
        self.misses[batch.origins[rows.to_numpy(zero_copy_only=False)]] = True

    def _finish_batch(
        self, builder: TableBuilder, batch: TableBatch, system_columns: Mapping[str, Any]
    ) -> None:
        table = builder.table
        assert table is not None
        if any(c.name in builder.required and c.name not in batch.columns for c in table.complete_columns):
            raise FastPathMiss
        for name, values in system_columns.items():
            batch.columns[name] = array_of(table, table.columns[name], values)
        self.batches.append(batch)


def _without_misses(batch: TableBatch, numbers: Origins, misses: Mask) -> TableBatch:
    """The batch with numbers of records as origins, without the rows of missed records."""
    assert batch.origins is not None
    keep = ~misses[batch.origins]
    if keep.all():
        return TableBatch(batch.table, batch.rows, batch.columns, numbers[batch.origins])
    mask = pa.array(keep)
    columns = {name: column.filter(mask) for name, column in batch.columns.items()}
    return TableBatch(batch.table, int(keep.sum()), columns, numbers[batch.origins[keep]])


# ---- checks that Arrow's reader leaves out: the values of a column, and a mask of those that do not fit

Fitted = tuple[pa.Array, pa.Array | None]

_SHORTEST: Final = len("2024-01-01T00:00")
_DAY: Final = len("2024-01-01")
_STAMP: Final = pa.timestamp("us", "UTC")
_CLOCK: Final = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?"
_ZONED: Final = _CLOCK + r"(Z|[+-]\d\d(:?\d\d)?)$"
_NAIVE: Final = _CLOCK + "$"


def _as_is(array: pa.Array) -> Fitted:
    return array, None


def _as_text(array: pa.Array) -> Fitted:
    """Texts, or integers as they are written."""
    return array.cast(pa.string()), None


def _finite(array: pa.Array) -> Fitted:
    finite = pc.is_finite(array)
    if pc.all(finite).as_py() is not False:
        return array, None
    return array, pc.fill_null(pc.invert(finite), False)


def _instants(array: pa.Array) -> Fitted:
    """ISO date-times; text without an offset is UTC."""
    shortest = pc.min(pc.utf8_length(array)).as_py()
    if shortest is None:
        return pa.nulls(len(array), _STAMP), None
    if shortest >= _SHORTEST:
        for zone in ("UTC", None):
            try:
                instants = array.cast(pa.timestamp("us", zone))
            except pa.ArrowInvalid:
                continue
            return instants if zone else pc.assume_timezone(instants, "UTC"), None
    return _mixed_instants(array)


def _mixed_instants(array: pa.Array) -> Fitted:
    """Times with an offset, times without one, and other texts mixed. Raises ArrowInvalid."""
    zoned, naive = (pc.fill_null(pc.match_substring_regex(array, p), False) for p in (_ZONED, _NAIVE))
    nothing = pa.scalar(None, pa.string())
    with_zone = pc.if_else(zoned, array, nothing).cast(_STAMP)
    without = pc.assume_timezone(pc.if_else(naive, array, nothing).cast(pa.timestamp("us")), "UTC")
    misses = pc.and_(pc.is_valid(array), pc.invert(pc.or_(zoned, naive)))
    return pc.coalesce(with_zone, without), misses


def _days(array: pa.Array) -> Fitted:
    others = pc.fill_null(pc.not_equal(pc.utf8_length(array), _DAY), False)
    if pc.any(others).as_py():
        array = pc.if_else(others, pa.scalar(None, pa.string()), array)
        return array.cast(pa.date32()), others
    return array.cast(pa.date32()), None


_CONVERT: Mapping[DataType, Callable[[pa.Array], Fitted]] = {
    "text": _as_text,
    "bigint": _as_is,
    "double": _finite,
    "bool": _as_is,
    "timestamp": _instants,
    "date": _days,
}
