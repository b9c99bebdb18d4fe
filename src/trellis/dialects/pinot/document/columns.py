"""The columns of a schema with their places in its document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType


@dataclass(frozen=True)
class PlacedField:
    """A field and the JSON pointer of its document."""

    spec: FieldSpec
    place: str

    def fault(self, message: str, key: str | None = None) -> Fault:
        """A fault at a key of the field, or at the field itself; always so for the legacy time field."""
        inside = key and self.spec.field_type is not FieldType.TIME
        return Fault(self.place + pointer(key or "") if inside else self.place, self.spec.name, message)


def placed_fields(schema: PinotSchema) -> Iterator[PlacedField]:
    """All fields in the order of the document; the legacy time field last, as a field of type TIME.

    >>> from trellis.dialects.pinot.document.types import PinotType
    >>> schema = PinotSchema("s", metrics=(FieldSpec("n", PinotType.INT, FieldType.METRIC),))
    >>> [column.place for column in placed_fields(schema)]
    ['/metricFieldSpecs/0']
    """
    for key, specs in (
        ("dimensionFieldSpecs", schema.dimensions),
        ("metricFieldSpecs", schema.metrics),
        ("dateTimeFieldSpecs", schema.date_times),
        ("complexFieldSpecs", schema.complexes),
    ):
        for index, spec in enumerate(specs):
            yield PlacedField(spec, pointer(key, index))
    if schema.time is not None:
        yield PlacedField(time_spec(schema), pointer("timeFieldSpec"))


def time_spec(schema: PinotSchema) -> FieldSpec:
    """The legacy time field of a schema that has one, as a field of type TIME."""
    assert schema.time is not None
    time = schema.time
    return FieldSpec(
        time.column.name,
        time.column.data_type,
        FieldType.TIME,
        default=time.default,
        transform=time.transform,
    )


def columns(schema: PinotSchema) -> dict[str, FieldSpec]:
    """All fields by their names, in alphabetical order as Pinot walks them."""
    specs = {column.spec.name: column.spec for column in placed_fields(schema)}
    return dict(sorted(specs.items()))
