"""The tables of families, as rows of entities go into them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, Literal, Protocol

from trellis.dialects.snowplow.columns.column_types import MAX_VARCHAR, TypeName, varchar
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable, columns_of
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.overlay import Overlay, merge_with_overlay
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.document.json_text import (
    decimal_of,
    encodable,
    is_whole,
    read_json,
    write_json,
)
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.document.validation import SchemaValidator
from trellis.dialects.snowplow.document.value_checks import value_checks
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.events.event import Entity, ShreddedEvent
from trellis.dialects.snowplow.identity.keys import Criterion, SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS, text_of, value_of
from trellis.evolution.line_projection import EntityColumn, EntityProjection
from trellis.schema.model import DataType

_MOST_VIOLATIONS: Final = 5
ENTITY_COLUMN: Final = "_entity"
"""Which kind of entity a row is of; only in rows that are marked."""
RECORD_COLUMN: Final = "_record"
"""The place of the event in the input; only in rows that are marked."""
JSON_SIGN: Final = "~json "
"""What RECORD_COLUMN begins with in rows of self-describing JSON, whose event has no row in `events`. It is
greater than what others begin with."""
VERSION_SIGN: Final = "@"
"""Between the table of a family and a version, where each version has a table."""
_METADATA: Final = tuple(column.name for column in METADATA)
SCHEMA_COLUMNS: Final = _METADATA[:4]
"""What they say of the schema: vendor, name, format, version."""


Layout = Literal["model", "version", "wide"]
"""What a table is of: a family with its merged columns; one version with its own columns, as files of a run
alone; or all events with their entities."""
DATA: Final = Column("data", varchar(MAX_VARCHAR), nullable=True, paths=((),))
"""The one column of a version whose entities stay JSON."""
Rows = list[tuple[str, dict[str, Any]]]
"""The rows of one event by table; that of `events` comes first, if there is one."""


class EntityRows(Protocol):
    """Makes the rows of entities of one family. `documents` are its schemas, up to the last that is used."""

    @property
    def documents(self) -> Sequence[SchemaDocument]: ...

    def check(self, entity: Entity) -> None:
        """Raises BadEvent for an entity that is invalid under its schema."""
        ...

    def add_entity(self, entity: Entity, event: ShreddedEvent, rows: Rows) -> None:
        """Add an entity to the rows of its event. Raises BadEvent."""
        ...

    def projection(self, key: SchemaKey, validate: bool) -> EntityProjection | None:
        """How entities of a schema become rows, many at a time; None where each is one of its own kind."""
        ...


@dataclass(frozen=True)
class DataFormats:
    """In files with a format for each version: the schemas whose entities are lines of values, and those
    whose entities stay JSON. What both name is lines of values; what neither names is JSON with
    `json_by_default`, else lines of values."""

    tsv: tuple[Criterion, ...] = ()
    json: tuple[Criterion, ...] = ()
    json_by_default: bool = False

    def is_json(self, key: SchemaKey) -> bool:
        is_tsv = any(criterion.matches(key) for criterion in self.tsv)
        return not is_tsv and (self.json_by_default or any(criterion.matches(key) for criterion in self.json))


@dataclass(frozen=True)
class EntityTable:
    """A table that entities go into: of a family, or of the one version that `key` is."""

    name: str
    key: SchemaKey
    columns: Sequence[Column]
    is_recovered: bool = False
    """It is of a version that does not fit the table of its family."""

    @property
    def is_json(self) -> bool:
        return tuple(self.columns) == (DATA,)


@dataclass(frozen=True)
class FamilyRules:
    """How the tables of families follow from their schemas.

    `as_text`: all columns of the schemas get texts, as in the files that loaders read. `marked`: rows say in
    ENTITY_COLUMN which kind of entity they are of. `by_version`: each version has a table with its own
    columns, or with its JSON where `formats` say so. `unbounded`: texts have no length.
    """

    profile: Profile
    compat: bool = False
    as_text: bool = False
    marked: bool = False
    by_version: bool = False
    formats: DataFormats = DataFormats()
    unbounded: bool = False


@dataclass(frozen=True)
class FamilySchemas:
    """The schemas of one family in their order, up to the last that is used."""

    documents: Sequence[SchemaDocument]

    @cached_property
    def _validators(self) -> Mapping[SchemaKey, SchemaValidator]:
        return {document.key: SchemaValidator(document.body) for document in self.documents}

    def check(self, entity: Entity) -> None:
        """Raises BadEvent for an entity that is invalid under its schema."""
        validator = self._validators[entity.key]
        try:
            if validator.is_valid(entity.data):
                return
            violations = list(validator.violations(entity.data))
        except RecursionError:
            raise BadEvent("schema_violations", f"{entity.key}: nested too deep to be validated") from None
        shown = "; ".join(
            f"{violation.pointer or '/'} {violation.keyword}: {violation.message}"
            for violation in violations[:_MOST_VIOLATIONS]
        )
        raise BadEvent("schema_violations", f"{entity.key}: {shown}")


@dataclass(frozen=True)
class FamilyRows(FamilySchemas):
    """Makes the rows of one family, each entity one in the table of the family or of its version."""

    rules: FamilyRules
    overlay: Overlay | None = None
    """How the table of the family differs from what the schemas say."""

    @cached_property
    def table(self) -> FamilyTable:
        rules = self.rules
        return merge_with_overlay(self.documents, rules.profile, self.overlay, compat=rules.compat)

    @cached_property
    def tables(self) -> Mapping[SchemaKey, EntityTable]:
        """The table that entities of each version go into."""
        if self.rules.by_version:
            return {document.key: self._version_table(document) for document in self.documents}
        family = EntityTable(self.table.name, self.table.key, self.table.columns)
        recovered = {
            recovery.key: EntityTable(recovery.name, recovery.key, recovery.columns, is_recovered=True)
            for recovery in self.table.recovery
        }
        return {document.key: recovered.get(document.key, family) for document in self.documents}

    def add_entity(self, entity: Entity, event: ShreddedEvent, rows: Rows) -> None:
        rows.append(self.row(entity, event))

    def pointer_of(self, key: SchemaKey, column: str) -> str:
        """Where entities of a version have the values of a column."""
        pointers = (item.pointer for item in self.tables[key].columns if item.name == column)
        return next(pointers, None) or "/"

    def projection(self, key: SchemaKey, validate: bool) -> EntityProjection | None:
        if (key, validate) not in self._projections:
            self._projections[key, validate] = self._make_projection(key, validate)
        return self._projections[key, validate]

    @cached_property
    def _projections(self) -> dict[tuple[SchemaKey, bool], EntityProjection | None]:
        """Those that were asked for; all tasks of a process use the same."""
        return {}

    def _make_projection(self, key: SchemaKey, validate: bool) -> EntityProjection | None:
        layout = self._row_layouts[key]
        if layout.is_json:
            return None
        columns = tuple(
            EntityColumn(column.name, column.paths, _READ_AS.get(column.type.name, "text"))
            for column, *_ in layout.cells
        )
        constants = {name: text for name, text in layout.metadata.items() if text is not None}
        projection = EntityProjection(layout.table, constants, columns)
        if not validate:
            return projection
        [document] = (document for document in self.documents if document.key == key)
        kinds = {path: column.read_as for column in columns for path in column.paths}
        is_valid = partial(_is_valid, self._validators[key])
        return replace(projection, checks=value_checks(document.body, kinds), is_valid=is_valid)

    def row(self, entity: Entity, event: ShreddedEvent) -> tuple[str, dict[str, Any]]:
        """The table of an entity, and its row; NULL is left out."""
        layout = self._row_layouts[entity.key]
        row = {**layout.metadata, "root_id": event.id, "root_tstamp": event.collected_at}
        if self.rules.marked:
            row[ENTITY_COLUMN] = entity.kind
        data = entity.data
        if layout.is_json:
            row[DATA.name] = write_json(data)
            return layout.table, row
        is_object = isinstance(data, dict)
        for column, key, convert in layout.cells:
            value = value_of(column, data) if key is None else data.get(key) if is_object else None
            if value is not None:
                row[column.name] = convert(value)
        return layout.table, row

    @cached_property
    def _row_layouts(self) -> Mapping[SchemaKey, _RowLayout]:
        return {key: _row_layout(key, table, self.rules.as_text) for key, table in self.tables.items()}

    def _version_table(self, document: SchemaDocument) -> EntityTable:
        key, rules = document.key, self.rules
        recovered = {recovery.key: recovery.name for recovery in self.table.recovery}
        if rules.formats.is_json(key):
            columns = [DATA]
        else:
            profile = self.overlay.profile(rules.profile) if self.overlay else rules.profile
            columns = columns_of(document, profile, compat=rules.compat)
            if self.overlay is not None and key not in recovered:
                columns = self.overlay.apply_in_place(columns)
        name = recovered.get(key, self.table.name)
        return EntityTable(f"{name}{VERSION_SIGN}{key.version}", key, columns, key in recovered)


@dataclass(frozen=True)
class _RowLayout:
    """How entities of one version become rows: what all of them have in common, and what is read."""

    table: str
    is_json: bool
    metadata: Mapping[str, Any]
    cells: Sequence[tuple[Column, str | None, Callable[[Any], object]]]
    """Columns with the one key that has their values, unless there are several or they are further below."""


def _row_layout(key: SchemaKey, table: EntityTable, as_text: bool) -> _RowLayout:
    version, tree = str(key.version), write_json([EVENTS, key.name])
    metadata = (key.vendor, key.name, key.format, version, None, None, EVENTS, tree, EVENTS)
    cells = []
    for column in table.columns:
        only_key = column.paths[0][0] if len(column.paths) == len(column.paths[0]) == 1 else None
        is_text = as_text or column.type.name in ("CHAR", "VARCHAR")
        cells.append((column, only_key, _text if is_text else _CONVERTERS.get(column.type.name, _plain)))
    return _RowLayout(table.name, table.is_json, dict(zip(_METADATA, metadata, strict=True)), cells)


def _is_valid(validator: SchemaValidator, text: str) -> bool:
    try:
        return validator.is_valid(read_json(text))
    except RecursionError:
        return False


def _text(value: object) -> str:
    return encodable(text_of(value) or "")


def _plain(value: object) -> object:
    """A value of JSON as one that a column of this type may take; what does not fit stays as it is."""
    return encodable(value) if isinstance(value, str) else value


def _number(convert: Callable[[Any], object]) -> Callable[[object], object]:
    def convert_number(value: object) -> object:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return convert(value) if is_number else _plain(value)

    return convert_number


def _integer(value: Any) -> object:
    if value.__class__ is int and -(10**18) < value < 10**18:
        return value
    exact = decimal_of(value)
    return int(exact) if abs(exact.adjusted()) < 40 and is_whole(value) else exact


def _double(value: float) -> object:
    """Beyond a double, the exact value, which its column does not take."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else decimal_of(value)


_READ_AS: Final[Mapping[TypeName, DataType]] = {
    "SMALLINT": "bigint",
    "INT": "bigint",
    "BIGINT": "bigint",
    "DECIMAL": "double",
    "DOUBLE": "double",
    "BOOLEAN": "bool",
}
"""As what the ordinary values of a column are read; those of others are texts."""
_CONVERTERS: Final[Mapping[TypeName, Callable[[object], object]]] = {
    "SMALLINT": _number(_integer),
    "INT": _number(_integer),
    "BIGINT": _number(_integer),
    "DECIMAL": _number(decimal_of),
    "DOUBLE": _number(_double),
}
