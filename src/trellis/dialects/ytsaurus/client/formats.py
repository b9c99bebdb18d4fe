"""Formats as objects, as scripts name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from trellis.dialects.ytsaurus.client.values import from_python
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format

ControlMode = Literal["iterator", "row_fields", "none"]


class YsonFormat(Format):
    """
    >>> YsonFormat(format="text").attributes
    {'format': 'text'}
    """

    def __init__(
        self,
        format: str | None = None,
        control_attributes_mode: ControlMode = "iterator",
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__("yson", _settings(attributes, format=format))
        _set_mode(self, control_attributes_mode)


class JsonFormat(Format):
    def __init__(
        self,
        control_attributes_mode: ControlMode = "iterator",
        attributes: Mapping[str, Any] | None = None,
        encode_utf8: bool | None = None,
    ) -> None:
        super().__init__("json", _settings(attributes, encode_utf8=encode_utf8))
        _set_mode(self, control_attributes_mode)


class DsvFormat(Format):
    def __init__(self, attributes: Mapping[str, Any] | None = None) -> None:
        super().__init__("dsv", _settings(attributes))


class SchemafulDsvFormat(Format):
    def __init__(
        self, columns: Sequence[str] | None = None, attributes: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("schemaful_dsv", _settings(attributes, columns=columns))


def has_marks_in_rows(format: Format) -> bool:
    """Whether rows tell where they come from, as columns such as @row_index; else their iterator does."""
    return getattr(format, "control_attributes_mode", "iterator") == "row_fields"


def _set_mode(format: Format, mode: str) -> None:
    if mode not in ("iterator", "row_fields", "none"):
        raise YtError(f"control_attributes_mode is {mode!r}; expected iterator, row_fields or none")
    object.__setattr__(format, "control_attributes_mode", mode)  # it is no attribute of the format


def _settings(attributes: Mapping[str, Any] | None, **settings: Any) -> dict[str, Any]:
    named = {name: value for name, value in settings.items() if value is not None}
    result: dict[str, Any] = from_python({**(attributes or {}), **named})
    return result


def parse_format(format: Any) -> Format:
    """The format that a script names; YSON if it names none."""
    if format is None:
        return Format("yson", {"format": "text"})
    return format if isinstance(format, Format) else Format.parse(str(format))
