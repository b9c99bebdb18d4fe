"""The inputs and the output of an operation: tables as paths name them, the output locked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.inference.operations import (
    InferenceMode,
    Operation,
    OutputSchema,
    OutputTable,
    output_schema,
)
from trellis.dialects.ytsaurus.inference.writes import WritePlan, plan_write
from trellis.dialects.ytsaurus.paths.rich_path import RichPath, parse_path
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.catalog import TableInfo
from trellis.dialects.ytsaurus.store.reading import TableSource, open_source
from trellis.dialects.ytsaurus.store.store import Store


@dataclass(frozen=True)
class OperationOutput:
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
        mode: InferenceMode,
        keys: Sequence[SortColumn] = (),
    ) -> OutputSchema:
        """Raises YtError where the output does not take the rows of the inputs."""
        output = OutputTable(self.plan.schema, self.plan.mode, self.path.path, self.plan.append)
        tables = [source.input_table for source in inputs]
        result = output_schema(operation, mode, tables, output, keys, self.store.switches)
        keys_before = self.table.schema.keys
        is_prefix = result.schema.keys == keys_before[: len(result.schema.keys)]
        if self.plan.append and not is_prefix and self.store.catalog.last_slice(self.table.node.id):
            raise YtError(
                f"{self.path.path} is sorted by {', '.join(map(str, keys_before)) or 'nothing'}; what is "
                "appended must be sorted by the same columns"
            )
        return result


@contextmanager
def locked_output(store: Store, target: Any, verb: str) -> Iterator[OperationOutput]:
    """The output with its lock, which is held while the operation runs. A missing table is created."""
    path = parse_path(target, store.switches)
    with store.command(verb) as store:
        table = store.lock(store.create_if_missing(path.path), verb)
        plan = WritePlan(table.schema, table.mode, False)
        if path.append or path.schema is not None or path.sorted_by is not None:
            is_empty = store.catalog.last_slice(table.node.id) is None
            plan = plan_write(path, table.schema, table.mode, is_empty=is_empty)
        yield OperationOutput(store, table, path, plan)


def open_inputs(store: Store, sources: Sequence[Any]) -> list[TableSource]:
    """Raises YtError where there is none."""
    if not sources:
        raise YtError("there is no input; name at least one table: --src //home/t")
    return [open_source(store, source) for source in sources]
