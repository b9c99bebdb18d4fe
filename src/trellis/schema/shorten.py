"""Make a name fit a destination's limit, and stay one of a kind."""

from __future__ import annotations

from base64 import b64encode
from hashlib import shake_128

from trellis.errors import UsageError

TAG_BYTES = 4
TAG_LENGTH = 6

_TAG = str.maketrans("/+", "ab", "=")


def tag(source: str) -> str:
    """Six letters and digits that stand for the source text.

    >>> tag("CustomerBillingAddressLine")
    'm2jlfa'
    """
    return b64encode(shake_128(source.encode()).digest(TAG_BYTES)).decode().translate(_TAG).lower()


def shorten(name: str, source: str, limit: int | None) -> str:
    """The name if it fits; else its head, the tag of `source`, and its tail.

    >>> shorten("customer_billing_address_line", "CustomerBillingAddressLine", 20)
    'customem2jlfass_line'
    >>> shorten("short", "Short", 20)
    'short'
    """
    if limit is None or len(name) <= limit:
        return name
    tail = (limit - TAG_LENGTH) // 2
    head = limit - TAG_LENGTH - tail
    return name[:head] + tag(source) + name[len(name) - tail :]


def check_limit(limit: int | None) -> None:
    """Refuse a limit that leaves no room for the tag.

    >>> check_limit(5)
    Traceback (most recent call last):
    ...
    trellis.errors.UsageError: a name limit of 5 is too short: 6 characters is the least
    """
    if limit is not None and limit < TAG_LENGTH:
        raise UsageError(f"a name limit of {limit} is too short: {TAG_LENGTH} characters is the least")
