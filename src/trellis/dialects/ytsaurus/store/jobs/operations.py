"""Map, reduce and map-reduce of stored tables."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import parse_flag
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.jobs.job import Job
from trellis.dialects.ytsaurus.store.jobs.tasks import JobOutput, JobTasks, sort_slices
from trellis.dialects.ytsaurus.store.operations import sort
from trellis.dialects.ytsaurus.store.reading import TableSource
from trellis.dialects.ytsaurus.store.rewriting.engines import AUTOMATIC, EngineChoice
from trellis.dialects.ytsaurus.store.rewriting.execution import check_borders
from trellis.dialects.ytsaurus.store.rewriting.output import OperationOutput, locked_output, open_inputs
from trellis.dialects.ytsaurus.store.rewriting.planning import (
    Rewrite,
    divide_pieces,
    list_pieces,
    plan_key_ranges,
)
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import commit_slices, last_row_key

_MAP: Final = "map into"
_REDUCE: Final = "reduce into"


def map_rows(
    store: Store, job: Job, sources: Sequence[Any], targets: Sequence[Any], engine: EngineChoice = AUTOMATIC
) -> None:
    """Rows of unsorted outputs are in the order of the input. Raises YtError; outputs stay as they were."""
    with ExitStack() as stack:
        outputs = _lock_outputs(stack, store, targets, _MAP)
        inputs = open_inputs(outputs[-1].store, sources)
        tasks = [Rewrite(pieces) for pieces in divide_pieces(list_pieces(inputs))]
        _run_jobs(job, inputs, outputs, tasks, engine)


def reduce_rows(
    store: Store,
    job: Job,
    sources: Sequence[Any],
    targets: Sequence[Any],
    reduce_by: Sequence[SortColumn],
    sort_by: Sequence[SortColumn] = (),
    engine: EngineChoice = AUTOMATIC,
    *,
    join_by: Sequence[SortColumn] = (),
) -> None:
    """All rows of a key are in one group, in the order of `sort_by`, then of the inputs.

    With `join_by` rows are grouped by these columns, the first ones of `reduce_by`; the inputs with the
    attribute `foreign` add their rows of equal keys. Raises YtError where an input is not sorted by these
    columns; outputs stay as they were then.
    """
    reduce_by = reduce_by or join_by
    sort_by = _check_sort_by(reduce_by, sort_by)
    if join_by and [*reduce_by[: len(join_by)]] != [*join_by]:
        raise YtError(
            f"join_by is {_names(join_by)}, and reduce_by {_names(reduce_by)}; reduce_by must begin with the "
            "columns of join_by"
        )
    with ExitStack() as stack:
        outputs = _lock_outputs(stack, store, targets, _REDUCE)
        inputs = open_inputs(outputs[-1].store, sources)
        foreign = _foreign_inputs(inputs, join_by)
        for number, source in enumerate(inputs):
            _check_order(source, join_by if number in foreign else sort_by)
        group_by = join_by or reduce_by
        tasks = plan_key_ranges(inputs, list_pieces(inputs), group_by)
        _run_jobs(job, inputs, outputs, tasks, engine, group_by, sort_by, foreign)


def map_reduce_rows(
    store: Store,
    mapper: Job | None,
    reducer: Job,
    sources: Sequence[Any],
    targets: Sequence[Any],
    reduce_by: Sequence[SortColumn],
    sort_by: Sequence[SortColumn] = (),
    engine: EngineChoice = AUTOMATIC,
    *,
    combiner: Job | None = None,
) -> None:
    """The combiner reduces before the reducer. Raises YtError; outputs stay as they were then."""
    sort_by = _check_sort_by(reduce_by, sort_by)
    unneeded: list[str] = []
    with store.command("map-reduce") as inner:
        steps = [f"//trellis-{secrets.token_hex(8)}" for _ in range(4)]
        mapped, ordered, combined, reordered = steps
        if mapper is not None:
            map_rows(inner, mapper, sources, [mapped], engine)
            sources = [mapped]
        sort(inner, sources, ordered, sort_by, engine=engine)
        if combiner is not None:
            reduce_rows(inner, combiner, [ordered], [combined], reduce_by, sort_by, engine)
            sort(inner, [combined], reordered, sort_by, engine=engine)
            ordered = reordered
        reduce_rows(inner, reducer, [ordered], targets, reduce_by, sort_by, engine)
        for node in filter(None, map(inner.find, steps)):
            unneeded += (part.chunk.id for part in inner.catalog.slices(node.id))
            inner.catalog.delete_node(node.id)
    for chunk_id in unneeded:
        store.files.delete_operation(chunk_id)


def _lock_outputs(
    stack: ExitStack, store: Store, targets: Sequence[Any], verb: str
) -> Sequence[OperationOutput]:
    if not targets:
        raise YtError("there is no output; name at least one table: --dst //home/t")
    outputs: list[OperationOutput] = []
    for target in targets:
        outputs.append(stack.enter_context(locked_output(store, target, verb)))
        store = outputs[-1].store
    paths = [output.table.node.id for output in outputs]
    if len({*paths}) < len(paths):
        raise YtError("two outputs are the same table; name each once")
    return outputs


def _run_jobs(
    job: Job,
    inputs: Sequence[TableSource],
    outputs: Sequence[OperationOutput],
    tasks: Sequence[Rewrite],
    engine: EngineChoice,
    group_by: Sequence[SortColumn] = (),
    sort_by: Sequence[SortColumn] = (),
    foreign: frozenset[int] = frozenset(),
) -> None:
    store, operation = outputs[-1].store, secrets.token_hex(8)
    job_outputs = tuple(
        JobOutput(output.table.path, store.files, output.plan.schema, output.optimize_for, operation)
        for output in outputs
    )
    sources = tuple(source.row_source for source in inputs)
    work = JobTasks(job, sources, job_outputs, tuple(group_by), tuple(sort_by), foreign)
    weight = sum(piece.slice.weight for task in tasks for piece in task.pieces)
    kept: list[str] = []
    try:
        results = engine.engine_for(weight).run_tasks(work.run, tasks) if tasks else []
        for index, output in enumerate(outputs):
            schema = output.plan.schema
            slices = sort_slices(schema, (part for result in results for part in result[index]))
            if schema.is_sorted:
                last_key = last_row_key(store, output.table) if output.plan.append else None
                check_borders(schema, slices, last_key)
            commit_slices(store, output.table, output.plan, output.optimize_for, slices)
            kept += (part.chunk.id for part in slices)
    except BaseException:
        kept = []
        raise
    finally:
        store.files.delete_operation(operation, kept)


def _check_sort_by(reduce_by: Sequence[SortColumn], sort_by: Sequence[SortColumn]) -> Sequence[SortColumn]:
    """What groups are sorted by. Raises YtError."""
    if not reduce_by:
        raise YtError("reduce_by is empty; name the columns by which rows are grouped")
    if sort_by and [*sort_by[: len(reduce_by)]] != [*reduce_by]:
        raise YtError(
            f"sort_by is {_names(sort_by)}, and reduce_by {_names(reduce_by)}; sort_by must begin with the "
            "columns of reduce_by"
        )
    return sort_by or reduce_by


def _foreign_inputs(inputs: Sequence[TableSource], join_by: Sequence[SortColumn]) -> frozenset[int]:
    """The numbers of the inputs with the attribute foreign. Raises YtError."""
    flags = [parse_flag(source.path.attributes.get("foreign", False)) for source in inputs]
    foreign = frozenset(number for number, flag in enumerate(flags) if flag)
    if foreign and not join_by:
        path = inputs[min(foreign)].path.path
        raise YtError(f"{path} has the attribute foreign; a reduce with such tables needs join_by")
    if join_by and not foreign:
        raise YtError("join_by joins foreign tables, and no input is one; mark some: <foreign=%true>//home/t")
    if len(foreign) == len(inputs):
        raise YtError(
            "all inputs have the attribute foreign; leave one primary, whose rows they are joined to"
        )
    return foreign


def _check_order(source: TableSource, keys: Sequence[SortColumn]) -> None:
    columns = source.input_table.filtered.keys
    if columns[: len(keys)] != tuple(keys):
        raise YtError(
            f"{source.path.path} is sorted by {_names(columns) or 'nothing'}; reduce needs it sorted by "
            f"{_names(keys)}: sort it, or use map-reduce"
        )
    if len(source.path.ranges or ()) > 1:
        raise YtError(f"{source.path.path}: reduce takes one range of a table, as several are not in order")


def _names(keys: Sequence[SortColumn]) -> str:
    return ", ".join(map(str, keys))
