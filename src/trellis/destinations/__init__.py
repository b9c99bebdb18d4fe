"""The warehouses that loads go to: one folder each, and what they share. None imports another.

A folder of this package with a module `registration` is a destination. Other distributions add destinations
as entry points of the group `trellis.destinations`, which name a `Registration`; the name of the entry point
is the scheme of its URLs:

    [project.entry-points."trellis.destinations"]
    acme = "acme_trellis.registration:registration"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from trellis import dialects
from trellis.destinations.registration import Registration
from trellis.destinations.url import redacted, split_naming
from trellis.dialects.documents import get_naming
from trellis.errors import UsageError, nearest
from trellis.plugins import PluginGroup

if TYPE_CHECKING:
    from trellis.destinations.base import Destination

DEFAULT_DESTINATION = "duckdb:trellis.duckdb"

_GROUP: Final = PluginGroup("destination", __name__, Registration)


def registrations() -> Mapping[str, Registration]:
    """All destinations by name, those of this package first, those that dialects bring last."""
    return {**_of_dialects(), **_GROUP.registrations}


def _of_dialects() -> dict[str, Registration]:
    return {
        name: Registration(open=cast("Callable[[str], Destination]", brought.open), url_form=brought.url_form)
        for dialect in dialects.registrations().values()
        for name, brought in dialect.destinations.items()
    }


def open_destination(url: str) -> Destination:
    """The destination of a URL such as `duckdb:shop.duckdb`. Raises UsageError.

    It names the naming convention that it wants: `duckdb:shop.duckdb?naming_convention=direct`.

    >>> open_destination("duckdb:shop.duckdb?naming_convention=direct").abilities.naming
    'direct'
    """
    base, naming = split_naming(url)
    registration = _registration_of(base, url)
    registration.request_packages(base)
    destination = registration.open(base)
    if naming is not None:
        destination.abilities = replace(destination.abilities, naming=get_naming(naming).name)
    return destination


def request_packages(url: str) -> None:
    """Let a session that starts in this process have what a destination needs of it. Raises UsageError."""
    base, _ = split_naming(url)
    _registration_of(base, url).request_packages(base)


def _registration_of(base: str, url: str) -> Registration:
    """What opens a URL, which has no naming convention any more in `base`. Raises UsageError."""
    scheme, colon, _ = base.partition(":")
    registration = (_GROUP.find(scheme) or _schemes().get(scheme)) if colon else None
    if registration is None:
        forms = ", ".join(sorted(other.url_form for other in registrations().values()))
        hint = nearest(scheme, _schemes()) if colon else f"; write one of {forms}"
        raise UsageError(f"{redacted(url)!r} names no destination{hint}")
    return registration


def _schemes() -> Mapping[str, Registration]:
    """The registration of every scheme; a name goes before another destination's other scheme."""
    schemes = dict(registrations())
    for registration in registrations().values():
        for scheme in registration.other_schemes:
            schemes.setdefault(scheme, registration)
    return schemes
