"""A first value types its column, a misfit goes to a variant column (spec dlt.md, sections 6-8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from trellis.dialects.dlt.widen import widened
from trellis.evolution.coerce import coercer
from trellis.evolution.kinds import Kind, TypedKind, classifier
from trellis.evolution.values import MISFIT
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming
from trellis.schema.rules import hints_for, preferred_type

DECIMAL: Final = (38, 9)
WEI: Final = (38, 0)

_DIRECT: Mapping[DataType, tuple[type, ...]] = {
    "text": (str,),
    "bigint": (int,),
    "double": (float,),
    "bool": (bool,),
}


class DltType:
    def classifier(self, schema: Schema, fresh: bool) -> Callable[[Any], Kind]:
        kind_of = classifier((schema.settings.detections or ()) if fresh else ())
        return kind_of if self.coerces(schema) else lambda value: _own(kind_of(value))

    def first(self, schema: Schema, column: str, kind: Kind) -> DataType:
        if isinstance(kind, TypedKind):
            return kind.type
        return preferred_type(schema.settings, column) or kind.detected or kind.type

    def coerces(self, schema: Schema) -> bool:
        module = str((schema.normalizers.get("json") or {}).get("module") or "")
        return not module.endswith("no_coercion")

    def coercer(self, schema: Schema, column: Column) -> Callable[[Any], Any]:
        into = _coercer(column)
        if self.coerces(schema):
            return into
        kind_of = self.classifier(schema, fresh=True)
        return lambda value: into(value) if column.data_type in kind_of(value).fits else MISFIT

    def direct(self, schema: Schema, column: Column) -> tuple[type, ...]:
        if column.data_type is None or (column.data_type == "bigint" and (column.precision or 64) != 64):
            return ()
        return _DIRECT.get(column.data_type, ())

    def column(self, schema: Schema, name: str, data_type: DataType, kind: Kind | None = None) -> Column:
        hints = dict(hints_for(schema.settings, name))
        nullable = hints.pop("nullable", True)
        made = Column(name, data_type, nullable=nullable, hints=MappingProxyType(hints))
        if isinstance(kind, TypedKind):
            return replace(made, precision=kind.precision, scale=kind.scale)
        return made

    def misfit(self, schema: Schema, naming: Naming, table: Table, column: str, kind: Kind) -> Column:
        wider = widened(schema, table.columns.get(column), kind)
        if wider is not None:
            return wider
        if kind.type == "json":
            legacy = naming.variant(column, "complex")
            if legacy in table.columns:
                return table.columns[legacy]
        if kind.type in kind.fits:
            return Column(naming.variant(column, kind.type), kind.type, nullable=True, variant=True)
        suffix = "str" if kind.type == "wei" else "text"
        return Column(naming.variant(column, suffix), "text", nullable=True, variant=True)


def _own(kind: Kind) -> Kind:
    """The kind as a schema that converts nothing takes it."""
    return Kind(kind.type, kind.detected, kind.fits & {kind.type, kind.detected})


def _coercer(column: Column) -> Callable[[Any], Any]:
    """The coercion into a column, as wide as it is stored."""
    assert column.data_type is not None
    precision, scale = column.precision, column.scale
    if column.data_type == "decimal" and precision is None:
        precision, scale = DECIMAL
    elif column.data_type == "wei" and precision is None:
        precision, scale = WEI
    return coercer(column.data_type, timezone=column.timezone, precision=precision, scale=scale)
