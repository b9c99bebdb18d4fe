"""The application: routes, errors, limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import trellis
from trellis.dialects.snowplow.registry.http import operations, other_api, pages, schemas_api
from trellis.dialects.snowplow.registry.http.rendering import answer_refusal
from trellis.dialects.snowplow.registry.http.requests import json_answer
from trellis.dialects.snowplow.registry.refusals import Refusal
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.dialects.snowplow.registry.store.database import StoreUnavailable

_MESSAGES: Mapping[int, str] = {
    404: "The endpoint does not exist",
    405: "The endpoint does not allow this method",
}


def make_app(service: RegistryService) -> FastAPI:
    """The API below /api, and pages; nothing in them comes from another host."""
    app = FastAPI(
        title="Trellis registry",
        description="Schemas of Snowplow, in the order of their creation.",
        version=trellis.__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    api = APIRouter(prefix="/api")
    for router in (
        schemas_api.router,
        other_api.validation,
        other_api.drafts,
        other_api.keys,
        other_api.meta,
    ):
        api.include_router(router)
    app.include_router(api)
    app.include_router(pages.router)
    app.include_router(operations.router)
    app.add_exception_handler(Refusal, _answer_refusal)
    app.add_exception_handler(StoreUnavailable, _answer_unavailable)
    app.add_exception_handler(RecursionError, _answer_too_deep)
    app.add_exception_handler(RequestValidationError, _answer_bad_request)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["*"], allow_headers=["*"])
    app.add_middleware(_TidyRequests, headers=service.settings.headers)
    return app


class _TidyRequests:
    """Reads a path with a slash at its end as one without, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        if scope["type"] == "http" and len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/") or "/"
        await self._app(scope, receive, send_with_headers)


async def _answer_refusal(request: Request, error: Any) -> Response:
    if _is_of_api(request):
        return json_answer(error.to_dict(), error.status)
    return answer_refusal(request, error)


async def _answer_unavailable(request: Request, error: Any) -> Response:
    return await _answer_refusal(request, Refusal(503, f"The store is not available: {error}"))


async def _answer_too_deep(request: Request, error: Any) -> Response:
    return await _answer_refusal(request, Refusal(422, "The JSON is nested too deep"))


async def _answer_bad_request(request: Request, error: Any) -> Response:
    faults = (f"{'.'.join(map(str, fault['loc'][1:]))}: {fault['msg']}" for fault in error.errors())
    return await _answer_refusal(request, Refusal(400, "; ".join(faults)))


async def _answer_http_error(request: Request, error: Any) -> Response:
    message = _MESSAGES.get(error.status_code, str(error.detail))
    return await _answer_refusal(request, Refusal(error.status_code, message))


def _is_of_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")
