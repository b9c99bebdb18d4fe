"""The pipeline of Pinot as a row program of the engine, and its values in the form of the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from trellis.dialects.pinot.columnar import columnar_transform_of
from trellis.dialects.pinot.conversion.converter import converter
from trellis.dialects.pinot.conversion.scalars import encodable_text
from trellis.dialects.pinot.conversion.settings import LossKind, Settings
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import COMPLEX, PinotType, Value
from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.row.pipeline import Pipeline
from trellis.dialects.pinot.row.row import Row, ValueFault
from trellis.dialects.pinot.stored_schema import Authored, table_name
from trellis.dialects.pinot.value.json_text import json_of
from trellis.dialects.pinot.value.numbers import plain_text
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, Int64
from trellis.errors import SchemaError
from trellis.evolution.columnar_transform import ColumnarTransform
from trellis.evolution.record_outcome import LostValue, Rejected, Stopped
from trellis.evolution.row_transform import TransformResult

Emitter = Callable[[Value], Any]


def emitter(spec: FieldSpec, settings: Settings) -> Emitter:
    """The conversion of the stored values of a column for the engine.

    That of a map raises CannotConvert where `MapEmitter.split_entries` leaves an entry out.

    >>> emitter(FieldSpec("b", PinotType.BOOLEAN, single_value=False), Settings())([1, 0])
    [True, False]
    """
    if spec.data_type in COMPLEX:
        child = spec.children.get("value")
        if spec.data_type is PinotType.MAP and child is not None and child.data_type not in COMPLEX:
            return MapEmitter(spec.name, child, settings)
        return lambda value: encodable_text(json_of(value, settings.session_zone))
    emit_scalar = _SCALARS.get(spec.data_type)
    if emit_scalar is None:
        return _as_it_is
    return emit_scalar if spec.single_value else lambda value: [emit_scalar(element) for element in value]


class MapEmitter:
    """A map whose values a file holds in one type.

    Pinot converts nothing in a map. A value of another type is converted where that loses nothing; otherwise
    its entry is left out.
    """

    def __init__(self, name: str, child: FieldSpec, settings: Settings) -> None:
        self.name = name
        self.type = child.data_type
        strict = Settings(True, settings.session_zone)
        self.convert = converter(FieldSpec(name, child.data_type), strict)
        self.out = _SCALARS.get(child.data_type, _as_it_is)

    def __call__(self, value: Mapping[str, Any]) -> dict[str, Any]:
        fit, lost = self.split_entries(value)
        if lost:
            raise CannotConvert(lost[0].reason)
        return fit

    def split_entries(self, value: Mapping[str, Any]) -> tuple[dict[str, Any], list[ValueFault]]:
        """The entries that can be stored, and a fault for each of the others."""
        fit: dict[str, Any] = {}
        lost: list[ValueFault] = []
        for key, entry in value.items():
            try:
                converted = self.convert(entry)
            except CannotConvert as error:
                reason = (
                    f"in the map under {key[:60]!r}, whose values are stored as {self.type.value}: {error}"
                )
                lost.append(ValueFault(self.name, {key: entry}, reason))
            else:
                fit[encodable_text(key)] = None if converted is None else self.out(converted)
        return fit, lost


def _as_it_is(value: Value) -> Any:
    return value


_SCALARS: Final[Mapping[PinotType, Emitter]] = {PinotType.BOOLEAN: bool, PinotType.BIG_DECIMAL: plain_text}


class PinotProgram:
    """Makes the rows of one table. The option `view` decides whether defaults replace null."""

    kinds: Final[Mapping[str, Callable[[Any], Any]]] = {"int64": Int64, "float32": Float32}

    def __init__(self, authored: Authored, now: datetime) -> None:
        if authored.schema is None:
            raise SchemaError("missing Pinot schema: pass one with --schema FILE")
        options = authored.options
        self.table = table_name(authored.schema)
        self.rejects = options.on_error == "reject"
        continue_on_error = None if options.on_error is None else options.on_error == "null"
        self.pipeline = Pipeline(authored.schema, authored.table, options.settings, now, continue_on_error)
        self.skips = self.pipeline.continue_on_error
        column_nulls = authored.schema.column_nulls
        self.nullable = {
            name
            for name, spec in self.pipeline.specs.items()
            if options.view == "nullable" and not (column_nulls and spec.not_null)
        }
        self.out = {name: emitter(spec, options.settings) for name, spec in self.pipeline.specs.items()}
        self.used = self.pipeline.reads
        self.time_out_of_range = (
            f"the main time {authored.table.time_column} is not between 1971 and 2071, so Pinot would refuse "
            "its segment; rowTimeValueCheck in the table config refuses such values"
        )
        self.columnar: ColumnarTransform | None = columnar_transform_of(
            self.pipeline, self.nullable, self.out, unused, self.take_warnings
        )

    def __call__(self, record: Mapping[str, Any], /) -> TransformResult:
        try:
            outcome = self.pipeline.rows(record)
        except RowFault as error:
            if self.rejects or self.skips:
                raise Rejected(str(error), error.kind) from None
            raise Stopped(
                f"{error}; fix the value, or choose how to handle such values: --option on_error=null or "
                "on_error=reject"
            ) from None
        result = TransformResult(dropped=not outcome.rows)
        if outcome.filtered and outcome.rows:
            result.warnings += ["the filter dropped one of several rows of a record"] * outcome.filtered
        for row in outcome.rows:
            result.rows.append(self._emitted(row))
            result.lost += [
                LostValue(
                    self.table,
                    fault.column,
                    fault.column,
                    fault.value,
                    f"cannot be stored in column {fault.column}: {fault.reason}",
                )
                for fault in row.faults
                if fault.value is not None
            ]
            if row.time_out_of_range:
                result.warnings.append(self.time_out_of_range)
            if row.incomplete:
                result.warnings.append("a value could not be stored and became null")
        used = self.used
        result.warnings += [
            unused(key) for key, value in record.items() if key not in used and value is not None
        ]
        return result

    def defaults(self) -> dict[str, Any]:
        """The value stored for null by column, without the columns that keep null."""
        return {
            column.spec.name: self.out[column.spec.name](column.default.value)
            for column in self.pipeline.columns
            if column.spec.name not in self.nullable and not column.default.refused
        }

    def take_warnings(self) -> Counter[str]:
        """The losses since the last call, as sentences of the report."""
        counts = self.pipeline.losses.take_counts()
        return Counter({damaged(name, loss_kind): count for (name, loss_kind), count in counts.items()})

    def _emitted(self, row: Row) -> dict[str, Any]:
        omitted = self.nullable & row.nulls
        values: dict[str, Any] = {}
        for name, value in row.values.items():
            out = self.out[name]
            if name in omitted:
                continue
            if isinstance(out, MapEmitter):
                values[name], lost = out.split_entries(value)
                row.faults += lost
            else:
                values[name] = out(value)
        return values


def program_of(authored: Authored, now: datetime) -> PinotProgram | None:
    """The row program of a table; None without a schema."""
    return None if authored.schema is None else PinotProgram(authored, now)


def damaged(column: str, loss_kind: LossKind) -> str:
    done = "stored as Pinot does it; with strict=true it becomes null and is discarded"
    return f"column {column}: {loss_kind.value}, {done}"


def unused(key: str) -> str:
    return f"{key!r} is not a column of the schema; its values were dropped"
