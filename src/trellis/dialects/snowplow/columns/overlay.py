"""What differs in a table that was not made by our rules (docs/conformance/snowplow.md, D-16)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from trellis.dialects.snowplow.columns.column_types import MAX_VARCHAR, ColumnType, TypeName, char, varchar
from trellis.dialects.snowplow.columns.family_table import FamilyTable, merge_family
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.names import column_name
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile
from trellis.dialects.snowplow.document.nodes import pointer_to
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.errors import SchemaError, nearest

_TYPE: Final = re.compile(r"([A-Za-z_ ]+?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?")
_TYPES: Final[Mapping[str, TypeName]] = {
    "SMALLINT": "SMALLINT",
    "INT": "INT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "DECIMAL": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "DOUBLE PRECISION": "DOUBLE",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "CHAR": "CHAR",
    "CHARACTER": "CHAR",
    "VARCHAR": "VARCHAR",
    "CHARACTER VARYING": "VARCHAR",
    "TEXT": "VARCHAR",
    "STRING": "VARCHAR",
}
"""Types as users write them, and as catalogs of warehouses show them."""
_NUMBERS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("CHAR", "CHARACTER", "VARCHAR", "CHARACTER VARYING"), 1),
    **dict.fromkeys(("DECIMAL", "NUMERIC"), 2),
}
"""How many numbers may stand behind a type; none behind others, also not behind TEXT and STRING."""
_LENGTHS: Final = ("no length", "one length", "digits and scale")
_DATA: Final = "$.data."
_SHORTENED: Final = "shortened"


@dataclass(frozen=True)
class Override:
    """What a column is instead of what its schemas say."""

    column: str | None = None
    type: str | None = None
    encode: str | None = None
    position: int | None = None
    """Counted from 1, without the columns that each table has."""

    def apply(self, column: Column) -> Column:
        return replace(
            column,
            name=self.column or column.name,
            type=parse_type(self.type) if self.type else column.type,
            own_encoding=self.encode or column.own_encoding,
        )


@dataclass(frozen=True)
class Overlay:
    """Overrides by the pointer of a value in the data, such as /geo/lat, in every warehouse.

    `shortened` are the names of tables and columns that a warehouse has no room for, with what they are
    there. Limits differ, so these are kept for each warehouse.
    """

    overrides: Mapping[str, Override]
    shortened: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @staticmethod
    def parse(document: object) -> Overlay:
        """Of `{"/berth": {"column": "dock", "type": "VARCHAR(64)", "encode": "LZO", "position": 1}}`, each
        part of which may be absent, or of a JSONPaths file, which has positions alone. Beside the pointers
        `{"shortened": {"postgres": {"a_long_name": "a_name"}}}` may stand.

        Raises SchemaError.
        """
        if not isinstance(document, dict):
            raise SchemaError("an overlay is an object of pointers such as /berth")
        if isinstance(paths := document.get("jsonpaths"), list):
            return Overlay(_positions(paths))
        pointers = {pointer: parts for pointer, parts in document.items() if pointer != _SHORTENED}
        overrides = {pointer: _override(pointer, parts) for pointer, parts in pointers.items()}
        return Overlay(overrides, _short_names(document.get(_SHORTENED, {})))

    def to_dict(self) -> dict[str, Any]:
        overrides = {
            pointer: {name: part for name, part in asdict(override).items() if part is not None}
            for pointer, override in self.overrides.items()
        }
        shortened = {warehouse: dict(names) for warehouse, names in self.shortened.items()}
        return {**overrides, **({_SHORTENED: shortened} if shortened else {})}

    def with_names(self, warehouse: str, names: Mapping[str, str]) -> Overlay:
        """The overlay that also keeps these names; those that it has stay."""
        kept = {**names, **self.shortened.get(warehouse, {})}
        return replace(self, shortened={**self.shortened, warehouse: kept})

    def profile(self, profile: Profile) -> Profile:
        """The profile with the names that are kept for its warehouse."""
        return replace(profile, short_names=self.shortened.get(profile.name, {}))

    def check(self, documents: Sequence[SchemaDocument]) -> None:
        """That the table of these schemas has all the columns, each name once. Raises SchemaError."""
        for warehouse in self.shortened:
            merge_named(documents, PROFILES[warehouse], self)
        table = merge_family(documents, PROFILES["redshift"])
        pointers = {pointer_to(*path) for column in table.columns for path in column.paths}
        for pointer in self.overrides.keys() - pointers:
            raise SchemaError(f"{table.name} has no column of {pointer}{nearest(pointer, sorted(pointers))}")
        names = [column.name for column in self.apply(table).columns]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise SchemaError(f"{table.name} would have the column {repeated[0]!r} twice; name it otherwise")

    def apply(self, table: FamilyTable) -> FamilyTable:
        """The table with its columns as the overlay has them; those without a position keep their order."""
        has_places = any(override.position is not None for override in self.overrides.values())
        orders = tuple(dict.fromkeys(self._orders(table))) if has_places else ()
        return replace(table, columns=tuple(self._placed(table.columns)), orders=orders)

    def apply_in_place(self, columns: Iterable[Column]) -> list[Column]:
        """Columns of one version as the overlay has them, in their own order."""
        return [self._override_of(column).apply(column) for column in columns]

    def _placed(self, columns: Sequence[Column]) -> list[Column]:
        placed, moved = list[Column](), list[tuple[int, Column]]()
        for column in columns:
            override = self._override_of(column)
            if override.position is None:
                placed.append(override.apply(column))
            else:
                moved.append((override.position, override.apply(column)))
        for position, column in sorted(moved, key=itemgetter(0)):
            placed.insert(position - 1, column)
        return placed

    def _orders(self, table: FamilyTable) -> Iterator[tuple[str, ...]]:
        """A table that an earlier version made gets the columns of later ones at its end."""
        for size in accumulate(len(step.added) for step in table.steps):
            columns = (*self._placed(table.columns[:size]), *self.apply_in_place(table.columns[size:]))
            yield tuple(column.name for column in columns)

    def _override_of(self, column: Column) -> Override:
        pointers = (pointer_to(*path) for path in column.paths)
        named = (self.overrides[pointer] for pointer in pointers if pointer in self.overrides)
        return next(named, Override())


def merge_named(
    documents: Sequence[SchemaDocument], profile: Profile, overlay: Overlay | None, *, compat: bool = False
) -> FamilyTable:
    """The table of schemas with the names that an overlay keeps, and otherwise as rules make it.

    Raises SchemaError where two of its columns have one name.
    """
    table = merge_family(documents, overlay.profile(profile) if overlay else profile, compat=compat)
    for column in table.columns:
        names = sorted({column_name(path) for path in column.paths})
        if len(names) > 1:
            raise SchemaError(
                f"{table.name}: the overlay of {table.key.family} gives {' and '.join(names)} one name in "
                f"{profile.name}, {column.name!r}; name one of them otherwise"
            )
    return table


def merge_with_overlay(
    documents: Sequence[SchemaDocument], profile: Profile, overlay: Overlay | None, *, compat: bool = False
) -> FamilyTable:
    """The table of schemas, as its overlay has it where there is one. Raises SchemaError."""
    table = merge_named(documents, profile, overlay, compat=compat)
    return overlay.apply(table) if overlay else table


def parse_type(text: str) -> ColumnType:
    """
    >>> parse_type("varchar(64)"), parse_type("DECIMAL (36, 2)").scale
    (ColumnType(name='VARCHAR', size=64, scale=0), 2)

    Raises SchemaError.
    """
    match = _TYPE.fullmatch(text.strip())
    name = " ".join(match[1].upper().split()) if match else ""
    if match is None or name not in _TYPES:
        raise SchemaError(f"unknown type {text!r}{nearest(name, _TYPES)}")
    numbers = sum(number is not None for number in match.groups()[1:])
    if numbers > _NUMBERS.get(name, 0):
        hint = f"; write VARCHAR({match[2]})" if _TYPES[name] == "VARCHAR" else ""
        raise SchemaError(f"unknown type {text!r}: {name} takes {_LENGTHS[_NUMBERS.get(name, 0)]}{hint}")
    if not numbers and _TYPES[name] in ("CHAR", "VARCHAR"):
        return char(1) if _TYPES[name] == "CHAR" else varchar(MAX_VARCHAR)
    return ColumnType(_TYPES[name], int(match[2]) if match[2] else None, int(match[3] or 0))


def _positions(paths: Sequence[object]) -> dict[str, Override]:
    data = [path.removeprefix(_DATA) for path in paths if isinstance(path, str) and path.startswith(_DATA)]
    pointers = [pointer_to(*path.split(".")) for path in data]
    return {pointer: Override(position=position) for position, pointer in enumerate(pointers, start=1)}


def _short_names(document: object) -> dict[str, dict[str, str]]:
    """Raises SchemaError."""
    if not isinstance(document, dict) or not all(isinstance(names, dict) for names in document.values()):
        raise SchemaError(
            f"{_SHORTENED}: expected short names by long ones, for each warehouse, such as "
            '{"postgres": {"a_long_name": "a_name"}}'
        )
    for warehouse, names in document.items():
        if warehouse not in PROFILES:
            raise SchemaError(f"{_SHORTENED}: unknown warehouse {warehouse!r}{nearest(warehouse, PROFILES)}")
        _check_short_names(PROFILES[warehouse], names)
    return document


def _check_short_names(profile: Profile, names: Mapping[str, object]) -> None:
    """Raises SchemaError."""
    longer: dict[object, str] = {}
    for name, short in names.items():
        where = f"{_SHORTENED}/{profile.name}/{name}"
        if not (isinstance(short, str) and short and profile.has_room(short)):
            limits = profile.warehouse.identifiers
            raise SchemaError(
                f"{where}: {short!r} is no name in {profile.name}; expected a text of at most "
                f"{limits.max_length} {limits.unit}"
            )
        if short in longer:
            raise SchemaError(f"{where}: {longer[short]} is {short!r} already; name one of them otherwise")
        longer[short] = name


def _override(pointer: str, parts: object) -> Override:
    kinds = {"column": str, "type": str, "encode": str, "position": int}
    if not isinstance(parts, dict) or not all(
        name in kinds and type(part) is kinds[name] for name, part in parts.items()
    ):
        raise SchemaError(f"{pointer}: expected the texts column, type, encode and the number position")
    override = Override(**parts)
    if override.type:
        parse_type(override.type)
    if override.encode and not re.fullmatch(r"[A-Za-z0-9]+", override.encode):
        raise SchemaError(f"{pointer}: {override.encode!r} is no encoding; expected one such as ZSTD")
    if override.position is not None and override.position < 1:
        raise SchemaError(f"{pointer}: positions count from 1")
    return override
