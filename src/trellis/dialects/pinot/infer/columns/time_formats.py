"""Whether a column holds instants, and in which format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.date_time.errors import FormatError
from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.columns.value_types import Held
from trellis.dialects.pinot.infer.evidence.name_words import says_time, words
from trellis.dialects.pinot.infer.evidence.texts import Bounds, bounds_of
from trellis.dialects.pinot.infer.evidence.time_shapes import SHAPES, Shape, asked_shape
from trellis.dialects.pinot.row.time_validation import FIRST, LAST
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
        return self.bounds is not None and self.bounds[0] >= FIRST and self.bounds[1] <= LAST


def instant_of(name: str, held: Held, asked: bool = False) -> Instant | None:
    """The instants of a column; None where it holds none. `asked`: the user says that these are times."""
    if not held.single or held.data_type is None:
        return None
    named = asked or says_time(name)
    kinds = {kind for kind, count in held.values.kinds.items() if count and kind != "null"}
    if kinds == {"timestamp"}:
        return Instant(PinotType.TIMESTAMP, "TIMESTAMP", "1:MILLISECONDS", "timestamps", held.values.bounds)
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
        if bounds[0] >= FIRST and bounds[1] <= LAST:
            return Instant(PinotType.LONG, f"EPOCH|{unit}", f"1:{unit}", f"{unit.lower()} since 1970", bounds)
    if least * _DAY >= FIRST * 10 and most * _DAY <= LAST and not {"date", "epoch"}.isdisjoint(words(name)):
        return Instant(PinotType.INT, "EPOCH|DAYS", "1:DAYS", "days since 1970", (least * _DAY, most * _DAY))
    return None


def _of_texts(held: Held, named: bool) -> Instant | None:
    assert held.values.texts is not None
    fit = [
        (shape, bounds)
        for shape, bounds in held.values.texts.times.items()
        if shape in SHAPES and (not shape.named or (named and bounds[0] >= FIRST and bounds[1] <= LAST))
    ]
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
    where = f"--time {name}={said}"
    try:
        shape = asked_shape(said)
    except FormatError as error:
        raise UsageError(f"{where}: {error}") from None
    kinds = {kind for kind, count in held.values.kinds.items() if count and kind != "null"}
    if not held.single or len(kinds) != 1 or not kinds <= {"string", "int", "timestamp"}:
        raise UsageError(f"{where}: a time is one text or one whole number a row, not {held.why}")
    bounds = _bounds(where, held, shape)
    if not shape.sorted:
        form = "EPOCH|MILLISECONDS"
        return Instant(PinotType.LONG, form, shape.granularity, "as asked", bounds, shape.said)
    digits = shape.data_type is PinotType.STRING and kinds == {"int"}
    data_type = held.data_type if digits and held.data_type is not None else shape.data_type
    return Instant(data_type, shape.format, shape.granularity, "as asked", bounds)


def _bounds(where: str, held: Held, shape: Shape) -> Bounds | None:
    values = held.values
    if values.texts is not None:
        found = next(
            (each for known, each in values.texts.times.items() if known.format == shape.format), None
        )
        if found is None:
            raise UsageError(
                f"{where}: some values do not follow this format; `trellis pinot format` tries it"
            )
        return found
    if values.least is None or values.most is None:
        return values.bounds
    try:
        return bounds_of(shape.read(str(each)) for each in (values.least, values.most))
    except FormatError as error:
        raise UsageError(f"{where}: {error}") from None
