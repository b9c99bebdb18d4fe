"""The warehouses. `open_destination` finds the one that a URL names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import NamedTuple

from trellis.destinations.base import Destination
from trellis.destinations.postgres.url import redacted
from trellis.destinations.preference import naming_in, refuse_options
from trellis.dialects.documents import get_naming
from trellis.engine.storage.location import is_remote, local_path, redacted_url
from trellis.errors import UsageError, nearest


class _Scheme(NamedTuple):
    """Where a destination is found; it is made from what follows the scheme, or from the `whole` URL."""

    module: str
    name: str
    form: str
    whole: bool = False


_POSTGRES = _Scheme(
    "trellis.destinations.postgres.destination", "Postgres", "postgresql://USER@HOST/DATABASE", whole=True
)
_SCHEMES: Mapping[str, _Scheme] = {
    "duckdb": _Scheme("trellis.destinations.duckdb.destination", "DuckDB", "duckdb:PATH"),
    "parquet": _Scheme("trellis.destinations.parquet.destination", "Parquet", "parquet:PATH"),
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
}


def open_destination(url: str) -> Destination:
    """The destination of a URL such as `duckdb:shop.duckdb`. Raises UsageError.

    It wants the naming convention that stands behind it: `duckdb:shop.duckdb?naming_convention=direct`.

    >>> open_destination("duckdb:shop.duckdb?naming_convention=direct").abilities.naming
    'direct'
    """
    where, naming = naming_in(url)
    scheme, colon, rest = where.partition(":")
    if not colon or scheme not in _SCHEMES:
        known = ", ".join(dict.fromkeys(each.form for each in _SCHEMES.values()))
        hint = nearest(scheme, _SCHEMES) if colon else f"; write one of {known}"
        raise UsageError(f"{redacted(url)!r} names no destination{hint}")
    found = _SCHEMES[scheme]
    path = rest.removeprefix("//")
    if not found.whole:
        path = _local(scheme, path)
    if not path and not found.whole:
        raise UsageError(f"{url!r} has no path; write {found.form}")
    if not found.whole:
        refuse_options(where)
    make = getattr(import_module(found.module), found.name)
    made: Destination = make(where if found.whole else path)
    if naming is not None:
        made.abilities = replace(made.abilities, naming=get_naming(naming).name)
    return made


def _local(scheme: str, path: str) -> str:
    """The local path behind a scheme. Raises UsageError for the URL of another file system.

    >>> _local("parquet", "file:///data/lake")
    '/data/lake'
    """
    if is_remote(path):
        raise UsageError(
            f"{scheme}:{redacted_url(path)}: tables on a remote file system are not supported yet; "
            f"name a local path, such as {scheme}:shop"
        )
    return local_path(path)
