"""Whom a page is for: the key in a cookie, and a token against forms of other sites."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs

from fastapi import Request
from starlette.responses import Response

from trellis.dialects.snowplow.registry.refusals import Refusal

KEY_COOKIE: Final = "registry_key"
TOKEN_COOKIE: Final = "registry_token"
TOKEN_FIELD: Final = "token"
MAX_FORM: Final = 400_000
"""Bytes. Three for each character that is escaped."""


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form of ours. Raises Refusal for one that another site made."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            raise Refusal(413, "The form is too large")
    try:
        parsed = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Refusal(400, "The form cannot be read") from None
    fields = {name: values[-1] for name, values in parsed.items()}
    token = request.cookies.get(TOKEN_COOKIE, "")
    if not token or not secrets.compare_digest(token.encode(), fields.get(TOKEN_FIELD, "").encode()):
        raise Refusal(403, "The form is not from this page, or too old; load the page again")
    return fields


def token_of(request: Request) -> str:
    """The token of a browser, a new one where it has none."""
    return request.cookies.get(TOKEN_COOKIE) or secrets.token_urlsafe(24)


def set_cookies(request: Request, response: Response, cookies: Mapping[str, str]) -> None:
    """For this site alone, out of the reach of scripts, until the browser is closed."""
    for name, value in cookies.items():
        secure = request.url.scheme == "https"
        response.set_cookie(name, value, httponly=True, samesite="strict", secure=secure)
