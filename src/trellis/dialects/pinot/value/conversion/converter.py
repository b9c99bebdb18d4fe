"""Any value of a source as a value of its column (`DataTypeTransformer`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import COMPLEX, PinotType, Value
from trellis.dialects.pinot.value.conversion.maps import complex_of
from trellis.dialects.pinot.value.conversion.standardization import standardise
from trellis.dialects.pinot.value.conversion.steps import Step, Steps, steps_of
from trellis.dialects.pinot.value.losses import Damages, Guard
from trellis.dialects.pinot.value.messages import cannot
from trellis.dialects.pinot.value.settings import PARITY, Settings
from trellis.dialects.pinot.value.source_kinds import (
    INT_MAX,
    INT_MIN,
    LONG_MAX,
    LONG_MIN,
    SCALARS,
    SourceKind,
    kind_of,
)

Converter = Callable[[Any], Value | None]

LONGEST_WHOLE: Final = 33_000
"""Bits of a whole number, some ten thousand digits. A longer one is refused: it takes minutes to write."""


def converter(spec: FieldSpec, settings: Settings = PARITY, damages: Damages | None = None) -> Converter:
    """What takes a value of the source to the column's type, a list of such for several values, or None.

    It raises CannotConvert with one sentence; in strict mode Damaged where Pinot would damage the value in
    silence. Otherwise that is done, and counted in `damages`.

    >>> convert = converter(FieldSpec("n", PinotType.INT))
    >>> convert(7.9), convert("7"), convert(3000000000), convert([])
    (7, 7, -1294967296, None)
    >>> converter(FieldSpec("n", PinotType.INT, single_value=False))([1, "2", None, 4.5])
    [1, 2, 4]
    """
    guard = Guard(spec.name, settings, damages)
    target = spec.data_type
    if target in COMPLEX:
        return lambda value: complex_of(value, target)
    scalar = _scalar(target, steps_of(target, settings.extended), guard)
    if target is PinotType.JSON:
        return lambda value: None if value is None else scalar(value)
    return _single(scalar) if spec.single_value else _multiple(scalar)


def _scalar(target: PinotType, steps: Steps, guard: Guard) -> Converter:
    """By the class of the value, and where that does not tell the kind, by the kind."""
    by_class = {each: steps[kind] for each, kind in SCALARS.items() if kind in steps}
    by_class[int] = _by_size(target, steps)

    def convert(value: Any) -> Value:
        step = by_class.get(value.__class__)
        if step is None:
            step = steps.get(kind_of(value))
            if step is None:
                raise cannot(value, target)
        return step(value, guard)

    return convert


def _by_size(target: PinotType, steps: Steps) -> Step:
    """An int is of kind INT, LONG or BIG_DECIMAL."""
    small, long, large = map(steps.get, (SourceKind.INT, SourceKind.LONG, SourceKind.BIG_DECIMAL))

    def convert(value: int, guard: Guard) -> Value:
        if INT_MIN <= value <= INT_MAX:
            step = small
        elif LONG_MIN <= value <= LONG_MAX:
            step = long
        else:
            step = large if value.bit_length() <= LONGEST_WHOLE else None
        if step is None:
            raise cannot(value, target)
        return step(value, guard)

    return convert


def _single(scalar: Converter) -> Converter:
    def convert(value: Any) -> Value | None:
        if value is None:
            return None
        if value.__class__ in _SCALARS:
            return scalar(value)
        found = standardise(value)
        return None if found is None else scalar(found)

    return convert


def _multiple(scalar: Converter) -> Converter:
    def convert(value: Any) -> Value | None:
        found = value if value.__class__ in _SCALARS else standardise(value, single=False)
        if found is None:
            return None
        return [scalar(each) for each in found] if found.__class__ is list else [scalar(found)]

    return convert


_SCALARS: Final = frozenset((*SCALARS, int))
