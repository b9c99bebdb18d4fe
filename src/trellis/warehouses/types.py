"""Types of a warehouse, by the precision of a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trellis.schema.model import DataType

UNLIMITED: Final = 1 << 62


@dataclass(frozen=True)
class NativeType:
    """The type that a warehouse has for a data type.

    `name` is that without a precision. A precision takes the first of `variants` that is as large, `{}` in
    whose name is replaced by it. A precision beyond the largest is refused or, where the warehouse `reduces`
    it, becomes the largest. Without variants the warehouse knows no precision, and any is ignored.
    """

    name: str
    variants: tuple[tuple[int, str], ...] = ()
    reduces: bool = False

    @property
    def largest(self) -> int:
        return self.variants[-1][0] if self.variants else UNLIMITED

    def name_for(self, precision: int | None) -> str | None:
        """The name for a precision; None where there is no type so large.

        >>> sizes = integers("INT", "BIGINT")
        >>> sizes.name_for(8), sizes.name_for(65), NativeType("DATE").name_for(3)
        ('INT', None, 'DATE')
        """
        if precision is None or not self.variants:
            return self.name
        if self.reduces:
            precision = min(precision, self.largest)
        return next((name.format(precision) for most, name in self.variants if precision <= most), None)


_ORDER: Final[tuple[DataType, ...]] = (
    *("text", "double", "bool", "bigint", "timestamp", "date", "time", "binary", "json", "wei"),
)


def native_types(*natives: str | NativeType) -> Mapping[DataType, NativeType]:
    """Text, double, bool, bigint, timestamp, date, time, binary, JSON and, where it is no decimal, wei."""
    types = [NativeType(native) if isinstance(native, str) else native for native in natives]
    named = _ORDER if len(types) == len(_ORDER) else _ORDER[:-1]
    return dict(zip(named, types, strict=True))


def integers(*names: str) -> NativeType:
    """The last is that of 64 bits, the one before it that of 32, and so on."""
    return NativeType(names[-1], tuple(zip((8, 16, 32, 64)[-len(names) :], names, strict=True)))


def floats(single: str, double: str) -> NativeType:
    """Numbers of 24 and of 53 bits of precision."""
    return NativeType(double, ((24, single), (UNLIMITED, double)))


def with_precision(name: str, largest: int, plain: str = "", reduces: bool = False) -> NativeType:
    """A type that takes its precision, as in `varchar({})`; `plain` is its name without one."""
    return NativeType(plain or name.replace("({})", ""), ((largest, name),), reduces)


@dataclass(frozen=True)
class NumberType:
    """A type of exact numbers: how many digits it holds, how many behind the point and before it."""

    name: str
    precision: int = 38
    scale: int = 38
    integer_digits: int = 38
    free_scale: bool = False
    """Whether the scale may be larger than the precision."""

    def holds(self, precision: int, scale: int) -> bool:
        """
        >>> NumberType("NUMERIC({},{})", scale=9, integer_digits=29).holds(38, 5), NumberType("N").holds(3, 5)
        (False, False)
        """
        return (
            precision <= self.precision
            and scale <= self.scale
            and precision - scale <= self.integer_digits
            and (self.free_scale or scale <= precision)
        )
