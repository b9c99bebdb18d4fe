"""The warehouses. `open_destination` finds the one that a URL names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from trellis.destinations.base import Destination
from trellis.errors import UsageError, nearest

_SCHEMES: Mapping[str, tuple[str, str]] = {
    "duckdb": ("trellis.destinations.duckdb", "DuckDB"),
    "parquet": ("trellis.destinations.parquet", "Parquet"),
}


def open_destination(url: str) -> Destination:
    """The destination of a URL such as `duckdb:shop.duckdb`. Raises UsageError."""
    scheme, colon, rest = url.partition(":")
    if not colon or scheme not in _SCHEMES:
        known = ", ".join(f"{name}:PATH" for name in _SCHEMES)
        hint = nearest(scheme, _SCHEMES) if colon else f"; write one of {known}"
        raise UsageError(f"{url!r} names no destination{hint}")
    path = rest.removeprefix("//")
    if not path:
        raise UsageError(f"{url!r} has no path; write {scheme}:PATH")
    module, name = _SCHEMES[scheme]
    made: Destination = getattr(import_module(module), name)(path)
    return made
