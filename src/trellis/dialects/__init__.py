"""The schema languages: one engine, one folder each; none imports another.

A folder of this package is a dialect, and its module `registration` says what it brings. Deleting the folder
removes the dialect and nothing else. The metadata of the installed distribution is not asked for these: it is
missing where the code travels without it (a zip file, or a source tree on the PYTHONPATH of Spark's workers),
and in an editable install it may be older than the code.

Other distributions add dialects as entry points of the group `trellis.dialects`, which name a `Registration`:

    [project.entry-points."trellis.dialects"]
    acme = "acme_trellis.registration:registration"

A dialect of this package goes before an entry point of the same name.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration
from trellis.errors import UsageError, nearest

if TYPE_CHECKING:
    from trellis.evolution.dialect import Dialect
    from trellis.schema.history import HistoryColumns

DEFAULT_DIALECT = "dlt"
GROUP = "trellis.dialects"


def names() -> tuple[str, ...]:
    """The dialects that can be used, those of this package first."""
    return tuple(registrations())


def get_dialect(name: str) -> Dialect:
    """The dialect of that name. Raises UsageError where there is none."""
    return registration_of(name).dialect()


def registration_of(name: str) -> Registration:
    """What the dialect of that name brings. Raises UsageError where there is none."""
    if name in _packages():
        return _registration_in(name)
    for entry_point in entry_points(group=GROUP, name=name):
        return _load(entry_point)
    if name == DEFAULT_DIALECT:
        raise UsageError(
            f"the default dialect {name} is not installed; choose another with --dialect NAME "
            f"(dialect=NAME in Python): {' or '.join(names()) or 'none is installed'}"
        )
    raise UsageError(f"there is no dialect {name!r}{nearest(name, names())}")


def system_prefixes() -> tuple[str, ...]:
    """What the names begin with that any dialect keeps for itself, beside those of Trellis."""
    return tuple(each.system_prefix for each in registrations().values() if each.system_prefix)


def history_columns() -> HistoryColumns | None:
    """Those of tables with the strategy scd2 whose dialect is not known yet: of the first that has any."""
    return next(filter(None, (each.history_columns() for each in registrations().values())), None)


@lru_cache(1)
def registrations() -> Mapping[str, Registration]:
    """All dialects by name. An entry point whose module was removed is left out."""
    found = {name: _registration_in(name) for name in _packages()}
    for entry_point in entry_points(group=GROUP):
        if entry_point.name in found:
            continue
        try:
            found[entry_point.name] = _load(entry_point)
        except UsageError as broken:
            if not _is_missing(entry_point, broken.__cause__):
                warnings.warn(str(broken), stacklevel=2)
    return found


@lru_cache(1)
def _packages() -> tuple[str, ...]:
    return tuple(module.name for module in iter_modules(__path__) if module.ispkg)


def _registration_in(package: str) -> Registration:
    registration: Registration = import_module(f"{__name__}.{package}.registration").registration
    return registration


def _load(entry_point: EntryPoint) -> Registration:
    where = f"dialect {entry_point.name!r}"
    if entry_point.dist is not None:
        where = f"{where} of {entry_point.dist.name}"
    try:
        registration = entry_point.load()
    except Exception as error:
        raise UsageError(
            f"{where}: {entry_point.value} cannot be imported ({error}); repair its distribution or remove it"
        ) from error
    if not isinstance(registration, Registration):
        raise UsageError(
            f"{where}: {entry_point.value} is a {type(registration).__name__}, not a Registration of "
            f"{Registration.__module__}; correct its entry point"
        )
    return registration


def _is_missing(entry_point: EntryPoint, error: BaseException | None) -> bool:
    """Whether the module itself is not there, rather than one that it imports."""
    absent = error.name if isinstance(error, ModuleNotFoundError) else None
    return absent is not None and f"{entry_point.module}.".startswith(f"{absent}.")
