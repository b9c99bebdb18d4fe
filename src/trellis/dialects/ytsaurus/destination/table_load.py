"""Staged rows on their way into a table of a store."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.dialects.ytsaurus.alter.changes import check_alter
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.inference.writes import WritePlan, plan_write
from trellis.dialects.ytsaurus.loads.target import UNDECLARED as STAGED_UNDECLARED
from trellis.dialects.ytsaurus.loads.target import TargetTable
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.document import parse_schema, schema_document
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.catalog import Node, TableInfo
from trellis.dialects.ytsaurus.store.chunks import BATCH_ROWS, Slice
from trellis.dialects.ytsaurus.store.columns import UNDECLARED, arrow_schema, stored_name
from trellis.dialects.ytsaurus.store.rewriting.engines import AUTOMATIC
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles, check_borders, write_batches
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import commit_slices, last_row_key
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Attributed, to_bytes
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.engine.parallel import Parallel
from trellis.engine.staging.stage import StagedFile

LOADS: Final = "trellis_loads"
"""The attribute of a table that names the newest loads into it."""
_LOADS_KEPT: Final = 100


@dataclass(frozen=True)
class TableLoad:
    """One load into one table."""

    store: Store
    target: TargetTable

    def statement(self) -> str | None:
        """The command that would make the table, or change its schema."""
        path, schema = self.target.path, dumps(schema_document(self.target.schema)).decode()
        if self.store.find(path) is None:
            return f"create table {path} -r --attributes '{{schema={schema}}}'"
        table = self.store.table(path)
        changes = self.target.mode == "strong" and table.schema != self.target.schema
        return f"alter-table {path} --schema '{schema}'" if changes else None

    def check(self, *, replaces: bool) -> None:
        """Raises YtError where the table does not take rows under the schema of the load."""
        if self.store.find(self.target.path) is not None:
            self._plan(self.store.table(self.target.path), replaces)

    def commit(
        self, files: Sequence[StagedFile], load_id: str, *, replaces: bool, parallel: Parallel
    ) -> None:
        """Raises YtError; the table stays as it was then. A load that the table has is passed over."""
        with self.store.session("load into") as store:
            replace(self, store=store)._load(files, load_id, replaces, parallel)

    def _load(self, files: Sequence[StagedFile], load_id: str, replaces: bool, parallel: Parallel) -> None:
        path = self.target.path
        self.store.create("table", path, recursive=True, ignore_existing=True)
        table = self.store.table(path)
        if load_id in _load_ids(table.node):
            return
        excludes = self._excludes_others(table, replaces)
        table = self.store.lock(table, "load into", exclusive=excludes)
        if not excludes and self._excludes_others(table, replaces):
            raise YtError(f"{path} was altered meanwhile; load again", ErrorCode.CONCURRENT_LOCK)
        self._write(table, self._plan(table, replaces), files, parallel, load_id)

    def _excludes_others(self, table: TableInfo, replaces: bool) -> bool:
        """Appends to unsorted tables go on beside each other where they leave the schema as it is."""
        plan = self._plan(table, replaces)
        return plan.excludes_others or (plan.schema, plan.mode) != (table.schema, table.mode)

    def _plan(self, table: TableInfo, replaces: bool) -> WritePlan:
        target, is_empty = self.target, self.store.catalog.last_slice(table.node.id) is None
        if target.mode == "strong":
            schema = parse_schema(schema_document(target.schema), self.store.switches)
            if not replaces and table.schema != schema:
                switches = self.store.switches
                check_alter(
                    table.schema, schema, is_empty=is_empty, switches=switches, path=target.path
                ).check()
            return WritePlan(schema, "strong", not replaces)
        if table.mode == "strong":
            raise YtError(
                f"the schema of {target.path} is strong, and the load has none; save it with `trellis table "
                f"get {target.path}/@schema > schema.yson` and load with --schema schema.yson",
                ErrorCode.INCOMPATIBLE_SCHEMAS,
            )
        attributes: dict[str, Any] = {"append": not replaces}
        if target.schema.is_sorted:
            attributes["sorted_by"] = [key.name for key in target.schema.keys]
        path = parse_path(Attributed(target.path, attributes))
        return plan_write(path, table.schema, table.mode, is_empty=is_empty)

    def _write(
        self,
        table: TableInfo,
        plan: WritePlan,
        files: Sequence[StagedFile],
        parallel: Parallel,
        load_id: str,
    ) -> None:
        store, operation = self.store, secrets.token_hex(8)
        # Staged rows are in the order of the input, which a sorted table need not share.
        staged_schema = plan.schema.without_keys()
        output = OutputFiles(store.files, staged_schema, table.optimize_for, operation, ())
        kept: list[str] = []
        try:
            paths = sorted(file.path for file in files)
            written = sorted(parallel(partial(_write_file, output), [*enumerate(paths)]))
            slices = [part for _, parts in written for part in parts]
            if plan.schema.is_sorted:
                source = RowSource(store.files, staged_schema)
                slices = _sort(replace(output, schema=plan.schema, sources=(source,)), slices)
                check_borders(plan.schema, slices, last_row_key(store, table) if plan.append else None)
            self._put_rows(table, plan, slices, load_id, kept)
        finally:
            store.files.delete_operation(operation, kept)

    def _put_rows(
        self, table: TableInfo, plan: WritePlan, slices: Sequence[Slice], load_id: str, kept: list[str]
    ) -> None:
        """Commit the rows with the id of the load, unless another process has just done so."""
        store = self.store
        with store.catalog.transaction():
            # As it is now: loads that append beside this one have put their ids there.
            node = store.node(table.path)
            ids = _load_ids(node)
            if load_id in ids:
                return
            commit_slices(store, table, plan, table.optimize_for, slices)
            # Before the commit, of which a lost connection may not say whether it was made.
            kept += (part.chunk.id for part in slices)
            store.commit()
            attributes = {**node.attributes, LOADS: [*ids, load_id][-_LOADS_KEPT:]}
            store.within(store.lineage[1]).catalog.set_attributes(node.id, attributes)


def _load_ids(node: Node) -> list[str]:
    """The newest loads into a table."""
    return [to_bytes(name).decode() for name in node.attributes.get(LOADS, ())]


def _write_file(output: OutputFiles, numbered: tuple[int, str]) -> tuple[int, list[Slice]]:
    number, path = numbered
    return number, write_batches(output, _read_staged(path, output.schema))


def _sort(output: OutputFiles, slices: Sequence[Slice]) -> list[Slice]:
    pieces, row = [], 0
    for part in slices:
        pieces.append(Piece(0, part, row))
        row += part.rows
    return AUTOMATIC.engine_for(sum(part.weight for part in slices)).sort(output, pieces)


def _read_staged(path: str, schema: TableSchema) -> Iterator[pa.RecordBatch]:
    """Staged rows in the layout of chunks."""
    fields = arrow_schema(schema)
    names = {stored_name(column): column.name for column in schema.columns}
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            arrays = []
            for field in fields:
                name = names.get(field.name, STAGED_UNDECLARED)
                if name not in batch.schema.names or pa.types.is_null(field.type):
                    arrays.append(pa.nulls(batch.num_rows, field.type))
                elif field.name == UNDECLARED:
                    arrays.append(_undeclared(batch.column(name), field.type))
                else:
                    arrays.append(batch.column(name).cast(field.type))
            yield pa.RecordBatch.from_arrays(arrays, schema=fields)


def _undeclared(array: pa.Array, type: pa.DataType) -> pa.Array:
    maps = (loads(text, raw=True) if text is not None else {} for text in array.to_pylist())
    items = [
        [(to_bytes(name), dumps(value, yson_format="binary")) for name, value in values.items()]
        for values in maps
    ]
    return pa.array(items, type)
