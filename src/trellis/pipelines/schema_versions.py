"""A schema that a person wrote becomes the newest version of a dataset, without rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from trellis.destinations.base import Commit, CommitConflict
from trellis.dialects import get_dialect
from trellis.engine.staging.column_defaults import FillValues, fill_values
from trellis.errors import ConflictError, SchemaError, UsageError
from trellis.evolution.dialect import Dialect
from trellis.evolution.scalars.values import MISFIT
from trellis.pipelines.loading.change_log import SCHEMA_CHANGES, ChangeLog
from trellis.schema.documents.document import from_dict, to_dict
from trellis.schema.model import Schema
from trellis.schema.renames import NO_RENAMES, Renames
from trellis.schema.system import is_system
from trellis.schema.version import bump
from trellis.warehouses.alterations import Alteration
from trellis.warehouses.migration_plan import MigrationPlan

if TYPE_CHECKING:
    from trellis.pipelines.pipeline import Pipeline


@dataclass(frozen=True)
class SchemaChanges:
    """What becomes of tables that are there, beside new columns.

    `retyped` are columns that get another type, by table; `filled` is what rows get in new columns.
    """

    alterations: tuple[Alteration, ...] = ()
    retyped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    filled: FillValues = field(default_factory=dict)
    renames: Renames = NO_RENAMES


NO_CHANGES: Final = SchemaChanges()


def changes_of(plan: MigrationPlan, dialect: Dialect) -> SchemaChanges:
    """The changes that a plan makes. Raises SchemaError where one is impossible, or a value does not fit."""
    for step in plan.steps:
        if step.cost == "impossible":
            raise SchemaError(f"{step.text}: {step.note}; DuckDB, PostgreSQL and Delta Lake take it")
    values: dict[str, dict[str, Any]] = {}
    for (name, column_name), text in plan.fills.items():
        column = plan.after.tables[name].columns[column_name]
        value = dialect.types.coercer(plan.after, column)(text)
        if value is MISFIT:
            raise SchemaError(
                f"--fill {name}.{column_name}={text}: the value is no {column.data_type}; give one of the "
                "column's type"
            )
        values.setdefault(name, {})[column_name] = value
    return SchemaChanges(plan.alterations, plan.retyped, fill_values(plan.after, values), plan.renames)


def save_schema(
    pipeline: Pipeline,
    schema: Schema,
    changes: SchemaChanges = NO_CHANGES,
    *,
    origin: str = "",
    dry_run: bool = False,
) -> Schema:
    """Record a schema as the newest version, and bring the tables to it, in one commit.

    It must be made from the version that is there now. Root tables that say no write disposition and no
    resource get what a document gets, and the bookkeeping tables of the dialect are added. `origin` is the
    file that the schema came from, for its history. A dry run raises what the commit would, and leaves
    everything as it is.

    Raises SchemaError, DestinationError, and ConflictError where another load was faster.
    """
    destination, dialect = pipeline.destination, get_dialect(pipeline.dialect)
    if changes.alterations and not destination.abilities.alters:
        title = destination.abilities.warehouse.title
        raise UsageError(
            f"{destination.url}: in {title} Trellis adds columns and gives them other types, and makes no "
            "other change, as it does in DuckDB, PostgreSQL, Delta Lake, Iceberg and Parquet; print the "
            "statements with `trellis schema plan --sql` and run them there"
        )
    base = schema.stored_hash
    as_read = from_dict(to_dict(schema), f"schema {schema.name}")
    system_tables = dialect.schemas.new_schema(schema.name).tables.values()
    missing = (table for table in system_tables if table.name not in as_read.tables)
    complete = as_read.with_tables(*missing)
    after = bump(dialect.tables.finalize_schema(complete, complete, ()))
    load_id, now = f"{time.time():.6f}", datetime.now(timezone.utc)
    fresh = after.stored_hash != base
    remembers = dialect.metadata.tables().states in after.tables
    state = dialect.metadata.next_state(pipeline.state, after.name, None) if remembers else None
    prefix = dialect.capabilities.system_prefix
    compared = changes.renames.compare(pipeline.schema, after)
    changed = [change for change in compared if not is_system(change.table, prefix)]
    log = ChangeLog(load_id, pipeline.name, now).rows(after, changed, lambda _: origin)
    commit = Commit(
        load_id,
        pipeline.dataset,
        after,
        base,
        (),
        {},
        {
            **dialect.metadata.rows(after, load_id, now, fresh=fresh, state=state),
            **log,
        },
        {},
        dialect.metadata.tables(),
        (SCHEMA_CHANGES,) if log else (),
        retyped=changes.retyped,
        alterations=changes.alterations,
        filled={**fill_values(after, dialect.writes.backfill(after, now)), **changes.filled},
    )
    try:
        (destination.rehearse if dry_run else destination.commit)(commit)
    except CommitConflict:
        raise ConflictError(
            f"{destination.url}: another load changed the schema meanwhile; plan it again"
        ) from None
    return after
