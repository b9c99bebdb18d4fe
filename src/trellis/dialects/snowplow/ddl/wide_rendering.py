"""Families as columns of wide rows in Spark, and the scripts between their versions, as one report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile
from trellis.dialects.snowplow.ddl.rendering import ColumnReport, Rendering, ScriptReport, TableReport
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.typed.fields import Entity
from trellis.dialects.snowplow.typed.merge import WideColumns, merge_wide_columns
from trellis.dialects.snowplow.typed.types import Array, Decimal, Field, ScalarName, Struct, Type
from trellis.dialects.snowplow.versions.order import up_to
from trellis.errors import UsageError, nearest
from trellis.warehouses.statements import ColumnDefinition, add_columns

_LAYOUTS: Final = ("model", "wide")
_SPARK: Final = PROFILES["spark"]
_ENTITIES: Final[tuple[Entity, ...]] = ("unstruct_event", "contexts")
_SCALARS: Final[Mapping[ScalarName, str]] = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "double": "DOUBLE",
    "string": "STRING",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "json": "STRING",
}


@dataclass(frozen=True)
class WideRendering:
    """A schema may be that of an event or of a context, so each family has two columns."""

    dataset: str

    def tables(self, families: Mapping[Family, Sequence[SchemaDocument]]) -> list[TableReport]:
        """What each family adds to the table of events."""
        return [report for documents in families.values() for report in self._reports(documents)]

    def scripts(
        self, families: Iterable[Sequence[SchemaDocument]], start: SchemaVer
    ) -> Iterator[ScriptReport]:
        """What brings the columns of families that have the version `start` to their last versions."""
        for documents in families:
            if any(document.key.version == start for document in documents):
                before, after = map(_merge, (up_to(start, documents), documents))
                statements = [
                    statement
                    for old, new in zip(before, after, strict=True)
                    for statement in self._growth(old, new)
                ]
                yield ScriptReport(before[0].keys[-1], after[0].keys[-1], _script(statements))

    def _reports(self, documents: Sequence[SchemaDocument]) -> Iterator[TableReport]:
        merged = _merge(documents)
        yield self._report(merged[0].keys[-1], [wide.column for wide in merged], None)
        for recovered in zip(*(wide.recovered for wide in merged), strict=True):
            key = recovered[0][0]
            yield self._report(key, [column for _, column in recovered], key.version)

    def _report(self, key: SchemaKey, columns: Sequence[Field], recovers: SchemaVer | None) -> TableReport:
        reports = tuple(
            ColumnReport(column.name, type_text(column.type), None, True, None) for column in columns
        )
        return TableReport(EVENTS, key, _script(self._added(columns)), reports, recovers)

    def _added(self, columns: Iterable[Field]) -> list[str]:
        definitions = [ColumnDefinition(column.name, type_text(column.type)) for column in columns]
        return add_columns(_SPARK.warehouse, self._reference, definitions) if definitions else []

    def _growth(self, before: WideColumns, after: WideColumns) -> Iterator[str]:
        for path, data_type in missing_fields(before.column.type, after.column.type):
            field = _SPARK.warehouse.quote(after.column.name, *path)
            yield f"ALTER TABLE {self._reference} ADD COLUMNS ({field} {type_text(data_type)})"
        known = {key for key, _ in before.recovered}
        yield from self._added(column for key, column in after.recovered if key not in known)

    @property
    def _reference(self) -> str:
        return _SPARK.warehouse.reference(self.dataset, EVENTS)


def rendering_of(
    layout: str, profile: Profile, dataset: str, compat: bool, overlays: Mapping[Family, Overlay]
) -> Rendering | WideRendering:
    """What shows tables in a layout: model or wide. Raises UsageError."""
    if layout not in _LAYOUTS:
        raise UsageError(f"layout: there is no {layout!r}{nearest(layout, _LAYOUTS)}")
    if layout == "model":
        return Rendering(profile, dataset, compat, overlays)
    if profile is not _SPARK:
        raise UsageError(
            f"layout wide: {profile.name} has no statements for wide rows; expected target spark"
        )
    return WideRendering(dataset)


def missing_fields(old: Type, new: Type) -> Iterator[tuple[tuple[str, ...], Type]]:
    """The fields that a type lacks which a later one has, with their paths.

    >>> berth, depth = Field("berth", Array(Struct(()), False), True), Field("depth", Decimal(9, 2), True)
    >>> list(missing_fields(Array(Struct((berth,)), False), Array(Struct((berth, depth)), False)))
    [(('element', 'depth'), Decimal(precision=9, scale=2))]
    """
    if isinstance(old, Array) and isinstance(new, Array):
        deeper = missing_fields(old.item, new.item)
        yield from ((("element", *path), data_type) for path, data_type in deeper)
    elif isinstance(old, Struct) and isinstance(new, Struct):
        known = {field.name: field.type for field in old.fields}
        for field in new.fields:
            if field.name not in known:
                yield (field.name,), field.type
            else:
                deeper = missing_fields(known[field.name], field.type)
                yield from (((field.name, *path), data_type) for path, data_type in deeper)


def type_text(data_type: Type) -> str:
    """
    >>> type_text(Array(Struct((Field("depth", Decimal(9, 2), True),)), False))
    'ARRAY<STRUCT<`depth`: DECIMAL(9,2)>>'
    """
    if isinstance(data_type, Array):
        return f"ARRAY<{type_text(data_type.item)}>"
    if isinstance(data_type, Struct):
        quote = _SPARK.warehouse.quote
        fields = (f"{quote(field.name)}: {type_text(field.type)}" for field in data_type.fields)
        return f"STRUCT<{', '.join(fields)}>"
    if isinstance(data_type, Decimal):
        return f"DECIMAL({data_type.precision},{data_type.scale})"
    return _SCALARS[data_type.name]


def _merge(documents: Sequence[SchemaDocument]) -> list[WideColumns]:
    return [merge_wide_columns(documents, entity) for entity in _ENTITIES]


def _script(statements: Iterable[str]) -> str:
    return "".join(f"{statement};\n" for statement in statements)
