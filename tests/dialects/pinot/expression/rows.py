"""The row that the expressions of functions.txt are evaluated on, and how their values are written there."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import timestamp_of
from trellis.dialects.pinot.value.numbers import decimal_text, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import Float32, Int64, SourceKind, kind_of, millis_of

ROW: Final[Mapping[str, Any]] = {
    "a": 1,
    "b": 2.5,
    "s": "abc",
    "n": None,
    "t": True,
    "f": False,
    "l": [1, 2, 3],
    "el": [],
    "ls": ["p", "q", None, "p"],
    "m": {"z": 1, "y": {"x": [1, {"k": "v"}]}},
    "o": [{"id": 1, "p": 2.5, "tag": "x"}, {"id": 2, "p": 10, "tag": "y"}, {"id": 3}],
    "L": Int64(7),
    "F": Float32(7.9),
    "D": Decimal("1.50"),
    "by": b"\xca\xfe",
    "d.e": 5,
    "$p": 6,
    "x y": 9,
    "ts": 1700000000123,
    "neg": -1700000000123,
    "wh": timestamp_of(1700000000123),
    "u": "Größe 😀!",
    "nan": float("nan"),
    "inf": float("inf"),
    "nz": -0.0,
    "js": '{"a":{"b":[1,2.5,"x",null,{"c":true}],"d.e":7,"n":null},"k":"v","big":123456789012,"s":"12"}',
    "bad": "{oops",
}


def shown(value: Any) -> str:
    """A value with its kind: `int 7`, `long 7`, `text 'abc'`, `list[int 1, null]`."""
    kind = kind_of(value)
    if kind is SourceKind.LIST:
        return f"list[{', '.join(map(shown, value))}]"
    if kind is SourceKind.MAP:
        return f"map{{{', '.join(f'{key}: {shown(member)}' for key, member in value.items())}}}"
    if kind is SourceKind.NULL:
        return "null"
    name, text = KINDS[kind]
    return f"{name} {text(value)}"


KINDS: Final[Mapping[SourceKind, tuple[str, Any]]] = {
    SourceKind.INT: ("int", str),
    SourceKind.LONG: ("long", str),
    SourceKind.FLOAT: ("float", float_text),
    SourceKind.DOUBLE: ("double", double_text),
    SourceKind.BIG_DECIMAL: ("decimal", decimal_text),
    SourceKind.BOOLEAN: ("boolean", lambda value: str(value).lower()),
    SourceKind.STRING: ("text", repr),
    SourceKind.BYTES: ("bytes", bytes.hex),
    SourceKind.TIMESTAMP: ("timestamp", millis_of),
}
