"""Stored values as the engine is given them: flags as such, decimals as text, maps of one type of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import COMPLEX, PinotType, Value
from trellis.dialects.pinot.row.row import Fault
from trellis.dialects.pinot.value.conversion.converter import converter
from trellis.dialects.pinot.value.conversion.texts import storable
from trellis.dialects.pinot.value.json_text.writer import json_of
from trellis.dialects.pinot.value.numbers.java_format import plain_text
from trellis.dialects.pinot.value.settings import Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert

Emit = Callable[[Value], Any]


def emitter(spec: FieldSpec, settings: Settings) -> Emit:
    """How the stored values of a column are given to the engine.

    That of a map raises CannotConvert where `MapOut.fitted` would leave an entry out.

    >>> emitter(FieldSpec("b", PinotType.BOOLEAN, single_value=False), Settings())([1, 0])
    [True, False]
    """
    if spec.data_type in COMPLEX:
        child = spec.children.get("value")
        if spec.data_type is PinotType.MAP and child is not None and child.data_type not in COMPLEX:
            return MapOut(spec.name, child, settings)
        return lambda value: storable(json_of(value, settings.session_zone))
    one = _SCALARS.get(spec.data_type)
    if one is None:
        return _as_it_is
    return one if spec.single_value else lambda value: [one(each) for each in value]


class MapOut:
    """A map whose values a file holds in one type.

    Pinot converts nothing in a map. A value of another type is given in the type of the column where that
    changes nothing but its form; else its entry is left out.
    """

    def __init__(self, name: str, child: FieldSpec, settings: Settings) -> None:
        self.name = name
        self.type = child.data_type
        strict = Settings(True, settings.session_zone, settings.extended)
        self.convert = converter(FieldSpec(name, child.data_type), strict)
        self.out = _SCALARS.get(child.data_type, _as_it_is)

    def __call__(self, value: Mapping[str, Any]) -> dict[str, Any]:
        fit, lost = self.fitted(value)
        if lost:
            raise CannotConvert(lost[0].reason)
        return fit

    def fitted(self, value: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
        """The entries that are stored, and those that are not."""
        fit: dict[str, Any] = {}
        lost: list[Fault] = []
        for key, each in value.items():
            try:
                made = self.convert(each)
            except CannotConvert as bad:
                reason = f"in the map under {key[:60]!r}, whose values are stored as {self.type.value}: {bad}"
                lost.append(Fault(self.name, {key: each}, reason))
            else:
                fit[storable(key)] = None if made is None else self.out(made)
        return fit, lost


def _as_it_is(value: Value) -> Any:
    return value


def _text(value: Decimal) -> str:
    return plain_text(value)


_SCALARS: Final[Mapping[PinotType, Emit]] = {PinotType.BOOLEAN: bool, PinotType.BIG_DECIMAL: _text}
