"""A Pinot schema as values: the field specs, and the schema that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from trellis.dialects.pinot.document.types import MAX_LENGTH, ExceedStrategy, FieldType, PinotType, Value

NO_KEYS: Final[Mapping[str, Any]] = MappingProxyType({})


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
    children: Mapping[str, FieldSpec] = field(default_factory=lambda: MappingProxyType({}))
    description: str | None = None
    tags: tuple[str, ...] = ()
    field_id: int | None = None
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

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
class TimeGranularitySpec:
    """The granularity spec of a legacy time field: a time column counted in `size` times `unit`."""

    name: str
    data_type: PinotType
    unit: str
    size: int = 1
    format: str = "EPOCH"


@dataclass(frozen=True)
class TimeField:
    """A legacy `timeFieldSpec`. `outgoing` is None where it is the same as `incoming`."""

    incoming: TimeGranularitySpec
    outgoing: TimeGranularitySpec | None = None
    default: Value = None
    transform: str | None = None

    @property
    def column(self) -> TimeGranularitySpec:
        """The name and type of the column."""
        return self.outgoing or self.incoming


@dataclass(frozen=True)
class PinotSchema:
    """A whole schema document. The lists keep the order of their declaration."""

    name: str | None
    dimensions: tuple[FieldSpec, ...] = ()
    metrics: tuple[FieldSpec, ...] = ()
    date_times: tuple[FieldSpec, ...] = ()
    complexes: tuple[FieldSpec, ...] = ()
    time: TimeField | None = None
    primary_key: tuple[str, ...] = ()
    column_nulls: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()

    def specs(self) -> Iterator[FieldSpec]:
        """The fields of the four lists in the order of the document, without the legacy time field."""
        yield from self.dimensions
        yield from self.metrics
        yield from self.date_times
        yield from self.complexes
