"""/api beside schemas: validation, drafts, keys, health."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

import trellis
from trellis.dialects.snowplow.document.schema_document import META_SCHEMA, body_of
from trellis.dialects.snowplow.lints.schema_lint import lint_document
from trellis.dialects.snowplow.registry.http.requests import (
    ApiKey,
    Body,
    IsPublic,
    Service,
    is_address,
    json_answer,
    parse_json,
    request_body,
)
from trellis.dialects.snowplow.registry.publishing import issue_dicts
from trellis.dialects.snowplow.registry.refusals import Refusal, schema_not_found
from trellis.dialects.snowplow.registry.store.database import StoreUnavailable
from trellis.dialects.snowplow.registry.store.permissions import Permission
from trellis.dialects.snowplow.registry.store.schema_store import Draft, DraftKey

validation = APIRouter(prefix="/validation", tags=["validation"])
drafts = APIRouter(prefix="/drafts", tags=["drafts"])
MAX_NUMBER: Final = 2**31 - 1
"""Of drafts."""

keys = APIRouter(prefix="/auth", tags=["keys"])
meta = APIRouter(tags=["meta"])


@validation.post("/validate/schema/{format}", openapi_extra=request_body("A schema."))
def validate_schema(service: Service, format: str, body: Body, apikey: ApiKey = None) -> Response:
    """What linters find in a schema."""
    if not service.permission(apikey).is_known:
        raise Refusal(403, "Not enough permissions")
    if format != "jsonschema":
        raise Refusal(400, f"unknown format {format!r}; expected jsonschema")
    if issues := lint_document(parse_json(body)):
        return json_answer({"message": "The schema has issues", "report": issue_dicts(issues)})
    return json_answer({"message": "The schema is valid"})


@validation.post("/validate/instance", openapi_extra=request_body("Data that describes itself."))
def validate_instance(service: Service, body: Body, apikey: ApiKey = None) -> Response:
    """What the schema of data refuses of it."""
    instance = parse_json(body)
    if report := service.validate_instance(service.permission(apikey), instance):
        message = f"The data is not valid against {instance['schema']}"
        return json_answer({"message": message, "report": report})
    return json_answer({"message": f"Instance is valid {instance['schema']}"})


@drafts.get("")
def list_drafts(service: Service, apikey: ApiKey = None) -> Response:
    """The drafts that the key may read."""
    permission = service.permission(apikey)
    readable = [draft.key for draft in service.store.list_drafts() if _may_read(permission, draft)]
    return json_answer([f"iglu:{key.vendor}/{key.name}/{key.format}/{key.number}" for key in readable])


@drafts.get("/{vendor}/{name}/{format}/{number}")
def get_draft(
    service: Service, vendor: str, name: str, format: str, number: int, apikey: ApiKey = None
) -> Response:
    """A draft, a schema that has no version yet."""
    draft = service.store.find_draft(DraftKey(vendor, name, format, number))
    if draft is None or not _may_read(service.permission(apikey), draft):
        raise schema_not_found()
    return json_answer(_draft_document(draft))


@drafts.put(
    "/{vendor}/{name}/{format}/{number}", status_code=201, openapi_extra=request_body("The body of a schema.")
)
def put_draft(
    service: Service,
    body: Body,
    vendor: str,
    name: str,
    format: str,
    number: int,
    apikey: ApiKey = None,
    is_public: IsPublic = False,
) -> Response:
    """Store a draft in place of the one before."""
    if not service.permission(apikey).allows("BUMP", vendor):
        raise Refusal(403, "Not enough permissions")
    if not (is_address(vendor, name, format) and 0 <= number <= MAX_NUMBER):
        raise Refusal(400, "a draft has a vendor, name and format as schemas have, and a number from 0")
    document = parse_json(body)
    if not isinstance(document, dict):
        raise Refusal(400, "a draft is a JSON object")
    draft = service.store.put_draft(
        DraftKey(vendor, name, format, number), body_of(document), is_public=is_public
    )
    location = f"iglu:{vendor}/{name}/{format}/{number}"
    updated = draft.created_at != draft.updated_at
    return json_answer(
        {"message": "Draft stored", "updated": updated, "location": location, "status": 201}, 201
    )


@keys.post("/keygen", openapi_extra=request_body('{"vendorPrefix": "com.acme"}'))
def create_keys(service: Service, body: Body, apikey: ApiKey = None) -> Response:
    """A key that reads and one that writes, for vendors of a prefix. They are shown this once."""
    request = parse_json(body)
    prefix = request.get("vendorPrefix") if isinstance(request, dict) else None
    if not isinstance(prefix, str) or not (prefix == "*" or is_address(prefix)):
        raise Refusal(400, 'expected {"vendorPrefix": "com.acme"}, or "*" for all vendors')
    if not service.permission(apikey).may_change_keys("CREATE", prefix):
        raise Refusal(403, "Not enough permissions: the key may not make keys for this prefix")
    read, write = service.store.add_keys([Permission(prefix, "READ"), Permission(prefix, "CREATE_VENDOR")])
    return json_answer({"read": str(read), "write": str(write)})


@keys.delete("/keygen")
def delete_key(service: Service, key: str, apikey: ApiKey = None) -> Response:
    """Delete a key."""
    permission, target = service.permission(apikey), service.permission(key)
    if not permission.may_change_keys("DELETE", target.vendor):
        raise Refusal(403, "Not enough permissions: the key may not delete this one")
    if not service.store.remove_key(UUID(key)):
        raise Refusal(404, "There is no such key")
    return json_answer({"message": "Keys have been deleted"})


@meta.get("/meta/health", response_class=PlainTextResponse)
def health(service: Service) -> Response:
    """Whether the server takes requests."""
    if service.is_terminating():
        return PlainTextResponse("Terminating", 503)
    return PlainTextResponse("OK")


@meta.get("/meta/health/db", response_class=PlainTextResponse)
def health_of_store(service: Service) -> Response:
    """Whether the server and its store take requests."""
    try:
        service.store.revision()
    except StoreUnavailable as error:
        return PlainTextResponse(str(error), 503)
    return health(service)


@meta.get("/meta/server")
def describe_server(service: Service, apikey: ApiKey = None) -> Response:
    """What server this is, and what it allows."""
    permission = service.permission(apikey)
    info: dict[str, Any] = {
        "version": trellis.__version__,
        "authInfo": {
            "vendor": permission.vendor or ("*" if permission.is_known else ""),
            "schema": permission.schema_action,
            "key": sorted(permission.key_actions),
        },
        "database": service.store.kind,
        "schemaCount": len(service.store.list_schemas()),
        "debug": False,
        "patchesAllowed": service.settings.succession.patches_allowed,
        "succession": service.settings.succession.succession,
        "evolution": service.settings.kinds.evolution,
        "profiles": [profile.name for profile in service.settings.kinds.profiles],
    }
    return json_answer(info)


@meta.get("/debug")
def debug() -> Response:
    """Iglu's view of a registry in memory, which this one is not."""
    raise Refusal(501, "The registry is not in memory, so there is nothing to show")


def _may_read(permission: Permission, draft: Draft) -> bool:
    return draft.is_public or permission.allows("READ", draft.key.vendor)


def _draft_document(draft: Draft) -> dict[str, Any]:
    key = draft.key
    parts = {"vendor": key.vendor, "name": key.name, "format": key.format, "version": str(key.number)}
    return {"$schema": META_SCHEMA, "self": parts, **draft.body}
