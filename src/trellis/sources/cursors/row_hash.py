"""Short hashes of values, by which rows at the edge of a cursor are known again."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from trellis.errors import UsageError

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
BYTES = 9


def digest(value: Any) -> str:
    """The hash of a value, the same in every time zone and for any order of keys.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    import orjson

    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME
    try:
        text = orjson.dumps(value, default=_plain, option=options)
    except TypeError as why:
        raise UsageError(
            f"the row {str(value)[:80]} at the edge of an incremental cursor cannot be told from others"
            f" ({why}); give a primary_key of plain values"
        ) from why
    return base64.b64encode(hashlib.shake_128(text).digest(BYTES)).decode("ascii").rstrip("=")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
        return (aware - EPOCH) // MICROSECOND
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if hasattr(value, "_asdict"):
        return value._asdict()
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not plain")
