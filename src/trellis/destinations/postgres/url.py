"""What a URL of PostgreSQL says, and how it is shown: never with a password."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from trellis.errors import UsageError, nearest

_SECRET = re.compile(r"password|secret|token", re.IGNORECASE)


def redacted(url: str) -> str:
    """A URL for messages and reports.

    >>> redacted("postgresql://me:s%40fe@host/shop?sslmode=require&password=safe")
    'postgresql://me:***@host/shop?sslmode=require&password=***'
    >>> redacted("duckdb:a.duckdb")
    'duckdb:a.duckdb'
    """
    shown, mark, options = re.sub(r"(//[^:/@]*):.*@", r"\1:***@", url).partition("?")
    return shown + mark + "&".join(_option(each) for each in options.split("&"))


def parameters(url: str) -> dict[str, Any]:
    """The parameters of a connection that a URL names, those of its query string too. Raises UsageError."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = dict(conninfo_to_dict(url))
        if "@" not in str(found.get("host") or ""):  # else the rest of a password
            return found
    except psycopg.ProgrammingError as bad:
        option = re.fullmatch(r'invalid URI query parameter: "([^"]*)"', str(bad).strip())
        if option:
            known = [each.keyword.decode() for each in psycopg.pq.Conninfo.get_defaults()]
            raise UsageError(
                f"{redacted(url)}: PostgreSQL has no connection option {option[1]!r}"
                f"{nearest(option[1], known)}"
            ) from None
    raise UsageError(
        f"{redacted(url)}: it is not a URL that PostgreSQL understands; write "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @, %3A for : and %2F for / in a password"
    )


def _option(text: str) -> str:
    name, equals, _ = text.partition("=")
    return f"{name}{equals}***" if equals and _SECRET.search(unquote(name)) else text
