"""Any value of a source as a value of its column (`DataTypeTransformer`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.conversion.settings import PINOT_DEFAULTS, LossCounts, LossReporter, Settings
from trellis.dialects.pinot.conversion.steps import MATRIX, Step, Steps
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import COMPLEX, PinotType, Value
from trellis.dialects.pinot.value.json_text import first_json_value, key_text, may_follow
from trellis.dialects.pinot.value.source_kinds import (
    INT_MAX,
    INT_MIN,
    LONG_MAX,
    LONG_MIN,
    SCALARS,
    CannotConvert,
    SourceKind,
    kind_of,
)


def standardise(value: Any, single: bool = True) -> Any:
    """A scalar, a list of two or more scalars (only where `single` is false), or None.

    Raises CannotConvert for several values where one is expected.

    >>> standardise([None, 5]), standardise({"k": [5]}), standardise([]), standardise({"x": 1, "y": 2}, False)
    (5, 5, None, [1, 2])
    >>> standardise([5, 6])
    Traceback (most recent call last):
    CannotConvert: Cannot read single-value from a list of 2 values...
    """
    try:
        return _standardise(value, single)
    except RecursionError:
        raise CannotConvert("the lists and maps are nested too deep: flatten them") from None


def _standardise(value: Any, single: bool) -> Any:
    parts = _elements(value)
    while parts is not None:
        if len(parts) != 1:
            scalars = [scalar for part in parts if (scalar := _standardise(part, True)) is not None]
            if len(scalars) > 1:
                if single:
                    raise CannotConvert(_bracketed(value))
                return scalars
            return scalars[0] if scalars else None
        value = parts[0]
        parts = _elements(value)
    return value


def _elements(value: Any) -> Any:
    """The values of a list or map; None for a scalar."""
    if isinstance(value, list | tuple):
        return value
    return list(value.values()) if isinstance(value, Mapping) else None


def _bracketed(value: Any) -> str:
    kind = "map" if isinstance(value, Mapping) else "list"
    return (
        f"Cannot read single-value from a {kind} of {len(value)} values: {abbreviated(value)}; "
        "provide one value, or declare the column with singleValueField false"
    )


def complex_of(value: Any, target: PinotType) -> Any:
    """A map (LIST: a list) as it is, or the one that a text holds; None for null. Raises CannotConvert.

    >>> complex_of({"k": 5}, PinotType.MAP), complex_of("[1]", PinotType.LIST)
    ({'k': 5}, [1])
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _from_text(value, target)
    if target is PinotType.LIST:
        if isinstance(value, list | tuple):
            return value if value.__class__ is list else list(value)
    elif isinstance(value, Mapping):
        return map_of(value)
    raise conversion_error(value, target)


def map_of(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A map whose keys are texts. What it holds is not converted: its child fields coerce nothing.

    >>> map_of({1: 1.50, "k": None})
    {'1': 1.5, 'k': None}
    """
    if value.__class__ is dict and all(key.__class__ is str for key in value):
        return value
    return {key_text(key): entry for key, entry in value.items()}


def _from_text(text: str, target: PinotType) -> Any:
    """The JSON object (LIST: the JSON array) that a text starts with; None for `null`."""
    try:
        value, end = first_json_value(text)
    except (ValueError, RecursionError):
        raise conversion_error(text, target) from None
    if isinstance(value, list if target is PinotType.LIST else dict) or (
        value is None and may_follow(text, end)
    ):
        return value
    raise conversion_error(text, target)


Converter = Callable[[Any], Value | None]

LONGEST_WHOLE: Final = 33_000
"""Bits of a whole number, some ten thousand digits. A longer one is refused: it takes minutes to write."""


def converter(
    spec: FieldSpec, settings: Settings = PINOT_DEFAULTS, losses: LossCounts | None = None
) -> Converter:
    """The conversion of source values to the column's type, a list of it for several values, or None.

    It raises CannotConvert with one sentence; in strict mode LossyConversion where Pinot would change
    the value without an error. Otherwise that is done, and counted in `losses`.

    >>> convert = converter(FieldSpec("n", PinotType.INT))
    >>> convert(7.9), convert("7"), convert(3000000000), convert([])
    (7, 7, -1294967296, None)
    >>> converter(FieldSpec("n", PinotType.INT, single_value=False))([1, "2", None, 4.5])
    [1, 2, 4]
    """
    reporter = LossReporter(spec.name, settings, losses)
    target = spec.data_type
    if target in COMPLEX:
        return lambda value: complex_of(value, target)
    scalar = _scalar(target, MATRIX[target], reporter)
    if target is PinotType.JSON:
        return lambda value: None if value is None else scalar(value)
    return _single(scalar) if spec.single_value else _multiple(scalar)


def _scalar(target: PinotType, steps: Steps, reporter: LossReporter) -> Converter:
    """Looks the step up by the class of the value, and by its kind where the class does not determine it."""
    by_class = {source_class: steps[kind] for source_class, kind in SCALARS.items() if kind in steps}
    by_class[int] = _by_size(target, steps)

    def convert(value: Any) -> Value:
        step = by_class.get(value.__class__)
        if step is None:
            step = steps.get(kind_of(value))
            if step is None:
                raise conversion_error(value, target)
        return step(value, reporter)

    return convert


def _by_size(target: PinotType, steps: Steps) -> Step:
    """An int is of kind INT, LONG or BIG_DECIMAL."""
    small, long, large = map(steps.get, (SourceKind.INT, SourceKind.LONG, SourceKind.BIG_DECIMAL))

    def convert(value: int, reporter: LossReporter) -> Value:
        if INT_MIN <= value <= INT_MAX:
            step = small
        elif LONG_MIN <= value <= LONG_MAX:
            step = long
        else:
            step = large if value.bit_length() <= LONGEST_WHOLE else None
        if step is None:
            raise conversion_error(value, target)
        return step(value, reporter)

    return convert


def _single(scalar: Converter) -> Converter:
    def convert(value: Any) -> Value | None:
        if value is None:
            return None
        if value.__class__ in _SCALARS:
            return scalar(value)
        standard = standardise(value)
        return None if standard is None else scalar(standard)

    return convert


def _multiple(scalar: Converter) -> Converter:
    def convert(value: Any) -> Value | None:
        standard = value if value.__class__ in _SCALARS else standardise(value, single=False)
        if standard is None:
            return None
        return [scalar(element) for element in standard] if standard.__class__ is list else [scalar(standard)]

    return convert


_SCALARS: Final = frozenset((*SCALARS, int))
