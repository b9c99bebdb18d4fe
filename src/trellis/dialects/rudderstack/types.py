"""A first value types its column; what cannot be cast to it is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import (
    ArrayText,
    JsonText,
    LongText,
    SpaceText,
    json_text,
    utf16_length,
)
from trellis.dialects.rudderstack.events.timestamps import to_text
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import Provider
from trellis.dialects.rudderstack.schema_document import LONG, NATIVE, RANGE, options_of
from trellis.evolution.dialect.types import LossyCast, Rejection
from trellis.evolution.scalars.kinds import Kind
from trellis.evolution.scalars.values import BIGINT_MAX, BIGINT_MIN, MISFIT, WEI_SIZE
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming

Coerce = Callable[[Any], Any]


def _kind(data_type: DataType, *others: DataType, detected: DataType | None = None) -> Kind:
    return Kind(data_type, detected, frozenset((data_type, *others)))


INT: Final = _kind("bigint", "double", "decimal", "text", "json")
BIG: Final = Kind("bigint", None, frozenset({"double", "decimal", "text", "json"}))
"""An integer of more than 64 bits is an int, but no column of integers holds it."""
FLOAT: Final = _kind("double", "decimal", "text", "json")
BOOLEAN: Final = _kind("bool", "text", "json")
DATETIME: Final = _kind("timestamp", "date", "text", "json")
STRING: Final = _kind("text", "json")
TEXT: Final = _kind("text", "json", detected="text")
"""A string beyond what the warehouse calls a string."""
JSON: Final = _kind("json", "text")

INCOMPATIBLE: Final = "incompatible schema conversion from "
OUT_OF_RANGE: Final = "value out of range for "
"""How the reasons of refusals begin."""

_NEUTRAL: Mapping[DataType, str] = {
    "bigint": "int",
    "double": "float",
    "decimal": "float",
    "bool": "boolean",
    "timestamp": "datetime",
    "date": "date",
    "text": "string",
    "json": "json",
}
_DIRECT: Mapping[DataType, tuple[type, ...]] = {
    "bigint": (int,),
    "double": (float, int),
    "bool": (bool,),
    "timestamp": (datetime,),
    "json": (JsonText, ArrayText),
}


class RudderTypes:
    def classifier(
        self, schema: Schema, fresh: bool, wei: tuple[int, int] = WEI_SIZE
    ) -> Callable[[Any], Kind]:
        beyond = options_of(schema).warehouse.text_beyond

        def of(value: Any) -> Kind:
            kind = _KINDS[value.__class__]
            if kind is STRING and beyond is not None and utf16_length(value) > beyond:
                return TEXT
            return BIG if kind is INT and not BIGINT_MIN <= value <= BIGINT_MAX else kind

        return of

    def first_type(self, schema: Schema, column: str, kind: Kind) -> DataType:
        return kind.type

    def coerces(self, schema: Schema) -> bool:
        return True

    def direct_classes(self, schema: Schema, column: Column) -> tuple[type, ...]:
        if column.data_type is None or NATIVE in column.hints or _is_bounded(column):
            return ()
        if column.data_type != "text":
            return _DIRECT.get(column.data_type, ())
        warehouse = options_of(schema).warehouse
        if warehouse.max_string is not None or (warehouse.text_beyond and LONG not in column.hints):
            return ()
        return (str, ArrayText) if warehouse.blank_is_null else (str, ArrayText, SpaceText)

    def coercer(self, schema: Schema, column: Column) -> Coerce:
        if column.data_type is None or NATIVE in column.hints:
            return _nothing
        if column.data_type == "text":
            return _into_text(column, options_of(schema).warehouse)
        into = _INTO.get(column.data_type, _nothing)
        return _bounded(column, into) if _is_bounded(column) else into

    def new_column(self, schema: Schema, name: str, data_type: DataType, kind: Kind | None = None) -> Column:
        column = Column(name, data_type, nullable=True)
        return column.with_hints(**{LONG: True}) if kind == TEXT else column

    def on_type_mismatch(
        self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind
    ) -> Column | LossyCast | Rejection:
        options = options_of(schema)
        known = table.columns.get(column)
        if known is None or known.data_type is None:
            return Rejection(_beyond("int"))
        if NATIVE not in known.hints:
            match known.data_type, kind.type:
                case "bigint", "bigint":
                    return Rejection(_beyond("int"))
                case "bigint", "double":
                    return _fraction(known, options)
                case "double", "bigint" if RANGE not in known.hints:
                    return LossyCast("rounded: no float is this integer", _rounded)
                case (("double" | "decimal"), ("bigint" | "double")):
                    return Rejection(_beyond("float"))
                case "text", _ if known.precision is not None:
                    return Rejection(_beyond("string"))
                case "text", _:
                    limit = options.warehouse.max_string
                    if limit is not None:
                        return LossyCast(f"cut to {limit} characters", lambda value: printed(value)[:limit])
                    return known.with_hints(**{LONG: True})
                case _:
                    pass
        return Rejection(_incompatible(known, kind))


def _fraction(column: Column, options: Options) -> Column | LossyCast | Rejection:
    """What becomes of a number with a fraction in a column of integers."""
    if options.widen == "int_to_float":
        hints = {key: hint for key, hint in column.hints.items() if key != RANGE}
        return replace(column, data_type="double", precision=None, hints=hints)
    if options.discard_truncated:
        return Rejection(_incompatible(column, FLOAT))
    least, most = column.hints.get(RANGE) or (BIGINT_MIN, BIGINT_MAX)

    def truncated(value: float) -> int | None:
        return int(value) if least - 1 < value < most + 1 else None

    return LossyCast("truncated to an integer", truncated)


def _rounded(value: int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _beyond(neutral: str) -> str:
    return f"{OUT_OF_RANGE}{neutral}"


def _incompatible(column: Column, kind: Kind) -> str:
    """The reason in RudderStack's words."""
    assert column.data_type is not None
    has = column.hints.get(NATIVE) or ("text" if LONG in column.hints else _NEUTRAL[column.data_type])
    came = "text" if kind.detected == "text" else _NEUTRAL[kind.type]
    return f"{INCOMPATIBLE}{has} to {came}"


def printed(value: Any) -> str:
    """A value as text: numbers without an exponent, times in ISO 8601.

    >>> printed(1234567.5), printed(1e21), printed(False), printed(JsonText("[1]"))
    ('1234567.5', '1000000000000000000000', 'false', '[1]')
    """
    if isinstance(value, str):
        return str(value)
    if value.__class__ is bool:
        return "true" if value else "false"
    if value.__class__ is datetime:
        return to_text(value)
    if value.__class__ is float:
        return format(Decimal(repr(value)), "f")
    return str(value)


_KINDS: Mapping[type, Kind] = {
    int: INT,
    float: FLOAT,
    bool: BOOLEAN,
    datetime: DATETIME,
    str: STRING,
    SpaceText: STRING,
    ArrayText: STRING,
    JsonText: JSON,
    LongText: TEXT,
}


def _into_text(column: Column, provider: Provider) -> Coerce:
    limit = column.precision
    if limit is None:
        limit = provider.max_string if LONG in column.hints else provider.text_beyond or provider.max_string
    measure = utf16_length if provider.text_beyond is not None and column.precision is None else len
    blank_is_null = provider.blank_is_null

    def into(value: Any) -> Any:
        if blank_is_null and value.__class__ is SpaceText:
            return None
        text = printed(value)
        return MISFIT if limit is not None and measure(text) > limit else text

    return into


def _into_integer(value: Any) -> Any:
    return value if value.__class__ is int and BIGINT_MIN <= value <= BIGINT_MAX else MISFIT


def _into_double(value: Any) -> Any:
    if value.__class__ is float:
        return value
    if value.__class__ is not int:
        return MISFIT
    try:
        number = float(value)
    except OverflowError:
        return MISFIT
    return number if int(number) == value else MISFIT


def _into_decimal(value: Any) -> Any:
    if value.__class__ is float:
        return Decimal(repr(value))
    return Decimal(value) if value.__class__ is int else MISFIT


def _is_bounded(column: Column) -> bool:
    """Whether the warehouse's own type holds less than RudderStack's."""
    return column.precision is not None


def _bounded(column: Column, into: Coerce) -> Coerce:
    """What also refuses a number that the column is too small for."""
    if column.data_type == "decimal":
        digits, unit = Context(prec=column.precision), Decimal(1).scaleb(-(column.scale or 0))

        def fit(number: Any) -> Any:
            try:
                rounded = number.quantize(unit, ROUND_HALF_UP, digits)
            except InvalidOperation:
                return MISFIT
            return rounded if rounded.is_finite() else MISFIT
    else:
        least, most = column.hints[RANGE]

        def fit(number: Any) -> Any:
            return number if least <= number <= most else MISFIT

    def within(value: Any) -> Any:
        number = into(value)
        return number if number is MISFIT else fit(number)

    return within


def _into_date(value: Any) -> date | Any:
    return value.date() if value.__class__ is datetime else MISFIT


def _into_json(value: Any) -> str:
    if isinstance(value, (JsonText, ArrayText)):
        return str(value)
    if value.__class__ is datetime:
        return json_text(to_text(value))
    return printed(value) if value.__class__ is float else json_text(value)


def _only(accepted: type) -> Coerce:
    return lambda value: value if value.__class__ is accepted else MISFIT


def _nothing(value: Any) -> Any:
    return MISFIT


_INTO: Mapping[DataType, Coerce] = {
    "bigint": _into_integer,
    "double": _into_double,
    "decimal": _into_decimal,
    "bool": _only(bool),
    "timestamp": _only(datetime),
    "date": _into_date,
    "json": _into_json,
}
