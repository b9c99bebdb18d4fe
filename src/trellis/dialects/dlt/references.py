"""Which columns point to which: derived from nesting and bookkeeping, and declared by users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trellis.dialects.dlt.system_tables import LOAD_ID, LOADS, VERSION
from trellis.schema.model import Schema, Table
from trellis.schema.naming import Naming, get_naming


@dataclass(frozen=True)
class Reference:
    """Columns of one table that hold values of columns of another. Nothing enforces it."""

    table: str
    columns: tuple[str, ...]
    referenced_table: str
    referenced_columns: tuple[str, ...]
    label: str | None = None
    cardinality: str | None = None


def references(schema: Schema, naming: Naming | None = None) -> tuple[Reference, ...]:
    """All references, table by table; those among the system tables come last.

    >>> from trellis.schema.model import Column, Table
    >>> kid = Table("t__kids", {"p": Column("p").with_hints(parent_key=True)}, parent="t")
    >>> tables = {"t": Table("t", {"id": Column("id").with_hints(row_key=True)}), "t__kids": kid}
    >>> [str(each) for each in references(Schema("shop", tables))]
    ["Reference(table='t__kids', columns=('p',), referenced_table='t', referenced_columns=('id',), ...)"]
    """
    return tuple(_all(schema, naming or get_naming()))


def _all(schema: Schema, naming: Naming) -> Iterator[Reference]:
    for table in schema.tables.values():
        if table.parent is not None and table.parent in schema.tables:
            parent, root = schema.tables[table.parent], schema.root_of(table.name)
            yield from _by_key("_dlt_parent", table, "parent_key", parent)
            yield from _by_key("_dlt_root", table, "root_key", root)
        loads, load_id = naming.table(LOADS), naming.identifier(LOAD_ID)
        if load_id in table.columns and loads in schema.tables:
            to = naming.identifier("load_id")
            yield Reference(table.name, (load_id,), loads, (to,), "_dlt_load", "many_to_one")
        for declared in table.hints.get("references") or ():
            yield _declared(table, declared)
    yield from _of_versions(schema, naming)


def _by_key(label: str, table: Table, hint: str, to: Table) -> Iterator[Reference]:
    column, row_key = table.column_with(hint), to.column_with("row_key")
    if column is not None and row_key is not None:
        yield Reference(table.name, (column,), to.name, (row_key,), label, "many_to_one")


def _declared(table: Table, keys: Mapping[str, Any]) -> Reference:
    return Reference(
        keys.get("table") or table.name,
        tuple(keys["columns"]),
        keys["referenced_table"],
        tuple(keys["referenced_columns"]),
        keys.get("label"),
        keys.get("cardinality"),
    )


def _of_versions(schema: Schema, naming: Naming) -> Iterator[Reference]:
    version, loads = naming.table(VERSION), naming.table(LOADS)
    if version not in schema.tables or loads not in schema.tables:
        return
    ends = (
        ("version_hash", "schema_version_hash", "_dlt_schema_version", "one_to_many"),
        ("schema_name", "schema_name", "_dlt_schema_name", "many_to_many"),
    )
    for column, to, label, cardinality in ends:
        pair = (naming.identifier(column),), (naming.identifier(to),)
        yield Reference(version, pair[0], loads, pair[1], label, cardinality)
