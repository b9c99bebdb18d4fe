"""Rows with types -> rows of their table, column by column: Arrow, pandas, Parquet, DataFrames.

Types come from the schema of the source, not from its values. A column whose values all
fit the stored type of its column is placed at once. What remains is nested or does not fit: the rows are
then converted one by one, unless the rows keep their types (`preserved.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trellis.engine.arrow.cast import Fitted, fitted, plain, shortened
from trellis.engine.arrow.types import arrow_type, is_json_text
from trellis.engine.columnar.typed.fields import Field, fields_of, first_value
from trellis.engine.columnar.typed.json_values import rows_with_json
from trellis.engine.columnar.typed.preserved import fitted_whole, refuse_shared
from trellis.engine.columnar.typed.violations import BatchViolations, misfit_rows
from trellis.engine.columnar.typed.widen import widening
from trellis.engine.exact.walker import Flattener
from trellis.engine.input.parquet import rows_of
from trellis.engine.plan import Counts, Discard, Plan
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, array_of
from trellis.engine.text import item_text, to_json
from trellis.errors import ContractError
from trellis.evolution.contract import contract_for, merge_violations
from trellis.evolution.evolve import Verdict
from trellis.evolution.observe import CellKey, Observations, Position, Seen
from trellis.evolution.scalars.kinds import typed_kind
from trellis.schema.model import Column

_PYTHON_DIGITS = 38
_CUT = "a second in {}.{} has more digits than the column keeps, the last ones were cut"


class TypedBatch:
    """One batch for one root table. `where` is the place of its first row in the input.

    `cut` says how many values of a field lost digits of their second when they were read.
    `arrays` are the columns that could be placed, by name, `remaining` the fields that could not, `stays` the
    rows that no contract drops, `wider` the kinds of values that need a wider column.
    """

    def __init__(
        self,
        plan: Plan,
        flattener: Flattener,
        batch: pa.RecordBatch,
        where: Position,
        cut: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.plan = plan
        self.flattener = flattener
        self.batch = batch
        self.where = where
        self.preserves_types = plan.preserved_keys is not None
        self.file = flattener.findings.file or "records"
        self.root = flattener.tables.root_builder(plan.table)
        self.keys = self.root.keys if plan.preserved_keys is None else plan.preserved_keys
        self.fields = fields_of(batch.schema, plan, self.root, self.keys, self.file)
        if self.preserves_types:
            refuse_shared(self.fields, self.root, self.file)
        self.refused = BatchViolations(plan, self.root, where)
        self.arrays: dict[str, pa.Array] = {}
        self.remaining: list[Field] = []
        self.stays: npt.NDArray[np.bool_] = np.ones(batch.num_rows, dtype=bool)
        self.discards: list[Discard] = []
        self.wider = Observations()
        placed_fields = (field for field in self.fields if field.placeable and field.key in cut)
        self.cut = Counter(
            {_CUT.format(self.root.name, field.name): cut[field.key] for field in placed_fields}
        )

    @property
    def needs_exact_path(self) -> bool:
        """Whether the table or its names ask for a look at every row."""
        if self.root.verdict is not None:
            return True
        return not self.preserves_types and (
            self.root.excludes_row_id or any(f.shared or f.kept for f in self.fields)
        )

    @property
    def has_nested_values(self) -> bool:
        """Whether there are values that become columns and tables of their own."""
        return not self.preserves_types and any(field.nested for field in self.fields)

    # ---- what the schema lacks

    def observed(self) -> Observations:
        """What the schema has no place for yet."""
        observations = Observations()
        missing = [name for name in self.keys.columns if not self._has(name)]
        table = self.root.table
        if missing or table is None or not table.seen_data:
            observations.saw_table(self.root.name, None, (*self.where, 0), self.preserves_types)
        for field in self.fields:
            known = field.complete and not self._takes_nested_type(field)
            if known or not field.placeable or (field.nested and not self.preserves_types):
                continue
            if field.type is None:
                self.flattener.tables.mark_null(self.root, field.key)
            else:
                observations.cells[CellKey(self.root.name, field.name, field.kind(self.plan))] = self._seen(
                    field
                )
        if self.preserves_types:
            for index, name in enumerate(missing, len(self.fields)):
                key = CellKey(self.root.name, name, typed_kind("text"))
                observations.cells.setdefault(key, Seen((*self.where, 0, index)))
        return observations

    def _takes_nested_type(self, field: Field) -> bool:
        """Whether its column is there, and waits for the nested type of its values."""
        nesting, column = self.plan.nesting, field.complete
        if nesting is None or column is None or not nesting.takes(self.root.name, column):
            return False
        return field.stays_nested(self.plan)

    def _has(self, name: str) -> bool:
        column = self.root.table.columns.get(name) if self.root.table else None
        return column is not None and column.complete

    def _seen(self, field: Field) -> Seen:
        array = self.batch.column(field.at)
        row_index = first_value(array)
        example = item = ""
        if row_index is not None:
            with suppress(ContractError):  # a time that Python has not
                (row,) = rows_of(self.batch.slice(row_index, 1))
                example, item = to_json(row[field.key])[:200], item_text(row)
        return Seen((*self.where, 0, field.at), len(array) - array.null_count, field.key, example, item)

    # ---- columns

    def fit(self) -> None:
        """Place what fits. Raises ContractViolation for all that does not, of rows that keep their types."""
        for field in self.fields:
            array = self.batch.column(field.at)
            if field.nested and not self.preserves_types:
                self.remaining.append(field)
            elif field.excluded:
                continue
            elif field.kept:
                self._discard_column(field, array, f"the name {field.name} is kept for bookkeeping")
            elif field.verdict is not None:
                self._refuse(field, array, "columns", field.verdict)
            elif field.complete:
                self._place(field, array)
        missing = [name for name in self._required() if name not in self.arrays]
        if self.preserves_types and self.batch.num_rows:
            broken = {violation.column for violation in self.refused.violations}
            for name in missing:
                if name not in broken:
                    self.refused.add_missing(name, self.batch.num_rows)
        if self.refused.violations:
            raise merge_violations(self.refused.violations)

    @property
    def placed(self) -> bool:
        """Whether all that goes into this table has its place."""
        needed = (*self._required(), *self.keys.from_columns)
        return not self.remaining and all(name in self.arrays for name in needed)

    def _required(self) -> Sequence[str]:
        system_columns = self.keys.columns
        table = self.root.table
        return (
            [c.name for c in table.complete_columns if c.required and c.name not in system_columns]
            if table
            else []
        )

    def _place(self, field: Field, array: pa.Array) -> None:
        column = field.complete
        assert column is not None
        if (
            column.required
            and array.null_count
            and not (self.preserves_types and field.name == self.keys.row_id)
        ):
            if self.preserves_types:
                self.refused.add_null(field, np.flatnonzero(~_valid_mask(array)).tolist())
            else:
                self.remaining.append(field)
        elif (stored := self._fitted(field, array)) is not None:
            self.arrays[field.name] = stored.array
            self.cut[_CUT.format(self.root.name, field.name)] += stored.cut
        elif self.preserves_types and (kind := widening(self.plan, self.root, field, array)) is not None:
            self.wider.cells[CellKey(self.root.name, field.name, kind)] = self._seen(field)
        elif self.preserves_types:
            self._refuse_misfit(field, array, column)
        else:
            self.remaining.append(field)

    def _fitted(self, field: Field, array: pa.Array) -> Fitted | None:
        column = field.complete
        assert column is not None
        if self.preserves_types:
            return fitted_whole(self.plan, self.root, field, array, column)
        converts = field.type is not None and field.type.data_type != column.data_type
        if field.nested or (converts and not self.root.coerces):
            return None
        if is_json_text(field.arrow):
            return Fitted(plain(array)) if arrow_type(column) == pa.string() and not converts else None
        return fitted(plain(array), column)

    # ---- what contracts say

    def _refuse_misfit(self, field: Field, array: pa.Array, column: Column) -> None:
        contract = contract_for(
            self.plan.schema, self.root.name, prefix=self.plan.dialect.capabilities.system_prefix
        )
        match contract.data_type:
            case "discard_value" | "discard_row" as verdict:
                self._refuse(field, array, "data_type", verdict)
            case _:
                rows = misfit_rows(array, lambda part: self._fitted(field, part) is not None)
                self.refused.add_misfit(field, column, rows, contract)

    def _refuse(self, field: Field, array: pa.Array, entity: str, verdict: Verdict) -> None:
        reason = f"contract on {entity}: {verdict}"
        if verdict != "discard_row":
            self._discard_column(field, array, reason)
            return
        for row_index in np.flatnonzero(_valid_mask(array) & self.stays).tolist():
            (row,) = rows_of(self.batch.slice(row_index, 1))
            self._discard(field, row[field.key], row_index, reason, to_json(row))
            self.stays[row_index] = False

    def _discard_column(self, field: Field, array: pa.Array, reason: str) -> None:
        """A column that goes nowhere."""
        if array.null_count == len(array):
            return
        for row_index, row in enumerate(rows_of(self.batch.select([field.key]))):
            if row[field.key] is not None and self.stays[row_index]:
                self._discard(field, row[field.key], row_index, reason)

    def _discard(self, field: Field, value: Any, row_index: int, reason: str, row: str | None = None) -> None:
        text = value if isinstance(value, str) else to_json(value)
        record_number = self.where[-1] + row_index
        self.discards.append(Discard(self.root.name, field.name, field.key, text, record_number, reason, row))

    # ---- rows

    @property
    def counts(self) -> Counts:
        loaded = int(self.stays.sum())
        return Counts(len(self.stays), loaded, dropped=len(self.stays) - loaded)

    def rows(self, id_generator: RowIdGenerator) -> list[TableBatch]:
        """The rows of the table, with their bookkeeping."""
        self.flattener.warnings += self.cut
        table, keys, batch = self.root.table, self.keys, self._filtered()
        assert table is not None
        id_sources: Sequence[Any] = ()
        if keys.of_item:
            id_sources = rows_of(self._kept())
        elif keys.from_columns:
            id_sources = list(zip(*(self._raw(name) for name in keys.from_columns), strict=True))
        own_ids = batch.columns.get(keys.row_id)
        partial_ids = own_ids.to_pylist() if own_ids is not None and own_ids.null_count else None
        system_columns = id_generator.root_columns(self.root.place, keys, batch.rows, id_sources, partial_ids)
        for name, values in system_columns.items():
            if name != keys.row_id or own_ids is None or own_ids.null_count:
                batch.columns[name] = array_of(table, table.columns[name], values)
        return [batch] if batch.rows else []

    def _raw(self, name: str) -> list[Any]:
        """The values of a column as they came."""
        (key,) = (field.key for field in self.fields if field.name == name)
        return [row[key] for row in rows_of(self._kept().select([key]))]

    def _kept(self) -> pa.RecordBatch:
        return self.batch if self.stays.all() else self.batch.filter(pa.array(self.stays))

    def _filtered(self) -> TableBatch:
        origins = self.where[-1] + np.flatnonzero(self.stays)
        if self.stays.all():
            return TableBatch(self.root.name, self.batch.num_rows, dict(self.arrays), origins)
        mask = pa.array(self.stays)
        columns = {name: array.filter(mask) for name, array in self.arrays.items()}
        return TableBatch(self.root.name, len(origins), columns, origins)

    # ---- rows that are looked at one by one

    def items(self) -> list[Any]:
        """The rows as Python values, without what these cannot hold if it is placed already."""
        remaining = [
            field
            for field in self.fields
            if field.name not in self.arrays or not (_too_wide(field) or is_json_text(field.arrow))
        ]
        if not remaining:
            return [{}] * self.batch.num_rows
        shortened_columns = [shortened(self.batch.column(field.at)) for field in remaining]
        for field, column in zip(remaining, shortened_columns, strict=True):
            if column.cut and field.name not in self.arrays:
                self.cut[_CUT.format(self.root.name, field.name)] += column.cut
        return rows_with_json(
            pa.RecordBatch.from_arrays(
                [m.array for m in shortened_columns], names=[f.key for f in remaining]
            ),
            self._spreads,
        )

    def _spreads(self, path: Sequence[str]) -> bool:
        """Whether the table has columns below a map, and none for the map."""
        naming, columns = self.plan.naming, self.root.table.columns if self.root.table else {}
        name = naming.join(*map(naming.key, path))
        return name not in columns and any(
            column.startswith(f"{name}{naming.separator}") for column in columns
        )

    def without_columns(self, seen: Observations) -> Observations:
        """What the rows showed one by one, without what is known of their columns."""
        names = {field.name for field in self.fields if not field.complete and not field.nested}
        for key in [key for key in seen.cells if key.table == self.root.name and key.column in names]:
            del seen.cells[key]
        return seen

    def add_columns_to(self, batches: Sequence[TableBatch], loaded: Sequence[bool]) -> None:
        """Put the columns that could be placed into the rows that were made one by one."""
        self.flattener.warnings += self.cut
        self.stays = np.array(loaded, dtype=bool)
        columns_batch = self._filtered()
        for batch in batches:
            if batch.table == self.root.name and batch.rows == columns_batch.rows:
                system_columns = (self.keys.row_id, *self.keys.columns)
                batch.columns.update(
                    {n: array for n, array in columns_batch.columns.items() if n not in system_columns}
                )


def _valid_mask(array: pa.Array) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return mask


def _too_wide(field: Field) -> bool:
    precision = field.type.precision if field.type and field.type.data_type == "decimal" else None
    return precision is not None and precision > _PYTHON_DIGITS
