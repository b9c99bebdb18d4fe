"""The fields of a batch of rows with types, and the columns they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.nested_types import hint_of, kept_type
from trellis.engine.arrow.types import ColumnType, Unsupported, column_type, is_nested
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.plan import Plan
from trellis.errors import ContractError, UsageError
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.evolve import Verdict
from trellis.evolution.scalars.kinds import TypedKind, typed_kind
from trellis.schema.model import Column


@dataclass(frozen=True)
class Field:
    """One field of a batch. `type` is None where all its values are NULL for want of another type.

    `kept`: its name is that of a bookkeeping column. `excluded`: a filter leaves it out. `shared`: another
    field has the same column.
    """

    at: int
    key: str
    name: str
    arrow: pa.DataType
    type: ColumnType | None
    nested: bool
    column: Column | None
    verdict: Verdict | None
    kept: bool
    excluded: bool
    shared: bool

    @property
    def complete(self) -> Column | None:
        """Its column, if that has a type."""
        return self.column if self.column is not None and self.column.complete else None

    @property
    def placeable(self) -> bool:
        """Whether its values go into a column at all."""
        return not self.kept and not self.excluded and self.verdict is None

    def kind(self, plan: Plan) -> TypedKind:
        """What it shows to a schema that has no such column yet."""
        assert self.type is not None
        kept = self.type.within(plan.digits, self.column.timezone if self.column else None)
        nested = hint_of(self.arrow) if self.stays_nested(plan) else None
        return typed_kind(kept.data_type, kept.precision, kept.scale, nested)

    def stays_nested(self, plan: Plan) -> bool:
        """Whether its values can be stored as the nested values they are."""
        stored_nested = plan.preserved_keys is not None and plan.nesting is not None
        return stored_nested and self.nested and kept_type(self.arrow) is not None


def fields_of(
    schema: pa.Schema, plan: Plan, root: TableBuilder, keys: RowKeys, file: str
) -> tuple[Field, ...]:
    """The fields of a batch for a root table.

    Raises ContractError for a type that is no data type, UsageError for a name that stands twice.
    """
    duplicates = [name for name, count in Counter(schema.names).items() if count > 1]
    if duplicates:
        raise UsageError(f"{file}: two columns are named {duplicates[0]!r}; rename one")
    names = [plan.naming.key(name) for name in schema.names]
    counts = Counter(names)
    reserved = frozenset(keys.columns) - {keys.row_id}
    return tuple(_fields(schema, names, counts, reserved, plan, root, file))


def _fields(
    schema: pa.Schema,
    names: Sequence[str],
    counts: Counter[str],
    reserved: frozenset[str],
    plan: Plan,
    root: TableBuilder,
    file: str,
) -> Iterator[Field]:
    for index, (field, name) in enumerate(zip(schema, names, strict=True)):
        column = root.table.columns.get(name) if root.table else None
        try:
            type_ = column_type(field.type)
        except Unsupported:
            raise ContractError(
                f"{file}: {field.name} holds a {field.type}, which no data type takes; convert it before it "
                f"is loaded into table {root.name}"
            ) from None
        missing = column is None or not column.complete
        yield Field(
            index,
            field.name,
            name,
            field.type,
            type_,
            is_nested(field.type),
            column,
            plan.refusals.of(root.name, name) if missing else None,
            name in reserved,
            root.excludes(plan, (name,)),
            counts[name] > 1,
        )


def first_value(array: pa.Array) -> int | None:
    """The number of the first value that is not NULL."""
    index = pc.index(array.is_valid(), True).as_py()
    return None if index < 0 else int(index)
