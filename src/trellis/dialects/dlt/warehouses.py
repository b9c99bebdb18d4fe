"""The warehouses whose statements a plan can show, under dlt's names for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from trellis.dialects.dlt.naming import naming_of
from trellis.errors import UsageError, nearest
from trellis.schema.model import Schema
from trellis.warehouses import catalog
from trellis.warehouses.catalog.lakes import PARQUET
from trellis.warehouses.schema_statements import schema_statements
from trellis.warehouses.types import UNLIMITED, NativeType
from trellis.warehouses.warehouse import Warehouse

_TIME: Final = NativeType("time64[us]", ((3, "time32[ms]"), (6, "time64[us]"), (9, "time64[ns]")))
_BINARY: Final = NativeType("binary", ((UNLIMITED, "fixed_size_binary[{}]"),))
_PARQUET: Final = replace(
    PARQUET,
    identifiers=replace(PARQUET.identifiers, case_sensitive=True),
    types={**PARQUET.types, "time": _TIME, "binary": _BINARY},
    wei=(76, 0),
)
"""The files that dlt itself writes: those of the destination have other times, bytes and wei."""

WAREHOUSES: Final[Mapping[str, Warehouse]] = {**catalog.WAREHOUSES, "parquet": _PARQUET}


def warehouse_of(name: str) -> Warehouse:
    """The warehouse of this name. Raises UsageError.

    >>> warehouse_of("snowflake").types["json"].name
    'VARIANT'
    >>> warehouse_of("SnowFlak")
    Traceback (most recent call last):
    ...
    trellis.errors.UsageError: there is no warehouse 'SnowFlak': did you mean 'snowflake'?
    """
    if name not in WAREHOUSES:
        raise UsageError(f"there is no warehouse {name!r}{nearest(name.lower(), WAREHOUSES)}")
    return WAREHOUSES[name]


def statements(warehouse: Warehouse, dataset: str, before: Schema, after: Schema) -> list[str]:
    """`schema_statements` under the naming that the schema follows."""
    case_sensitive = naming_of(after).case_sensitive
    return schema_statements(warehouse, dataset, before, after, case_sensitive=case_sensitive)
