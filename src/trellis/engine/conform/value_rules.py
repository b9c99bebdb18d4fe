"""Value rules: which rows of a block break them, and what its contract makes of each.

Rules are held against the columns that are staged. So a value is judged as it is stored, and it does not
matter which way its record went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.number_text import is_number_text
from trellis.engine.arrow.types import arrow_type
from trellis.engine.conform.outcome import Conformed
from trellis.engine.input.blocks import Split
from trellis.engine.plan import Discard, Plan
from trellis.engine.staging.batches import TableBatch, array_of
from trellis.engine.text import to_json
from trellis.errors import SchemaError
from trellis.evolution.contract import Contract, ContractViolation, contract_for
from trellis.evolution.scalars.values import MISFIT
from trellis.schema.model import Column, DataType, Table
from trellis.schema.value_rules import RULES, rules_of

Mask = npt.NDArray[np.bool_]
RecordText = Callable[[int], str]

_COMPARED: frozenset[DataType | None] = frozenset(
    ("bigint", "double", "decimal", "wei", "timestamp", "date", "time")
)
_LISTED: frozenset[DataType | None] = frozenset((*_COMPARED, "text", "bool"))
_KEYS = ("primary_key", "merge_key", "unique", "row_key")


class ColumnRule(NamedTuple):
    """One rule of one column. `breaks` marks the values that break it; `sentence` says how."""

    column: Column
    name: str
    sentence: str
    breaks: Callable[[pa.Array], pa.Array]


class RuleEnforcer:
    """Holds the batches of a task to the rules of their columns.

    Raises SchemaError for a rule that no column of its type can have.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.rules = {
            table.name: rules for table in plan.schema.tables.values() if (rules := [*_rules_of(plan, table)])
        }
        self.root = plan.naming.table(plan.table) if self.rules and plan.table else ""

    def enforce(self, split: Split, conformed: Conformed, record_text: RecordText) -> None:
        """Take rows and values out of the batches of a block, note violations, and count again."""
        if any(batch.table in self.rules for batch in conformed.batches):
            _BlockRules(self, split, conformed, record_text).enforce()

    def contract(self, table: str) -> Contract:
        contract = contract_for(self.plan.schema, table, prefix=self.plan.dialect.capabilities.system_prefix)
        return contract.quarantined() if self.plan.quarantines else contract


class _BlockRules:
    """The rules of one block. A row that is dropped takes along the rows below it."""

    def __init__(
        self, enforcer: RuleEnforcer, split: Split, conformed: Conformed, record_text: RecordText
    ) -> None:
        self.enforcer = enforcer
        self.plan = enforcer.plan
        self.position = (self.plan.first_file + split.file, split.number)
        self.conformed = conformed
        self.record_text = record_text
        self.is_routed = bool(conformed.by_tables)
        self.dropped_ids: dict[str, list[pa.Array]] = {}
        self.dropped_records = np.array([], np.int64)

    def enforce(self) -> None:
        tables_before = self._tables_by_record() if self.is_routed else {}
        for batch in sorted(self.conformed.batches, key=self._depth):
            self._enforce_batch(batch)
        self.conformed.discards.sort(key=lambda discard: discard.line)
        if self.is_routed:
            self._recount_routed(tables_before)
        else:
            dropped = len(self.dropped_records)
            self.conformed.counts.loaded -= dropped
            self.conformed.counts.dropped += dropped

    def _depth(self, batch: TableBatch) -> int:
        if batch.table == self.enforcer.root:
            return -1
        depth, table = 0, self.plan.schema.tables[batch.table]
        while table.parent is not None:
            depth, table = depth + 1, self.plan.schema.tables[table.parent]
        return depth

    def _enforce_batch(self, batch: TableBatch) -> None:
        assert batch.origins is not None
        table = self.plan.schema.tables[batch.table]
        keys = self.plan.dialect.system_columns.row_keys(self.plan.schema, batch.table)
        stays = ~np.isin(batch.origins, self.dropped_records)
        if table.parent in self.dropped_ids and keys.parent_id in batch.columns:
            lost_parents = pa.concat_arrays(self.dropped_ids[table.parent])
            stays &= ~_mask(pc.is_in(batch.columns[keys.parent_id], lost_parents))
        mode = self.enforcer.contract(batch.table).values
        for rule in self.enforcer.rules.get(batch.table, ()):
            values = _column_of(batch, rule.column)
            breaks = _mask(rule.breaks(values)) & stays
            rows = np.flatnonzero(breaks)
            if not len(rows):
                continue
            where = f"{batch.table}.{rule.column.name}"
            if mode == "evolve":
                self.conformed.warnings[f"{where}: {rule.sentence}"] += len(rows)
            elif mode == "freeze":
                self._violate(table, rule, batch.origins[rows])
            elif mode == "discard_row" or _needs_value(rule):
                self._discard(batch, rule, rows, values)
                stays &= ~breaks
            else:
                self._discard(batch, rule, rows, values, keeps_row=True)
                nulls = pa.nulls(batch.rows, values.type)
                batch.columns[rule.column.name] = pc.if_else(pa.array(breaks), nulls, values)
        if not stays.all():
            self._drop(batch, keys.row_id, stays)

    def _violate(self, table: Table, rule: ColumnRule, origins: npt.NDArray[np.int64]) -> None:
        violation = ContractViolation(
            self.plan.schema.name, table.name, rule.column.name, "values", "freeze",
            contract=self.enforcer.contract(table.name), table_schema=table, reason=rule.sentence,
            position=(*self.position, int(origins.min())), count=len(origins),
        )  # fmt: skip
        self.conformed.violations.append(violation)

    def _discard(
        self,
        batch: TableBatch,
        rule: ColumnRule,
        rows: npt.NDArray[np.int64],
        values: pa.Array,
        keeps_row: bool = False,
    ) -> None:
        assert batch.origins is not None
        name, mode = rule.column.name, "discard_value" if keeps_row else "discard_row"
        reason = f"contract on values ({rule.name}): {mode}"
        for row in rows.tolist():
            value = values[row].as_py()
            text = value if isinstance(value, str) else to_json(value)
            record_json = None if keeps_row else self._row_text(batch, row)
            number = int(batch.origins[row])
            self.conformed.discards.append(
                Discard(batch.table, name, name, text, number, reason, record_json)
            )

    def _row_text(self, batch: TableBatch, row: int) -> str:
        """What was dropped: the record, or of other tables the values of the row."""
        assert batch.origins is not None
        if batch.table == self.enforcer.root and not self.is_routed:
            return self.record_text(int(batch.origins[row]))
        system_columns = self.plan.dialect.system_columns.row_keys(self.plan.schema, batch.table).columns
        values = {name: column[row].as_py() for name, column in batch.columns.items()}
        return to_json({name: value for name, value in values.items() if name not in system_columns})

    def _drop(self, batch: TableBatch, row_id: str, stays: Mask) -> None:
        assert batch.origins is not None
        if row_id in batch.columns:
            lost = _single_chunk(batch.columns[row_id]).filter(pa.array(~stays))
            self.dropped_ids.setdefault(batch.table, []).append(lost)
        if batch.table == self.enforcer.root and not self.is_routed:
            self.dropped_records = np.union1d(self.dropped_records, batch.origins[~stays])
        batch.columns = {name: column.filter(pa.array(stays)) for name, column in batch.columns.items()}
        batch.rows, batch.origins = int(stays.sum()), batch.origins[stays]

    def _tables_by_record(self) -> dict[int, frozenset[str]]:
        tables: dict[int, set[str]] = {}
        for batch in self.conformed.batches:
            assert batch.origins is not None
            for origin in batch.origins.tolist():
                tables.setdefault(origin, set()).add(batch.table)
        return {origin: frozenset(names) for origin, names in tables.items()}

    def _recount_routed(self, before: dict[int, frozenset[str]]) -> None:
        """Count records that lost rows by the tables that are left; those without any are dropped."""
        after, conformed = self._tables_by_record(), self.conformed
        changed = Counter(
            (tables, after.get(origin, frozenset()))
            for origin, tables in before.items()
            if after.get(origin) != tables
        )
        keys = {frozenset(tables): tables for tables in conformed.by_tables}
        for (old, new), count in changed.items():
            conformed.by_tables[keys[old]] -= count
            if new:
                conformed.by_tables[keys.setdefault(new, tuple(new))] += count
            else:
                conformed.counts.loaded -= count
                conformed.counts.dropped += count


def _needs_value(rule: ColumnRule) -> bool:
    """Whether a row without the value is no row that its table takes."""
    column = rule.column
    return column.required or rules_of(column).not_null or any(column.hint(key) for key in _KEYS)


def _column_of(batch: TableBatch, column: Column) -> pa.Array:
    values = batch.columns.get(column.name)
    if values is None:
        return pa.nulls(batch.rows, arrow_type(column) if column.complete else None)
    return _single_chunk(values)


def _single_chunk(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _mask(values: pa.Array | pa.ChunkedArray) -> Mask:
    filled: Mask = pc.fill_null(_single_chunk(values), False).to_numpy(zero_copy_only=False)
    return filled


# ---- rules -> functions over columns


def _rules_of(plan: Plan, table: Table) -> Iterator[ColumnRule]:
    for column in table.columns.values():
        if not column.hint(RULES):
            continue
        rules = rules_of(column)
        if rules.not_null:
            yield ColumnRule(column, "not_null", "the value is null", pc.is_null)
        if not column.complete:
            continue
        if rules.accepted_values:
            _check_type(table, column, "accepted_values", _LISTED)
            values = pa.concat_arrays([_bound(plan, table, column, value) for value in rules.accepted_values])
            sentence = f"the value is not one of {', '.join(map(_shown, rules.accepted_values))}"
            yield ColumnRule(column, "accepted_values", sentence, _is_not_in(values))
        for name, limit, compare, side in (
            ("minimum", rules.minimum, pc.less, "below"),
            ("maximum", rules.maximum, pc.greater, "above"),
        ):
            if limit is not None:
                _check_type(table, column, name, _COMPARED)
                bound = _bound(plan, table, column, limit)[0]
                sentence = f"the value is {side} the {name} {limit}"
                yield ColumnRule(column, name, sentence, _compares(compare, bound))
        if rules.pattern is not None:
            _check_type(table, column, "pattern", {"text"})
            sentence = f"the value does not match the pattern {rules.pattern}"
            yield ColumnRule(column, "pattern", sentence, _does_not_match(table, column, rules.pattern))


def _check_type(table: Table, column: Column, rule: str, types: Collection[DataType | None]) -> None:
    if column.data_type not in types or (column.data_type != "text" and is_number_text(column)):
        raise SchemaError(
            f"table {table.name}, column {column.name}: the rule {rule} is not for {column.data_type}"
            f"{' of so many digits' if column.data_type in types else ''}; remove it, or change the type"
        )


def _bound(plan: Plan, table: Table, column: Column, value: Any) -> pa.Array:
    """The value of a rule as the column stores it."""
    stored = plan.dialect.types.coercer(plan.schema, column)(value)
    if stored is MISFIT:
        raise SchemaError(
            f"table {table.name}, column {column.name}: {value!r} in its rules is no {column.data_type}; "
            "correct the rule"
        )
    return array_of(table, column, [stored])


def _is_not_in(accepted: pa.Array) -> Callable[[pa.Array], pa.Array]:
    return lambda values: pc.and_(pc.is_valid(values), pc.invert(pc.is_in(values, accepted)))


def _compares(compare: Callable[..., pa.Array], bound: pa.Scalar) -> Callable[[pa.Array], pa.Array]:
    return lambda values: compare(values, bound)


def _does_not_match(table: Table, column: Column, pattern: str) -> Callable[[pa.Array], pa.Array]:
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as bad:
        raise SchemaError(
            f"table {table.name}, column {column.name}: {pattern!r} is not a pattern of RE2 ({bad}); "
            "write it without what only Python's patterns have"
        ) from None
    return lambda values: pc.invert(pc.match_substring_regex(values.cast(pa.string()), pattern))


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
