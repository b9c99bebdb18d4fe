"""A rich path as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.paths.parser import split_path
from trellis.dialects.ytsaurus.paths.ranges import RowRange, parse_ranges
from trellis.dialects.ytsaurus.schema.document import parse_flag, parse_schema
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.switches import DEFAULT_SWITCHES, Switches
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes, to_key
from trellis.dialects.ytsaurus.yson.writer import dumps


@dataclass(frozen=True)
class RichPath:
    """The path of a node, what is read or written of it, and all attributes as they came."""

    path: str
    attributes: Mapping[str, Any]
    columns: tuple[str, ...] | None = None
    ranges: tuple[RowRange, ...] | None = None
    append: bool = False
    sorted_by: tuple[SortColumn, ...] | None = None
    schema: TableSchema | None = None
    rename_columns: Mapping[str, str] | None = None
    optimize_for: str | None = None
    row_count_limit: int | None = None
    create: bool = False

    def to_yson(self) -> Any:
        return Attributed(self.path, self.attributes) if self.attributes else self.path

    def __str__(self) -> str:
        attributes = "".join(f"{key}={dumps(value).decode()};" for key, value in self.attributes.items())
        return f"<{attributes}>{self.path}" if attributes else self.path


def parse_path(path: Any, switches: Switches = DEFAULT_SWITCHES) -> RichPath:
    """The rich path of a text, or of a YSON string with attributes. Raises YtError.

    >>> parse_path("<append=%true>//home/t{k,v}[#5:]").ranges
    (RowRange(lower=Limit(row_index=5, key=None), upper=Limit(row_index=None, key=None), ...),)
    """
    text, outer = split_attributes(path)
    name, attributes = split_path(text)
    try:
        return _rich_path(name, {**outer, **attributes}, switches)
    except YtError as error:
        raise error.at_path(name) from None


def _rich_path(name: str, attributes: Mapping[str, Any], switches: Switches) -> RichPath:
    limit = attributes.get("row_count_limit")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        raise YtError(f"row_count_limit is {limit!r}; expected a number of rows")
    schema = attributes.get("schema")
    return RichPath(
        name,
        attributes,
        columns=_names(attributes, "columns"),
        ranges=parse_ranges(attributes),
        append=_flag(attributes, "append"),
        sorted_by=_sorted_by(attributes, switches),
        schema=None if schema is None else parse_schema(schema, switches),
        rename_columns=_renames(attributes),
        optimize_for=parse_optimize_for(attributes.get("optimize_for")),
        row_count_limit=limit,
        create=_flag(attributes, "create"),
    )


def parse_sort_columns(value: Any, place: str) -> tuple[SortColumn, ...]:
    """Columns to sort by: names, or maps with `name` and `sort_order`. Raises YtError."""
    if isinstance(value, str | bytes | Mapping):
        value = [value]
    if not isinstance(value, list | tuple):
        raise YtError(f"{place} is not a list of columns")
    return tuple(_sort_column(item, place) for item in value)


def check_sort_orders(columns: Iterable[SortColumn], switches: Switches, place: str) -> None:
    """Raises YtError (314) for a descending order where the store has none."""
    for column in columns:
        if column.sort_order == "descending" and not switches.enable_descending:
            raise YtError(
                f"{place}: sort_order of {column.name} is descending; expected ascending (the switch "
                "enable_descending allows both)",
                ErrorCode.INVALID_SCHEMA,
            )


def parse_optimize_for(value: Any) -> str | None:
    if value is None:
        return None
    text = to_key(value) if isinstance(value, str | bytes) else ""
    if text not in ("lookup", "scan"):
        raise YtError(f"optimize_for is {value!r}; expected lookup or scan")
    return text


def _sort_column(item: Any, place: str) -> SortColumn:
    if isinstance(item, str | bytes):
        if not item:
            raise YtError(f"{place} has a column without a name")
        return SortColumn(to_key(item))
    if isinstance(item, Mapping) and isinstance(item.get("name"), str | bytes):
        order = to_key(item.get("sort_order", "ascending"))
        if order == "ascending":
            return SortColumn(to_key(item["name"]))
        if order == "descending":
            return SortColumn(to_key(item["name"]), "descending")
        raise YtError(f"{place}: sort_order is {order!r}; expected ascending")
    raise YtError(f"{place} has an item that is neither a name nor {{name=...; sort_order=...}}")


def _sorted_by(attributes: Mapping[str, Any], switches: Switches) -> tuple[SortColumn, ...] | None:
    if "sorted_by" not in attributes:
        return None
    columns = parse_sort_columns(attributes["sorted_by"], "sorted_by")
    check_sort_orders(columns, switches, "sorted_by")
    return columns


def _names(attributes: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    names = attributes.get(key)
    if names is None:
        return None
    if not isinstance(names, list | tuple) or not all(isinstance(name, str | bytes) for name in names):
        raise YtError(f"{key} is {names!r}; expected a list of names")
    return tuple(dict.fromkeys(map(to_key, names)))


def _renames(attributes: Mapping[str, Any]) -> Mapping[str, str] | None:
    renames = attributes.get("rename_columns")
    if renames is None:
        return None
    if not isinstance(renames, Mapping) or not all(
        isinstance(name, str | bytes) for name in renames.values()
    ):
        raise YtError(f"rename_columns is {renames!r}; expected a map of names such as {{old=new}}")
    return {old: to_key(new) for old, new in renames.items()}


def _flag(attributes: Mapping[str, Any], key: str) -> bool:
    if key not in attributes:
        return False
    flag = parse_flag(attributes[key])
    if flag is None:
        raise YtError(f"{key} is {attributes[key]!r}; expected %true or %false")
    return flag
