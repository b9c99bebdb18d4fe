"""Ranges of rows, by number and by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes
from trellis.errors import nearest


@dataclass(frozen=True)
class Sentinel:
    """A key part before or after all values: `<type=min>#`, `<type=max>#`."""

    type: Literal["min", "max"]


MIN: Final = Sentinel("min")
MAX: Final = Sentinel("max")


@dataclass(frozen=True)
class Limit:
    """One end of a range. A limit that has neither part is no limit."""

    row_index: int | None = None
    key: tuple[Any, ...] | None = None

    @property
    def is_open(self) -> bool:
        return self.row_index is None and self.key is None

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        if self.row_index is not None:
            document["row_index"] = self.row_index
        if self.key is not None:
            document["key"] = [
                Attributed(None, {"type": part.type}) if isinstance(part, Sentinel) else part
                for part in self.key
            ]
        return document


@dataclass(frozen=True)
class RowRange:
    """Rows from `lower`, before `upper`; or those that are or begin with `exact`."""

    lower: Limit = Limit()
    upper: Limit = Limit()
    exact: Limit = Limit()

    @property
    def has_keys(self) -> bool:
        return any(limit.key is not None for limit in (self.lower, self.upper, self.exact))

    def to_dict(self) -> dict[str, Any]:
        ends = {"lower_limit": self.lower, "upper_limit": self.upper, "exact": self.exact}
        return {name: limit.to_dict() for name, limit in ends.items() if not limit.is_open}


def parse_ranges(attributes: Mapping[str, Any]) -> tuple[RowRange, ...] | None:
    """The ranges that the attributes of a path say; None where all rows are meant. Raises YtError."""
    outer = {name: attributes[name] for name in ("lower_limit", "upper_limit") if name in attributes}
    if "ranges" not in attributes:
        return (_range(outer),) if outer else None
    if outer:
        raise YtError(f"there are ranges and {' and '.join(outer)}; expected one of them")
    ranges = attributes["ranges"]
    if not isinstance(ranges, Sequence) or isinstance(ranges, str | bytes):
        raise YtError(f"ranges is {ranges!r}; expected a list such as [{{lower_limit={{row_index=0}}}}]")
    return tuple(_range(document) for document in ranges)


def _range(document: Any) -> RowRange:
    if not isinstance(document, Mapping):
        raise YtError(
            f"a range is {document!r}; expected {{lower_limit=...; upper_limit=...}} or {{exact=...}}"
        )
    _check_keys("a range", document, ("lower_limit", "upper_limit", "exact"))
    if "exact" in document and len({"lower_limit", "upper_limit"} & {*document}):
        raise YtError("a range has exact and another limit; expected one of them")
    limits = {name: _limit(name, document.get(name)) for name in ("lower_limit", "upper_limit", "exact")}
    return RowRange(limits["lower_limit"], limits["upper_limit"], limits["exact"])


def _limit(name: str, document: Any) -> Limit:
    if document is None:
        return Limit()
    if not isinstance(document, Mapping):
        raise YtError(f"{name} is {document!r}; expected {{row_index=0}} or {{key=[a]}}")
    _check_keys(name, document, ("row_index", "key"))
    row, key = document.get("row_index"), document.get("key")
    if row is not None and (not isinstance(row, int) or isinstance(row, bool)):
        raise YtError(f"row_index of {name} is {row!r}; expected an integer")
    if key is not None and (isinstance(key, str | bytes) or not isinstance(key, Sequence)):
        raise YtError(f"key of {name} is {key!r}; expected a list of values")
    return Limit(None if row is None else int(row), None if key is None else tuple(map(_key_part, key)))


def _check_keys(name: str, document: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raises YtError for a key that would be no limit, so that more rows were meant than are wanted."""
    for key in document:
        if key not in known:
            raise YtError(f"{name} has the key {key!r}{nearest(key, known)}")


def _key_part(part: Any) -> Any:
    value, attributes = split_attributes(part)
    if value is None and attributes.get("type") in ("min", "max"):
        return MIN if attributes["type"] == "min" else MAX
    return part
