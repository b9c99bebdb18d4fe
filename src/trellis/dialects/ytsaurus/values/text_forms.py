"""Times and uuids as text, where a format asks for it: time_mode=text, uuid_mode=text_yt or text_yql."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.values.primitives import shown, violation
from trellis.dialects.ytsaurus.yson.values import kind_of, to_bytes

UuidForm = Literal["binary", "text_yt", "text_yql"]

_EPOCH: Final = datetime(1970, 1, 1)
_DAY: Final = timedelta(days=1)
_UNITS: Final[Mapping[str, timedelta]] = {
    **dict.fromkeys(("date", "date32"), _DAY),
    **dict.fromkeys(("datetime", "datetime64"), timedelta(seconds=1)),
    **dict.fromkeys(("timestamp", "timestamp64"), timedelta(microseconds=1)),
}
TIMES: Final = frozenset(_UNITS)
"""Types with a text form of their times. Those with zones have none here."""
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(\.\d{1,6})?Z)?")
_EXAMPLES: Final = {1: "2023-11-14", 2: "2023-11-14T22:13:20Z", 3: "2023-11-14T22:13:20.000000Z"}
_PART_BYTES: Final = 4


def format_time(name: str, value: int) -> bytes:
    """The text of a date or time. Raises YtError beyond the years 1 to 9999.

    >>> format_time("date", 19675), format_time("timestamp", 1_700_000_000_000_001)
    (b'2023-11-14', b'2023-11-14T22:13:20.000001Z')
    """
    unit = _UNITS[name]
    try:
        moment = _EPOCH + value * unit
    except OverflowError:
        raise YtError(
            f"the {name} {value} is beyond the years 1 to 9999 and has no text; use time_mode=binary",
            ErrorCode.SCHEMA_VIOLATION,
        ) from None
    if unit == _DAY:
        return moment.date().isoformat().encode()
    digits = "seconds" if unit >= timedelta(seconds=1) else "microseconds"
    return f"{moment.isoformat(timespec=digits)}Z".encode()


def parse_time(name: str, value: Any) -> int:
    """The number of a date or time. Raises YtError with the code 307.

    >>> parse_time("datetime", "2023-11-14T22:13:20Z")
    1700000000
    """
    text, unit = _text(name, value), _UNITS[name]
    parts = 1 if unit == _DAY else 2 if unit >= timedelta(seconds=1) else 3
    match = _TIME.fullmatch(text)
    if match is None or (match[2] is None) != (parts == 1) or (match[3] and parts < 3):
        violation(f"{shown(text)} is not a {name} as text; expected such as {_EXAMPLES[parts]}")
    try:
        moment = datetime.fromisoformat(
            f"{match[1]}T{match[2] or '00:00:00'}{(match[3] or '.').ljust(7, '0')}"
        )
    except ValueError as error:
        violation(f"{shown(text)} is not a {name}: {error}")
    return (moment - _EPOCH) // unit


def format_uuid(form: UuidForm, value: bytes) -> bytes:
    """
    >>> format_uuid("text_yt", bytes(range(240, 256)))
    b'f0f1f2f3-f4f5f6f7-f8f9fafb-fcfdfeff'
    >>> format_uuid("text_yql", bytes(range(240, 256)))
    b'f3f2f1f0-f5f4-f7f6-f8f9-fafbfcfdfeff'
    """
    if form == "text_yql":
        return str(UUID(bytes_le=value)).encode()
    parts = (value[start : start + _PART_BYTES] for start in range(0, len(value), _PART_BYTES))
    return "-".join(f"{int.from_bytes(part, 'big'):x}" for part in parts).encode()


def parse_uuid(form: UuidForm, value: Any) -> bytes:
    """The 16 bytes of a uuid. Raises YtError with the code 307.

    >>> parse_uuid("text_yt", "1-0-a-ff").hex()
    '00000001000000000000000a000000ff'
    """
    text = _text("uuid", value)
    if form == "text_yql" and re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        return UUID(text).bytes_le
    if form == "text_yt" and re.fullmatch(r"[0-9a-fA-F]{1,8}(?:-[0-9a-fA-F]{1,8}){3}", text):
        return b"".join(int(part, 16).to_bytes(_PART_BYTES, "big") for part in text.split("-"))
    return violation(f"{shown(text)} is not a uuid in the form {form}")


def _text(name: str, value: Any) -> str:
    if kind_of(value) != "string":
        raise YtError(
            f"expected {name} as text, not {kind_of(value)} {shown(value)}",
            ErrorCode.SCHEMA_VIOLATION,
            attributes={"expected": name, "actual": kind_of(value)},
        )
    return to_bytes(value).decode("utf-8", "backslashreplace")
