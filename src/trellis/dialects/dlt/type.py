"""A first value types its column, a misfit goes to a variant column (spec dlt.md, sections 6-8)."""

from __future__ import annotations

from types import MappingProxyType

from trellis.evolution.kinds import Kind
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming
from trellis.schema.rules import hints_for, preferred_type


class DltType:
    def detections(self, schema: Schema) -> tuple[str, ...]:
        return schema.settings.detections or ()

    def first(self, schema: Schema, column: str, kind: Kind) -> DataType:
        return preferred_type(schema.settings, column) or kind.detected or kind.type

    def coerces(self, schema: Schema) -> bool:
        module = str((schema.normalizers.get("json") or {}).get("module") or "")
        return not module.endswith("no_coercion")

    def column(self, schema: Schema, name: str, data_type: DataType) -> Column:
        hints = dict(hints_for(schema.settings, name))
        nullable = hints.pop("nullable", True)
        return Column(name, data_type, nullable=nullable, hints=MappingProxyType(hints))

    def variant(self, naming: Naming, table: Table, column: str, kind: Kind) -> Column:
        if kind.type == "json":
            legacy = naming.variant(column, "complex")
            if legacy in table.columns:
                return table.columns[legacy]
        if kind.type in kind.fits:
            return Column(naming.variant(column, kind.type), kind.type, nullable=True, variant=True)
        suffix = "str" if kind.type == "wei" else "text"
        return Column(naming.variant(column, suffix), "text", nullable=True, variant=True)
