"""Templates of pages, and what every page needs: who asks, and for which family."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family
from trellis.dialects.snowplow.registry.http.page_access import (
    KEY_COOKIE,
    TOKEN_COOKIE,
    set_cookies,
    token_of,
)
from trellis.dialects.snowplow.registry.http.requests import service_of
from trellis.dialects.snowplow.registry.refusals import Refusal, schema_not_found
from trellis.dialects.snowplow.registry.service import RegistryService, parse_family
from trellis.dialects.snowplow.registry.store.permissions import Permission
from trellis.dialects.snowplow.registry.store.schema_store import StoredSchema

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER: Final = Path(__file__).parent
HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_SCRIPT_POLICY: Final = f"{_POLICY}; script-src 'self'; connect-src 'self'"
_WITH_SCRIPT: Final = ("publish.html",)


def render_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    token, settings = token_of(request), service_of(request).settings
    html = (
        _templates()
        .get_template(template)
        .render(
            token=token,
            is_signed_in=KEY_COOKIE in request.cookies,
            has_warehouse=settings.warehouse is not None,
            has_next=settings.next_registry is not None,
            **values,
        )
    )
    policy = _SCRIPT_POLICY if template in _WITH_SCRIPT else _POLICY
    response = HTMLResponse(html, status, {**HEADERS, "Content-Security-Policy": policy})
    set_cookies(request, response, {TOKEN_COOKIE: token})
    return response


def answer_refusal(request: Request, refusal: Refusal) -> Response:
    return render_page(request, "refusal.html", refusal.status, refusal=refusal.to_dict())


def permission_of(request: Request, service: RegistryService) -> Permission:
    return service.permission(request.cookies.get(KEY_COOKIE))


def known_permission(request: Request, service: RegistryService) -> Permission:
    """Raises Refusal for nobody."""
    permission = permission_of(request, service)
    if not permission.is_known:
        raise Refusal(403, "Sign in with a key first")
    return permission


def family_of(
    request: Request, service: RegistryService, vendor: str, name: str, format: str, model: str
) -> tuple[Family, list[StoredSchema]]:
    """A family that the browser may read, with its versions. Raises Refusal."""
    try:
        family = parse_family(vendor, name, format, model)
    except IgluError:
        raise schema_not_found() from None
    return family, service.family(permission_of(request, service), family)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        autoescape=True,
        loader=FileSystemLoader(FOLDER / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
