"""A table, and what is read or written of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trellis.dialects.ytsaurus.client.values import from_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.paths.parser import split_path
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes
from trellis.dialects.ytsaurus.yson.writer import dumps


class TablePath:
    """The path of a table with attributes.

    >>> str(TablePath("//home/t", append=True))
    '<"append"=%true;>//home/t'
    """

    def __init__(
        self,
        name: Any,
        append: bool | None = None,
        sorted_by: Sequence[Any] | None = None,
        columns: Sequence[str] | None = None,
        exact_key: Any = None,
        lower_key: Any = None,
        upper_key: Any = None,
        exact_index: int | None = None,
        start_index: int | None = None,
        end_index: int | None = None,
        ranges: Sequence[Mapping[str, Any]] | None = None,
        schema: Any = None,
        optimize_for: str | None = None,
        compression_codec: str | None = None,
        erasure_codec: str | None = None,
        foreign: bool | None = None,
        rename_columns: Mapping[str, str] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Raises YtError where limits contradict each other."""
        text, outer = split_attributes(name.to_yson_type() if isinstance(name, TablePath) else name)
        self.path, inner = split_path(text)
        self.attributes: dict[str, Any] = {**outer, **inner, **(attributes or {})}
        settings = {
            "append": append,
            "sorted_by": sorted_by,
            "columns": columns,
            "ranges": ranges,
            "schema": schema,
            "optimize_for": optimize_for,
            "compression_codec": compression_codec,
            "erasure_codec": erasure_codec,
            "foreign": foreign,
            "rename_columns": rename_columns,
        }
        self.attributes.update({name: value for name, value in settings.items() if value is not None})
        limits = {
            "exact": _limit(self.path, "exact", exact_key, exact_index),
            "lower_limit": _limit(self.path, "lower", lower_key, start_index),
            "upper_limit": _limit(self.path, "upper", upper_key, end_index),
        }
        row_range = {side: limit for side, limit in limits.items() if limit}
        if row_range:
            if "ranges" in self.attributes:
                raise YtError(f"{self.path}: both ranges and {', '.join(row_range)}; expected one of them")
            self.attributes["ranges"] = [row_range]

    @property
    def append(self) -> bool:
        return self.attributes.get("append") is True

    def to_yson_type(self) -> Any:
        attributes = from_python(self.attributes)
        return Attributed(self.path, attributes) if attributes else self.path

    def __str__(self) -> str:
        attributes = "".join(
            f"{dumps(name).decode()}={dumps(from_python(value)).decode()};"
            for name, value in self.attributes.items()
        )
        return f"<{attributes}>{self.path}" if attributes else self.path

    def __add__(self, suffix: str) -> TablePath:
        return TablePath(self.path + suffix)


def _limit(path: str, side: str, key: Any, index: int | None) -> dict[str, Any]:
    if key is not None and index is not None:
        raise YtError(f"{path}: the {side} limit has both a key and a row number; expected one of them")
    if index is not None:
        return {"row_index": index}
    if key is None:
        return {}
    return {"key": list(key) if isinstance(key, list | tuple) else [key]}


def path_name(path: Any) -> str:
    """The path without its attributes."""
    return path.path if isinstance(path, TablePath) else TablePath(str(path)).path
