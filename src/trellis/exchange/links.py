"""Which columns hold values of columns of other tables: parents of nested tables, and declared references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trellis.schema.model import Schema, Table


@dataclass(frozen=True)
class Link:
    """`columns` are empty where a table is nested in another and no column says so."""

    table: str
    columns: tuple[str, ...]
    referenced_table: str
    referenced_columns: tuple[str, ...]
    nested: bool = False


def links_of(schema: Schema) -> tuple[Link, ...]:
    """
    >>> from trellis.schema.model import Column
    >>> items = Table("t__l", {"p": Column("p", "text").with_hints(parent_key=True)}, parent="t")
    >>> tables = {"t": Table("t", {"id": Column("id", "text").with_hints(row_key=True)}), "t__l": items}
    >>> links_of(Schema("shop", tables))
    (Link(table='t__l', columns=('p',), referenced_table='t', referenced_columns=('id',), nested=True),)
    """
    return tuple(link for table in schema.tables.values() for link in _links(schema, table))


def _links(schema: Schema, table: Table) -> Iterator[Link]:
    if table.parent is not None and table.parent in schema.tables:
        column = table.column_with("parent_key")
        row_key = schema.tables[table.parent].column_with("row_key")
        is_linked = column is not None and row_key is not None
        yield Link(
            table.name,
            (column,) if is_linked and column else (),
            table.parent,
            (row_key,) if is_linked and row_key else (),
            nested=True,
        )
    for reference in table.hints.get("references") or ():
        if reference["referenced_table"] in schema.tables:
            yield Link(
                table.name,
                tuple(reference["columns"]),
                reference["referenced_table"],
                tuple(reference["referenced_columns"]),
            )
