"""What an alter changes, column by column, and whether that needs data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from trellis.dialects.ytsaurus.compatibility.types import type_compatibility
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.document import column_document, schema_document
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.switches import DEFAULT_SWITCHES, Switches
from trellis.dialects.ytsaurus.types.model import ANY
from trellis.dialects.ytsaurus.yson.writer import dumps

Verdict = Literal["metadata only", "needs rewrite", "impossible"]

_DOCUMENTED = frozenset(
    (
        "key column added after the existing keys",
        "last key column removed",
        "last key column is no longer key",
        "column added",
        "column removed",
        "group changed",
    )
)


@dataclass(frozen=True)
class Change:
    """One difference of a column, or of the table where the column is empty."""

    column: str
    rule: str
    verdict: Verdict = "metadata only"

    def __str__(self) -> str:
        return f"column {self.column}: {self.rule}" if self.column else self.rule


@dataclass(frozen=True)
class AlterPlan:
    """The changes between two schemas of a table."""

    path: str
    old: TableSchema
    new: TableSchema
    changes: tuple[Change, ...]

    @property
    def refused(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.verdict != "metadata only")

    @property
    def allowed(self) -> bool:
        return not self.refused

    @property
    def rewrite(self) -> str | None:
        """The merge that makes the change by writing the rows anew; None where no merge can."""
        if self.allowed or any(change.verdict == "impossible" for change in self.changes):
            return None
        schema = dumps(schema_document(self.new.without_stable_names())).decode()
        path = self.path or "//table"
        return (
            f"merge --mode ordered --src {path} --dst '<schema={schema}>{path}' "
            "--spec '{schema_inference_mode=from_output}'"
        )

    def check(self) -> None:
        """Raises YtError with the code 316 if data would be needed."""
        if self.refused:
            errors = [
                YtError(str(change), ErrorCode.INCOMPATIBLE_SCHEMAS, attributes={"verdict": change.verdict})
                for change in self.refused
            ]
            raise YtError(
                f"the schema of {self.path or 'the table'} cannot be changed without its data",
                ErrorCode.INCOMPATIBLE_SCHEMAS,
                inner_errors=errors,
            )

    def to_dict(self) -> dict[str, Any]:
        """What `alter-table --dry-run` prints."""
        before = {column.identity: column for column in self.old.columns}
        after = {column.identity: column for column in self.new.columns}
        names = [*after, *(identity for identity in before if identity not in after)]
        columns = []
        for identity in names:
            old, new = before.get(identity), after.get(identity)
            name = (new or before[identity]).name
            changes = [change for change in self.changes if change.column == name]
            if not changes:
                continue
            columns.append(
                {
                    "name": name,
                    "before": None if old is None else column_document(old),
                    "after": None if new is None else column_document(new),
                    "verdict": max((change.verdict for change in changes), key=_SEVERITY.index),
                    "rule": "; ".join(change.rule for change in changes),
                }
            )
        table = [
            {"verdict": change.verdict, "rule": change.rule} for change in self.changes if not change.column
        ]
        return {"allowed": self.allowed, "columns": columns, "table": table, "rewrite": self.rewrite}


_SEVERITY: tuple[Verdict, ...] = ("metadata only", "needs rewrite", "impossible")


def check_alter(
    old: TableSchema,
    new: TableSchema,
    *,
    is_empty: bool = False,
    switches: Switches = DEFAULT_SWITCHES,
    path: str = "",
) -> AlterPlan:
    """The changes from one valid schema to another, each with whether it needs data."""
    comparison = _Comparison(old, new, switches)
    changes = comparison.empty_changes() if is_empty else comparison.changes()
    return AlterPlan(path, old, new, tuple(changes))


class _Comparison:
    def __init__(self, old: TableSchema, new: TableSchema, switches: Switches) -> None:
        self._old = old
        self._new = new
        self._switches = switches
        self._before = {column.identity: column for column in old.columns}
        self._after = {column.identity: column for column in new.columns}

    def empty_changes(self) -> Iterator[Change]:
        """A table without rows takes any schema but a key of the type any."""
        for identity, column in self._after.items():
            old = self._before.get(identity)
            if old is not None and _becomes_any(old, column):
                yield Change(column.name, "the type of a key column becomes any", "impossible")

    def changes(self) -> Iterator[Change]:
        for change in self._all_changes():
            documented = change.rule in _DOCUMENTED or not change.column
            if (
                self._switches.alter_policy == "documented"
                and not documented
                and change.verdict == "metadata only"
            ):
                yield Change(change.column, f"{change.rule} (alter_policy=documented)", "needs rewrite")
            else:
                yield change

    def _all_changes(self) -> Iterator[Change]:
        yield from self._table_changes()
        for identity, column in self._after.items():
            old = self._before.get(identity)
            yield from self._added(column) if old is None else self._changed(old, column)
        for identity, column in self._before.items():
            if identity not in self._after:
                yield self._removed(column)

    def _table_changes(self) -> Iterator[Change]:
        old, new = self._old, self._new
        if old.strict and not new.strict:
            if old.columns == new.columns:
                yield Change("", "strict becomes %false")
            else:
                yield Change(
                    "", "strict becomes %false and columns change; alter in two steps", "needs rewrite"
                )
        if not old.strict and new.strict:
            yield Change(
                "", "strict becomes %true: rows may have columns that are not declared", "needs rewrite"
            )
        if old.unique_keys != new.unique_keys:
            verdict: Verdict = "needs rewrite" if new.unique_keys else "metadata only"
            yield Change("", f"unique_keys becomes {'%true' if new.unique_keys else '%false'}", verdict)
        if new.is_sorted and not old.is_sorted:
            yield Change("", "the table becomes sorted", "needs rewrite")
        old_keys = [column.identity for column in old.key_columns if column.identity in self._after]
        new_keys = [column.identity for column in new.key_columns if column.identity in self._before]
        if old_keys[: len(new_keys)] != new_keys and {*new_keys} <= {*old_keys}:
            yield Change("", "key columns change their order", "needs rewrite")
        if new.unique_keys and self._weakens_keys():
            yield Change(
                "", "unique_keys stays %true with fewer key columns; set it to %false", "needs rewrite"
            )
        if lost := set(old.deleted_columns) - set(new.deleted_columns):
            yield Change("", f"deleted_columns no longer lists {', '.join(sorted(lost))}", "impossible")

    def _weakens_keys(self) -> bool:
        after = [column.identity for column in self._new.key_columns]
        return any(column.identity not in after for column in self._old.key_columns)

    def _added(self, column: Column) -> Iterator[Change]:
        if column.expression is not None:
            yield Change(column.name, "computed column added", "needs rewrite")
        elif column.required:
            yield Change(
                column.name, "required column added, and the rows have no value for it", "impossible"
            )
        elif not self._new.strict or not self._old.strict:
            yield Change(
                column.name,
                "column added to a schema that is not strict, whose rows may have it already",
                "needs rewrite",
            )
        elif not column.is_key:
            yield Change(column.name, "column added")
        elif not self._old.is_sorted:
            yield Change(column.name, "key column added to an unsorted table", "needs rewrite")
        elif self._is_after_keys(column):
            yield Change(column.name, "key column added after the existing keys")
        else:
            yield Change(column.name, "key column added before an existing key", "needs rewrite")

    def _is_after_keys(self, column: Column) -> bool:
        keys = [key.identity for key in self._new.key_columns]
        return all(
            keys.index(key.identity) < keys.index(column.identity)
            for key in self._old.key_columns
            if key.identity in keys
        )

    def _removed(self, column: Column) -> Change:
        if self._old.strict:
            dropped = column.identity in self._new.deleted_columns
            if self._switches.enable_drop_columns and dropped and not column.is_key:
                return Change(column.name, "column dropped")
            return Change(column.name, "column removed from a strict schema", "needs rewrite")
        if not column.is_key:
            return Change(column.name, "column removed")
        if self._is_last_key(column):
            return Change(column.name, "last key column removed")
        return Change(column.name, "key column removed before another", "needs rewrite")

    def _is_last_key(self, column: Column) -> bool:
        """Whether no key stays after it."""
        keys = [key.identity for key in self._old.key_columns]
        later = keys[keys.index(column.identity) :]
        return not any(identity in later for identity in (key.identity for key in self._new.key_columns))

    def _changed(self, old: Column, new: Column) -> Iterator[Change]:
        if old.name != new.name:
            strict = self._old.strict and self._new.strict
            yield Change(new.name, f"renamed from {old.name}", "metadata only" if strict else "needs rewrite")
        yield from self._type_changes(old, new)
        if old.sort_order != new.sort_order:
            yield self._sort_change(old, new)
        if old.expression != new.expression:
            yield Change(new.name, "expression changed", "needs rewrite")
        if old.aggregate != new.aggregate:
            added = old.aggregate is None
            rule = "aggregate added" if added else "aggregate changed"
            yield Change(new.name, rule, "metadata only" if added else "needs rewrite")
        for what in ("lock", "group", "max_inline_hunk_size", "constraint", "materialized"):
            if getattr(old, what) != getattr(new, what):
                yield Change(new.name, f"{what} changed")

    def _type_changes(self, old: Column, new: Column) -> Iterator[Change]:
        if old.type == new.type:
            return
        types = type_compatibility(old.type, new.type)
        rule = f"type {old.type} becomes {new.type}"
        if _becomes_any(old, new):
            yield Change(new.name, f"{rule} in a key column", "needs rewrite")
        elif types.level == "full":
            yield Change(new.name, rule)
        else:
            verdict: Verdict = "needs rewrite" if types.level == "validate" else "impossible"
            yield Change(new.name, f"{rule}: {types.reason}", verdict)

    def _sort_change(self, old: Column, new: Column) -> Change:
        if not new.is_key:
            if self._is_last_key(old):
                return Change(new.name, "last key column is no longer key")
            return Change(new.name, "key column before another is no longer key", "needs rewrite")
        return Change(new.name, f"sort_order becomes {new.sort_order}", "needs rewrite")


def _becomes_any(old: Column, new: Column) -> bool:
    return old.is_key and new.is_key and new.type == ANY and old.type != ANY
