"""The line that an entity becomes in the file of its table (docs/conformance/snowplow.md, R-63 to R-68)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, Literal

from trellis.dialects.snowplow.columns.flatten import Column, Path
from trellis.dialects.snowplow.document.json_text import encodable, number_text, write_json
from trellis.dialects.snowplow.identity.keys import SchemaKey

CsvDialect = Literal["tsv", "rfc4180"]
"""Tab-separated without quotes, as Snowplow's loaders read it; or comma-separated, quoted."""

EVENTS: Final = "events"
_NULL: Final = r"\N"
_BLANKS: Final[Mapping[int, int]] = str.maketrans("\t\n\r", "   ")
_BLANKS_COMPAT: Final[Mapping[int, int]] = str.maketrans("\t\n", "  ")


@dataclass(frozen=True)
class Event:
    """The event that entities are part of."""

    id: str
    collected_at: datetime


@dataclass(frozen=True)
class LineWriter:
    """Writes the lines of one table. `compat` leaves carriage returns in, as Snowplow's own code does."""

    columns: Sequence[Column]
    dialect: CsvDialect = "tsv"
    compat: bool = False

    def line(self, key: SchemaKey, event: Event, data: object) -> str:
        """The line of an entity, without its end."""
        fields = (*metadata(key, event), *self.values(data))
        if self.dialect == "rfc4180":
            return ",".join(map(_quoted, fields))
        blanks = _BLANKS_COMPAT if self.compat else _BLANKS
        return "\t".join(_unquoted(text, blanks) for text in fields)

    def values(self, data: object) -> Iterator[str | None]:
        """The texts of the columns; None for NULL."""
        for column in self.columns:
            yield text_of(value_of(column, data))


def metadata(key: SchemaKey, event: Event) -> tuple[str, ...]:
    """What the columns before those of the schema hold."""
    collected_at = event.collected_at.astimezone(timezone.utc)
    return (
        key.vendor,
        key.name,
        key.format,
        str(key.version),
        event.id,
        f"{collected_at:%Y-%m-%d %H:%M:%S}.{collected_at.microsecond // 1000:03}",
        EVENTS,
        write_json([EVENTS, key.name]),
        EVENTS,
    )


def legacy_document(key: SchemaKey, event: Event, data: object) -> dict[str, Any]:
    """The JSON line that loaders with JSONPaths files read."""
    *_, root_id, root_tstamp, ref_root, _, ref_parent = metadata(key, event)
    return {
        "schema": {
            "vendor": key.vendor,
            "name": key.name,
            "format": key.format,
            "version": str(key.version),
        },
        "data": data,
        "hierarchy": {
            "rootId": root_id,
            "rootTstamp": root_tstamp,
            "refRoot": ref_root,
            "refTree": [EVENTS, key.name],
            "refParent": ref_parent,
        },
    }


def json_paths(columns: Iterable[Column]) -> dict[str, list[str]]:
    """The JSONPaths file of a table: where each of its columns is in `legacy_document`."""
    schema = (f"$.schema.{part}" for part in ("vendor", "name", "format", "version"))
    hierarchy = (
        f"$.hierarchy.{part}" for part in ("rootId", "rootTstamp", "refRoot", "refTree", "refParent")
    )
    data = (f"$.data.{'.'.join(column.paths[0])}" for column in columns)
    return {"jsonpaths": [*schema, *hierarchy, *data]}


def value_of(column: Column, data: object) -> object:
    """What an entity has for a column: the first value that is not null, of those at its paths."""
    values = (_value_at(data, path) for path in column.paths)
    return next((value for value in values if value is not None), None)


def text_of(value: object) -> str | None:
    """A value of JSON as the text of a column; None for null.

    >>> [text_of(value) for value in (True, "x", {"a": [1, None]}, None)]
    ['1', 'x', '{"a":[1,null]}', None]
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "1" if value else "0"
    return number_text(value) if isinstance(value, int | float) else write_json(value)


def _value_at(data: object, path: Path) -> object:
    for key in path:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def _unquoted(text: str | None, blanks: Mapping[int, int]) -> str:
    if text is None:
        return _NULL
    return f"\\{text}" if text == _NULL else encodable(text.translate(blanks))


def _quoted(text: str | None) -> str:
    return "" if text is None else '"' + encodable(text.replace('"', '""')) + '"'
