"""Tables that were made by hand or by older generators, described so that loads go on with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from trellis.dialects.snowplow.client.registry import SchemaNotFound
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.merge import holds
from trellis.dialects.snowplow.columns.overlay import Overlay, Override
from trellis.dialects.snowplow.document.nodes import pointer_to
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.runs.loading.migration import FamilyVersions
from trellis.dialects.snowplow.runs.loading.verification import real_type, type_text
from trellis.dialects.snowplow.runs.warehouses.tables import RealColumn, RealTable
from trellis.errors import SchemaError, UsageError, nearest

_SIGNS: Final = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True)
class Obstacle:
    """Why a column cannot be adopted as it is."""

    column: str
    reason: str


@dataclass(frozen=True)
class Adoption:
    """What makes a table one that loads know: the version for its comment, and an overlay."""

    table: str
    version: SchemaKey
    overlay: Overlay
    obstacles: tuple[Obstacle, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "version": str(self.version),
            "overlay": self.overlay.to_dict(),
            "obstacles": [vars(obstacle) for obstacle in self.obstacles],
        }


@dataclass(frozen=True)
class TableAdopter:
    """Finds the version of a table and how its columns differ. `named` are columns by pointer."""

    families: FamilyVersions
    named: Mapping[str, str] = field(default_factory=dict)

    def adopt(self, name: str, table: RealTable, listed: Sequence[SchemaKey], version: str = "") -> Adoption:
        """The adoption by one version; without a name by that of the comment, or by the last that fits.

        `listed` are the versions of the family of the table. Raises UsageError.
        """
        self._check_named(table, listed)
        if version:
            return self._adopt_as(name, table, listed[: _position(version, listed) + 1])
        known = [position for position, key in enumerate(listed) if str(key) == table.comment]
        if known:
            return self._adopt_as(name, table, listed[: known[0] + 1])
        adoptions = [self._adopt_as(name, table, listed[:size]) for size in range(len(listed), 0, -1)]
        return min(adoptions, key=lambda adoption: len(adoption.obstacles))

    def _adopt_as(self, name: str, table: RealTable, keys: Sequence[SchemaKey]) -> Adoption:
        family = self.families.named(keys)
        known = self.families.overlay(keys[0].family) or Overlay({})
        matches = self._match(family.columns, table, known)
        overrides = dict(self._overrides(family.columns, matches, table))
        overlay = replace(known, overrides={**_of_later_versions(known, family.columns), **overrides})
        obstacles = self._obstacles(family.columns, matches)
        unknown = _unknown_columns(family.columns, matches, table)
        return Adoption(name, family.key, overlay, (*obstacles, *unknown))

    def _match(self, columns: Sequence[Column], table: RealTable, known: Overlay) -> dict[str, RealColumn]:
        """The real columns by the names that rules give them: as named, here or in the overlay that is there,
        of the same name, of a like name."""
        named = {pointer: override.column for pointer, override in known.overrides.items()} | {**self.named}
        data = {column.name: column for column in table.columns if column.name not in _metadata_names()}
        matches: dict[str, RealColumn] = {}
        for names_of in (partial(_named_columns, named), _same_columns, _like_columns):
            for column in columns:
                names = [] if column.name in matches else names_of(column, data)
                if len(names) == 1:
                    matches[column.name] = data.pop(names[0])
        return matches

    def _overrides(
        self, columns: Sequence[Column], matches: Mapping[str, RealColumn], table: RealTable
    ) -> Iterator[tuple[str, Override]]:
        profile = self.families.profile
        known = [column for column in columns if column.name in matches]
        places = [name for name in table.names if name not in _metadata_names()]
        is_moved = [matches[column.name].name for column in known] != [
            name for name in places if name in {real.name for real in matches.values()}
        ]
        for column in known:
            real = matches[column.name]
            actual = type_text(real, profile)
            override = Override(
                column=real.name if real.name != column.name else None,
                type=actual if actual != profile.type_text(column.type) and real_type(real) else None,
                position=places.index(real.name) + 1 if is_moved else None,
            )
            if override != Override() and column.pointer is not None:
                yield column.pointer, override

    def _obstacles(self, columns: Sequence[Column], matches: Mapping[str, RealColumn]) -> Iterator[Obstacle]:
        profile = self.families.profile
        for column in columns:
            real = matches.get(column.name)
            if real is None:
                yield Obstacle(
                    column.name,
                    f"missing: the table has no column like it for {column.pointer}; name one with --column "
                    f"{column.pointer}=NAME, or add {profile.type_text(column.type)}",
                )
                continue
            actual = real_type(real)
            if actual is None:
                yield Obstacle(real.name, f"is {real.type}, which is no type of schemas")
            elif not holds(profile.adapt(actual), column.type):
                yield Obstacle(
                    real.name,
                    f"is {real.type}, and values of {column.pointer} need {profile.type_text(column.type)}",
                )
            if column.nullable and not real.nullable:
                yield Obstacle(real.name, f"is NOT NULL, and events may leave {column.pointer} out")

    def _check_named(self, table: RealTable, listed: Sequence[SchemaKey]) -> None:
        pointers = {column.pointer or "" for column in self.families.named(listed).columns}
        for pointer, name in self.named.items():
            if pointer not in pointers:
                raise UsageError(
                    f"--column {pointer}={name}: schemas have no property {pointer}"
                    f"{nearest(pointer, sorted(pointers))}"
                )
            if name not in table.names:
                raise UsageError(
                    f"--column {pointer}={name}: the table has no such column{nearest(name, table.names)}"
                )


def _of_later_versions(known: Overlay, columns: Sequence[Column]) -> dict[str, Override]:
    """What an overlay says of other columns than these."""
    pointers = {pointer_to(*path) for column in columns for path in column.paths}
    return {pointer: override for pointer, override in known.overrides.items() if pointer not in pointers}


def _named_columns(named: Mapping[str, str | None], column: Column, names: Collection[str]) -> list[str]:
    name = named.get(column.pointer or "")
    return [name] if name is not None and name in names else []


def _same_columns(column: Column, names: Collection[str]) -> list[str]:
    return [column.name] if column.name in names else []


def _like_columns(column: Column, names: Collection[str]) -> list[str]:
    return [name for name in names if _plain(name) == _plain(column.name)]


def _unknown_columns(
    columns: Sequence[Column], matches: Mapping[str, RealColumn], table: RealTable
) -> Iterator[Obstacle]:
    """The columns of a table that belong to nothing, and those that every table needs."""
    matched = {real.name for real in matches.values()}
    for name in sorted(_metadata_names() - {*table.names}):
        yield Obstacle(name, "missing: every table of a schema has this column")
    for column in table.columns:
        if column.name not in matched and column.name not in _metadata_names():
            unmatched = [other.pointer for other in columns if other.name not in matches]
            hint = f"name it with --column POINTER={column.name}, or " if unmatched else ""
            yield Obstacle(column.name, f"belongs to no property; {hint}drop it")


def key_of_table(name: str, comment: str | None, families: FamilyVersions) -> SchemaKey:
    """A version of the family that a table is of, by its comment, or else by its name.

    Raises SchemaError; UsageError where it is needed, and there is none, that registries list their schemas.
    """
    with suppress(IgluError, SchemaNotFound):
        return families.versions(SchemaKey.parse(comment or "").family)[0]
    for key in families.registry.list_keys():
        if families.table_name(key.family) == name:
            return key
    raise SchemaError(
        f"{name}: no schema of the registry has a table of this name; rename the table: "
        "vendor, name and model with underscores, such as com_acme_event_1"
    )


def _position(version: str, listed: Sequence[SchemaKey]) -> int:
    versions = [str(key.version) for key in listed]
    if version not in versions:
        raise UsageError(f"--version {version}: the registry has no such version{nearest(version, versions)}")
    return versions.index(version)


def _metadata_names() -> set[str]:
    return {column.name for column in METADATA}


def _plain(name: str) -> str:
    return _SIGNS.sub("", name.lower())
