"""What the URL of a destination says beside where it is: the naming convention that it wants."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from trellis.errors import UsageError

OPTION: Final = "naming_convention"

_ASSIGNED = re.compile(r"\?(\w+)=")


def naming_in(url: str) -> tuple[str, str | None]:
    """The URL without its naming convention, and that; None where it says none. Raises UsageError.

    >>> naming_in("duckdb:shop.duckdb?naming_convention=direct")
    ('duckdb:shop.duckdb', 'direct')
    >>> naming_in("postgresql://me@host/shop?sslmode=require&naming_convention=sql_cs_v1")
    ('postgresql://me@host/shop?sslmode=require', 'sql_cs_v1')
    >>> naming_in("duckdb:what?.duckdb")
    ('duckdb:what?.duckdb', None)
    """
    where, _, options = url.rpartition("?")
    said = [each for each in options.split("&") if each.partition("=")[0] == OPTION]
    if not where or not said:
        return url, None
    naming = unquote(said[-1].partition("=")[2])
    if not naming:
        raise UsageError(f"{OPTION}= names no convention; write for example {OPTION}=direct")
    others = "&".join(each for each in options.split("&") if each not in said)
    return (f"{where}?{others}" if others else where), naming


def refuse_options(url: str) -> None:
    """Raise UsageError where a URL that is a path says something else than its naming convention."""
    if found := _ASSIGNED.search(url):
        raise UsageError(f"{url}: there is no option {found[1]!r} of a destination; the only one is {OPTION}")
