"""What a write makes of the schema of its table, by the attributes of its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.paths.rich_path import RichPath
from trellis.dialects.ytsaurus.schema.model import EMPTY, SchemaMode, SortColumn, TableSchema, weak_schema

_FIXED = ("optimize_for", "compression_codec", "erasure_codec")


@dataclass(frozen=True)
class WritePlan:
    """The schema and mode that the table has after the write."""

    schema: TableSchema
    mode: SchemaMode
    append: bool

    @property
    def excludes_others(self) -> bool:
        """Whether other writes to the table must wait. Appends to unsorted tables need not."""
        return not self.append or self.schema.is_sorted


def plan_write(path: RichPath, schema: TableSchema, mode: SchemaMode, *, is_empty: bool) -> WritePlan:
    """Raises YtError where the attributes of the path contradict each other or the table."""
    _check_attributes(path)
    if path.schema is not None:
        return WritePlan(path.schema, "strong", False)
    keys = path.sorted_by
    if mode == "strong":
        if keys is not None and keys != schema.keys:
            raise YtError(
                f"{path.path}: sorted_by is {_shown(keys)}, and the strong schema is sorted by "
                f"{_shown(schema.keys)}; "
                "sort the table, or write with a schema"
            )
        return WritePlan(schema, mode, path.append)
    if keys is None:
        return WritePlan(EMPTY, "weak", path.append)
    if path.append and not is_empty and keys != schema.keys[: len(keys)]:
        raise YtError(
            f"{path.path}: sorted_by is {_shown(keys)}, and the table is sorted by "
            f"{_shown(schema.keys)}; what is "
            "appended may be sorted by the same columns or the first of them"
        )
    return WritePlan(weak_schema(keys), "weak", path.append)


def _check_attributes(path: RichPath) -> None:
    if path.schema is not None and path.sorted_by is not None:
        raise YtError(f"{path.path}: both schema and sorted_by; mark the key columns in the schema")
    if not path.append:
        return
    if path.schema is not None:
        raise YtError(f"{path.path}: append keeps the schema of the table; leave schema away")
    for name in _FIXED:
        if name in path.attributes:
            raise YtError(f"{path.path}: append keeps the {name} of the table; leave {name} away")


def _shown(keys: Sequence[SortColumn]) -> str:
    return ", ".join(map(str, keys)) or "nothing"
