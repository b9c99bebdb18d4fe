"""What is looked at before a load commits: keys without a type, names that collide, keys without a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from trellis.engine.task import Outcome
from trellis.errors import SchemaError, UsageError
from trellis.evolution.table_writes import IdentityRules, KeyedWrite, Load, TableTreeWrite
from trellis.schema.dict_form import to_dict
from trellis.schema.documents.validate import faults_of_stored
from trellis.schema.model import Column, Schema
from trellis.schema.naming import Naming
from trellis.schema.version import is_modified

NOTES = 20
NAMES = 5


def untyped(schema: Schema, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """A note on keys that never had a value: they get their column with the first one."""
    names = sorted(
        f"{table}.{column}"
        for table, column in set[tuple[str, str]]().union(*(outcome.untyped for outcome in outcomes))
        if table not in schema.tables
        or column not in schema.tables[table].columns
        or not schema.tables[table].columns[column].complete
    )
    if not names:
        return ()
    return (f"all values are null; the column is created with the first value: {_some(names)}",)


def unscaled(before: Schema, after: Schema) -> tuple[str, ...]:
    """A note on each new decimal with a precision and no scale: it keeps whole numbers."""
    notes = []
    for table in after.tables.values():
        known = before.tables[table.name].columns if table.name in before.tables else {}
        for column in table.columns.values():
            was = known.get(column.name)
            if _is_unscaled(column) and not (was and _is_unscaled(was)):
                notes.append(
                    f"column {table.name}.{column.name}: precision {column.precision} without a scale "
                    "means scale 0; say the scale if fractions are to be kept"
                )
    return tuple(notes)


def _is_unscaled(column: Column) -> bool:
    return column.data_type == "decimal" and column.precision is not None and column.scale is None


def beside_wei(before: Schema, after: Schema, naming: Naming) -> tuple[str, ...]:
    """A note on each new column with values for which a column of wei has no room."""
    notes = []
    for table in after.tables.values():
        known = before.tables[table.name].columns if table.name in before.tables else {}
        beside = [
            (column.name, naming.variant(column.name, kind))
            for column in table.columns.values()
            if column.data_type == "wei"
            for kind in ("text", "str")
        ]
        notes += [
            f"column {table.name}.{wei}: some values do not fit wei as the destination holds it; "
            f"they are kept in {name}"
            for wei, name in beside
            if name in table.columns and name not in known
        ]
    return tuple(notes)


def shared(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """A note on each table and column that several names of the records came to."""
    raw_names: dict[str, set[str]] = {}
    for outcome in outcomes:
        for name, raws in outcome.shared.items():
            raw_names.setdefault(name, set()).update(raws)
    several = sorted((name, sorted(raws)) for name, raws in raw_names.items() if len(raws) > 1)
    notes = [f"{name} is shared by {_some([*map(repr, raws)])}" for name, raws in several]
    more = len(notes) - NOTES
    return (*notes[:NOTES], *((f"and {more} more names are shared",) if more > 0 else ()))


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES])
    return shown if len(names) <= NAMES else f"{shown} and {len(names) - NAMES} more"


def warnings(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """A note on each thing that is no fault but worth to know."""
    counts = sum((outcome.warnings for outcome in outcomes), Counter[str]())
    return tuple(
        f"{count:,} record{'s' if count > 1 else ''}: {what}" for what, count in sorted(counts.items())
    )


def refuse_unbound(schema: Schema, root: str) -> None:
    """A key column that never arrived has no type, so it cannot be created."""
    for table in schema.chain(root) if root in schema.tables else ():
        for column in table.columns.values():
            if not column.complete and column.required and table.seen_data:
                kind = (
                    "primary key"
                    if column.hint("primary_key")
                    else "merge key"
                    if column.hint("merge_key")
                    else "required"
                )
                raise SchemaError(
                    f"table {table.name}: {kind} column {column.name} is in no record, so it has no type; "
                    "check its name, or give it a data_type in the schema"
                )


def refuse_faulty(schema: Schema, roots: Sequence[str], where: str) -> None:
    """Raises SchemaError for tables that could be stored as they are, but not read back or loaded."""
    tables = [table for name in roots if name in schema.tables for table in schema.chain(name)]
    part = replace(schema, tables={table.name: table for table in tables})
    if table_faults := faults_of_stored(to_dict(part)):
        sentences = "; ".join(map(str, table_faults))
        raise SchemaError(
            f"{where}, schema {schema.name}: {sentences}; give the load a mode and a strategy that exist, or "
            "correct the schema with schema export and schema import"
        )


def refuse_merges(writes: Sequence[Load], identity_rules: IdentityRules | None, reason: str) -> None:
    """Raises UsageError where a load would compare rows with others, and the destination cannot."""
    merged = {write.table: "by its key" for write in writes if isinstance(write, KeyedWrite) and write.keys}
    trees = (write for write in writes if isinstance(write, TableTreeWrite) and write.mode == "merge")
    merged |= {write.root: f"with the strategy {write.strategy}" for write in trees}
    if identity_rules is not None:
        merged[identity_rules.mappings] = "by identity"
    for table, how in merged.items():
        raise UsageError(
            f"table {table} is merged {how}: {reason}; name another destination, or load with the mode "
            "append or replace; nothing was loaded"
        )


NEAR_LIMIT = 0.9
"""From this share of the most columns on a table is close to it."""


def refuse_width(schema: Schema, touched: Iterable[str], limit: int | None, advice: str) -> None:
    """Raises SchemaError where a table gets more columns than the limit."""
    for name in touched:
        count = len(schema.tables[name].complete_columns)
        if limit is not None and count > limit:
            raise SchemaError(
                f"table {name}: it would have {count:,} columns, and {limit:,} is the most; {advice}",
                table=name,
            )


def near_width(schema: Schema, touched: Iterable[str], limit: int | None) -> dict[str, str]:
    """The tables that have nearly as many columns as the limit, each with a sentence."""
    counts = {name: len(schema.tables[name].complete_columns) for name in touched}
    return {
        name: f"table {name}: it has {count:,} columns, and {limit:,} is the most"
        for name, count in counts.items()
        if limit is not None and count >= NEAR_LIMIT * limit
    }


def refuse_collisions(schema: Schema) -> None:
    """Names that differ in case alone are one name to a destination that does not tell case apart."""
    columns = ((f"columns of table {table.name}", table.columns) for table in schema.tables.values())
    for what, names in (("tables", schema.tables), *columns):
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                raise SchemaError(
                    f"{what}: {other} and {name} collide, because the destination does not tell case apart; "
                    "choose a naming convention that does not either, such as snake_case or sql_ci_v1"
                )


def refuse_edited(stored: Schema, where: str) -> None:
    """Raises SchemaError for a stored schema that does not say any more what its hash was made of."""
    if stored.stored_hash and is_modified(stored):
        raise SchemaError(
            f"{where}: schema {stored.name} was modified outside Trellis (hash mismatch); "
            "restore its newest row, and edit a copy in the import folder instead"
        )
