"""What is known of the tables of a dataset, each of which is looked at when somebody asks for it.

A schema that others use, too, may have many tables that no load touches, and some that nobody can read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from typing import TypeVar

from trellis.destinations.base import CatalogTable
from trellis.schema.model import NOTHING

V = TypeVar("V")


class TableLookup(Mapping[str, V]):
    """`lookups` tell something of a table, by its name; each is called at most once."""

    def __init__(self, lookups: Mapping[str, Callable[[], V]]) -> None:
        self._lookups = {name: cache(look) for name, look in lookups.items()}

    def __getitem__(self, name: str) -> V:
        return self._lookups[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._lookups

    def __iter__(self) -> Iterator[str]:
        return iter(self._lookups)

    def __len__(self) -> int:
        return len(self._lookups)


def changed_catalog(
    catalog: Mapping[str, CatalogTable],
    removed: Collection[str] = (),
    changed: Mapping[str, CatalogTable] = NOTHING,
) -> Mapping[str, CatalogTable]:
    """A catalog without some of its tables, with others in their place or beside them.

    >>> orders, users = CatalogTable("orders"), CatalogTable("users")
    >>> sorted(changed_catalog({"orders": orders}, ["orders"], {"users": users}))
    ['users']
    """
    kept = {name: partial(catalog.__getitem__, name) for name in catalog if name not in removed}
    return TableLookup(kept | {name: partial(changed.__getitem__, name) for name in changed})
