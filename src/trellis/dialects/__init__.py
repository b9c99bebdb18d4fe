"""The schema languages: one engine, one folder each; none imports another.

A folder of this package is a dialect, and its module `registration` says what it brings. Deleting the folder
removes the dialect and nothing else. Other distributions add dialects as entry points of the group
`trellis.dialects`, which name a `Registration`:

    [project.entry-points."trellis.dialects"]
    acme = "acme_trellis.registration:registration"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from trellis.dialects.registration import Registration
from trellis.errors import UsageError, nearest
from trellis.plugins import PluginGroup

if TYPE_CHECKING:
    from trellis.evolution.dialect import Dialect
    from trellis.schema.history import HistoryColumns

DEFAULT_DIALECT = "dlt"

_GROUP: Final = PluginGroup("dialect", __name__, Registration)


def names() -> tuple[str, ...]:
    """The dialects that can be used, those of this package first."""
    return tuple(name for name, registration in registrations().items() if registration.dialect)


def registrations() -> Mapping[str, Registration]:
    """All dialects by name, also those that cannot load; those of this package first."""
    return _GROUP.registrations


def get_dialect(name: str) -> Dialect:
    """The dialect of that name. Raises UsageError where there is none."""
    dialect = registration_of(name).dialect
    if dialect is None:
        raise UsageError(
            f"dialect {name!r} has commands of its own and loads nothing{nearest(name, names())}"
        )
    return dialect()


def registration_of(name: str) -> Registration:
    """What the dialect of that name brings. Raises UsageError where there is none."""
    if registration := _GROUP.find(name):
        return registration
    if name == DEFAULT_DIALECT:
        raise UsageError(
            f"the default dialect {name} is not installed; choose another with --dialect NAME "
            f"(dialect=NAME in Python): {' or '.join(names()) or 'none is installed'}"
        )
    raise UsageError(f"there is no dialect {name!r}{nearest(name, names())}")


def system_prefixes() -> tuple[str, ...]:
    """What the names begin with that any dialect keeps for itself, beside those of Trellis."""
    return tuple(
        registration.system_prefix for registration in registrations().values() if registration.system_prefix
    )


def history_columns() -> HistoryColumns | None:
    """Those of tables with the strategy scd2 whose dialect is not known yet: of the first that has any."""
    columns = (registration.history_columns() for registration in registrations().values())
    return next(filter(None, columns), None)
