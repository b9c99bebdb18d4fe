"""Loads that every destination refuses, each in one sentence that names the table and the column."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from trellis.errors import ContractError, SchemaError, UsageError, nearest
from trellis.schema.model import Column, Table


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def require_package(name: str, tables: str) -> None:
    """Raises UsageError where a Python package is missing that the tables of a destination need.

    >>> require_package("deltapond", "Delta tables")
    Traceback (most recent call last):
    trellis.errors.UsageError: Delta tables need the package deltapond: pip install 'trellis-spark[lake]'
    """
    if find_spec(name) is None:
        raise UsageError(f"{tables} need the package {name}: pip install 'trellis-spark[lake]'")


def null_violation(table: str, column: str) -> ContractError:
    return ContractError(
        f"table {table}, column {column}: it is required (NOT NULL), but some rows of this load have no "
        "value for it; add the values, or make the column nullable; nothing was loaded",
        table=table,
    )


def type_mismatch(table: str, column: str, real: str, declared: str, value: object = None) -> SchemaError:
    example = "" if value is None else f", and {str(value)[:80]!r} does not fit"
    return SchemaError(
        f"table {table}, column {column}: it is {real} in the destination, but {declared} in the schema"
        f"{example}; give the column its old type, or load into another table; nothing was loaded",
        table=table,
    )


def duplicate_keys(table: str, count: int) -> ContractError:
    keys = "primary key occurs" if count == 1 else "primary keys occur"
    return ContractError(
        f"table {table}: {count} {keys} more than once in the load, which upsert does not allow; "
        "remove the duplicates, or use the delete-insert strategy; nothing was loaded",
        table=table,
    )


def unknown_table(where: str, table: str, known: Iterable[str]) -> UsageError:
    names = sorted(known)
    hint = nearest(table, names) if names else "; nothing was loaded there yet"
    return UsageError(f"{where}: there is no table {table!r}{hint}")


def refuse_required(table: Table, missing: Iterable[Column]) -> None:
    """A table with rows cannot get a column in which every row must have a value."""
    for column in missing:
        if column.required:
            raise SchemaError(
                f"table {table.name}, column {column.name}: it is required (NOT NULL), but the table has "
                "rows already, which have no value for it; make it nullable, load with mode replace, or load "
                "into another table; nothing was loaded",
                table=table.name,
            )


def null_values(table: str, column: str, rows: int) -> SchemaError:
    """A column cannot become NOT NULL while rows have no value in it."""
    return SchemaError(
        f"table {table}, column {column}: it is to be NOT NULL, and rows have no value for it ({rows:,}); "
        f"give them one with --fill {table}.{column}=VALUE, or leave the column nullable; "
        "nothing was changed",
        table=table,
    )


def refuse_partition_columns(table: str, changed: Iterable[str], partitions: Iterable[str]) -> None:
    """Columns that a table is partitioned by cannot go, nor get a name that takes writing all rows anew."""
    known = {*partitions}
    for column in changed:
        if column in known:
            raise SchemaError(
                f"table {table}, column {column}: the table is partitioned by it, so it stays as it is; "
                "load into a new table",
                table=table,
            )


def refuse_case_variants(tables: Iterable[Table], known: Iterable[str]) -> None:
    """Names that differ only in case are one name to the readers of these destinations."""
    seen = {name.lower(): name for name in known}
    for table in tables:
        other = seen.setdefault(table.name.lower(), table.name)
        if other != table.name:
            raise SchemaError(f"tables {other} and {table.name} differ only in case; rename one of them")
        refuse_case_variant_columns(table, ())


def refuse_case_variant_columns(table: Table, known: Iterable[str]) -> None:
    columns = {name.lower(): name for name in known}
    for column in table.complete_columns:
        twin = columns.setdefault(column.name.lower(), column.name)
        if twin != column.name:
            raise SchemaError(
                f"table {table.name}: columns {twin} and {column.name} differ only in case; rename one"
            )
