"""Put tables together: a schema and a partial table, or two schemas. Nothing is ever taken away.

What a partial says wins, an explicit false or null too; what it does not say stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trellis.errors import SchemaError, nearest
from trellis.schema.dict_form import column_keys, column_of, table_keys, table_of
from trellis.schema.model import Column, Schema, Table
from trellis.schema.naming import Naming

COMPOUND = frozenset({"primary_key", "merge_key", "partition", "cluster", "incremental"})
TRUE_BY_DEFAULT = frozenset({"nullable", "timezone"})

Columns = Mapping[str, Column]


def is_default(key: str, value: Any) -> bool:
    """Whether the value means the same as saying nothing.

    >>> is_default("nullable", True), is_default("unique", False), is_default("unique", True)
    (True, True, False)
    """
    return value is None or value is (key in TRUE_BY_DEFAULT)


def merge_column(column: Column, partial: Column) -> Column:
    """The column with all that the partial says.

    >>> merge_column(Column("id", "bigint", nullable=True), Column("id", nullable=False))
    Column(name='id', data_type='bigint', nullable=False, ...)
    """
    return column_of(column.name, {**column_keys(column), **column_keys(partial)})


def merge_columns(columns: Columns, partial: Columns, replace_compound: bool = True) -> dict[str, Column]:
    """The columns with the partial ones: new ones at the end, and those that get their type only now.

    A compound hint (a key of several columns) that the partial gives replaces the old set of columns,
    unless `replace_compound` is off, as it is for hints that rules gave to inferred columns.
    """
    merged = dict(columns)
    if replace_compound:
        given_hints = {
            key
            for column in partial.values()
            for key, value in column.hints.items()
            if key in COMPOUND and not is_default(key, value)
        }
        merged = {name: _without(column, given_hints) for name, column in merged.items()}
    for name, column in partial.items():
        old = merged.get(name)
        if old and column.complete and not old.complete:
            del merged[name]
        merged[name] = merge_column(old, column) if old else column
    return merged


def _without(column: Column, hints: set[str]) -> Column:
    if hints.isdisjoint(column.hints):
        return column
    kept = {key: value for key, value in column_keys(column).items() if key not in hints}
    return column_of(column.name, kept)


def merge_table(schema: Schema, partial: Table, naming: Naming, replace_compound: bool = True) -> Schema:
    """The schema with all that the partial table says, its names normalized first.

    >>> from trellis.schema.naming import get_naming
    >>> merge_table(Schema("shop"), Table("Orders", {"itemNo": Column("itemNo")}), get_naming()).tables
    {'orders': Table('orders', columns=[item_no])}
    """
    return _merged(schema, normalize_table(partial, naming), replace_compound)


def _merged(schema: Schema, partial: Table, replace_compound: bool) -> Schema:
    if partial.parent is not None and partial.parent not in schema.tables:
        raise SchemaError(
            f"schema {schema.name} has no table {partial.parent!r}, the parent of {partial.name!r}: add every"
            " table between it and its root first, those without hints too"
        )
    table = schema.tables.get(partial.name)
    if table is None:
        return schema.with_tables(partial.with_defaults())
    if table.parent != partial.parent:
        raise SchemaError(
            f"table {table.name!r} {_place(table)}, so it cannot be one that {_place(partial)}: drop it first"
        )
    if table.nested and partial.hints.get("resource"):
        raise SchemaError(
            f"table {table.name!r} {_place(table)}, so it has no resource of its own"
            f" ({partial.hints['resource']!r}): give the resource to the root table"
        )
    before, properties = table_keys(table), table_keys(partial)
    if properties.get("references"):
        properties["references"] = _merge_references(before.get("references") or [], properties["references"])
    if "x-normalizer" in before and properties.get("x-normalizer"):
        properties["x-normalizer"] = {**(before["x-normalizer"] or {}), **properties["x-normalizer"]}
    columns = merge_columns(table.columns, partial.columns, replace_compound)
    return schema.with_tables(table_of(table.name, {**before, **properties}, columns))


def _place(table: Table) -> str:
    return f"is nested in {table.parent!r}" if table.nested else "is a root table"


def _merge_references(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({reference["referenced_table"]: reference for reference in (*old, *new)}.values())


def normalize_table(table: Table, naming: Naming) -> Table:
    """The table with normalized names; columns that fall on one name are merged, the later wins.

    The name of the resource stays as it is.
    """
    columns: dict[str, Column] = {}
    for column in table.columns.values():
        name = naming.path(column.name)
        keys = column_keys(column)
        if name in columns:
            properties = {key: value for key, value in keys.items() if not is_default(key, value)}
            keys = {**column_keys(columns[name]), **properties}
        columns[name] = column_of(name, keys)
    keys = table_keys(table)
    if table.parent is not None:
        keys["parent"] = naming.table(table.parent)
    if keys.get("references"):
        keys["references"] = _merge_references(
            [], [_normalize_reference(reference, naming) for reference in keys["references"]]
        )
    return table_of(naming.table(table.name), keys, columns)


def _normalize_reference(reference: dict[str, Any], naming: Naming) -> dict[str, Any]:
    columns, others = reference["columns"], reference["referenced_columns"]
    if len(columns) != len(others):
        raise SchemaError(
            f"the reference to {reference['referenced_table']!r} pairs {len(columns)} columns with"
            f" {len(others)}: name as many on both sides"
        )
    return {
        **reference,
        "columns": [naming.path(column) for column in columns],
        "referenced_table": naming.table(reference["referenced_table"]),
        "referenced_columns": [naming.path(column) for column in others],
    }


def unify(a: Schema, b: Schema) -> Schema:
    """Schema `a` with the tables and columns that only `b` has; both have normalized names.

    A column that is of two types is an error, and all such columns are named.
    """
    conflicts = [
        f"{name}.{column.name} is {old.data_type} in one and {column.data_type} in the other"
        for name, table in b.tables.items()
        for column in table.columns.values()
        if (old := a.tables[name].columns.get(column.name) if name in a.tables else None)
        and old.complete
        and column.complete
        and old.data_type != column.data_type
    ]
    if conflicts:
        raise SchemaError(f"schemas {a.name} and {b.name} cannot be unified: " + "; ".join(conflicts))
    return _merge_all(a, parents_first(b.tables))


def merge_schema(schema: Schema, other: Schema, naming: Naming) -> Schema:
    """The schema with the settings, the normalizers and the tables of another one."""
    merged = replace(schema, settings=other.settings, normalizers=other.normalizers)
    return _merge_all(merged, (normalize_table(table, naming) for table in parents_first(other.tables)))


def _merge_all(schema: Schema, tables: Iterable[Table]) -> Schema:
    for table in tables:
        schema = _merged(schema, table, replace_compound=False)
    return schema


def parents_first(tables: Mapping[str, Table]) -> Iterator[Table]:
    """The tables in their order, but each after its parent."""
    done: set[str] = set()

    def up(table: Table) -> Iterator[Table]:
        if table.name in done:
            return
        done.add(table.name)
        if table.parent is not None and table.parent in tables:
            yield from up(tables[table.parent])
        yield table

    for table in tables.values():
        yield from up(table)


def drop_tables(schema: Schema, names: Iterable[str]) -> Schema:
    """The schema without these tables; their descendants must be among them."""
    dropped = list(dict.fromkeys(names))
    for name in dropped:
        if name not in schema.tables:
            raise SchemaError(f"schema {schema.name} has no table {name!r}{nearest(name, schema.tables)}")
    orphans = [
        descendant.name
        for name in dropped
        for descendant in schema.chain(name)
        if descendant.name not in dropped
    ]
    if orphans:
        raise SchemaError(
            f"dropping {', '.join(dropped)} would leave orphaned tables: drop"
            f" {', '.join(dict.fromkeys(orphans))} as well"
        )
    return replace(
        schema, tables={name: table for name, table in schema.tables.items() if name not in dropped}
    )
