"""Lines -> the texts of their fields, and texts -> values in the types of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from trellis.engine.arrow.types import arrow_type
from trellis.engine.columnar.strict import (
    FastPathMiss,
    Indexes,
    Mask,
    are_utf8,
    joined_bytes,
    matching_lines,
)
from trellis.evolution.line_projection import TextField
from trellis.schema.model import Column

_BEGINS_OTHERWISE = r"^(?:[\t\n\v\f\r ]*\{|\xEF\xBB\xBF)"
"""JSON, or the mark of its encoding, which Arrow passes over."""
_RETURN = b"\r"


class FieldTexts(NamedTuple):
    """The texts of lines by field, NULL for empty ones, and the indexes of these lines and of all others."""

    texts: pa.Table
    lines: Indexes
    misfits: Indexes


def split_lines(lines: pa.BinaryArray, chosen: Indexes, names: Sequence[str], separator: str) -> FieldTexts:
    """The texts of the chosen lines that have a field for each name; each line ends with a newline."""
    candidates = lines if len(chosen) == len(lines) else lines.take(pa.array(chosen))
    fits = are_utf8(candidates) & ~matching_lines(candidates, _BEGINS_OTHERWISE)
    if joined_bytes(candidates).to_pybytes().find(_RETURN) >= 0:  # it ends a line for Arrow
        fits &= ~matching_lines(candidates, r"\r")
    if not fits.all():
        candidates = candidates.filter(pa.array(fits))
    data, numbers = joined_bytes(candidates), list[int]()

    def skip_row(row: csv.InvalidRow) -> str:
        numbers.append(row.number - 1)
        return "skip"

    fitting = chosen[fits]
    try:
        texts = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(use_threads=False, block_size=data.size + 1, column_names=[*names]),
            csv.ParseOptions(
                delimiter=separator,
                quote_char=False,
                double_quote=False,
                ignore_empty_lines=False,
                invalid_row_handler=skip_row,
            ),
            csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:  # no line has the fields
        texts = pa.schema([(name, pa.string()) for name in names]).empty_table()
        numbers = [*range(len(fitting))]
    split: Mask = np.ones(len(fitting), np.bool_)
    split[numbers] = False
    return FieldTexts(texts, fitting[split], np.concatenate([chosen[~fits], fitting[~split]]))


def convert_field(texts: pa.Array, field: TextField, column: Column, fits: Mask) -> pa.Array:
    """The texts of a field as values of its column; clears `fits` for rows with others than ordinary ones.

    Raises FastPathMiss.
    """
    if field.is_required and texts.null_count:
        fits &= texts.is_valid().to_numpy(zero_copy_only=False)
    if texts.null_count == len(texts):
        return texts
    if field.pattern is not None:
        texts = matching(texts, field.pattern, fits)
    if field.lowers:
        texts = pc.ascii_lower(texts)
    return as_column(texts, column, fits)


def matching(texts: pa.Array, pattern: str, fits: Mask) -> pa.Array:
    """The texts that match a pattern, the others as NULL; clears `fits` for these."""
    matches = pc.match_substring_regex(texts, pattern)
    if pc.all(matches, min_count=0).as_py():
        return texts
    fits &= pc.fill_null(matches, True).to_numpy(zero_copy_only=False)
    return pc.if_else(matches, texts, pa.scalar(None, pa.string()))


def as_column(values: pa.Array, column: Column, fits: Mask) -> pa.Array:
    """The values in the type of their column; clears `fits` for texts that are too long. Raises
    FastPathMiss."""
    if column.data_type == "text" and column.precision is not None:
        is_short = pc.less_equal(pc.utf8_length(values), column.precision)
        fits &= pc.fill_null(is_short, True).to_numpy(zero_copy_only=False)
    type_ = arrow_type(column)
    try:
        return values if values.type == type_ else values.cast(type_)
    except pa.ArrowInvalid:
        raise FastPathMiss from None
