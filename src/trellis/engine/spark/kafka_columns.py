"""What a topic says of a record beside its value, put into the JSON of the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from trellis.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEY: Final = "_kafka"
"""The key of the object that has them."""


def with_kafka_columns(frame: DataFrame, payload: str, names: Sequence[str]) -> DataFrame:
    """The frame whose JSON objects begin with an object of these columns. Raises UsageError.

    What is no object stays as it is, to be rejected as it came.
    """
    from pyspark.sql import functions as f

    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise UsageError(
            f"kafka column {missing[0]!r}: the frame has no such column, as a frame of a topic does; it "
            f"has {', '.join(map(repr, frame.columns))}"
        )
    fields = [_VALUES[name](frame[name]).alias(name) for name in names]
    text = f.to_json(f.struct(f.struct(*fields).alias(KEY)))
    start = f.expr("substring(__text, 1, length(__text) - 1)").cast("binary")
    value = frame[payload].cast("binary")
    trimmed = f.ltrim(value.cast("string"), f.lit(" \t\r\n")).cast("binary")
    rest = f.expr("substring(__value, 2)")
    is_empty = f.ltrim(rest.cast("string"), f.lit(" \t\r\n")).startswith(f.lit("}"))
    separator = f.when(is_empty, f.lit(b"")).otherwise(f.lit(b","))
    is_object = f.expr("substring(__value, 1, 1) = X'7B'")
    placed = f.when(is_object, f.concat(start, separator, rest)).otherwise(f.col("__raw"))
    return (
        frame.withColumns({"__text": text, "__value": trimmed, "__raw": value})
        .withColumn(payload, placed)
        .drop("__text", "__value", "__raw")
    )


def _plain(column: Column) -> Column:
    return column


def _text(column: Column) -> Column:
    """Bytes as text; those that are not UTF-8 in base64."""
    from pyspark.sql import functions as f

    encoded = f.concat(f.lit("base64:"), f.base64(column.cast("binary")))
    return f.when(f.is_valid_utf8(column.cast("string")), column.cast("string")).otherwise(encoded)


def _headers(column: Column) -> Column:
    """Headers as an object; of those with one name the last, which is the one that Kafka's clients give."""
    from pyspark.sql import functions as f

    names = f.array_distinct(f.transform(column, lambda header: header["key"]))

    def last(name: Column) -> Column:
        return f.element_at(f.filter(column, lambda header: header["key"] == name), -1)["value"]

    return f.map_from_arrays(names, f.transform(names, lambda name: _text(last(name))))


_VALUES: Final[Mapping[str, Callable[[Column], Column]]] = {
    "topic": _plain,
    "partition": _plain,
    "offset": _plain,
    "timestamp": _plain,
    "key": _text,
    "headers": _headers,
}
