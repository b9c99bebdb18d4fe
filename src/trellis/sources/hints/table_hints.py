"""What a resource says of one root table and of the tables below it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

from trellis.errors import SchemaError
from trellis.schema.dict_form import table_dict
from trellis.schema.documents.validate import TABLE
from trellis.schema.merge import merge_columns
from trellis.schema.model import Column, Table
from trellis.sources.hints.columns import with_key
from trellis.sources.hints.hints import Hints
from trellis.sources.hints.write_disposition import disposition

Path = tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """What a resource says of one root table, names as the user wrote them.

    `nested` holds partial tables by the path of keys below the root table, the shorter paths first. A nested
    table whose hints have `resource` has a primary or merge key and so is a root table of its own; its name
    is the last key of the path. `materialize`: the table is wanted even without rows.
    """

    resource: str
    table: Table
    nested: tuple[tuple[Path, Table], ...] = ()
    max_nesting: int | None = None
    materialize: bool = False

    def merged(self, new: Declared) -> Declared:
        """What was said first with what was said later over it."""
        tables = dict(self.nested)
        for path, table in new.nested:
            tables[path] = merged_table(tables[path], table) if path in tables else table
        return replace(
            new,
            table=merged_table(self.table, new.table),
            nested=tuple(sorted(tables.items(), key=lambda pair: len(pair[0]))),
            materialize=self.materialize or new.materialize,
        )


def declare(hints: Hints, resource: str, table_name: str) -> Declared:
    """What hints without functions say of the table of that name."""
    return Declared(
        resource,
        table_of(hints, resource, table_name),
        nested_tables(hints, resource),
        hints.max_table_nesting,
    )


def table_of(hints: Hints, resource: str, name: str, root: bool = True) -> Table:
    """The table that the hints make; of a nested one only those with a key of their own stand alone."""
    columns: dict[str, Column] = dict(hints.columns or {})
    for key in ("primary_key", "merge_key"):
        if getattr(hints, key) is not None:
            columns = with_key(columns, key, getattr(hints, key), resource)
    table = Table(name, columns)
    write_disposition = hints.write_disposition or ("append" if root else None)
    if write_disposition is not None:
        table = disposition(table, write_disposition)
    plain_hints = {
        "schema_contract": hints.contract,
        "table_format": hints.table_format,
        "file_format": hints.file_format,
        "references": hints.references,
        **(hints.additional_table_hints or {}),
    }
    table = table.with_hints(**{key: value for key, value in plain_hints.items() if value is not None})
    if hints.incremental is not None and (column := hints.incremental.column):
        known = table.columns.get(column, Column(column))
        table = table.with_columns(known.with_hints(incremental=True))
    if root or any(
        column.hint("primary_key") or column.hint("merge_key") for column in table.columns.values()
    ):
        table = table.with_hints(resource=resource)
    if problems := [str(fault) for fault in TABLE((name,), table_dict(table))]:
        raise SchemaError(f"resource {resource}: table {'; '.join(problems)}")
    return table


def nested_tables(hints: Hints, resource: str) -> tuple[tuple[tuple[str, ...], Table], ...]:
    """The tables of the nested hints by their paths, the shorter paths first."""
    nested: Mapping[tuple[str, ...], Hints] = hints.nested_hints or {}
    tables = []
    for path, nested_hints in sorted(nested.items(), key=lambda pair: len(pair[0])):
        table = table_of(nested_hints, resource, path[-1], root=False)
        write_disposition, of_root = nested_hints.write_disposition, hints.write_disposition or "append"
        if "resource" not in table.hints and write_disposition is not None and write_disposition != of_root:
            warnings.warn(
                f"resource {resource}: the nested table {'.'.join(path)} has the write disposition"
                f" {write_disposition!r} and its root {of_root!r}, so their rows may come apart: give"
                " the nested table a primary_key, which makes it a table of its own",
                stacklevel=2,
            )
        tables.append((path, table))
    return tuple(tables)


def merged_table(old: Table, new: Table) -> Table:
    """One table of what two items said of it."""
    columns = merge_columns(old.columns, new.columns)
    return replace(new, columns=columns, hints={**old.hints, **new.hints})
