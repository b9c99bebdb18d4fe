"""Special values (`SpecialValueTransformer`), and text and bytes that are too long or hold U+0000
(`SanitizationTransformer`).
"""

from __future__ import annotations

from collections.abc import Callable

from trellis.dialects.pinot.conversion.messages import SHOWN_CHARACTERS, abbreviated
from trellis.dialects.pinot.conversion.scalars import text_of_units
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
        scalar: SpecialValueFixer = _fix_float
    elif spec.data_type is PinotType.BIG_DECIMAL and not spec.trailing_zeros:
        scalar = without_trailing_zeros
    else:
        return None
    if spec.single_value:
        return lambda value: None if value is None else scalar(value)

    def fix_elements(values: Value) -> Value | None:
        return [fixed for value in values or () if (fixed := scalar(value)) is not None] or None

    return fix_elements


def _fix_float(value: float) -> float | None:
    if not value:
        return 0.0
    return value if value == value else None


Sanitiser = Callable[[Value], Value]
_NUL = "\0"


def sanitiser(
    spec: FieldSpec, settings: Settings = PINOT_DEFAULTS, losses: LossCounts | None = None
) -> Sanitiser | None:
    """A function that cuts or replaces a value that is too long; None where the column needs none.

    It raises CannotConvert under the strategy ERROR, and in strict mode LossyConversion. Otherwise what
    is cut or replaced is counted in `losses`. A cut that falls into a surrogate pair leaves `?`, which is
    what Pinot stores for half a character.

    >>> cut = sanitiser(FieldSpec("s", PinotType.STRING, max_length=4))
    >>> cut("abcdef"), cut("ab\\0c"), cut("abc\\U0001f600"), cut("abcd")
    ('abcd', 'ab', 'abc?', 'abcd')
    """
    can_be_cut = spec.data_type in (PinotType.JSON, PinotType.BYTES)
    if spec.data_type is not PinotType.STRING and (
        not can_be_cut or spec.strategy is ExceedStrategy.NO_ACTION
    ):
        return None
    limit = _Limit(spec, LossReporter(spec.name, settings, losses))
    scalar: Sanitiser = limit.apply_to_bytes if spec.data_type is PinotType.BYTES else limit.apply_to_text
    return scalar if spec.single_value else lambda values: [scalar(value) for value in values]


class _Limit:
    """The longest value of a column, and what happens to a longer one."""

    def __init__(self, spec: FieldSpec, reporter: LossReporter) -> None:
        self.name, self.longest, self.strategy = spec.name, spec.longest, spec.strategy
        self.default = default_of(spec) if spec.single_value else default_of(spec)[0]
        self.excess = f"exceeds configured max length {self.longest}."
        self.reporter = reporter

    def apply_to_text(self, value: str) -> str:
        if _NUL in value:
            reason = f"{abbreviated(value)} contains a null character and would be cut"
            self._report(f": {_start(value)}", "contains null character.", LossKind.NUL, reason)
        elif self.strategy is ExceedStrategy.NO_ACTION or not utf16_longer(value, self.longest):
            return value
        else:
            reason = f"{abbreviated(value)} is longer than {self.longest} UTF-16 units"
            self._report(f": {_start(value)}", self.excess, LossKind.TOO_LONG, reason)
        if self.strategy is ExceedStrategy.SUBSTITUTE_DEFAULT_VALUE:
            return str(self.default)
        return utf16_cut(value.partition(_NUL)[0], self.longest)

    def apply_to_bytes(self, value: bytes) -> bytes:
        if len(value) <= self.longest:
            return value
        reason = f"BYTES {abbreviated(value)} is longer than {self.longest} bytes"
        self._report("", self.excess, LossKind.TOO_LONG, reason)
        if self.strategy is ExceedStrategy.SUBSTITUTE_DEFAULT_VALUE:
            return bytes(self.default)
        return value[: self.longest]

    def _report(self, value: str, problem: str, loss_kind: LossKind, reason: str) -> None:
        """Raises CannotConvert with Pinot's own sentence under the strategy ERROR."""
        if self.strategy is ExceedStrategy.ERROR:
            raise CannotConvert(f"Throwing exception as value{value} for column {self.name} {problem}")
        self.reporter.report(loss_kind, reason)


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
    return text_of_units(text.encode("utf-16-le", "surrogatepass")[: 2 * most])


def _start(value: str) -> str:
    return value if len(value) <= 10 * SHOWN_CHARACTERS else f"{value[: 10 * SHOWN_CHARACTERS]}..."
