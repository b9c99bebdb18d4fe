"""Pages for people: plain HTML with nothing from another host. One has a script that it can do without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, BackgroundTasks, Depends, Request
from starlette.responses import FileResponse, RedirectResponse, Response

from trellis.dialects.snowplow.columns.names import table_name, wide_column_name
from trellis.dialects.snowplow.columns.profiles import PROFILES, get_profile
from trellis.dialects.snowplow.ddl.rendering import Rendering
from trellis.dialects.snowplow.document.json_text import indent_json
from trellis.dialects.snowplow.document.schema_document import META_SCHEMA, SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.kind.data_changes import data_changes
from trellis.dialects.snowplow.kind.rules import needs_of
from trellis.dialects.snowplow.registry.family_history import describe_versions
from trellis.dialects.snowplow.registry.http.page_access import KEY_COOKIE, read_form, set_cookies
from trellis.dialects.snowplow.registry.http.rendering import (
    FOLDER,
    family_of,
    known_permission,
    permission_of,
    render_page,
)
from trellis.dialects.snowplow.registry.http.requests import MAX_BODY, Service, parse_json
from trellis.dialects.snowplow.registry.publishing import Preview
from trellis.dialects.snowplow.registry.refusals import Refusal, schema_not_found
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.dialects.snowplow.registry.webhooks import call_webhooks
from trellis.errors import UsageError

TEMPLATE: Final = {
    "$schema": META_SCHEMA,
    "self": {"vendor": "com.acme", "name": "event", "format": "jsonschema", "version": "1-0-0"},
    "description": "",
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}
Form = Annotated[dict[str, str], Depends(read_form)]

router = APIRouter(include_in_schema=False)
_FAMILY = "/families/{vendor}/{name}/{format}/{model}"


@router.get("/static/style.css")
def style() -> Response:
    return FileResponse(FOLDER / "templates/style.css", media_type="text/css")


@router.get("/static/publish.js")
def publish_script() -> Response:
    return FileResponse(FOLDER / "templates/publish.js", media_type="text/javascript")


@router.get("/static/swagger-ui")
def describe_api(request: Request) -> Response:
    """The calls of the API as OpenAPI has them."""
    calls = [
        {"method": method.upper(), "path": path, "summary": call.get("description", "")}
        for path, methods in request.app.openapi()["paths"].items()
        for method, call in methods.items()
    ]
    return render_page(request, "api.html", calls=calls)


@router.get("/")
def list_families(request: Request, service: Service, q: str = "") -> Response:
    permission = permission_of(request, service)
    families: dict[Family, list[SchemaKey]] = {}
    for uri in service.list_schemas(permission):
        key = SchemaKey.parse(str(uri))
        if q.casefold() in f"{key.vendor}/{key.name}".casefold():
            families.setdefault(key.family, []).append(key)
    return render_page(request, "families.html", families=sorted(families.items()), q=q)


@router.get(_FAMILY)
def show_family(
    request: Request, service: Service, vendor: str, name: str, format: str, model: str
) -> Response:
    family, schemas = family_of(request, service, vendor, name, format, model)
    versions = service.cached(("versions", family, len(schemas)), lambda: describe_versions(schemas))
    return render_page(request, "family.html", family=family, versions=versions, profiles=[*PROFILES])


@router.get(_FAMILY + "/compare")
def compare_versions(
    request: Request,
    service: Service,
    vendor: str,
    name: str,
    format: str,
    model: str,
    left: str = "",
    right: str = "",
) -> Response:
    """Two versions side by side; without a choice the last two."""
    family, schemas = family_of(request, service, vendor, name, format, model)
    documents = {str(schema.key.version): schema.document for schema in schemas}
    *before, last = documents
    left, right = left or (before or [last])[-1], right or last
    if left not in documents or right not in documents:
        raise schema_not_found()
    chosen = (documents[left], documents[right])
    changes = [*data_changes(chosen[0].body, chosen[1].body)]
    sides = mark_lines(*(indent_json(document.body).split("\n") for document in chosen))
    return render_page(
        request,
        "compare.html",
        family=family,
        versions=[*documents],
        left=left,
        right=right,
        changes=changes,
        sides=sides,
    )


@router.get(_FAMILY + "/tables")
def show_tables(
    request: Request,
    service: Service,
    vendor: str,
    name: str,
    format: str,
    model: str,
    target: str = "redshift",
    start: str = "",
) -> Response:
    """The statements of a family in one warehouse, and its script from a version to the last one."""
    family, schemas = family_of(request, service, vendor, name, format, model)
    documents = [schema.document for schema in schemas]
    try:
        rendering = Rendering(get_profile(target), "atomic", overlays=service.overlays(family))
        scripts = [*rendering.scripts([documents], SchemaVer.parse(start))] if start else []
    except (UsageError, IgluError) as error:
        raise Refusal(400, str(error)) from None
    return render_page(
        request,
        "tables.html",
        family=family,
        target=target,
        profiles=[*PROFILES],
        start=start,
        versions=[str(schema.key.version) for schema in schemas],
        tables=rendering.tables({family: documents}),
        scripts=scripts,
    )


@router.get("/publish")
def edit_schema(request: Request, service: Service, schema: str = "") -> Response:
    """A schema to be edited: one that is there, or an empty one."""
    document: object = TEMPLATE
    if schema:
        try:
            key = SchemaKey.parse(schema)
        except IgluError:
            raise schema_not_found() from None
        document = service.schema(permission_of(request, service), key).document.to_dict()
    return render_page(request, "publish.html", text=indent_json(document), is_public=False)


@router.post("/publish")
def publish_schema(request: Request, service: Service, tasks: BackgroundTasks, form: Form) -> Response:
    """Show what publishing would meet, or publish."""
    text, is_public = form.get("text", ""), "public" in form
    values: dict[str, Any] = {"text": text, "is_public": is_public}
    try:
        permission = known_permission(request, service)
        document = parse_json(_limited(text))
        if "publish" in form:
            report = service.publisher.publish(document, permission, is_public=is_public)
            updated = report.outcome == "patched"
            tasks.add_task(call_webhooks, service.settings.webhooks, report.key, updated=updated)
            return RedirectResponse(f"/families/{report.key.family}", 303)
        preview = service.publisher.preview(document, is_public=is_public)
        values |= _preview_values(service, preview)
        if "renumber" in form and preview.document and preview.suggestion:
            values["text"] = _renumbered(preview.document, preview.suggestion.version)
    except Refusal as refusal:
        return render_page(request, "publish.html", refusal.status, refusal=refusal.to_dict(), **values)
    return render_page(request, "publish.html", **values)


@router.get("/key")
def ask_for_key(request: Request, service: Service) -> Response:
    return render_page(request, "key.html", permission=permission_of(request, service))


@router.post("/key")
def take_key(request: Request, service: Service, form: Form) -> Response:
    """Keep the key in a cookie until the browser is closed."""
    key = form.get("key", "").strip()
    response = RedirectResponse("/", 303)
    if "forget" in form:
        response.delete_cookie(KEY_COOKIE)
        return response
    if not service.permission(key).is_known:
        raise Refusal(403, "The registry does not know this key")
    set_cookies(request, response, {KEY_COOKIE: key})
    return response


def _preview_values(service: RegistryService, preview: Preview) -> dict[str, Any]:
    document, verdict = preview.document, preview.verdict
    if document is None or verdict is None:
        return {"preview": preview}
    family = document.key.family
    profiles = service.settings.kinds.profiles
    overlays = service.overlays(family)
    family_documents = [other for other in preview.family if other.key != document.key]
    return {
        "preview": preview,
        "needs": {profile.name: needs_of(verdict.changes, profile.name) for profile in profiles},
        "statements": {
            profile.name: Rendering(profile, "atomic", overlays=overlays).effect(family_documents, document)
            for profile in profiles
        },
        "names": {
            "table": table_name(family),
            "column of an event": wide_column_name("unstruct_event", family),
            "column of an entity": wide_column_name("contexts", family),
        },
    }


def mark_lines(left: Sequence[str], right: Sequence[str]) -> Sequence[Sequence[tuple[str, bool]]]:
    """The lines of two indented documents, each with whether the other one lacks it, wherever it has it.

    >>> mark_lines(["{", '  "a": 1,', '  "b": 2', "}"], ["{", '  "a": 1', "}"])[0]
    [('{', False), ('  "a": 1,', False), ('  "b": 2', True), ('}', False)]
    """
    places = [*map(_places, (left, right))]
    return [
        [(line, place not in others) for line, place in zip(lines, line_places, strict=True)]
        for lines, line_places, others in zip(
            (left, right), places, map(frozenset, reversed(places)), strict=True
        )
    ]


def _places(lines: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Each line below those that it is indented below, and how many equal ones came there before."""
    places, above, counts = [], list[str](), Counter[tuple[str, ...]]()
    for line in lines:
        text = line.lstrip(" ")
        del above[(len(line) - len(text)) // 2 :]
        above.append(text.removesuffix(","))
        counts[tuple(above)] += 1
        places.append((tuple(above), counts[tuple(above)]))
    return places


def _renumbered(document: SchemaDocument, version: SchemaVer) -> str:
    key = document.key.with_version(version)
    return indent_json(SchemaDocument(key, document.body, supersedes=document.supersedes).to_dict())


def _limited(text: str) -> bytes:
    body = text.encode()
    if len(body) > MAX_BODY:
        raise Refusal(413, f"The schema has more than {MAX_BODY} bytes")
    return body
