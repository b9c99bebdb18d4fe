"""Stored values in the form of the engine: booleans, decimals as text, maps with values of one type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.pinot.conversion.converter import converter
from trellis.dialects.pinot.conversion.scalars import encodable_text
from trellis.dialects.pinot.conversion.settings import Settings
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import COMPLEX, PinotType, Value
from trellis.dialects.pinot.row.row import ValueFault
from trellis.dialects.pinot.value.json_text import json_of
from trellis.dialects.pinot.value.numbers import plain_text
from trellis.dialects.pinot.value.source_kinds import CannotConvert

Emitter = Callable[[Value], Any]


def emitter(spec: FieldSpec, settings: Settings) -> Emitter:
    """The conversion of the stored values of a column for the engine.

    That of a map raises CannotConvert where `MapEmitter.fitted` would leave an entry out.

    >>> emitter(FieldSpec("b", PinotType.BOOLEAN, single_value=False), Settings())([1, 0])
    [True, False]
    """
    if spec.data_type in COMPLEX:
        child = spec.children.get("value")
        if spec.data_type is PinotType.MAP and child is not None and child.data_type not in COMPLEX:
            return MapEmitter(spec.name, child, settings)
        return lambda value: encodable_text(json_of(value, settings.session_zone))
    emit_scalar = _SCALARS.get(spec.data_type)
    if emit_scalar is None:
        return _as_it_is
    return emit_scalar if spec.single_value else lambda value: [emit_scalar(element) for element in value]


class MapEmitter:
    """A map whose values a file holds in one type.

    Pinot converts nothing in a map. A value of another type is converted where that loses nothing; otherwise
    its entry is left out.
    """

    def __init__(self, name: str, child: FieldSpec, settings: Settings) -> None:
        self.name = name
        self.type = child.data_type
        strict = Settings(True, settings.session_zone)
        self.convert = converter(FieldSpec(name, child.data_type), strict)
        self.out = _SCALARS.get(child.data_type, _as_it_is)

    def __call__(self, value: Mapping[str, Any]) -> dict[str, Any]:
        fit, lost = self.split_entries(value)
        if lost:
            raise CannotConvert(lost[0].reason)
        return fit

    def split_entries(self, value: Mapping[str, Any]) -> tuple[dict[str, Any], list[ValueFault]]:
        """The entries that can be stored, and a fault for each of the others."""
        fit: dict[str, Any] = {}
        lost: list[ValueFault] = []
        for key, entry in value.items():
            try:
                converted = self.convert(entry)
            except CannotConvert as error:
                reason = (
                    f"in the map under {key[:60]!r}, whose values are stored as {self.type.value}: {error}"
                )
                lost.append(ValueFault(self.name, {key: entry}, reason))
            else:
                fit[encodable_text(key)] = None if converted is None else self.out(converted)
        return fit, lost


def _as_it_is(value: Value) -> Any:
    return value


_SCALARS: Final[Mapping[PinotType, Emitter]] = {PinotType.BOOLEAN: bool, PinotType.BIG_DECIMAL: plain_text}
