"""Every function that an expression may call (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trellis.dialects.pinot.expression.address_functions import ADDRESS
from trellis.dialects.pinot.expression.array_functions import ARRAY
from trellis.dialects.pinot.expression.bytes_functions import BYTES
from trellis.dialects.pinot.expression.cast_functions import CAST
from trellis.dialects.pinot.expression.compare_functions import COMPARE
from trellis.dialects.pinot.expression.epoch_functions import EPOCH_TIME
from trellis.dialects.pinot.expression.gram_functions import GRAM
from trellis.dialects.pinot.expression.hash_functions import HASH
from trellis.dialects.pinot.expression.instant_functions import INSTANT
from trellis.dialects.pinot.expression.json_container_functions import JSON_CONTAINER
from trellis.dialects.pinot.expression.json_functions import JSON
from trellis.dialects.pinot.expression.left_out import LEFT_OUT
from trellis.dialects.pinot.expression.number_functions import NUMBER
from trellis.dialects.pinot.expression.pattern_functions import PATTERN
from trellis.dialects.pinot.expression.piece_functions import PIECE
from trellis.dialects.pinot.expression.registry import Function, joined
from trellis.dialects.pinot.expression.search_functions import SEARCH
from trellis.dialects.pinot.expression.text_functions import TEXT
from trellis.dialects.pinot.expression.time_functions import TIME
from trellis.dialects.pinot.expression.tokens import ExpressionError
from trellis.dialects.pinot.expression.tree import canonical
from trellis.dialects.pinot.expression.trigonometry_functions import TRIGONOMETRY
from trellis.dialects.pinot.expression.url_edit_functions import URL_EDIT
from trellis.dialects.pinot.expression.url_functions import URL
from trellis.dialects.pinot.expression.zone_functions import ZONE
from trellis.errors import nearest

FUNCTIONS: Final[Mapping[str, tuple[Function, ...]]] = joined(
    EPOCH_TIME,
    TIME,
    INSTANT,
    ZONE,
    TEXT,
    SEARCH,
    PIECE,
    GRAM,
    PATTERN,
    NUMBER,
    TRIGONOMETRY,
    COMPARE,
    JSON,
    JSON_CONTAINER,
    BYTES,
    HASH,
    URL,
    URL_EDIT,
    ADDRESS,
    ARRAY,
    CAST,
)
"""By canonical name. `and` and `or` are not here: they need not evaluate all they are given."""

_NAMES: Final = {name: each.names for name, functions in FUNCTIONS.items() for each in functions}


def function_of(name: str, count: int) -> Function:
    """The function of a name that takes so many arguments. Raises ExpressionError.

    >>> function_of("to_date_time", 2).names
    ('toDateTime',)
    >>> function_of("lowr", 1)
    Traceback (most recent call last):
    trellis.dialects.pinot.expression.tokens.ExpressionError: there is no function lowr: did you mean 'lower'?
    """
    found = FUNCTIONS.get(canonical(name))
    if canonical(name) in LEFT_OUT:
        raise ExpressionError(
            f"{name} is a function of Pinot that Trellis does not have: compute the column before the load"
        )
    if found is None:
        said = nearest(
            canonical(name),
            [
                each
                for each in (*FUNCTIONS, "and", "or")
                if name.lower().endswith("mv") or not each.endswith("mv")
            ],
        )
        raise ExpressionError(f"there is no function {name[:60]}{_spelled(said)}")
    for each in found:
        if each.fits(count):
            return each
    counts = " or ".join(_counts(found))
    noun = "argument" if counts == "1" else "arguments"
    raise ExpressionError(f"{found[0].names[0]} takes {counts} {noun}, not {count}")


def _spelled(hint: str) -> str:
    """The hint with the function's usual spelling."""
    if not hint.startswith(": did"):
        return ""
    close = hint.split("'")[1]
    spelled = next((each for each in _NAMES.get(close, ()) if canonical(each) == close), close)
    return f": did you mean {spelled!r}?"


def _counts(found: tuple[Function, ...]) -> Iterator[str]:
    yield from sorted(
        {str(count) for each in found for count in range(each.least, (each.most or each.least) + 1)}
    )
