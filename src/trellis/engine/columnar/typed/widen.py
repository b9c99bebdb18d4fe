"""Typed rows whose values do not fit a column, but a wider type that the contract lets it take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from trellis.engine.columnar.typed.fields import Field
from trellis.engine.columnar.typed.preserved import fitted_whole
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.plan import Plan
from trellis.evolution.contract import contract_for
from trellis.evolution.scalars.kinds import Kind
from trellis.schema.model import DATA_TYPES, Column, DataType


def widening(plan: Plan, root: TableBuilder, field: Field, array: pa.Array) -> Kind | None:
    """The kind of the values, if the column becomes wider for them; None where they have no place."""
    column = field.complete
    assert column is not None
    contract = contract_for(plan.schema, root.name, prefix=plan.dialect.capabilities.system_prefix)
    if contract.data_type != "evolve" or field.type is None:
        return None
    source_type = field.type.data_type
    if not _widens(plan, root, field, Kind(source_type, None, frozenset(DATA_TYPES) - {column.data_type})):
        return None
    kind = Kind(source_type, None, frozenset(_fits(plan, root, field, array, column)))
    return kind if _widens(plan, root, field, kind) else None


def _widens(plan: Plan, root: TableBuilder, field: Field, kind: Kind) -> bool:
    assert root.table is not None
    place = plan.dialect.types.on_type_mismatch(plan.schema, plan.naming, root.table, field.name, kind)
    return isinstance(place, Column) and place.name == field.name


def _fits(
    plan: Plan, root: TableBuilder, field: Field, array: pa.Array, column: Column
) -> Iterator[DataType]:
    """The other types that take all the values."""
    for data_type in DATA_TYPES:
        wider = replace(column, data_type=data_type, precision=None, scale=None)
        if data_type != column.data_type and fitted_whole(plan, root, field, array, wider) is not None:
            yield data_type
