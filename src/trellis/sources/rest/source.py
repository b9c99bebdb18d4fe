"""A whole source from a configuration: a client, and a resource for each endpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from trellis.errors import UsageError, nearest
from trellis.sources.cursors.cursor import Incremental
from trellis.sources.cursors.json_path import MISSING, value_at
from trellis.sources.decorators import resource, source, transformer
from trellis.sources.resources import Resource
from trellis.sources.rest import auth, paginators
from trellis.sources.rest.client import RESTClient
from trellis.sources.sources import Source

Config = Mapping[str, Any]

_AUTHS: Mapping[str, Callable[..., Any]] = {
    "bearer": auth.BearerTokenAuth,
    "api_key": auth.APIKeyAuth,
    "http_basic": auth.HttpBasicAuth,
}
_PAGINATORS: Mapping[str, Callable[..., Any]] = {
    "auto": paginators.HeaderLinkPaginator,
    "cursor": paginators.JSONResponseCursorPaginator,
    "header_link": paginators.HeaderLinkPaginator,
    "json_link": paginators.JSONLinkPaginator,
    "offset": paginators.OffsetPaginator,
    "page_number": paginators.PageNumberPaginator,
    "single_page": paginators.SinglePagePaginator,
}
_CLIENT = ("base_url", "headers", "auth", "paginator", "data_selector", "retries", "backoff", "timeout")
_ENDPOINT = ("path", "params", "method", "json", "data_selector", "paginator", "incremental")
_INCREMENTAL = ("start_param", "cursor_path", "initial_value", "end_value", "row_order", "lag", "primary_key")
_HINTS = (
    *("primary_key", "merge_key", "write_disposition", "columns", "table_name", "max_table_nesting"),
    *("schema_contract", "selected", "parallelized"),
)
_PARENT = re.compile(r"\{resources\.(\w+)\.([^{}]+)\}")
START = "{incremental.start_value}"


def rest_api_source(config: Config, name: str = "rest_api") -> Source:
    """The source that a configuration describes.

    A `{resources.NAME.FIELD}` in the path of an endpoint makes it one request for each row of another
    resource; `include_from_parent` adds fields of that row as `_NAME_FIELD`. Raises UsageError.
    """
    _check(config, ("client", "resource_defaults", "resources"), "the configuration")
    client = _client(config.get("client") or {})
    defaults = config.get("resource_defaults") or {}
    resources: dict[str, Resource] = {}
    for entry in config.get("resources") or ():
        new_resource = _resource(client, _merged(defaults, entry), resources)
        resources[new_resource.name] = new_resource
    if not resources:
        raise UsageError("rest_api_source: no resources; list the endpoints to read under 'resources'")

    @source(name=name)
    def api() -> list[Resource]:
        return [*resources.values()]

    return api()


def _client(config: Config) -> RESTClient:
    _check(config, _CLIENT, "client")
    if "base_url" not in config:
        raise UsageError("client: base_url is missing; it is the URL that all paths are below")
    options = {
        **config,
        "auth": _built(config.get("auth"), _AUTHS, "client.auth"),
        "paginator": _built(config.get("paginator"), _PAGINATORS, "client.paginator"),
    }
    return RESTClient(**options)


def _merged(defaults: Config, entry: str | Config) -> dict[str, Any]:
    """The resource with the defaults of all; endpoints are merged key by key."""
    specific = {"name": entry} if isinstance(entry, str) else dict(entry)
    endpoints: list[dict[str, Any]] = [
        {"path": endpoint} if isinstance(endpoint, str) else dict(endpoint or {})
        for endpoint in (defaults.get("endpoint"), specific.get("endpoint"))
    ]
    params = {**(endpoints[0].get("params") or {}), **(endpoints[1].get("params") or {})}
    return {**defaults, **specific, "endpoint": {**endpoints[0], **endpoints[1], "params": params}}


def _resource(client: RESTClient, config: Config, others: Mapping[str, Resource]) -> Resource:
    name = config.get("name")
    if not isinstance(name, str):
        raise UsageError("resources: a resource without a name; add 'name'")
    where = f"resource {name}"
    _check(config, ("name", "endpoint", "include_from_parent", *_HINTS), where)
    endpoint = config["endpoint"]
    _check(endpoint, _ENDPOINT, f"{where}, endpoint")
    pages = _built(endpoint.get("paginator"), _PAGINATORS, f"{where}, paginator")
    path, params = str(endpoint.get("path", name)), endpoint["params"]

    def read(path: str, params: Config) -> Iterator[list[Any]]:
        return client.paginate(
            path,
            params=params,
            method=endpoint.get("method", "GET"),
            json=endpoint.get("json"),
            paginator=pages,
            data_selector=endpoint.get("data_selector"),
        )

    hints: dict[str, Any] = {key: config[key] for key in _HINTS if key in config}
    parents = {match[1] for match in _PARENT.finditer(path)}
    if parents:
        (parent, *more) = parents
        if more or parent not in others:
            raise UsageError(
                f"{where}: its path names {parent}, which is no resource before it{nearest(parent, others)}"
            )
        return _child(read, name, path, params, parent, config, hints, others)
    if endpoint.get("incremental"):
        return _incremental(read, name, path, params, endpoint["incremental"], hints)
    return resource(lambda: read(path, params), name=name, **hints)


def _incremental(
    read: Callable[[str, Config], Iterator[list[Any]]],
    name: str,
    path: str,
    params: Config,
    config: Config,
    hints: Config,
) -> Resource:
    _check(config, _INCREMENTAL, f"resource {name}, incremental")
    cursor: Incremental[Any] = Incremental(**{key: config[key] for key in config if key != "start_param"})

    def rows(after: Any = cursor) -> Iterator[list[Any]]:
        start = after.start_value
        filled = {key: _with_start(value, start) for key, value in params.items()}
        if "start_param" in config and start is not None:
            filled[config["start_param"]] = start
        return read(str(_with_start(path, start)), filled)

    return resource(rows, name=name, **hints)


def _child(
    read: Callable[[str, Config], Iterator[list[Any]]],
    name: str,
    path: str,
    params: Config,
    parent: str,
    config: Config,
    hints: Config,
    others: Mapping[str, Resource],
) -> Resource:
    fields = tuple(config.get("include_from_parent") or ())

    def rows(items: Any) -> Iterator[list[Any]]:
        for item in items if isinstance(items, list) else [items]:
            added = {f"_{parent}_{field}": _value(item, field) for field in fields}
            for page in read(_filled(path, item, name), params):
                yield [{**row, **added} if isinstance(row, dict) else row for row in page]

    return transformer(rows, name=name, data_from=others[parent], **hints)


def _value(item: Any, path: str) -> Any:
    value = value_at(item, path)
    return None if value is MISSING else value


def _filled(path: str, item: Any, name: str) -> str:
    """The path with the fields of a row of the other resource. Raises UsageError."""

    def field(match: re.Match[str]) -> str:
        value = _value(item, match[2])
        if value is None:
            raise UsageError(f"resource {name}: a row of {match[1]} has no {match[2]}, which its path needs")
        return quote(str(value), safe="")

    return _PARENT.sub(field, path)


def _with_start(value: Any, start: Any) -> Any:
    return value.replace(START, str(start)) if isinstance(value, str) else value


def _built(value: Any, kinds: Mapping[str, Callable[..., Any]], where: str) -> Any:
    """What a name, or a mapping with a `type`, stands for; anything else as it is. Raises UsageError."""
    if isinstance(value, str):
        value = {"type": value}
    if not isinstance(value, Mapping):
        return value
    options = dict(value)
    kind = options.pop("type", "bearer" if "token" in options else None)
    if kind not in kinds:
        raise UsageError(f"{where}: there is no type {kind!r}{nearest(str(kind), kinds)}")
    try:
        return kinds[kind](**options)
    except TypeError as error:
        message = str(error).partition(") ")[2] or str(error)
        raise UsageError(f"{where}: {kind} {message}") from None


def _check(config: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(config, Mapping):
        raise UsageError(f"{where}: a mapping is expected, not {config!r}")
    for key in config:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}{nearest(str(key), known)}")
