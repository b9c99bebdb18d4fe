"""The role of each column, as the user chooses it, and the schema that results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.errors import SchemaError


@dataclass(frozen=True)
class Roles:
    """The roles of columns; a column that is not named is a dimension. `unit` is that of the time column."""

    metrics: frozenset[str] = frozenset()
    time: str | None = None
    unit: str = "DAYS"

    def of(self, column: str) -> FieldType:
        """
        >>> Roles(metrics=frozenset({"fare"})).of("fare").value
        'METRIC'
        """
        if column == self.time:
            return FieldType.DATE_TIME
        return FieldType.METRIC if column in self.metrics else FieldType.DIMENSION


MEASURABLE: Final = frozenset(
    (
        PinotType.INT,
        PinotType.LONG,
        PinotType.FLOAT,
        PinotType.DOUBLE,
        PinotType.BIG_DECIMAL,
        PinotType.STRING,
        PinotType.BYTES,
    )
)
"""The metric types of Pinot's inference; its validation refuses STRING afterwards."""


@dataclass
class InferredColumns:
    """The columns inferred so far, in their order."""

    roles: Roles
    specs: dict[str, FieldSpec] = field(default_factory=dict)

    def add(self, name: str, data_type: PinotType, single: bool = True) -> None:
        """Add a column. Raises SchemaError as Pinot does: a duplicate name, several values in a metric."""
        role = self.roles.of(name)
        if not single and role is not FieldType.DIMENSION:
            noun = "Metric" if role is FieldType.METRIC else "Time"
            raise SchemaError(f"{noun} field: {name} cannot be multi-valued; make it a dimension")
        if role is FieldType.METRIC and data_type not in MEASURABLE:
            raise SchemaError(
                f"Unsupported metric data type: {data_type.value} of column {name}; make it a dimension"
            )
        if name in self.specs:
            raise SchemaError(f"Field spec already exists for column: {name}")
        is_time = role is FieldType.DATE_TIME
        self.specs[name] = FieldSpec(
            name,
            data_type,
            role,
            single,
            format=f"EPOCH|{self.roles.unit}" if is_time else None,
            granularity=f"1:{self.roles.unit}" if is_time else None,
        )

    def schema(self, name: str | None) -> PinotSchema:
        """The schema of the columns."""
        return schema_of(name, self.specs.values())


def schema_of(name: str | None, specs: Iterable[FieldSpec], column_nulls: bool = False) -> PinotSchema:
    """The schema of these fields: each in the list of its role, in their order."""
    parts: dict[FieldType, list[FieldSpec]] = {}
    for spec in specs:
        parts.setdefault(spec.field_type, []).append(spec)
    return PinotSchema(
        name,
        tuple(parts.get(FieldType.DIMENSION, ())),
        tuple(parts.get(FieldType.METRIC, ())),
        tuple(parts.get(FieldType.DATE_TIME, ())),
        tuple(parts.get(FieldType.COMPLEX, ())),
        column_nulls=column_nulls,
    )
