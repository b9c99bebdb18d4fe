"""Special values (`SpecialValueTransformer`), and text and bytes that are too long or hold U+0000
(`SanitizationTransformer`).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from trellis.dialects.pinot.conversion.messages import SHOWN_CHARACTERS, abbreviated
from trellis.dialects.pinot.conversion.settings import (
    PINOT_DEFAULTS,
    LossCounts,
    LossKind,
    LossReporter,
    Settings,
)
from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import ExceedStrategy, PinotType, Value
from trellis.dialects.pinot.value.numbers import without_trailing_zeros
from trellis.dialects.pinot.value.source_kinds import CannotConvert

SpecialValueFixer = Callable[[Value], Value | None]


def special_value_fixer(spec: FieldSpec) -> SpecialValueFixer | None:
    """The function that replaces special values of a column; None where its type has none.

    -0.0 becomes 0.0, NaN null; of several values NaN is removed, and none left is null. Decimals lose their
    trailing zeros, unless the column allows them.

    >>> at = special_value_fixer(FieldSpec("x", PinotType.DOUBLE))
    >>> at(-0.0), at(float("nan"))
    (0.0, None)
    >>> special_value_fixer(FieldSpec("x", PinotType.DOUBLE, single_value=False))([float("nan"), 1.0, -0.0])
    [1.0, 0.0]
    """
    if spec.data_type in (PinotType.FLOAT, PinotType.DOUBLE):
        scalar: SpecialValueFixer = _float
    elif spec.data_type is PinotType.BIG_DECIMAL and not spec.trailing_zeros:
        scalar = _decimal
    else:
        return None
    return scalar if spec.single_value else _fix_elements(scalar)


def _float(value: float | None) -> float | None:
    if not value:
        return value if value is None else 0.0
    return value if value == value else None


def _decimal(value: Decimal | None) -> Decimal | None:
    return value if value is None else without_trailing_zeros(value)


def _fix_elements(scalar: SpecialValueFixer) -> SpecialValueFixer:
    def several(values: Value) -> Value | None:
        if values is None:
            return None
        return [fixed for value in values if (fixed := scalar(value)) is not None] or None

    return several


Sanitiser = Callable[[Value], tuple[Value, bool]]
_NUL = "\0"


class TooLong(CannotConvert):
    """A value that the strategy ERROR refuses; the sentence is Pinot's."""


def sanitiser(
    spec: FieldSpec, settings: Settings = PINOT_DEFAULTS, losses: LossCounts | None = None
) -> Sanitiser | None:
    """A function that cuts or replaces a value and returns whether it did; None where the column needs none.

    It raises TooLong under the strategy ERROR, and in strict mode LossyConversion. Otherwise what
    is cut or replaced is counted in `losses`. A cut that falls into a surrogate pair leaves `?`, which is
    what Pinot stores for half a character.

    >>> cut = sanitiser(FieldSpec("s", PinotType.STRING, max_length=4))
    >>> cut("abcdef"), cut("ab\\0c"), cut("abc\\U0001f600"), cut("abcd")
    (('abcd', True), ('ab', True), ('abc?', True), ('abcd', False))
    """
    if spec.data_type is PinotType.BYTES:
        if spec.strategy is ExceedStrategy.NO_ACTION:
            return None
        scalar: Sanitiser = _Bytes(spec, LossReporter(spec.name, settings, losses))
    elif spec.data_type is PinotType.STRING or (
        spec.data_type is PinotType.JSON and spec.strategy is not ExceedStrategy.NO_ACTION
    ):
        scalar = _Text(spec, LossReporter(spec.name, settings, losses))
    else:
        return None
    return scalar if spec.single_value else _for_lists(scalar)


def _for_lists(scalar: Sanitiser) -> Sanitiser:
    def several(values: Value) -> tuple[Value, bool]:
        results = [scalar(value) for value in values]
        if any(changed for _, changed in results):
            return [value for value, _ in results], True
        return values, False

    return several


class _Column:
    def __init__(self, spec: FieldSpec, reporter: LossReporter) -> None:
        self.name = spec.name
        self.longest = spec.longest
        self.strategy = spec.strategy
        default = default_of(spec)
        self.default = default if spec.single_value else default[0]
        self.reporter = reporter


class _Text(_Column):
    def __call__(self, value: str) -> tuple[str, bool]:
        nul = _NUL in value
        too_long = utf16_longer(value, self.longest)
        if not nul and (not too_long or self.strategy is ExceedStrategy.NO_ACTION):
            return value, False
        if self.strategy is ExceedStrategy.ERROR:
            raise TooLong(
                f"Throwing exception as value: {_start(value)} for column {self.name} "
                + ("contains null character." if nul else f"exceeds configured max length {self.longest}.")
            )
        if nul:
            self.reporter.report(
                LossKind.NUL, f"{abbreviated(value)} contains a null character and would be cut"
            )
        else:
            self.reporter.report(
                LossKind.TOO_LONG, f"{abbreviated(value)} is longer than {self.longest} UTF-16 units"
            )
        if self.strategy is ExceedStrategy.SUBSTITUTE_DEFAULT_VALUE:
            return self.default, True
        return utf16_cut(value.partition(_NUL)[0], self.longest), True


class _Bytes(_Column):
    def __call__(self, value: bytes) -> tuple[bytes, bool]:
        if len(value) <= self.longest:
            return value, False
        if self.strategy is ExceedStrategy.ERROR:
            raise TooLong(
                f"Throwing exception as value for column {self.name} "
                f"exceeds configured max length {self.longest}."
            )
        self.reporter.report(
            LossKind.TOO_LONG, f"BYTES {abbreviated(value)} is longer than {self.longest} bytes"
        )
        if self.strategy is ExceedStrategy.SUBSTITUTE_DEFAULT_VALUE:
            return self.default, True
        return value[: self.longest], True


def utf16_longer(text: str, most: int) -> bool:
    """Whether a text is longer than so many UTF-16 units."""
    count = len(text)
    if count * 2 <= most:
        return False
    return count > most or (not text.isascii() and count + sum(map("\uffff".__lt__, text)) > most)


def utf16_cut(text: str, most: int) -> str:
    """The first UTF-16 units of a text; half of a pair at its end is `?`.

    >>> utf16_cut("h\\U0001f600llo", 4) == "h\\U0001f600l", utf16_cut("abc\\U0001f600", 4)
    (True, 'abc?')
    """
    text = text[:most]
    if text.isascii():
        return text
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * most]
    return units.decode("utf-16-le", "surrogatepass").encode("utf-8", "replace").decode()


def _start(value: str) -> str:
    return value if len(value) <= 10 * SHOWN_CHARACTERS else f"{value[: 10 * SHOWN_CHARACTERS]}..."
