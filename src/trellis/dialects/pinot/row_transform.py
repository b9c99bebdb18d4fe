"""The pipeline of Pinot as a program of the engine: records become rows, damage becomes notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from trellis.dialects.pinot.columnar import vector_of
from trellis.dialects.pinot.row.engine_values import MapOut, emitter
from trellis.dialects.pinot.row.pipeline import Pipeline
from trellis.dialects.pinot.row.row import Row, RowFault
from trellis.dialects.pinot.stored_schema import Authored, table_name
from trellis.dialects.pinot.value.losses import Damage
from trellis.dialects.pinot.value.source_kinds import Float32, Int64
from trellis.errors import SchemaError
from trellis.evolution.program import Made
from trellis.evolution.record import Lost, Rejected, Stopped
from trellis.evolution.vector import VectorProgram

NULLABLE: Final = "nullable"
KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {"int64": Int64, "float32": Float32}


class PinotProgram:
    """Makes the rows of one table. `view` says whether defaults stand for null."""

    kinds: Final = KINDS

    def __init__(self, authored: Authored, now: datetime) -> None:
        if authored.schema is None:
            raise SchemaError("there is no Pinot schema to make rows by")
        options = authored.options
        self.table = table_name(authored.schema)
        self.rejects = options.on_error == "reject"
        goes_on = None if options.on_error is None else options.on_error == "null"
        self.pipeline = Pipeline(authored.schema, authored.table, options.settings, now, goes_on)
        self.skips = self.pipeline.goes_on
        column_nulls = authored.schema.column_nulls
        self.nullable = {
            name
            for name, spec in self.pipeline.specs.items()
            if options.view == NULLABLE and not (column_nulls and spec.not_null)
        }
        self.out = {name: emitter(spec, options.settings) for name, spec in self.pipeline.specs.items()}
        self.used = self.pipeline.reads
        self.untimely = (
            f"the main time {authored.table.time_column} is no time from 1971 to 2071, so Pinot would refuse "
            "its segment; rowTimeValueCheck in the table config refuses the value instead"
        )
        self.fast: VectorProgram | None = vector_of(
            self.pipeline, self.nullable, self.out, unused, self.taken
        )

    def __call__(self, record: Mapping[str, Any], /) -> Made:
        try:
            outcome = self.pipeline.rows(record)
        except RowFault as bad:
            if self.rejects or self.skips:
                raise Rejected(str(bad), bad.kind) from None
            raise Stopped(
                f"{bad}; correct it, or choose what becomes of such values: --option on_error=null or "
                "on_error=reject"
            ) from None
        made = Made(dropped=not outcome.rows)
        if outcome.filtered and outcome.rows:
            made.oddities += ["the filter dropped a row of a record that gave several"] * outcome.filtered
        for row in outcome.rows:
            made.rows.append(self._emitted(row))
            made.lost += [
                Lost(
                    self.table,
                    fault.column,
                    fault.column,
                    fault.value,
                    f"cannot be stored in column {fault.column}: {fault.reason}",
                )
                for fault in row.faults
                if fault.value is not None
            ]
            if row.untimely:
                made.oddities.append(self.untimely)
            if row.incomplete:
                made.oddities.append("a value became null, as it could not be stored")
        if self.pipeline.conforming is None:
            made.oddities += [unused(key) for key, value in record.items() if self._drops(key, value)]
        return made

    def defaults(self) -> dict[str, Any]:
        """What stands for null, by column; those that keep null are left out."""
        return {
            column.spec.name: self.out[column.spec.name](column.default.value)
            for column in self.pipeline.columns
            if column.spec.name not in self.nullable and not column.default.refused
        }

    def taken(self) -> Counter[str]:
        """What was damaged since it was asked last, in words."""
        counts = self.pipeline.damages.take()
        return Counter({damaged(name, damage): count for (name, damage), count in counts.items()})

    def _drops(self, key: str, value: Any) -> bool:
        return key not in self.used and value is not None

    def _emitted(self, row: Row) -> dict[str, Any]:
        left_out = self.nullable & row.nulls
        made: dict[str, Any] = {}
        for name, value in row.values.items():
            out = self.out[name]
            if name in left_out:
                continue
            if isinstance(out, MapOut):
                made[name], lost = out.fitted(value)
                row.faults += lost
            else:
                made[name] = out(value)
        return made


def program_of(authored: Authored, now: datetime) -> PinotProgram | None:
    """None where no schema is given yet."""
    return None if authored.schema is None else PinotProgram(authored, now)


def damaged(column: str, damage: Damage) -> str:
    done = "stored as Pinot does it; with strict=true it becomes null and is discarded"
    return f"column {column}: {damage.value}, {done}"


def unused(key: str) -> str:
    return f"{key!r} is no column of the schema, so its value was dropped"
