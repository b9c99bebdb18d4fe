"""Merge, sort and erase. Chunks whose rows are known to fit are taken over unread."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, Literal, get_args

from trellis.dialects.ytsaurus.errors import YtError, warn
from trellis.dialects.ytsaurus.inference.operations import (
    INFERENCE_MODES,
    InferenceMode,
    Operation,
    OutputSchema,
    merge_keys,
)
from trellis.dialects.ytsaurus.inference.writes import WritePlan
from trellis.dialects.ytsaurus.paths.rich_path import check_sort_orders, parse_path, parse_sort_columns
from trellis.dialects.ytsaurus.schema.document import parse_flag
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.reading import TableSource, open_source
from trellis.dialects.ytsaurus.store.rewriting.engines import AUTOMATIC, EngineChoice
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles, check_borders, run_rewrite
from trellis.dialects.ytsaurus.store.rewriting.output import OperationOutput, locked_output, open_inputs
from trellis.dialects.ytsaurus.store.rewriting.planning import (
    Part,
    Piece,
    Rewrite,
    list_pieces,
    plan_concatenation,
    plan_sorted_merge,
)
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import commit_slices, errors_in_table, last_row_key
from trellis.dialects.ytsaurus.yson.values import to_key

MergeMode = Literal["unordered", "ordered", "sorted", "auto"]
_SPEC_KEYS: Final = ("schema_inference_mode", "merge_by", "force_transform", "combine_chunks")


@dataclass(frozen=True)
class OperationSpec:
    """The settings of `--spec` that are known."""

    inference: InferenceMode = "auto"
    merge_by: tuple[SortColumn, ...] | None = None
    force_transform: bool = False
    combine_chunks: bool = False

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> OperationSpec:
        """Raises YtError. Warns of keys that look like those which count; others are about clusters."""
        for key in document:
            likely = get_close_matches(key, _SPEC_KEYS, 1, 0.85)
            if key not in _SPEC_KEYS and likely:
                warn(f"{key!r} of the spec has no effect; did you mean {likely[0]!r}?")
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


def merge(
    store: Store,
    sources: Sequence[Any],
    target: Any,
    mode: MergeMode = "auto",
    spec: OperationSpec | None = None,
    engine: EngineChoice = AUTOMATIC,
) -> None:
    """Raises YtError; the output stays as it was then."""
    if mode not in get_args(MergeMode):
        raise YtError(f"the mode of the merge is {mode!r}; expected one of {', '.join(get_args(MergeMode))}")
    spec = spec or OperationSpec()
    with locked_output(store, target, "merge into") as output:
        inputs = open_inputs(store, sources)
        tables = [source.input_table for source in inputs]
        is_sorted = all(table.filtered.is_sorted for table in tables)
        combines = spec.combine_chunks
        if mode == "sorted" or (mode == "auto" and is_sorted):
            _check_ranges(inputs)
            keys = merge_keys(tables, spec.merge_by)
            job = _Job(output, inputs, output.infer("sorted_merge", inputs, spec.inference, keys), engine)
            moves = job.moving_pieces(spec)
            job.run(plan_sorted_merge(inputs, list_pieces(inputs), keys, moves, combines=combines))
        else:
            operation: Operation = "unordered_merge" if mode == "unordered" else "ordered_merge"
            job = _Job(output, inputs, output.infer(operation, inputs, spec.inference), engine)
            parts = plan_concatenation(list_pieces(inputs), job.moving_pieces(spec), combines=combines)
            job.run(parts, first_row=0)


def sort(
    store: Store,
    sources: Sequence[Any],
    target: Any,
    sort_by: Sequence[SortColumn],
    spec: OperationSpec | None = None,
    engine: EngineChoice = AUTOMATIC,
) -> None:
    """Rows of equal keys keep their order. Raises YtError; the output stays as it was then."""
    check_sort_orders(sort_by, store.switches, "sort_by")
    with locked_output(store, target, "sort into") as output:
        inputs = open_inputs(store, sources)
        inference = (spec or OperationSpec()).inference
        result = output.infer("sort", inputs, inference, sort_by)
        _Job(output, inputs, result, engine).run_sort()


def erase(store: Store, path: Any, spec: OperationSpec | None = None) -> None:
    """Remove the rows of one range, or all. Raises YtError."""
    rich_path = parse_path(path, store.switches)
    if rich_path.columns is not None:
        raise YtError(f"{rich_path.path}: rows are erased whole; leave the columns away")
    if len(rich_path.ranges or ()) > 1:
        raise YtError(f"{rich_path.path}: one range is erased at a time, not {len(rich_path.ranges or ())}")
    store.table(rich_path.path)
    with locked_output(store, rich_path.path, "erase rows of") as output:
        source = open_source(store, path)
        inference = (spec or OperationSpec()).inference
        job = _Job(output, [source], output.infer("erase", [source], inference))
        ((start, end),) = source.intervals()
        version = source.version
        kept = [*version.cut(0, start), *version.cut(end, version.row_count)]
        job.run([Piece(0, part, 0) for part in kept])


def remote_copy(
    store: Store,
    cluster: Store,
    source: Any,
    target: Any,
    spec: OperationSpec | None = None,
    engine: EngineChoice = AUTOMATIC,
    *,
    copy_attributes: bool = False,
) -> None:
    """Copy a table of another store, mostly file by file. Raises YtError."""
    spec = spec or OperationSpec()
    with locked_output(store, target, "copy into") as output:
        inputs = open_inputs(cluster, [source])
        job = _Job(output, inputs, output.infer("remote_copy", inputs, spec.inference), engine)
        parts = plan_concatenation(list_pieces(inputs), job.moving_pieces(spec))
        for part in parts:
            if isinstance(part, Piece):
                store.files.copy_file(inputs[0].version.files, part.slice.chunk.id)
        job.run(parts, first_row=0)
        if copy_attributes:
            attributes = {**output.table.node.attributes, **inputs[0].version.info.node.attributes}
            output.store.catalog.set_attributes(output.table.node.id, attributes)


@dataclass(frozen=True)
class _Job:
    """The rows of inputs on their way into the output."""

    output: OperationOutput
    inputs: Sequence[TableSource]
    result: OutputSchema
    engine: EngineChoice = AUTOMATIC

    def moving_pieces(self, spec: OperationSpec) -> Callable[[Piece], bool]:
        """Which pieces can stay in their chunks."""
        rewrites = spec.force_transform or self.result.validates_rows
        moving = [not rewrites and _fits_as_it_is(source, self.result.schema) for source in self.inputs]
        return lambda piece: moving[piece.source]

    def run(self, parts: Sequence[Part], first_row: int | None = None) -> None:
        """Write and commit the parts; `first_row` numbers the rows in errors. Raises YtError."""
        rewrites = [part for part in parts if isinstance(part, Rewrite)]
        with self._output_files() as (files, slices):
            results = iter(self._rewrite(files, rewrites))
            for part in parts:
                if isinstance(part, Rewrite):
                    slices += next(results)
                elif self.result.schema.is_sorted:
                    slices.append(self.inputs[part.source].version.with_keys(part.slice))
                else:
                    slices.append(part.slice.without_keys())
            if rewrites or self._mixes_orders:
                self._check_borders(slices, first_row)

    def _rewrite(self, files: OutputFiles, rewrites: Sequence[Rewrite]) -> list[list[Slice]]:
        if not rewrites:
            return []
        weight = sum(piece.slice.weight for rewrite in rewrites for piece in rewrite.pieces)
        return self.engine.engine_for(weight).run_tasks(partial(run_rewrite, files), rewrites)

    def run_sort(self) -> None:
        """Raises YtError."""
        pieces = list_pieces(self.inputs)
        weight = sum(piece.slice.weight for piece in pieces)
        with self._output_files() as (files, slices):
            slices += self.engine.engine_for(weight).sort(files, pieces)
            self._check_borders(slices, None)

    @contextmanager
    def _output_files(self) -> Iterator[tuple[OutputFiles, list[Slice]]]:
        """What tasks write, and the slices to commit at the end. All other new chunks are deleted."""
        output, schema = self.output, self.result.schema
        sources = tuple(source.row_source for source in self.inputs)
        store = output.store
        files = OutputFiles(store.files, schema, output.optimize_for, secrets.token_hex(8), sources)
        slices: list[Slice] = []
        kept: list[str] = []
        try:
            with errors_in_table(output.path.path):
                yield files, slices
            plan = WritePlan(schema, self.result.mode, output.plan.append)
            commit_slices(store, output.table, plan, output.optimize_for, slices)
            kept += (part.chunk.id for part in slices)
        finally:
            store.files.delete_operation(files.operation, kept)

    @property
    def _mixes_orders(self) -> bool:
        """Whether rows follow each other that did not in one table."""
        ranges = self.inputs[0].path.ranges or ()
        return self.output.plan.append or len(self.inputs) > 1 or len(ranges) > 1

    def _check_borders(self, slices: Iterable[Slice], first_row: int | None) -> None:
        if self.result.schema.is_sorted:
            last_key = last_row_key(self.output.store, self.output.table) if self.output.plan.append else None
            check_borders(self.result.schema, slices, last_key, first_row)


def _check_ranges(inputs: Iterable[TableSource]) -> None:
    for source in inputs:
        if len(source.path.ranges or ()) > 1:
            raise YtError(
                f"{source.path.path}: a sorted merge takes one range of a table, as several are not in order"
            )


def _fits_as_it_is(source: TableSource, output: TableSchema) -> bool:
    """Whether the rows of an input can stay in the chunks that they are in, as far as columns are concerned.

    A chunk in order by the keys of the output is so by those of its table, too, and its keys are unique if
    that is known.
    """
    schema = source.version.info.schema
    renamed = bool(source.path.rename_columns) or any(
        column.identity != column.name for column in schema.columns
    )
    computed = any(
        column.expression is not None and column.name not in schema.by_name for column in output.columns
    )
    ordered = output.keys == schema.keys[: len(output.keys)]
    unique = not output.unique_keys or (schema.unique_keys and len(schema.keys) == len(output.keys))
    changed = renamed or computed or bool(schema.deleted_columns) or source.path.columns is not None
    return ordered and unique and not changed


def _flag(document: Mapping[str, Any], key: str) -> bool:
    flag = parse_flag(document.get(key, False))
    if flag is None:
        raise YtError(f"{key} of the spec is not a boolean")
    return flag
