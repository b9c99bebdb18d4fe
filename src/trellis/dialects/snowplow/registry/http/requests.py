"""What requests bring, and how answers are written."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Depends, Header, Query, Request
from starlette.responses import Response

from trellis.dialects.snowplow.document.json_text import read_json, write_json
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.registry.refusals import Refusal
from trellis.dialects.snowplow.registry.service import RegistryService

MAX_BODY: Final = 100_000
"""Bytes of a request."""

ApiKey = Annotated[str | None, Header(description="The key, a UUID.")]
IsPublic = Annotated[bool, Query(alias="isPublic", description="Whether all may read it.")]


def service_of(request: Request) -> RegistryService:
    service: RegistryService = request.app.state.service
    return service


async def read_body(request: Request) -> bytes:
    """The body of a request of at most MAX_BODY bytes. Raises Refusal."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refusal(413, f"The body has more than {MAX_BODY} bytes")
    return bytes(body)


Service = Annotated[RegistryService, Depends(service_of)]
Body = Annotated[bytes, Depends(read_body)]


def parse_json(body: bytes) -> Any:
    """Raises Refusal."""
    try:
        return read_json(body)
    except RecursionError:
        raise Refusal(422, "The body cannot be read: the JSON is nested too deep") from None
    except ValueError as error:
        raise Refusal(422, f"The body cannot be read: {error}") from None


def parse_key(vendor: str, name: str, format: str, version: str) -> SchemaKey:
    """Raises Refusal."""
    try:
        return SchemaKey.parse(f"iglu:{vendor}/{name}/{format}/{version}")
    except IgluError as error:
        raise Refusal(400, str(error)) from None


def is_address(vendor: str, name: str = "", format: str = "") -> bool:
    """Whether schemas can have these parts; empty ones are any.

    >>> is_address("com.acme"), is_address("com.acme", "my event")
    (True, False)
    """
    try:
        SchemaKey.parse(f"iglu:{vendor or 'v'}/{name or 'n'}/{format or 'f'}/1-0-0")
    except IgluError:
        return False
    return True


def json_answer(value: object, status: int = 200) -> Response:
    return json_bytes(write_json(value).encode(), status)


def json_bytes(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


def request_body(description: str) -> dict[str, Any]:
    """What OpenAPI says of a body that is read as it is."""
    content = {"application/json": {"schema": {"type": "object"}}}
    return {"requestBody": {"required": True, "description": description, "content": content}}
