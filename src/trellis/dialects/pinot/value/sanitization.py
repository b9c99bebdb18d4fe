"""Text and bytes that are too long or hold U+0000 (`SanitizationTransformer`)."""

from __future__ import annotations

from collections.abc import Callable

from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import ExceedStrategy, PinotType, Value
from trellis.dialects.pinot.value.losses import Damage, Damages, Guard
from trellis.dialects.pinot.value.messages import SHOWN, shown
from trellis.dialects.pinot.value.settings import PARITY, Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert

Sanitiser = Callable[[Value], tuple[Value, bool]]
_NUL = "\0"


class TooLong(CannotConvert):
    """A value that the strategy ERROR refuses; the sentence is Pinot's."""


def sanitiser(
    spec: FieldSpec, settings: Settings = PARITY, damages: Damages | None = None
) -> Sanitiser | None:
    """What cuts or replaces a value of the column and says whether it did; None where nothing is to be done.

    It raises TooLong under the strategy ERROR, and in strict mode Damaged instead of cutting. Otherwise what
    is cut or replaced is counted in `damages`. A cut that falls into a surrogate pair leaves `?`, which is
    what Pinot stores for half a character.

    >>> cut = sanitiser(FieldSpec("s", PinotType.STRING, max_length=4))
    >>> cut("abcdef"), cut("ab\\0c"), cut("abc\\U0001f600"), cut("abcd")
    (('abcd', True), ('ab', True), ('abc?', True), ('abcd', False))
    """
    if spec.data_type is PinotType.BYTES:
        if spec.strategy is ExceedStrategy.NO_ACTION:
            return None
        scalar: Sanitiser = _Bytes(spec, Guard(spec.name, settings, damages))
    elif spec.data_type is PinotType.STRING or (
        spec.data_type is PinotType.JSON and spec.strategy is not ExceedStrategy.NO_ACTION
    ):
        scalar = _Text(spec, Guard(spec.name, settings, damages))
    else:
        return None
    return scalar if spec.single_value else _each(scalar)


def _each(scalar: Sanitiser) -> Sanitiser:
    def several(values: Value) -> tuple[Value, bool]:
        done = [scalar(each) for each in values]
        if any(changed for _, changed in done):
            return [value for value, _ in done], True
        return values, False

    return several


class _Column:
    def __init__(self, spec: FieldSpec, guard: Guard) -> None:
        self.name = spec.name
        self.longest = spec.longest
        self.strategy = spec.strategy
        default = default_of(spec)
        self.default = default if spec.single_value else default[0]
        self.guard = guard


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
            self.guard.hurt(Damage.NUL, f"{shown(value)} contains a null character and would be cut")
        else:
            self.guard.hurt(Damage.TOO_LONG, f"{shown(value)} is longer than {self.longest} UTF-16 units")
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
        self.guard.hurt(Damage.TOO_LONG, f"BYTES {shown(value)} is longer than {self.longest} bytes")
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
    return value if len(value) <= 10 * SHOWN else f"{value[: 10 * SHOWN]}..."
