"""The schema languages. One engine, one folder each; none imports another."""

from __future__ import annotations

from importlib import import_module

from trellis.errors import UsageError, nearest
from trellis.evolution.dialect import Dialect

_DIALECTS = {
    "dlt": ("trellis.dialects.dlt", "Dlt"),
    "pinot": ("trellis.dialects.pinot", "Pinot"),
    "rudderstack": ("trellis.dialects.rudderstack", "RudderStack"),
}


def names() -> tuple[str, ...]:
    return tuple(_DIALECTS)


def get_dialect(name: str) -> Dialect:
    """The dialect of that name. Raises UsageError where there is none."""
    if name not in _DIALECTS:
        raise UsageError(f"there is no dialect {name!r}{nearest(name, _DIALECTS)}")
    module, attribute = _DIALECTS[name]
    made: Dialect = getattr(import_module(module), attribute)()
    return made
