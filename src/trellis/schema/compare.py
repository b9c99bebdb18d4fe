"""What differs between two schemas: changes that know whether they are breaking."""

from __future__ import annotations

from builtins import property as derived  # two of the classes have a field `property`
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trellis.schema.dict_form import column_keys, plain, stated_keys, table_keys
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table

PROCESSING = frozenset({"x-normalizer", "x-loader", "x-extractor"})
KEYS = frozenset({"primary_key", "unique"})


@dataclass(frozen=True)
class _WholeTable:
    definition: Table

    @derived
    def table(self) -> str:
        return self.definition.name

    @derived
    def column(self) -> None:
        return None


@dataclass(frozen=True)
class AddTable(_WholeTable):
    breaking: bool = field(default=False, init=False)

    def describe(self) -> str:
        """
        >>> AddTable(Table("orders", {"id": Column("id", "bigint")})).describe()
        'orders is new, with 1 column'
        """
        count = len(self.definition.columns)
        return f"{self.table} is new, with {count} column{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class DropTable(_WholeTable):
    breaking: bool = field(default=True, init=False)

    def describe(self) -> str:
        return f"{self.table} is gone"


@dataclass(frozen=True)
class _WholeColumn:
    table: str
    definition: Column

    @derived
    def column(self) -> str:
        return self.definition.name


@dataclass(frozen=True)
class AddColumn(_WholeColumn):
    @derived
    def breaking(self) -> bool:
        """Rows that are there already have no value for it."""
        return self.definition.complete and self.definition.required

    def describe(self) -> str:
        """
        >>> AddColumn("orders", Column("id", "bigint", nullable=False)).describe()
        'orders.id is new: bigint, required'
        """
        kind = self.definition.data_type or "its type is not known yet"
        return f"{self.table}.{self.column} is new: {kind}{', required' if self.definition.required else ''}"


@dataclass(frozen=True)
class DropColumn(_WholeColumn):
    @derived
    def breaking(self) -> bool:
        """A column without a type was never created."""
        return self.definition.complete

    def describe(self) -> str:
        return f"{self.table}.{self.column} is gone"


@dataclass(frozen=True)
class RenameTable:
    """`before` is the earlier name."""

    table: str
    before: str
    breaking: bool = field(default=True, init=False)

    @derived
    def column(self) -> None:
        return None

    def describe(self) -> str:
        return f"{self.before} is renamed to {self.table}"


@dataclass(frozen=True)
class RenameColumn:
    """`before` is the earlier name."""

    table: str
    column: str
    before: str
    breaking: bool = field(default=True, init=False)

    def describe(self) -> str:
        """
        >>> RenameColumn("orders", "quantity", "qty").describe()
        'orders.qty is renamed to quantity'
        """
        return f"{self.table}.{self.before} is renamed to {self.column}"


@dataclass(frozen=True)
class ChangeColumn:
    """One property of a column; None stands for "not said"."""

    table: str
    column: str
    property: str
    before: Any
    after: Any

    @derived
    def breaking(self) -> bool:
        return _is_breaking(self.property, self.before, self.after)

    def describe(self) -> str:
        """
        >>> ChangeColumn("orders", "qty", "data_type", "bigint", "double").describe()
        'orders.qty: data_type was bigint, is double'
        """
        if self.property == NESTED_TYPE:
            return f"{self.table}.{self.column}: {_nested_type(self.before, self.after)}"
        return f"{self.table}.{self.column}: {_describe_change(self.property, self.before, self.after)}"


@dataclass(frozen=True)
class ChangeTable:
    """One property of a table; None stands for "not said"."""

    table: str
    property: str
    before: Any
    after: Any

    @derived
    def column(self) -> None:
        return None

    @derived
    def breaking(self) -> bool:
        return self.property in ("parent", "table_format")

    def describe(self) -> str:
        return f"{self.table}: {_describe_change(self.property, self.before, self.after)}"


Change = (
    AddTable | DropTable | RenameTable | AddColumn | DropColumn | RenameColumn | ChangeColumn | ChangeTable
)


@dataclass(frozen=True)
class ChangeSchema:
    """One property of the schema as a whole, such as `settings.detections`."""

    property: str
    before: Any
    after: Any
    breaking: bool = field(default=False, init=False)

    def describe(self) -> str:
        return f"schema: {_describe_change(self.property, self.before, self.after)}"


def compare(
    before: Schema | None,
    after: Schema,
    processing: bool = False,
) -> tuple[Change, ...]:
    """The changes that lead from one schema to the other: what is gone, then table by table.

    `processing=True` takes in the notes of the normalizer, such as whether a table has seen data. Neither
    the order of columns nor the settings are compared here: for the latter see `compare_settings`.
    """
    old = before.tables if before else {}
    return (*_dropped(old.values(), after), *_tables(old, after, processing))


def retyped(before: Schema, after: Schema) -> dict[str, list[str]]:
    """Columns, by table, that both have, with another data type or precision afterwards."""
    changed: dict[str, list[str]] = {}
    for name, table in after.tables.items():
        old_columns = before.tables[name].columns if name in before.tables else {}
        for column in table.columns.values():
            old_column = old_columns.get(column.name)
            if old_column is None or old_column is column or not old_column.complete or not column.complete:
                continue
            if _stored_as(old_column) != _stored_as(column):
                changed.setdefault(name, []).append(column.name)
    return changed


def gains_columns(before: Schema, after: Schema) -> bool:
    """Whether a table that both have gets columns."""
    return any(
        name in before.tables and table.columns.keys() - before.tables[name].columns.keys()
        for name, table in after.tables.items()
    )


def _stored_as(column: Column) -> tuple[Any, ...]:
    return column.data_type, column.precision, column.scale, column.hint(NESTED_TYPE)


def compare_settings(before: Schema | None, after: Schema) -> tuple[ChangeSchema, ...]:
    """The changes outside the tables: description, settings, normalizers."""
    old, new = _settings_of(before), _settings_of(after)
    return tuple(
        ChangeSchema(key, old.get(key), new.get(key))
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    )


def _settings_of(schema: Schema | None) -> dict[str, Any]:
    if schema is None:
        return {}
    names = ("detections", "default_hints", "preferred_types", "schema_contract")
    settings = stated_keys(schema.settings, names)
    return {
        "description": schema.description,
        **{f"settings.{key}": value for key, value in settings.items()},
        **{f"normalizers.{key}": plain(value) for key, value in schema.normalizers.items()},
    }


def _dropped(old: Any, after: Schema) -> Iterator[Change]:
    for table in old:
        if table.name not in after.tables:
            yield DropTable(table)


def _tables(old: Any, after: Schema, processing: bool) -> Iterator[Change]:
    for table in after.tables.values():
        if table.name not in old:
            yield AddTable(table)
            continue
        for key, old_value, new_value in _differences(
            table_keys(old[table.name]), table_keys(table), processing
        ):
            yield ChangeTable(table.name, key, old_value, new_value)
        yield from _columns(old[table.name], table, processing)


def _columns(old: Table, new: Table, processing: bool) -> Iterator[Change]:
    for column in old.columns.values():
        if column.name not in new.columns:
            yield DropColumn(old.name, column)
    for column in new.columns.values():
        if column.name not in old.columns:
            yield AddColumn(new.name, column)
            continue
        old_properties, new_properties = column_keys(old.columns[column.name]), column_keys(column)
        for key, before, after in _differences(old_properties, new_properties, processing):
            yield ChangeColumn(new.name, column.name, key, before, after)


def _differences(
    old: dict[str, Any], new: dict[str, Any], processing: bool
) -> Iterator[tuple[str, Any, Any]]:
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key) and (processing or key not in PROCESSING):
            yield key, old.get(key), new.get(key)


def _is_breaking(key: str, before: Any, after: Any) -> bool:
    """Whether values that were right before may not fit any more."""
    if key == "data_type":
        return before is not None
    if key == "nullable":
        return after is False
    if key == "timezone":
        return (before is False) != (after is False)
    if key == "precision":
        return after is not None and (before is None or after < before)
    if key == "scale":
        return True
    return key in KEYS and bool(after)


def _nested_type(before: Any, after: Any) -> str:
    """The hint says nothing to a reader."""
    if before and after:
        return "its nested values get another type"
    names = ("JSON text", "nested")
    return f"its values were {names[bool(before)]}, are {names[bool(after)]}"


def _describe_change(key: str, before: Any, after: Any) -> str:
    def shown(value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Mapping) and all(isinstance(setting, str) for setting in value.values()):
            return ", ".join(f"{name}={setting}" for name, setting in value.items()) or "empty"
        return "not set" if value is None else str(value)

    return f"{key} was {shown(before)}, is {shown(after)}"
