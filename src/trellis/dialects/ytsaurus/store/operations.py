"""Merge, sort and erase in this process. Chunks whose rows are known to fit are taken over unread."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.inference.operations import (
    INFERENCE_MODES,
    InferenceMode,
    Operation,
    OutputSchema,
    OutputTable,
    merge_keys,
    output_schema,
)
from trellis.dialects.ytsaurus.inference.writes import WritePlan, plan_write
from trellis.dialects.ytsaurus.paths.rich_path import RichPath, parse_path, parse_sort_columns
from trellis.dialects.ytsaurus.schema.document import parse_flag
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.catalog import TableInfo
from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.reading import TableSource, open_source
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import commit_slices, last_row_key, written_chunks
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.rows import RowValidator
from trellis.dialects.ytsaurus.yson.values import to_key

MergeMode = Literal["unordered", "ordered", "sorted", "auto"]


@dataclass(frozen=True)
class OperationSpec:
    """The settings of `--spec` that are known."""

    inference: InferenceMode = "auto"
    merge_by: tuple[SortColumn, ...] | None = None
    force_transform: bool = False
    combine_chunks: bool = False

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> OperationSpec:
        """Raises YtError."""
        inference = to_key(document.get("schema_inference_mode", "auto"))
        for mode in INFERENCE_MODES:
            if mode == inference:
                merge_by = document.get("merge_by")
                return cls(
                    mode,
                    None if merge_by is None else parse_sort_columns(merge_by, "merge_by"),
                    _flag(document, "force_transform"),
                    _flag(document, "combine_chunks"),
                )
        raise YtError(f"schema_inference_mode is {inference!r}; expected one of {', '.join(INFERENCE_MODES)}")

    @property
    def rewrites(self) -> bool:
        return self.force_transform or self.combine_chunks


def merge(
    store: Store,
    sources: Sequence[Any],
    target: Any,
    mode: MergeMode = "auto",
    spec: OperationSpec | None = None,
) -> None:
    """Raises YtError; the output stays as it was then."""
    spec = spec or OperationSpec()
    with _locked_output(store, target, "merge into") as output:
        inputs = _open_inputs(store, sources)
        tables = [source.input_table for source in inputs]
        is_sorted = all(table.filtered.is_sorted for table in tables)
        if mode == "sorted" or (mode == "auto" and is_sorted):
            keys = merge_keys(tables, spec.merge_by)
            result = output.infer("sorted_merge", inputs, spec, keys)
            output.write(_merge_sorted([_checked_rows(source) for source in inputs], keys), result)
            return
        result = output.infer("unordered_merge" if mode == "unordered" else "ordered_merge", inputs, spec)
        if not spec.rewrites and not result.validates_rows and output.may_take_chunks(inputs, result):
            output.commit(_cut_slices(inputs, result), result)
        else:
            output.write((row for source in inputs for row in source.read_rows()), result)


def sort(
    store: Store,
    sources: Sequence[Any],
    target: Any,
    sort_by: Sequence[SortColumn],
    spec: OperationSpec | None = None,
) -> None:
    """Rows of equal keys keep their order. Raises YtError; the output stays as it was then."""
    with _locked_output(store, target, "sort into") as output:
        inputs = _open_inputs(store, sources)
        result = output.infer("sort", inputs, spec or OperationSpec(), sort_by)
        rows = [row for source in inputs for row in source.read_rows()]
        orders = [key.sort_order for key in sort_by]
        rows.sort(key=lambda row: encode_key([row.get(key.name) for key in sort_by], orders))
        output.write(rows, result)


def erase(store: Store, path: Any, spec: OperationSpec | None = None) -> None:
    """Remove the rows of one range, or all. Raises YtError."""
    rich_path = parse_path(path, store.switches)
    if rich_path.columns is not None:
        raise YtError(f"{rich_path.path}: rows are erased whole; leave the columns away")
    if len(rich_path.ranges or ()) > 1:
        raise YtError(f"{rich_path.path}: one range is erased at a time, not {len(rich_path.ranges or ())}")
    store.table(rich_path.path)
    with _locked_output(store, rich_path.path, "erase rows of") as output:
        source = open_source(store, path)
        result = output.infer("erase", [source], spec or OperationSpec())
        ((start, end),) = source.intervals()
        version = source.version
        kept = [*version.cut(0, start), *version.cut(end, version.row_count)]
        output.commit([version.with_keys(part) for part in kept], result)


def remote_copy(
    store: Store,
    cluster: Store,
    source: Any,
    target: Any,
    spec: OperationSpec | None = None,
    *,
    copy_attributes: bool = False,
) -> None:
    """Copy a table of another store, mostly file by file. Raises YtError."""
    with _locked_output(store, target, "copy into") as output:
        inputs = _open_inputs(cluster, [source])
        result = output.infer("remote_copy", inputs, spec or OperationSpec())
        if not output.may_take_chunks(inputs, result):
            output.write(inputs[0].read_rows(), result)
        else:
            slices = list(_cut_slices(inputs, result))
            for part in slices:
                store.files.copy_file(cluster.files, part.chunk.id)
            output.commit(slices, result)
        if copy_attributes:
            attributes = {**output.table.node.attributes, **inputs[0].version.info.node.attributes}
            output.store.catalog.set_attributes(output.table.node.id, attributes)


@dataclass(frozen=True)
class _Output:
    """The table that an operation writes, locked."""

    store: Store
    table: TableInfo
    path: RichPath
    plan: WritePlan

    @property
    def optimize_for(self) -> str:
        return self.path.optimize_for or self.table.optimize_for

    def infer(
        self,
        operation: Operation,
        inputs: Sequence[TableSource],
        spec: OperationSpec,
        keys: Sequence[SortColumn] = (),
    ) -> OutputSchema:
        output = OutputTable(self.plan.schema, self.plan.mode, self.path.path, self.plan.append)
        tables = [source.input_table for source in inputs]
        result = output_schema(operation, spec.inference, tables, output, keys, self.store.switches)
        keys_before = self.table.schema.keys
        is_prefix = result.schema.keys == keys_before[: len(result.schema.keys)]
        if self.plan.append and not is_prefix and self.store.catalog.last_slice(self.table.node.id):
            raise YtError(
                f"{self.path.path} is sorted by {', '.join(map(str, keys_before)) or 'nothing'}; what is "
                "appended must be sorted by the same columns"
            )
        return result

    def may_take_chunks(self, inputs: Sequence[TableSource], result: OutputSchema) -> bool:
        """Whether the rows of the inputs can stay in the chunks that they are in."""
        schema = result.schema
        if schema.is_sorted and (len(inputs) > 1 or self.plan.append or len(inputs[0].path.ranges or ()) > 1):
            return False
        return all(_fits_as_it_is(source, result) for source in inputs)

    def write(self, rows: Iterable[Row], result: OutputSchema) -> None:
        """Rows validated as far as the inference says, and in the order of the output's keys."""
        schema = result.schema
        computed = any(column.expression is not None for column in schema.columns)
        if result.validates_rows or computed:
            validator = RowValidator(schema)
            rows = (validator.validate(row) for row in rows)
        last_key = last_row_key(self.store, self.table) if self.plan.append else None
        with written_chunks(self.store, schema, self.optimize_for, rows, last_key) as slices:
            self.commit(slices, result)

    def commit(self, slices: Iterable[Slice], result: OutputSchema) -> None:
        plan = WritePlan(result.schema, result.mode, self.plan.append)
        commit_slices(self.store, self.table, plan, self.optimize_for, slices)


@contextmanager
def _locked_output(store: Store, target: Any, verb: str) -> Iterator[_Output]:
    """The output with its lock, which is held while the operation runs. A missing table is created."""
    path = parse_path(target, store.switches)
    with store.command(verb) as store:
        table = store.lock(store.create_if_missing(path.path), verb)
        plan = WritePlan(table.schema, table.mode, False)
        if path.append or path.schema is not None or path.sorted_by is not None:
            is_empty = store.catalog.last_slice(table.node.id) is None
            plan = plan_write(path, table.schema, table.mode, is_empty=is_empty)
        yield _Output(store, table, path, plan)


def _open_inputs(store: Store, sources: Sequence[Any]) -> list[TableSource]:
    if not sources:
        raise YtError("there is no input; name at least one table: --src //home/t")
    return [open_source(store, source) for source in sources]


def _fits_as_it_is(source: TableSource, result: OutputSchema) -> bool:
    schema = source.version.info.schema
    renamed = bool(source.path.rename_columns) or any(
        column.identity != column.name for column in schema.columns
    )
    computed = any(
        column.expression is not None and column.name not in schema.by_name
        for column in result.schema.columns
    )
    return source.path.columns is None and not renamed and not computed and not schema.deleted_columns


def _cut_slices(inputs: Sequence[TableSource], result: OutputSchema) -> Iterator[Slice]:
    for source in inputs:
        for start, end in source.intervals():
            for part in source.version.cut(start, end):
                if result.schema.is_sorted:
                    yield source.version.with_keys(part)
                else:
                    yield replace(part, first_key=None, last_key=None)


def _checked_rows(source: TableSource) -> Iterator[Row]:
    if len(source.path.ranges or ()) > 1:
        raise YtError(
            f"{source.path.path}: a sorted merge takes one range of a table, as several are not in order"
        )
    return source.read_rows()


def _merge_sorted(inputs: Sequence[Iterator[Row]], keys: Sequence[SortColumn]) -> Iterator[Row]:
    """Rows in the order of the keys; of equal ones, those of earlier inputs come first."""
    orders = [key.sort_order for key in keys]
    return heapq.merge(*inputs, key=lambda row: encode_key([row.get(key.name) for key in keys], orders))


def _flag(document: Mapping[str, Any], key: str) -> bool:
    flag = parse_flag(document.get(key, False))
    if flag is None:
        raise YtError(f"{key} of the spec is not a boolean")
    return flag
