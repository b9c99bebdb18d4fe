"""Types as the catalog of PostgreSQL has them: spelled out, and by their short names in `pg_type`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trellis.schema.model import DataType
from trellis.warehouses.catalog.databases import POSTGRES

_SPELLED: Mapping[str, str] = {
    "varchar": "character varying{}",
    "time": "time{} without time zone",
    "timestamp": "timestamp{} without time zone",
    "timestamptz": "timestamp{} with time zone",
    "decimal": "numeric{}",
    "int": "integer",
    "float8": "double precision",
    "bool": "boolean",
}


def spelled_out(name: str) -> str:
    """A type as the catalog of PostgreSQL shows it.

    >>> spelled_out("varchar(40)"), spelled_out("time"), spelled_out("numeric(12,2)")
    ('character varying(40)', 'time without time zone', 'numeric(12,2)')
    """
    match = re.fullmatch(r"(\w+)(\(.*\))?", name)
    if match is None or match[1] not in _SPELLED:
        return name
    return _SPELLED[match[1]].format(match[2] or "")


def data_type(name: str, bounded: bool = True) -> DataType | None:
    """What a schema calls a type of `pg_type`; a number without bounds is a double.

    >>> data_type("int4"), data_type("numeric"), data_type("numeric", bounded=False), data_type("uuid")
    ('bigint', 'decimal', 'double', None)
    """
    return "double" if name == "numeric" and not bounded else POSTGRES.data_type(name)
