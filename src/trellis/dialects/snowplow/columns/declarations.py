"""Columns as a new table declares them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from trellis.dialects.snowplow.columns.column_types import TIMESTAMP, char, varchar
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.names import column_name
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.identity.keys import SchemaKey

METADATA: Final = (
    *(Column(f"schema_{part}", varchar(128), False, ()) for part in ("vendor", "name", "format", "version")),
    Column("root_id", char(36), False, (), "RAW"),
    Column("root_tstamp", TIMESTAMP, False, ()),
    Column("ref_root", varchar(255), False, ()),
    Column("ref_tree", varchar(1500), False, ()),
    Column("ref_parent", varchar(255), False, ()),
)
"""The columns before those of the schema: which schema, which event, where in it."""


def column_lines(columns: Iterable[Column], profile: Profile) -> list[str]:
    """The columns as a new table declares them, in aligned parts."""
    rows = [
        (
            profile.warehouse.quote(column.name),
            profile.type_text(column.type),
            *((f"ENCODE {column.encoding}",) if profile.encodes else ()),
            "" if column.nullable else "NOT NULL",
        )
        for column in columns
    ]
    *widths, _ = (max(map(len, parts)) for parts in zip(*rows, strict=True))
    return [
        "  "
        + " ".join((*(part.ljust(width) for part, width in zip(row, widths, strict=False)), row[-1])).rstrip()
        for row in rows
    ]


def recovery_name(base: str, key: SchemaKey, columns: Iterable[Column], profile: Profile) -> str:
    """The table of a schema that does not fit that of its family. It changes with the schema's columns.

    Names are those of the schema, so that the table keeps its own where the warehouse has no room for them.
    """
    named = [replace(column, name=column_name(column.paths[0])) for column in columns]
    block = ",\n".join(column_lines((*METADATA, *named), profile))
    version = key.version
    return f"{base}_{version.revision}_{version.addition}_recovered_{abs(java_hash(block))}"


def java_hash(text: str) -> int:
    """`hashCode` of a string in Java.

    >>> java_hash("hello"), java_hash("")
    (99162322, 0)
    """
    result = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & 0xFFFFFFFF
    return result - 2**32 if result >= 2**31 else result
