"""The table of a family: its schemas in their order, merged into one list of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trellis.dialects.snowplow.columns.declarations import recovery_name
from trellis.dialects.snowplow.columns.flatten import Column, flatten
from trellis.dialects.snowplow.columns.merge import fit
from trellis.dialects.snowplow.columns.names import table_name
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaKey


@dataclass(frozen=True)
class Break:
    """Why a schema does not fit the table of its family."""

    column: Column
    """The column that is there."""
    message: str


@dataclass(frozen=True)
class Step:
    """What one schema does to the table of its family."""

    key: SchemaKey
    added: tuple[Column, ...] = ()
    widened: tuple[Column, ...] = ()
    """Columns with their new types."""
    released: tuple[Column, ...] = ()
    """Columns that are NOT NULL no longer."""
    breaks: tuple[Break, ...] = ()
    """Where there are any, the table stays as it is, and the schema gets one of its own."""


@dataclass(frozen=True)
class RecoveryTable:
    """The table of a schema that does not fit that of its family."""

    name: str
    key: SchemaKey
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class FamilyTable:
    """The table of a family after its last schema."""

    name: str
    columns: tuple[Column, ...]
    steps: tuple[Step, ...]
    recovery: tuple[RecoveryTable, ...] = ()
    shortened: Mapping[str, str] = field(default_factory=dict)
    """The names of tables and columns that the warehouse has no room for, with what they become."""
    orders: tuple[tuple[str, ...], ...] = ()
    """Those of tables that earlier versions made and loads grew, where an overlay places columns."""

    @property
    def key(self) -> SchemaKey:
        """The version of the table: the last schema that it holds."""
        return next(step.key for step in reversed(self.steps) if not step.breaks)


@dataclass
class FamilyMerge:
    """Schemas of one family, added in their order."""

    profile: Profile
    compat: bool = False
    columns: dict[str, Column] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    recovery: list[RecoveryTable] = field(default_factory=list)
    shortened: dict[str, str] = field(default_factory=dict)
    _last: Mapping[str, Column] = field(default_factory=dict, repr=False)
    """The columns of the last schema that fits, by its names: of the same objects nothing has to be done."""

    def add(self, document: SchemaDocument, flat: Sequence[Column] | None = None) -> Step:
        """`flat` is what `flatten` makes of the schema, where the caller has it."""
        flat = flatten(document.body, compat=self.compat) if flat is None else flat
        last, fitting = self._last, {column.name: column for column in flat}
        changed = [self._adapt(column) for column in flat if last.get(column.name) is not column]
        gone = last.keys() - fitting.keys()
        step = self._compare(document.key, changed, {self.profile.shorten(name) for name in gone})
        if step.breaks:
            columns = tuple(map(self._adapt, flat))
            name = recovery_name(table_name(document.key.family), document.key, columns, self.profile)
            self.recovery.append(RecoveryTable(self._shorten(name), document.key, columns))
        else:
            self._last = fitting
            self.columns |= {column.name: column for column in step.added}
            for column in changed:
                self._add_paths(column)
            for column in step.widened:
                self._change_column(column.name, type=column.type)
            for column in step.released:
                self._change_column(column.name, nullable=True)
        self.steps.append(step)
        return step

    def compare(self, key: SchemaKey, columns: Sequence[Column]) -> Step:
        """What a schema with these columns would do to the table."""
        return self._compare(key, columns, self.columns.keys() - {column.name for column in columns})

    def _compare(self, key: SchemaKey, columns: Sequence[Column], gone: Collection[str]) -> Step:
        """What a schema would do in which these columns are others than before, and some are gone."""
        if not self.steps:
            return Step(key, tuple(columns))
        if not columns and not gone:
            return Step(key)
        new = {column.name: column for column in columns}
        added = tuple(replace(column, nullable=True) for column in columns if column.name not in self.columns)
        released = tuple(
            column
            for name, column in self.columns.items()
            if not column.nullable and (name in gone or (name in new and new[name].nullable))
        )
        breaks = list(self._type_breaks(new))
        if not self.profile.drops_not_null:
            breaks += (Break(column, f"Making required column nullable {column.name}") for column in released)
        if breaks:
            return Step(key, breaks=tuple(breaks))
        widened = tuple(
            replace(column, type=new[name].type)
            for name, column in self.columns.items()
            if name in new and fit(column.type, new[name].type, self.profile) == "widens"
        )
        return Step(key, added, widened, released)

    def table(self) -> FamilyTable:
        """The table so far; there is at least one schema."""
        name = self._shorten(table_name(self.steps[0].key.family))
        columns, recovery = tuple(self.columns.values()), tuple(self.recovery)
        return FamilyTable(name, columns, tuple(self.steps), recovery, dict(self.shortened))

    def _adapt(self, column: Column) -> Column:
        adapted = _adapted(column, self.profile)
        if adapted.name != column.name:
            self.shortened[column.name] = adapted.name
        return adapted

    def _shorten(self, name: str) -> str:
        short = self.profile.shorten(name)
        if short != name:
            self.shortened[name] = short
        return short

    def _type_breaks(self, new: dict[str, Column]) -> Iterator[Break]:
        for name, old in self.columns.items():
            if name in new and fit(old.type, new[name].type, self.profile) == "breaks":
                types = (self.profile.type_text(column.type) for column in (old, new[name]))
                yield Break(old, "Incompatible types in column {} old {} new {}".format(name, *types))

    def _change_column(self, name: str, **changes: Any) -> None:
        self.columns[name] = replace(self.columns[name], **changes)

    def _add_paths(self, column: Column) -> None:
        """Read a column from the keys of its newest version, too."""
        paths = self.columns[column.name].paths
        if added := tuple(path for path in column.paths if path not in paths):
            self._change_column(column.name, paths=(*paths, *added))


def merge_family(
    documents: Sequence[SchemaDocument], profile: Profile, *, compat: bool = False
) -> FamilyTable:
    """The table of schemas of one family, in the order in which they were registered."""
    merge = FamilyMerge(profile, compat)
    for document in documents:
        merge.add(document)
    return merge.table()


def columns_of(document: SchemaDocument, profile: Profile, *, compat: bool = False) -> list[Column]:
    """The columns of one schema by itself, with the names and types of the warehouse."""
    return [_adapted(column, profile) for column in flatten(document.body, compat=compat)]


def _adapted(column: Column, profile: Profile) -> Column:
    name, column_type = profile.shorten(column.name), profile.adapt(column.type)
    if name is column.name and column_type is column.type:
        return column
    return Column(name, column_type, column.nullable, column.paths, column.own_encoding)
