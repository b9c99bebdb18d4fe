"""A record -> rows as Pinot stores them, step by step in the order of Pinot (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.legacy import migrated
from trellis.dialects.pinot.document.types import FieldType, Value
from trellis.dialects.pinot.expression.evaluate import Filter, TransformError, Transforms
from trellis.dialects.pinot.row.complex import ComplexTypes
from trellis.dialects.pinot.row.conforming import Conforming
from trellis.dialects.pinot.row.main_time import MainTime
from trellis.dialects.pinot.row.marks import Fault, Row, RowFault
from trellis.dialects.pinot.table.config import TableConfig
from trellis.dialects.pinot.value.convert import converter
from trellis.dialects.pinot.value.damage import Damaged, Damages
from trellis.dialects.pinot.value.kinds import CannotConvert
from trellis.dialects.pinot.value.sanitise import sanitiser
from trellis.dialects.pinot.value.settings import Settings
from trellis.dialects.pinot.value.special import special
from trellis.errors import SchemaError


@dataclass(frozen=True)
class Column:
    """What a column does to a value: convert it, set special values right, cut it."""

    spec: FieldSpec
    convert: Callable[[Any], Value | None]
    special: Callable[[Value], Value | None] | None
    sanitise: Callable[[Value], tuple[Value, bool]] | None
    default: Value
    main_time: MainTime | None
    """Set where the time of a row has to be one that Pinot takes."""

    def stored(self, value: Any) -> Value | None:
        """One value as it is stored, before defaults and cuts. Raises CannotConvert."""
        made = self.convert(value)
        if made is not None and self.main_time is not None and (problem := self.main_time.problem(made)):
            raise CannotConvert(problem)
        if made is not None and self.special is not None:
            made = self.special(made)
        return made

    def cut(self, value: Value) -> tuple[Value, bool]:
        """The value as long as the column allows, and whether that changed it. Raises TooLong."""
        return (value, False) if self.sanitise is None else self.sanitise(value)


@dataclass
class Outcome:
    """The rows of one record. `filtered`: how many the filter dropped."""

    rows: list[Row] = field(default_factory=list)
    filtered: int = 0


class Pipeline:
    """The ingestion pipeline of one table. Running it on its own output changes nothing.

    `now` is the time of the load, which stands for the main time where that is missing. With `goes_on` a
    value that cannot be converted becomes null, else it is a RowFault; None leaves that to `continueOnError`.
    What strict settings refuse becomes null in any case.
    """

    def __init__(
        self,
        schema: PinotSchema,
        table: TableConfig,
        settings: Settings,
        now: datetime,
        goes_on: bool | None = None,
    ) -> None:
        schema = migrated(schema)
        self.table = table
        self.damages = Damages()
        self.goes_on = table.continue_on_error if goes_on is None else goes_on
        self.specs = {spec.name: spec for spec in schema.specs() if not spec.virtual}
        self.transforms = Transforms(schema, table)
        self.filter = Filter(table.filter) if table.filter else None
        self.main_time = self._main_time(now, settings)
        self.columns = [self._column(spec, settings) for spec in self.specs.values()]
        asked = self.filter.arguments if self.filter else frozenset()
        self.needed = frozenset({*self.specs, *self.transforms.arguments, *asked})
        self.complex = ComplexTypes(table.complex, self.needed) if table.complex else None
        self.zone = settings.session_zone
        self.reads = frozenset(self._source(name) for name in self.needed)
        types = {name: spec.data_type for name, spec in self.specs.items()}
        self.conforming = Conforming(table.conforming, types) if table.conforming else None

    def rows(self, record: Mapping[str, Any]) -> Outcome:
        """Raises RowFault for a record that cannot go on."""
        made = Outcome()
        for values in self.complex.rows(record) if self.complex else [dict(record)]:
            row = Row(values)
            self._transform(row)
            if self.filter is not None and self._drops(row):
                made.filtered += 1
                continue
            if self.conforming is not None:
                row.values = self.conforming.row(row.values)
            self._finish(row)
            made.rows.append(row)
        return made

    def path_of(self, name: str) -> tuple[str, ...]:
        """Where a field stands in a record: below objects, where these are flattened."""
        return (name,) if self.table.complex is None else tuple(name.split(self.table.complex.delimiter))

    def _source(self, name: str) -> str:
        """The key at the top of a record that a field comes from, before it was renamed."""
        if self.table.complex is not None:
            for prefix, to in self.table.complex.rename.items():
                if to and name.startswith(to):
                    name = prefix + name[len(to) :]
        return self.path_of(name)[0]

    def _transform(self, row: Row) -> None:
        for column, problem in self.transforms.apply(row.values, row.nulls):
            if not self.goes_on:
                raise RowFault(column, problem)
            row.faults.append(Fault(column, None, problem))
            row.incomplete = True

    def _drops(self, row: Row) -> bool:
        assert self.filter is not None
        try:
            return self.filter.drops(row.values)
        except TransformError as bad:
            if not self.goes_on:
                raise RowFault("", f"filter: {bad}") from None
            row.incomplete = True
            return False

    def _finish(self, row: Row) -> None:
        """Convert every column, then put its default where there is nothing."""
        made: dict[str, Any] = {}
        for column in self.columns:
            name = column.spec.name
            found = row.values.get(name)
            value = None if found is None else self._value(row, column, found)
            if value is None:
                row.nulls.add(name)
                value = column.default
            made[name], changed = self._cut(row, column, value)
            row.sanitized |= changed
        row.values = made

    def _value(self, row: Row, column: Column, found: Any) -> Value | None:
        try:
            return column.stored(found)
        except CannotConvert as bad:
            if not self.goes_on and not isinstance(bad, Damaged):
                raise RowFault(column.spec.name, str(bad)) from None
            row.faults.append(Fault(column.spec.name, found, str(bad)))
            row.incomplete = True
            return None

    def _cut(self, row: Row, column: Column, value: Value) -> tuple[Value, bool]:
        try:
            return column.cut(value)
        except Damaged as bad:
            row.faults.append(Fault(column.spec.name, value, str(bad)))
            row.incomplete = True
            row.nulls.add(column.spec.name)
            return column.default, True
        except CannotConvert as bad:
            raise RowFault(column.spec.name, str(bad)) from None

    def _column(self, spec: FieldSpec, settings: Settings) -> Column:
        main = self.main_time if spec.name == self.table.time_column else None
        return Column(
            spec,
            converter(spec, settings, self.damages),
            special(spec),
            sanitiser(spec, settings, self.damages),
            default_of(spec) if main is None else main.default,
            main if self.table.row_time_check else None,
        )

    def _main_time(self, now: datetime, settings: Settings) -> MainTime | None:
        if self.table.time_column is None:
            return None
        spec = self.specs.get(self.table.time_column)
        if spec is None or spec.field_type is not FieldType.DATE_TIME:
            raise SchemaError(
                f"timeColumnName {self.table.time_column}: the schema has no date-time column of that name"
            )
        return MainTime(spec, now, settings.session_zone)
