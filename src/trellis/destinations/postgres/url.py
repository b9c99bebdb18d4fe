"""The parameters of a connection that a URL of PostgreSQL names."""

from __future__ import annotations

import re
from typing import Any

from trellis.destinations.url import redacted
from trellis.errors import UsageError, nearest


def connection_parameters(url: str) -> dict[str, Any]:
    """The parameters of a connection that a URL names, those of its query string too. Raises UsageError."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        parameters = dict(conninfo_to_dict(url))
        if "@" not in str(parameters.get("host") or ""):  # else the rest of a password
            return parameters
    except psycopg.ProgrammingError as bad:
        option = re.fullmatch(r'invalid URI query parameter: "([^"]*)"', str(bad).strip())
        if option:
            known = [default.keyword.decode() for default in psycopg.pq.Conninfo.get_defaults()]
            raise UsageError(
                f"{redacted(url)}: PostgreSQL has no connection option {option[1]!r}"
                f"{nearest(option[1], known)}"
            ) from None
    raise UsageError(
        f"{redacted(url)}: it is not a URL that PostgreSQL understands; write "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @, %3A for : and %2F for / in a password"
    )
