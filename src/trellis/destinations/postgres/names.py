"""Names in PostgreSQL: their length, the schema of staging tables, and the numbers of advisory locks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from trellis.errors import SchemaError
from trellis.schema.model import Table
from trellis.warehouses.catalog.databases import POSTGRES

_STAGING = "_trellis_staging"


def name_of(schema: str, table: str) -> str:
    return POSTGRES.quote(schema, table)


def staging_schema(dataset: str) -> str:
    """The schema of the tables into which loads of a dataset are copied.

    >>> staging_schema("shop"), len(staging_schema("s" * 60))
    ('shop_trellis_staging', 63)
    """
    whole, limit = dataset + _STAGING, POSTGRES.identifiers.max_length
    if POSTGRES.identifiers.length(whole) <= limit:
        return whole
    short = f"_{digest(dataset)[:8]}{_STAGING}"
    return dataset.encode()[: limit - len(short)].decode(errors="ignore") + short


def digest(*names: str) -> str:
    """16 hexadecimal digits, which are also the number of an advisory lock."""
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]


def lock_number(digits: str) -> int:
    """
    >>> lock_number("0000000000000010"), lock_number("ffffffffffffffff")
    (16, -1)
    """
    return int.from_bytes(bytes.fromhex(digits), "big", signed=True)


def refuse_names(dataset: str, tables: Iterable[Table]) -> None:
    """Raises SchemaError for what PostgreSQL would cut, or cannot take at all."""
    _refuse(dataset, "dataset")
    for table in tables:
        _refuse(table.name, "table")
        for column in table.complete_columns:
            _refuse(column.name, f"table {table.name}, column")


def _refuse(name: str, what: str) -> None:
    limit, size = POSTGRES.identifiers.max_length, POSTGRES.identifiers.length(name)
    if size > limit:
        raise SchemaError(
            f"{what} {name}: the name has {size} bytes, and PostgreSQL takes {limit}; shorten it, or choose "
            "the naming convention snake_case"
        )
    if not name or "\0" in name:
        raise SchemaError(f"{what} {name!r}: PostgreSQL does not take this name; give it another one")
