"""Whether a column holds instants, and in which format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, FormatError
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.roles import names_time, words_of
from trellis.dialects.pinot.infer.texts import TIME_SHAPES, Bounds, TimeShape, bounds_of, parse_shape
from trellis.dialects.pinot.infer.value_types import ValueType
from trellis.errors import UsageError

_DAY: Final = 86_400_000


@dataclass(frozen=True)
class Instant:
    """The instants of a column. `bounds` are the earliest and latest, in milliseconds.

    `read_by`: the Joda pattern with which another column reads them, as the texts do not sort by time.
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
        """Whether Pinot accepts all of them as times of segments: 1971 to 2071."""
        return (
            self.bounds is not None
            and self.bounds[0] >= VALID_MIN_MILLIS
            and self.bounds[1] <= VALID_MAX_MILLIS
        )


def instant_of(name: str, value_type: ValueType, chosen: bool = False) -> Instant | None:
    """The instants of a column; None where it holds none. `chosen`: the user declared it a time."""
    if not value_type.single or value_type.data_type is None:
        return None
    named = chosen or names_time(name)
    kinds = {kind for kind, count in value_type.values.kinds.items() if count and kind != "null"}
    if kinds == {"timestamp"}:
        return Instant(
            PinotType.TIMESTAMP, "TIMESTAMP", "1:MILLISECONDS", "timestamps", value_type.values.bounds
        )
    if kinds == {"date"}:
        return Instant(
            PinotType.STRING, "SIMPLE_DATE_FORMAT|yyyy-MM-dd", "1:DAYS", "dates", value_type.values.bounds
        )
    if kinds == {"int"} and named:
        return _of_numbers(name, value_type)
    if kinds == {"string"}:
        return _of_texts(value_type, named)
    return None


def _of_numbers(name: str, value_type: ValueType) -> Instant | None:
    least, most = value_type.values.least, value_type.values.most
    if least is None or most is None:
        return None
    if value_type.values.dates:
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
        if bounds[0] >= VALID_MIN_MILLIS and bounds[1] <= VALID_MAX_MILLIS:
            return Instant(PinotType.LONG, f"EPOCH|{unit}", f"1:{unit}", f"{unit.lower()} since 1970", bounds)
    if (
        least * _DAY >= VALID_MIN_MILLIS * 10
        and most * _DAY <= VALID_MAX_MILLIS
        and not {"date", "epoch"}.isdisjoint(words_of(name))
    ):
        return Instant(PinotType.INT, "EPOCH|DAYS", "1:DAYS", "days since 1970", (least * _DAY, most * _DAY))
    return None


def _of_texts(value_type: ValueType, named: bool) -> Instant | None:
    assert value_type.values.texts is not None
    matches = [
        (shape, bounds)
        for shape, bounds in value_type.values.texts.times.items()
        if shape in TIME_SHAPES
        and (not shape.named or (named and bounds[0] >= VALID_MIN_MILLIS and bounds[1] <= VALID_MAX_MILLIS))
    ]
    if not matches:
        return None
    shape, bounds = matches[0]
    if not shape.sorted:
        return _unsorted([match for match, _ in matches], shape, bounds)
    return Instant(shape.data_type, shape.format, shape.granularity, shape.name, bounds)


def _unsorted(shapes: list[TimeShape], shape: TimeShape, bounds: Bounds) -> Instant:
    lints: tuple[str, ...] = ()
    if len(shapes) > 1:
        names = " and ".join(candidate.name for candidate in shapes)
        lints = (f"{names} both match every value: choose one with --time",)
    return Instant(
        PinotType.LONG,
        "EPOCH|MILLISECONDS",
        shape.granularity,
        shape.name,
        bounds,
        shape.name if len(shapes) == 1 else None,
        lints,
    )


def instant_by_choice(name: str, value_type: ValueType, text: str) -> Instant:
    """The instants of a column whose format the user chose: one of Pinot, or only a pattern.

    Raises UsageError for an invalid format, or one that does not read every value.
    """
    where = f"--time {name}={text}"
    try:
        shape = parse_shape(text)
    except FormatError as error:
        raise UsageError(f"{where}: {error}") from None
    kinds = {kind for kind, count in value_type.values.kinds.items() if count and kind != "null"}
    if not value_type.single or len(kinds) != 1 or not kinds <= {"string", "int", "timestamp"}:
        raise UsageError(f"{where}: a time is one text or one whole number a row, not {value_type.why}")
    bounds = _bounds(where, value_type, shape)
    if not shape.sorted:
        form = "EPOCH|MILLISECONDS"
        return Instant(PinotType.LONG, form, shape.granularity, "as asked", bounds, shape.name)
    digits = shape.data_type is PinotType.STRING and kinds == {"int"}
    data_type = value_type.data_type if digits and value_type.data_type is not None else shape.data_type
    return Instant(data_type, shape.format, shape.granularity, "as asked", bounds)


def _bounds(where: str, value_type: ValueType, shape: TimeShape) -> Bounds | None:
    values = value_type.values
    if values.texts is not None:
        bounds = next(
            (candidate for known, candidate in values.texts.times.items() if known.format == shape.format),
            None,
        )
        if bounds is None:
            raise UsageError(
                f"{where}: some values do not follow this format; `trellis pinot format` tries it"
            )
        return bounds
    if values.least is None or values.most is None:
        return values.bounds
    try:
        return bounds_of(shape.read(str(number)) for number in (values.least, values.most))
    except FormatError as error:
        raise UsageError(f"{where}: {error}") from None
