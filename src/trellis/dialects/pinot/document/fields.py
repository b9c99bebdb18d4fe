"""A Pinot schema as values: the field specs, the schema that holds them, and their places in its document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.types import MAX_LENGTH, ExceedStrategy, FieldType, PinotType, Value


@dataclass(frozen=True)
class FieldSpec:
    """One column of the document. Keys that the document does not have are None.

    `default` is the `defaultNullValue`, converted to the column's type; None: that of the type.
    `format` and `granularity` belong to DATE_TIME, `children` to COMPLEX. `sample` is never written.
    """

    name: str
    data_type: PinotType
    field_type: FieldType = FieldType.DIMENSION
    single_value: bool = True
    not_null: bool = False
    max_length: int | None = None
    exceed_strategy: ExceedStrategy | None = None
    trailing_zeros: bool = False
    default: Value = None
    transform: str | None = None
    virtual_provider: str | None = None
    format: str | None = None
    granularity: str | None = None
    sample: str | None = None
    children: Mapping[str, FieldSpec] = field(default_factory=dict)
    description: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def virtual(self) -> bool:
        """Whether Pinot computes its values: it is never ingested and never stored."""
        return bool(self.virtual_provider)

    @property
    def longest(self) -> int:
        """The effective maximum, in UTF-16 units (STRING, JSON) or bytes (BYTES)."""
        return MAX_LENGTH if self.max_length is None else self.max_length

    @property
    def strategy(self) -> ExceedStrategy:
        """The effective strategy for a value that is too long."""
        if self.exceed_strategy is not None:
            return self.exceed_strategy
        return ExceedStrategy.TRIM_LENGTH if self.data_type is PinotType.STRING else ExceedStrategy.NO_ACTION


@dataclass(frozen=True)
class PinotSchema:
    """A whole schema document. The lists keep the order of their declaration.

    `legacy_time`: the dateTime column that the document declares as its `timeFieldSpec`.
    """

    name: str | None
    dimensions: tuple[FieldSpec, ...] = ()
    metrics: tuple[FieldSpec, ...] = ()
    date_times: tuple[FieldSpec, ...] = ()
    complexes: tuple[FieldSpec, ...] = ()
    primary_key: tuple[str, ...] = ()
    column_nulls: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()
    legacy_time: str | None = field(default=None, compare=False)

    @property
    def lists(self) -> dict[str, tuple[FieldSpec, ...]]:
        """The fields by the keys of their lists, in the order of the document."""
        return {
            "dimensionFieldSpecs": self.dimensions,
            "metricFieldSpecs": self.metrics,
            "dateTimeFieldSpecs": self.date_times,
            "complexFieldSpecs": self.complexes,
        }

    def specs(self) -> Iterator[FieldSpec]:
        """All fields in the order of the document."""
        return chain.from_iterable(self.lists.values())

    def with_fields(self, specs: Iterable[FieldSpec]) -> PinotSchema:
        """The schema with these fields, each in the list of its role."""
        lists = {kind: list[FieldSpec]() for kind in FieldType}
        for spec in specs:
            lists[spec.field_type].append(spec)
        return replace(
            self,
            dimensions=tuple(lists[FieldType.DIMENSION]),
            metrics=tuple(lists[FieldType.METRIC]),
            date_times=tuple(lists[FieldType.DATE_TIME]),
            complexes=tuple(lists[FieldType.COMPLEX]),
        )


@dataclass(frozen=True)
class PlacedField:
    """A field and the JSON pointer of its document."""

    spec: FieldSpec
    place: str

    def fault(self, message: str, key: str | None = None) -> Fault:
        """A fault at a key of the field, or at the field itself."""
        return Fault(self.place + pointer(key) if key else self.place, message, self.spec.name)


def placed_fields(schema: PinotSchema) -> Iterator[PlacedField]:
    """All fields in the order of the document.

    >>> from trellis.dialects.pinot.document.types import PinotType
    >>> schema = PinotSchema("s", metrics=(FieldSpec("n", PinotType.INT, FieldType.METRIC),))
    >>> [column.place for column in placed_fields(schema)]
    ['/metricFieldSpecs/0']
    """
    for key, specs in schema.lists.items():
        for index, spec in enumerate(specs):
            is_legacy = spec.name == schema.legacy_time
            yield PlacedField(spec, pointer("timeFieldSpec") if is_legacy else pointer(key, index))


def columns(schema: PinotSchema) -> dict[str, FieldSpec]:
    """All fields by their names, in alphabetical order as Pinot walks them."""
    return {spec.name: spec for spec in sorted(schema.specs(), key=lambda spec: spec.name)}
