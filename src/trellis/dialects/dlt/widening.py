"""Columns that may take a wider type instead of a variant beside them: `settings.x-widen`.

dlt has no such thing: 1 and then 2.5 make two columns there. A schema says which types may become which,
as a list such as `[bigint:double, date:timestamp]`; without it nothing is widened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from trellis.errors import UsageError, nearest
from trellis.evolution.scalars.kinds import Kind
from trellis.schema.model import Column, DataType, Schema, Settings

KEY = "x-widen"
WIDER: Mapping[DataType, tuple[DataType, ...]] = {
    "bigint": ("double", "decimal", "text"),
    "double": ("text",),
    "decimal": ("text",),
    "bool": ("text",),
    "date": ("timestamp", "text"),
    "timestamp": ("text",),
    "time": ("text",),
}
"""Types whose values can all be written in the other; a bigint beyond 2**53 is rounded as a double."""

SAFE = ("bigint:decimal", "date:timestamp")


def with_widening(settings: Settings, option: str) -> Settings:
    """The settings with the pairs of an option: `safe`, `none`, or `bigint:double,date:timestamp`."""
    extra = {key: value for key, value in settings.extra.items() if key != KEY}
    pairs = {"none": (), "safe": SAFE}.get(option) if option in ("none", "safe") else _pairs(option)
    return replace(settings, extra=MappingProxyType({**extra, KEY: list(pairs)} if pairs else extra))


def widened(schema: Schema, column: Column | None, kind: Kind) -> Column | None:
    """The column as it has to become to take a value of this kind, if the schema allows it."""
    if column is None or column.data_type is None or column.variant:
        return None
    for pair in schema.settings.extra.get(KEY) or ():
        old, _, new = str(pair).partition(":")
        if old == column.data_type:
            for wider in WIDER.get(column.data_type, ()):
                if wider == new and wider in kind.fits:
                    return replace(column, data_type=wider, precision=None, scale=None)
    return None


def _pairs(option: str) -> tuple[str, ...]:
    pairs = []
    for pair in option.split(","):
        old, colon, new = (part.strip() for part in pair.partition(":"))
        known = [f"{old_type}:{wider}" for old_type, others in WIDER.items() for wider in others]
        if not colon or f"{old}:{new}" not in known:
            raise UsageError(
                f"option widen: {pair.strip()!r} is no pair of a type and a wider one"
                f"{nearest(pair.strip(), known)}; write safe, none, or pairs such as bigint:double"
            )
        pairs.append(f"{old}:{new}")
    return tuple(dict.fromkeys(pairs))
