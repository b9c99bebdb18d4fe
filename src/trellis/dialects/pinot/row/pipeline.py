"""A record -> rows as Pinot stores them, by the record transformers of Pinot in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trellis.dialects.pinot.conversion.converter import converter
from trellis.dialects.pinot.conversion.sanitization import sanitiser, special_value_fixer
from trellis.dialects.pinot.conversion.settings import LossCounts, LossyConversion, Settings
from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import FieldType, Value
from trellis.dialects.pinot.expression.transforms import Enrichers, Filter, RowFault, Transforms
from trellis.dialects.pinot.row.complex_types import ComplexTypes
from trellis.dialects.pinot.row.row import Row
from trellis.dialects.pinot.row.time_validation import MainTime
from trellis.dialects.pinot.table.config import TableConfig, unsupported_parts
from trellis.dialects.pinot.value.source_kinds import CannotConvert
from trellis.errors import SchemaError


@dataclass(frozen=True)
class Default:
    """The value that a column stores for null.

    `refused` is the reason why it cannot be stored, under the strategy ERROR.
    """

    value: Value
    refused: str | None = None


@dataclass(frozen=True)
class Column:
    """The steps of a column on a value: convert it, replace special values, cut it."""

    spec: FieldSpec
    convert: Callable[[Any], Value | None]
    fix_special_value: Callable[[Value], Value | None] | None
    sanitise: Callable[[Value], Value] | None
    default: Default
    main_time: MainTime | None
    """Set where Pinot refuses a row with a time out of range."""
    segment_time: MainTime | None = None
    """Set where Pinot stores any time, but may refuse the segment."""

    def stored(self, value: Any) -> Value | None:
        """One value as it is stored, before defaults and cuts. Raises CannotConvert."""
        result = self.convert(value)
        if result is not None and self.main_time is not None and (problem := self.main_time.problem(result)):
            raise CannotConvert(problem)
        if result is not None and self.fix_special_value is not None:
            result = self.fix_special_value(result)
        return result

    def cut(self, value: Value) -> Value:
        """The value as long as the column allows. Raises CannotConvert."""
        return value if self.sanitise is None else self.sanitise(value)


@dataclass
class PipelineResult:
    """The rows of one record. `filtered`: how many the filter dropped."""

    rows: list[Row] = field(default_factory=list)
    filtered: int = 0


class Pipeline:
    """The ingestion pipeline of one table. Running it on its own output changes nothing.

    `now` is the time of the load, stored for a missing main time. With `continue_on_error` a value that
    cannot be converted becomes null, otherwise it is a RowFault; None means `continueOnError` of the table
    config. What strict settings refuse becomes null in any case.
    """

    def __init__(
        self,
        schema: PinotSchema,
        table: TableConfig,
        settings: Settings,
        now: datetime,
        continue_on_error: bool | None = None,
    ) -> None:
        if faults := [*unsupported_parts(table.document)]:
            raise SchemaFaults("table config", faults)
        self.table = table
        self.losses = LossCounts()
        self.continue_on_error = table.continue_on_error if continue_on_error is None else continue_on_error
        self.specs = {spec.name: spec for spec in schema.specs() if not spec.virtual}
        self.enriches = bool(table.enrichers)
        jars = settings.pinot_jars
        self.before_flattening = Enrichers(table.enrichers, before_flattening=True, pinot_jars=jars)
        self.after_flattening = Enrichers(table.enrichers, before_flattening=False, pinot_jars=jars)
        self.transforms = Transforms(schema, table, jars)
        self.filter = Filter(table.filter, jars) if table.filter else None
        self.zone = settings.session_zone
        self.main_time = self._main_time(now)
        self.columns = [self._column(spec, settings) for spec in self.specs.values()]
        self.needed = self._needed()
        unnested = table.complex.unnest if table.complex else ()
        self.reads = frozenset(self.before_flattening.arguments).union(
            *map(self._sources, (*self.needed, *unnested))
        )
        """Top-level keys of a record that are read."""
        self.complex = ComplexTypes(table.complex, self.needed, self.zone) if table.complex else None

    def rows(self, record: Mapping[str, Any]) -> PipelineResult:
        """The rows of a record. Raises RowFault for a record that cannot be processed further."""
        outcome = PipelineResult()
        if self.enriches:
            self.before_flattening.apply(record := dict(record))
        for row in self.complex.rows(record) if self.complex else [Row(dict(record))]:
            if self.enriches:
                self.after_flattening.apply(row.values)
            if row.faults and not self.continue_on_error:
                raise RowFault(row.faults[0].column, row.faults[0].reason)
            self._transform(row)
            if self.filter is not None and self._drops(row):
                outcome.filtered += 1
                continue
            self._finish(row)
            outcome.rows.append(row)
        return outcome

    def path_of(self, name: str) -> tuple[str, ...]:
        """The path of a field in a record: through objects, where these are flattened."""
        delimiter = self.table.complex.delimiter if self.table.complex else ""
        return tuple(name.split(delimiter)) if delimiter else (name,)

    def _needed(self) -> frozenset[str]:
        """The fields that columns and expressions name."""
        computed = {transform.column for transform in self.transforms.order}
        filter_arguments = self.filter.arguments if self.filter else frozenset()
        enriched = self.after_flattening.arguments
        return frozenset({*self.specs, *computed, *self.transforms.arguments, *filter_arguments, *enriched})

    def _sources(self, name: str) -> set[str]:
        """The top-level keys of a record that a field may come from, before it was renamed."""
        if self.table.complex is None:
            return {name}
        delimiter, source_names = self.table.complex.delimiter, [name]
        for prefix, to in self.table.complex.rename.items():
            if name.startswith(to):
                source_names.append(prefix + name[len(to) :])
        return {
            name[:end]
            for name in source_names
            for end in range(1, len(name) + 1)
            if end == len(name) or name.startswith(delimiter, end)
        }

    def _transform(self, row: Row) -> None:
        for error in self.transforms.apply(row.values, row.nulls):
            if not self.continue_on_error:
                raise error
            row.fault(error.column, None, error.reason)

    def _drops(self, row: Row) -> bool:
        assert self.filter is not None
        try:
            return self.filter.drops(row.values)
        except RowFault:
            if not self.continue_on_error:
                raise
            row.incomplete = True
            return False

    def _finish(self, row: Row) -> None:
        """Convert every column, and store its default for null."""
        values: dict[str, Any] = {}
        for column in self.columns:
            name = column.spec.name
            source = row.values.get(name)
            value = None if source is None else self._value(row, column, source)
            if value is not None:
                value = self._cut(row, column, value)
                if column.segment_time is not None and column.segment_time.problem(value) is not None:
                    row.time_out_of_range = True
            if value is None:
                row.nulls.add(name)
                if column.default.refused:
                    raise RowFault(name, column.default.refused)
                value = column.default.value
            values[name] = value
        row.values = values

    def _value(self, row: Row, column: Column, source: Any) -> Value | None:
        try:
            return column.stored(source)
        except CannotConvert as error:
            if not self.continue_on_error and not isinstance(error, LossyConversion):
                raise RowFault(column.spec.name, str(error)) from None
            row.fault(column.spec.name, source, str(error))
            return None

    def _cut(self, row: Row, column: Column, value: Value) -> Value | None:
        try:
            return column.cut(value)
        except LossyConversion as error:
            row.fault(column.spec.name, value, str(error))
            return None
        except CannotConvert as error:
            raise RowFault(column.spec.name, str(error)) from None

    def _column(self, spec: FieldSpec, settings: Settings) -> Column:
        main = self.main_time if spec.name == self.table.time_column else None
        return Column(
            spec,
            converter(spec, settings, self.losses),
            special_value_fixer(spec),
            sanitiser(spec, settings, self.losses),
            _default(spec, default_of(spec) if main is None else main.default),
            main if self.table.row_time_check else None,
            main if self._segment_checks() else None,
        )

    def _segment_checks(self) -> bool:
        """Whether a main time out of range reaches a segment, which Pinot then refuses."""
        table = self.table
        return table.segment_time_check and not table.row_time_check and not table.continue_on_error

    def _main_time(self, now: datetime) -> MainTime | None:
        if self.table.time_column is None:
            return None
        spec = self.specs.get(self.table.time_column)
        if spec is None or spec.field_type is not FieldType.DATE_TIME:
            raise SchemaError(
                f"timeColumnName {self.table.time_column}: the schema has no date-time column of that name"
            )
        return MainTime(spec, now, self.zone)


def _default(spec: FieldSpec, value: Value) -> Default:
    """A default is cut as any value is, but not counted, as it is in no record."""
    cut = sanitiser(spec)
    try:
        return Default(value if cut is None else cut(value))
    except CannotConvert as error:
        return Default(value, refused=str(error))
