"""JSON that keeps its numbers as they are written, and its keys in their order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

MINUS_ZERO: Final = "-0"
_REPLACEMENTS: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class Number(float):
    """A number with a fraction or an exponent. `text` is how it is written."""

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self) -> str:
        return self.text


def read_json(text: str | bytes, *, unique_keys: bool = False) -> Any:
    """The value of a text; of a key that an object has twice the last value, or with `unique_keys` none.

    >>> write_json(read_json('{"price": 7.50, "tags": ["a\\\\tb", null]}'))
    '{"price":7.50,"tags":["a\\\\tb",null]}'

    Raises ValueError.
    """
    return json.loads(
        text,
        parse_float=Number,
        parse_int=_integer,
        parse_constant=_refuse,
        object_pairs_hook=_unique if unique_keys else None,
    )


def write_json(value: object) -> str:
    """Compact JSON. Halves of surrogate pairs are escaped, so it can always be encoded."""
    return "".join(_pieces(value))


def indent_json(value: object, margin: str = "") -> str:
    """JSON on several lines, for people; lists of plain values stay on one.

    >>> print(indent_json({"enum": [1, 2.5], "type": "number"}))
    {
      "enum": [1,2.5],
      "type": "number"
    }
    """
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        lines = [f"{_quoted(key)}: {indent_json(item, inner)}" for key, item in value.items()]
        brackets = "{}"
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        lines = [indent_json(item, inner) for item in value]
        brackets = "[]"
    else:
        return write_json(value)
    content = ",\n".join(f"{inner}{line}" for line in lines)
    return f"{brackets[0]}\n{content}\n{margin}{brackets[1]}"


def encodable(text: str) -> str:
    """The text with a replacement for halves of surrogate pairs, which neither files nor names can hold."""
    return text if text.isascii() else text.translate(_REPLACEMENTS)


def number_text(number: float) -> str:
    """How a number is written."""
    if isinstance(number, Number):
        return number.text
    return json.dumps(number)


def decimal_of(number: float) -> Decimal:
    """The exact value of a number as it is written."""
    return Decimal(number_text(number))


def is_whole(number: float) -> bool:
    """
    >>> is_whole(Number("5e1")), is_whole(0.5), is_whole(Number("1e400"))
    (True, False, True)
    """
    if isinstance(number, int):
        return True
    exact = decimal_of(number)
    return exact == exact.to_integral_value()


def canonical(value: object) -> str:
    """A text that is equal for values that are equal in JSON: 1 and 1.0, but not 1 and true.

    >>> canonical([1.0, True, {"b": 1, "a": None}]) == canonical([1, True, {"a": None, "b": 1}])
    True
    >>> canonical(1) == canonical(True)
    False
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json.dumps(value)
    exact = decimal_of(value)
    return str(int(exact)) if abs(exact.adjusted()) < 400 and exact == exact.to_integral() else str(exact)


def _pieces(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield f"{',' if index else ''}{_quoted(key)}:"
            yield from _pieces(item)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for index, item in enumerate(value):
            if index:
                yield ","
            yield from _pieces(item)
        yield "]"
    elif isinstance(value, str):
        yield _quoted(value)
    elif isinstance(value, bool) or value is None:
        yield json.dumps(value)
    elif isinstance(value, int | float):
        yield number_text(value)
    else:
        raise TypeError(f"{type(value).__name__} is not a value of JSON")


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isascii() or not _has_surrogates(quoted) else json.dumps(text)


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def _integer(text: str) -> float:
    return Number(text) if text == MINUS_ZERO else int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {_quoted(repeated)} is there twice in one object")
    return members


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
