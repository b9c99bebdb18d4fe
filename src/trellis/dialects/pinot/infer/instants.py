"""Whether a column holds instants, and in which format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.holding import Held
from trellis.dialects.pinot.infer.shapes import Shape
from trellis.dialects.pinot.infer.texts import Bounds
from trellis.dialects.pinot.infer.words import says_time, words
from trellis.dialects.pinot.moment.errors import FormatError
from trellis.dialects.pinot.moment.format import parse_format
from trellis.dialects.pinot.moment.lexicographic import in_order
from trellis.dialects.pinot.row.main_time import FIRST, LAST
from trellis.errors import UsageError

_DAY: Final = 86_400_000


@dataclass(frozen=True)
class Instant:
    """How a column holds instants. `bounds` are the earliest and latest, in milliseconds.

    `read_by`: the Joda pattern by which another column has to read it, as its texts do not sort by time.
    """

    data_type: PinotType
    format: str
    granularity: str
    why: str
    bounds: Bounds | None
    read_by: str | None = None
    lints: tuple[str, ...] = ()

    @property
    def in_range(self) -> bool:
        """Whether Pinot takes all of them as times of segments: 1971 to 2071."""
        return self.bounds is not None and FIRST <= self.bounds[0] and self.bounds[1] <= LAST


def instant_of(name: str, held: Held, asked: bool = False) -> Instant | None:
    """The instants of a column; None where it holds none. `asked`: the user says that these are times."""
    if not held.single or held.data_type is None:
        return None
    named = asked or says_time(name)
    kinds = {kind for kind, count in held.values.kinds.items() if count and kind != "null"}
    if kinds == {"timestamp"}:
        return Instant(
            PinotType.TIMESTAMP, "TIMESTAMP", "1:MILLISECONDS", "timestamps", held.values.bounds
        )
    if kinds == {"date"}:
        return Instant(
            PinotType.STRING, "SIMPLE_DATE_FORMAT|yyyy-MM-dd", "1:DAYS", "dates", held.values.bounds
        )
    if kinds == {"int"} and named:
        return _of_numbers(name, held)
    if kinds == {"string"}:
        return _of_texts(held, named)
    return None


def _of_numbers(name: str, held: Held) -> Instant | None:
    least, most = held.values.least, held.values.most
    if least is None or most is None:
        return None
    if held.values.dates:
        read = parse_format("SIMPLE_DATE_FORMAT|yyyyMMdd").to_millis
        return Instant(
            PinotType.INT,
            "SIMPLE_DATE_FORMAT|yyyyMMdd",
            "1:DAYS",
            "digits of a date, yyyyMMdd",
            (read(least), read(most)),
        )
    for unit in ("SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS"):
        read = parse_format(f"EPOCH|{unit}").to_millis
        bounds = read(least), read(most)
        if FIRST <= bounds[0] and bounds[1] <= LAST:
            return Instant(
                PinotType.LONG, f"EPOCH|{unit}", f"1:{unit}", f"{unit.lower()} since 1970", bounds
            )
    if FIRST * 10 <= least * _DAY and most * _DAY <= LAST and not {"date", "epoch"}.isdisjoint(words(name)):
        return Instant(
            PinotType.INT, "EPOCH|DAYS", "1:DAYS", "days since 1970", (least * _DAY, most * _DAY)
        )
    return None


def _of_texts(held: Held, named: bool) -> Instant | None:
    assert held.values.texts is not None
    fit = [
        (shape, bounds)
        for shape, bounds in held.values.texts.times.items()
        if bounds is not None and (named or not shape.named)
    ]
    fit = [each for each in fit if not each[0].named or (FIRST <= each[1][0] and each[1][1] <= LAST)] if fit else []
    if not fit:
        return None
    shape, bounds = fit[0]
    if not shape.sorted:
        return _unsorted([each for each, _ in fit], shape, bounds)
    return Instant(shape.data_type, shape.format, shape.granularity, shape.said, bounds)


def _unsorted(fit: list[Shape], shape: Shape, bounds: Bounds) -> Instant:
    lints: tuple[str, ...] = ()
    if len(fit) > 1:
        lints = (f"{' and '.join(each.said for each in fit)} both fit every value: say which with --time",)
    return Instant(
        PinotType.LONG,
        "EPOCH|MILLISECONDS",
        shape.granularity,
        shape.said,
        bounds,
        shape.said if len(fit) == 1 else None,
        lints,
    )


def asked_instant(name: str, held: Held, said: str) -> Instant:
    """The instants of a column whose format the user gives: one of Pinot, or only a pattern.

    Raises UsageError where it is no format, or the column cannot be read by it.
    """
    text = said if said.startswith(("EPOCH", "TIMESTAMP", "SIMPLE_DATE_FORMAT")) else f"SIMPLE_DATE_FORMAT|{said}"
    text = said if said[:1].isdecimal() and ":" in said else text
    try:
        form = parse_format(text)
    except FormatError as bad:
        raise UsageError(f"--time {name}={said}: {bad}") from None
    if not held.single or held.data_type not in _FROM:
        raise UsageError(f"--time {name}: the column does not hold one text or whole number a row ({held.why})")
    bounds = _bounds(held, text)
    if form.kind == "TIMESTAMP":
        data_type = PinotType.TIMESTAMP
    elif form.kind == "EPOCH":
        data_type = PinotType.LONG
    else:
        data_type = held.data_type if held.data_type in (PinotType.INT, PinotType.LONG) else PinotType.STRING
    granularity = _granularity(form.kind, form.unit, form.pattern or "S")
    if form.pattern is not None and not in_order(form.pattern):
        return Instant(
            PinotType.LONG, "EPOCH|MILLISECONDS", granularity, "as asked", bounds, form.pattern
        )
    return Instant(data_type, text, granularity, "as asked", bounds)


def _bounds(held: Held, text: str) -> Bounds | None:
    values = held.values
    if values.least is not None and values.most is not None:
        read = parse_format(text).to_millis
        try:
            return read(values.least), read(values.most)
        except FormatError:
            return None
    times = values.texts.times if values.texts is not None else {}
    return next((bounds for shape, bounds in times.items() if shape.format == text), values.bounds)


def _granularity(kind: str, unit: str, pattern: str) -> str:
    if kind == "EPOCH":
        return f"1:{unit}"
    steps = (("S", "MILLISECONDS"), ("s", "SECONDS"), ("m", "MINUTES"), ("H", "HOURS"), ("h", "HOURS"))
    return next((f"1:{name}" for letter, name in steps if letter in pattern), "1:DAYS")


_FROM: Final = (PinotType.STRING, PinotType.INT, PinotType.LONG, PinotType.TIMESTAMP)
