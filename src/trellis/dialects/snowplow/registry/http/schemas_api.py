"""/api/schemas: lists in the order of creation, schemas, publishing, statements of tables."""

from __future__ import annotations

from fastapi import APIRouter, BackgroundTasks
from starlette.responses import Response

from trellis.dialects.snowplow.columns.overlay import Overlay, merge_with_overlay
from trellis.dialects.snowplow.columns.profiles import get_profile
from trellis.dialects.snowplow.ddl.rendering import report_dict
from trellis.dialects.snowplow.ddl.wide_rendering import rendering_of
from trellis.dialects.snowplow.document.json_text import write_json
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.registry.http.requests import (
    ApiKey,
    Body,
    IsPublic,
    Service,
    is_address,
    json_answer,
    json_bytes,
    parse_json,
    parse_key,
    request_body,
)
from trellis.dialects.snowplow.registry.publishing import PublishReport
from trellis.dialects.snowplow.registry.refusals import Refusal
from trellis.dialects.snowplow.registry.service import (
    RegistryService,
    parse_family,
    parse_representation,
    represent,
)
from trellis.dialects.snowplow.registry.webhooks import call_webhooks
from trellis.dialects.snowplow.rows.csv import json_paths
from trellis.errors import SchemaError, UsageError

router = APIRouter(prefix="/schemas", tags=["schemas"])
_SCHEMA = request_body("A schema that describes itself.")


@router.get("")
def list_all(service: Service, apikey: ApiKey = None, repr: str | None = None) -> Response:
    """The addresses of all schemas that the key may read, in the order of creation."""
    return _list(service, apikey, repr)


@router.get("/{vendor}")
def list_vendor(service: Service, vendor: str, apikey: ApiKey = None, repr: str | None = None) -> Response:
    """Those of a vendor."""
    return _list(service, apikey, repr, vendor)


@router.get("/{vendor}/{name}")
def list_name(
    service: Service, vendor: str, name: str, apikey: ApiKey = None, repr: str | None = None
) -> Response:
    """Those of a vendor and name."""
    return _list(service, apikey, repr, vendor, name)


@router.get("/{vendor}/{name}/{format}")
def list_format(
    service: Service, vendor: str, name: str, format: str, apikey: ApiKey = None, repr: str | None = None
) -> Response:
    """The versions of all models, in the order of creation."""
    return _list(service, apikey, repr, vendor, name, format)


@router.get("/{vendor}/{name}/{format}/{version}")
def get_schema(
    service: Service,
    vendor: str,
    name: str,
    format: str,
    version: str,
    apikey: ApiKey = None,
    repr: str | None = None,
) -> Response:
    """A schema; for a model such as `1` the list of its versions, in the order of creation."""
    if version.isdigit():
        model = _family(vendor, name, format, version).model
        return _list(service, apikey, repr, vendor, name, format, model)
    key = parse_key(vendor, name, format, version)
    permission = service.permission(apikey)
    representation = parse_representation(repr, "canonical")
    return json_bytes(
        service.cached(
            ("schema", key, permission, representation),
            lambda: write_json(represent(service.schema(permission, key), representation)).encode(),
        )
    )


@router.post("", status_code=201, openapi_extra=_SCHEMA)
def publish(
    service: Service, tasks: BackgroundTasks, body: Body, apikey: ApiKey = None, is_public: IsPublic = False
) -> Response:
    """Publish a schema under the address that it names."""
    return _publish(service, tasks, body, apikey, is_public)


@router.put("/{vendor}/{name}/{format}/{version}", status_code=201, openapi_extra=_SCHEMA)
def put_schema(
    service: Service,
    tasks: BackgroundTasks,
    body: Body,
    vendor: str,
    name: str,
    format: str,
    version: str,
    apikey: ApiKey = None,
    is_public: IsPublic = False,
) -> Response:
    """Publish a schema under an address; it need not name it."""
    return _publish(service, tasks, body, apikey, is_public, parse_key(vendor, name, format, version))


@router.delete("/{vendor}/{name}/{format}/{version}")
def delete_schema(
    service: Service, vendor: str, name: str, format: str, version: str, apikey: ApiKey = None
) -> Response:
    """Delete a schema, where the registry allows patches and the key is the super key."""
    service.publisher.delete(parse_key(vendor, name, format, version), service.permission(apikey))
    return json_answer({"message": "Schema deleted"})


@router.get("/{vendor}/{name}/{format}/{model}/ddl")
def show_ddl(
    service: Service,
    vendor: str,
    name: str,
    format: str,
    model: str,
    target: str = "redshift",
    dataset: str = "atomic",
    layout: str = "model",
    compat: bool = False,
    apikey: ApiKey = None,
) -> Response:
    """The tables of a model as `trellis registry ddl --json` has them."""
    family = _family(vendor, name, format, model)
    schemas = service.family(service.permission(apikey), family)
    try:
        rendering = rendering_of(layout, get_profile(target), dataset, compat, service.overlays(family))
    except UsageError as error:
        raise Refusal(400, str(error)) from None
    documents = [schema.document for schema in schemas]
    return json_answer(report_dict(rendering.tables({family: documents}), ()))


@router.get("/{vendor}/{name}/{format}/{model}/overlay")
def show_overlay(
    service: Service, vendor: str, name: str, format: str, model: str, apikey: ApiKey = None
) -> Response:
    """How the table of a model differs from what its schemas say."""
    family = _family(vendor, name, format, model)
    service.family(service.permission(apikey), family)
    if (overlay := service.store.overlay(family)) is None:
        raise Refusal(404, "There is no overlay")
    return json_answer(overlay.to_dict())


@router.put(
    "/{vendor}/{name}/{format}/{model}/overlay",
    status_code=201,
    openapi_extra=request_body("Columns by pointer, or a JSONPaths file."),
)
def put_overlay(
    service: Service, body: Body, vendor: str, name: str, format: str, model: str, apikey: ApiKey = None
) -> Response:
    """Fit the columns of a model to a table that was made otherwise."""
    family, permission = _family(vendor, name, format, model), service.permission(apikey)
    if not permission.allows("BUMP", vendor):
        raise Refusal(403, "Not enough permissions")
    documents = [schema.document for schema in service.family(permission, family)]
    document = parse_json(body)
    try:
        overlay = Overlay.parse(document)
        overlay.check(documents)
    except SchemaError as error:
        raise Refusal(400, f"The overlay does not fit: {error}") from None
    service.store.put_overlay(family, overlay)
    return json_answer({"message": "Overlay stored", "status": 201}, 201)


@router.get("/{vendor}/{name}/{format}/{model}/jsonpaths")
def show_json_paths(
    service: Service, vendor: str, name: str, format: str, model: str, apikey: ApiKey = None
) -> Response:
    """The JSONPaths file of the table of a model, for loaders that read JSON."""
    family = _family(vendor, name, format, model)
    schemas = service.family(service.permission(apikey), family)
    documents, overlay = [schema.document for schema in schemas], service.store.overlay(family)
    table = merge_with_overlay(documents, get_profile("redshift"), overlay)
    return json_answer(json_paths(table.columns))


def _list(
    service: RegistryService,
    apikey: str | None,
    repr: str | None,
    vendor: str = "",
    name: str = "",
    format: str = "",
    model: int = 0,
) -> Response:
    permission = service.permission(apikey)
    representation = parse_representation(repr, "uri")
    if not is_address(vendor, name, format):
        raise Refusal(404, "No schemas available")
    parts = (vendor, name, format, model)

    def make() -> bytes | None:
        listed = service.list_schemas(permission, *parts, representation=representation)
        return write_json([*listed]).encode() if listed or not vendor else None

    content = service.cached(("list", parts, permission, representation), make)
    if content is None:
        raise Refusal(404, "No schemas available")
    return json_bytes(content)


def _publish(
    service: RegistryService,
    tasks: BackgroundTasks,
    body: bytes,
    apikey: str | None,
    is_public: bool,
    expected: SchemaKey | None = None,
) -> Response:
    permission = service.permission(apikey)
    document = parse_json(body)
    report: PublishReport = service.publisher.publish(
        document, permission, is_public=is_public, expected=expected
    )
    updated = report.outcome == "patched"
    tasks.add_task(call_webhooks, service.settings.webhooks, report.key, updated=updated)
    return json_answer(report.to_dict(), report.status)


def _family(vendor: str, name: str, format: str, model: str) -> Family:
    try:
        return parse_family(vendor, name, format, model)
    except IgluError as error:
        raise Refusal(400, str(error)) from None
