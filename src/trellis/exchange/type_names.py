"""Types of columns as one word, such as `decimal(10,2)`, for formats that take any name of a type."""

from __future__ import annotations

import re
from typing import Final, cast

from trellis.schema.model import DATA_TYPES, Column, DataType

_SIZED: Final = re.compile(r"([a-z]+)(?:\((\d+)(?:,\s*(-?\d+))?\))?")


def sized_name(column: Column) -> str:
    """The type of a complete column with its size.

    >>> sized_name(Column("a", "decimal", precision=10, scale=2)), sized_name(Column("a", "text"))
    ('decimal(10,2)', 'text')
    """
    size = [str(number) for number in (column.precision, column.scale) if number is not None]
    return f"{column.data_type}({','.join(size)})" if size else str(column.data_type)


def column_of_name(text: str) -> Column | None:
    """The type that such a name says, as a column without a name; None where it is none.

    >>> column_of_name("decimal(10,2)")
    Column(name='', data_type='decimal', nullable=None, precision=10, scale=2, ...)
    """
    match = _SIZED.fullmatch(text.strip())
    if match is None or match[1] not in DATA_TYPES:
        return None
    precision, scale = (None if number is None else int(number) for number in match.groups()[1:])
    return Column("", cast(DataType, match[1]), precision=precision, scale=scale)
