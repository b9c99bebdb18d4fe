"""`_trellis_schema_changes`: which load changed a schema, and what in its input made it do so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from trellis.evolution.observe import Observations, Position
from trellis.schema.compare import AddColumn, AddTable, Change, RenameColumn, RenameTable
from trellis.schema.model import Column, DataType, Schema, Table

_COLUMNS: Final[tuple[tuple[str, DataType, bool], ...]] = (
    ("load_id", "text", True),
    ("schema_name", "text", True),
    ("version", "bigint", True),
    ("version_hash", "text", True),
    ("table_name", "text", True),
    ("column_name", "text", False),
    ("change", "text", True),
    ("pipeline", "text", True),
    ("file", "text", False),
    ("line", "bigint", False),
    ("changed_at", "timestamp", True),
    ("renamed_from", "text", False),
)
SCHEMA_CHANGES: Final = Table(
    "_trellis_schema_changes",
    {name: Column(name, data_type, nullable=not required) for name, data_type, required in _COLUMNS},
    description="Each change of the schema: the load that made it, and the file and line that it came from.",
)


@dataclass(frozen=True)
class ChangeLog:
    """The changes that one load makes."""

    load_id: str
    pipeline: str
    now: datetime

    def rows(
        self, after: Schema, changes: Iterable[Change], place_of: Callable[[Change], str]
    ) -> dict[str, Sequence[Mapping[str, Any]]]:
        """The rows of the table by its name, those of new tables followed by their columns.

        `after` is the schema as it is stored; `place_of` gives a file, and a line behind a colon if one is
        known.
        """
        rows: list[Mapping[str, Any]] = []
        for change in (part for whole in changes for part in parts_of(whole)):
            file, line = _split(place_of(change))
            version = (after.name, after.stored_version, after.stored_hash)
            what = (change.table, change.column, change.describe())
            before = change.before if isinstance(change, RenameTable | RenameColumn) else None
            values = (self.load_id, *version, *what, self.pipeline, file, line, self.now, before)
            rows.append(dict(zip(SCHEMA_CHANGES.columns, values, strict=True)))
        return {SCHEMA_CHANGES.name: rows} if rows else {}

    def rows_of_load(
        self,
        after: Schema,
        changes: Iterable[Change],
        seen: Observations,
        place_of: Callable[[Position], str],
    ) -> dict[str, Sequence[Mapping[str, Any]]]:
        """The same where records brought the changes, but for those that were declared."""

        first_positions = FirstPositions(seen)

        def place(change: Change) -> str:
            position = first_positions.find(change, after)
            return "" if position is None else place_of(position)

        return self.rows(after, changes, place)


def _split(place: str) -> tuple[str | None, int | None]:
    """
    >>> _split("a/b.jsonl:17"), _split("shop.yaml"), _split("")
    (('a/b.jsonl', 17), ('shop.yaml', None), (None, None))
    """
    file, _, line = place.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (place or None, None)


def parts_of(change: Change) -> Iterator[Change]:
    """The change, and the columns that come with a new table."""
    yield change
    if isinstance(change, AddTable):
        yield from (AddColumn(change.table, column) for column in change.definition.complete_columns)


class FirstPositions:
    """Where in the input the things were met first that a load puts into the schema."""

    def __init__(self, seen: Observations) -> None:
        self.tables = {name: table.position for name, table in seen.tables.items()}
        self.cells: dict[tuple[str, str], list[tuple[DataType | None, Position]]] = {}
        for key, cell in seen.cells.items():
            self.tables[key.table] = min(cell.position, self.tables.get(key.table, cell.position))
            self.cells.setdefault((key.table, key.column), []).append((key.kind.type, cell.position))

    def find(self, change: Change, after: Schema) -> Position | None:
        """The first position of what is in the schema since a change; None where no record brought it."""
        if isinstance(change, AddTable):
            return self.tables.get(change.table)
        column = after.tables[change.table].columns.get(change.column or "") if change.column else None
        if column is None:
            return None
        names = {column.name, column.name.rpartition("__v_")[0] if column.is_variant else column.name}
        is_new_variant = isinstance(change, AddColumn) and column.is_variant
        positions = (
            position
            for name in names
            for data_type, position in self.cells.get((change.table, name), ())
            if not (is_new_variant and data_type != column.data_type)
        )
        return min(positions, default=None)
