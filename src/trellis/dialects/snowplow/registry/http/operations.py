"""Pages about where schemas are used: tables of a warehouse, events that failed, the next registry."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from trellis.dialects.snowplow.document.json_text import indent_json
from trellis.dialects.snowplow.document.nodes import properties_of
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.registry.http.page_access import read_form
from trellis.dialects.snowplow.registry.http.rendering import family_of, known_permission, render_page
from trellis.dialects.snowplow.registry.http.requests import Service
from trellis.dialects.snowplow.registry.refusals import Refusal, schema_not_found
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.dialects.snowplow.registry.store.permissions import Permission
from trellis.dialects.snowplow.registry.surroundings import NextRegistry, Warehouse
from trellis.errors import TrellisError

Form = Annotated[dict[str, str], Depends(read_form)]

router = APIRouter(include_in_schema=False)


@router.get("/warehouse")
def list_tables(request: Request, service: Service) -> Response:
    """The tables of schemas that the key may read, those with something to look at first."""
    permission, warehouse = known_permission(request, service), _warehouse(service)
    try:
        lines = warehouse.tables()
    except TrellisError as error:
        raise Refusal(503, str(error)) from None
    rows = [
        (line, family_path(line.version))
        for line in lines
        if _may_read(permission, line.version or line.last)
    ]
    rows.sort(key=lambda row: (row[0].state == "current", row[0].state == "behind", row[0].table))
    return render_page(request, "warehouse.html", warehouse=warehouse.shown, rows=rows)


@router.get("/failures")
def list_failures(request: Request, service: Service) -> Response:
    """The events that failed, by reason and place."""
    permission, warehouse = known_permission(request, service), _warehouse(service)
    try:
        groups = warehouse.failures()
    except TrellisError as error:
        raise Refusal(503, str(error)) from None
    rows = [
        (group, family_path(group.schema or ""), _version(group.schema))
        for group in groups
        if _may_read(permission, group.schema or "")
    ]
    return render_page(request, "failures.html", warehouse=warehouse.shown, rows=rows)


@router.get("/families/{vendor}/{name}/{format}/{model}/versions/{version}")
def show_version(
    request: Request,
    service: Service,
    vendor: str,
    name: str,
    format: str,
    model: str,
    version: str,
    pointer: str = "",
) -> Response:
    """A schema, and what it says of one place in the data."""
    family, schemas = family_of(request, service, vendor, name, format, model)
    bodies = {str(schema.key.version): schema.document.body for schema in schemas}
    if version not in bodies:
        raise schema_not_found()
    node = _node_at(bodies[version], pointer)
    return render_page(
        request,
        "version.html",
        family=family,
        version=version,
        pointer=pointer,
        node=None if node is None else indent_json(node),
        text=indent_json(bodies[version]),
    )


@router.get("/promote")
def ask_to_promote(request: Request, service: Service, schema: str = "") -> Response:
    """What would go to the next registry."""
    next_registry = _next_registry(service)
    keys = [document.key for document in _documents_until(request, service, schema)]
    return render_page(
        request, "promote.html", promotions=[], schema=schema, keys=keys, next=next_registry.name
    )


@router.post("/promote")
def promote_schema(request: Request, service: Service, form: Form) -> Response:
    """Publish a version, and those before it that are not there, in the next registry."""
    schema, next_registry = form.get("schema", ""), _next_registry(service)
    documents = _documents_until(request, service, schema)
    keys = [document.key for document in documents]
    try:
        promotions = [*next_registry.promote(documents, form.get("key", "").strip(), public="public" in form)]
    except TrellisError as error:
        raise Refusal(502, str(error)) from None
    return render_page(
        request, "promote.html", promotions=promotions, schema=schema, keys=keys, next=next_registry.name
    )


def family_path(uri: str) -> str:
    """The page of the family of a schema; empty where the text is no address."""
    try:
        return f"/families/{SchemaKey.parse(uri).family}"
    except IgluError:
        return ""


def _version(uri: str | None) -> str:
    return (uri or "").rpartition("/")[2]


def _warehouse(service: RegistryService) -> Warehouse:
    if service.settings.warehouse is None:
        raise Refusal(404, "This registry shows no warehouse; start it with --warehouse")
    return service.settings.warehouse


def _next_registry(service: RegistryService) -> NextRegistry:
    if service.settings.next_registry is None:
        raise Refusal(404, "This registry knows no next one; start it with --next")
    return service.settings.next_registry


def _documents_until(request: Request, service: RegistryService, uri: str) -> list[SchemaDocument]:
    """The versions of a family in their order, until the one with this address. Raises Refusal."""
    permission = known_permission(request, service)
    try:
        key = SchemaKey.parse(uri)
    except IgluError:
        raise schema_not_found() from None
    documents = [schema.document for schema in service.family(permission, key.family)]
    keys = [document.key for document in documents]
    if key not in keys:
        raise schema_not_found()
    return documents[: keys.index(key) + 1]


def _may_read(permission: Permission, uri: str) -> bool:
    """What belongs to no schema is for whoever may read all."""
    try:
        vendor = SchemaKey.parse(uri).vendor
    except IgluError:
        vendor = ""
    return permission.allows("READ", vendor) if vendor else permission.vendor in ("", "*")


def _node_at(body: dict[str, Any], pointer: str) -> Any:
    """What a schema says of a place in the data; None where it says nothing."""
    node: Any = body
    for part in filter(None, pointer.split("/")):
        key = part.replace("~1", "/").replace("~0", "~")
        node = properties_of(node).get(key) or node.get("items")
        if not isinstance(node, dict):
            return None
    return node if pointer.strip("/") else None
