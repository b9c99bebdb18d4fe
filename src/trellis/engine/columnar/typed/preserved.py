"""Rows with types that are taken as they are: no child tables, no variants (spec dlt.md, section 18).

What does not fit its column is an error, unless the contract says what else becomes of it (section 13).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NoReturn

import pyarrow as pa

from trellis.engine.arrow.nested_types import described, nested_type
from trellis.engine.arrow.nested_values import Misfit, nested_cast, nested_of_texts
from trellis.engine.arrow.number_text import is_number_text
from trellis.engine.arrow.types import arrow_type, value_type
from trellis.engine.columnar.typed.cast import Fitted, fitted, json_of, plain, shortened
from trellis.engine.columnar.typed.fields import Field
from trellis.engine.exact.slots import TableWalk
from trellis.engine.input.parquet import rows_of
from trellis.engine.plan import Plan
from trellis.engine.staging.batches import array_of
from trellis.errors import ContractError, UsageError
from trellis.evolution.contract import ContractViolation, contract_for
from trellis.evolution.evolve import Verdict
from trellis.evolution.values import MISFIT
from trellis.schema.model import Column, DataType


def fitted_whole(plan: Plan, root: TableWalk, field: Field, array: pa.Array, column: Column) -> Fitted | None:
    """The values as the column stores them, nested ones as such or as JSON; None where one does not fit."""
    nested, texts = nested_type(column), field.type is not None and field.type.data_type == "text"
    if nested is not None:
        return _nested(array, nested, texts)
    if field.nested:
        return Fitted(json_of(array)) if column.data_type in ("json", "text") else None
    found = plain(array)
    if texts and column.data_type != "text" and not is_number_text(column):
        return _read(found.cast(pa.string()), column)
    made = fitted(found, column)
    return _written(plan, root, field, found, column) if made is None else made


def _written(plan: Plan, root: TableWalk, field: Field, array: pa.Array, column: Column) -> Fitted | None:
    """Values of a type that can be written in the one of the column, as single values are."""
    if root.table is None or field.type is None or (field.type.data_type, column.data_type) not in _WRITTEN:
        return None
    into, short = plan.dialect.types.coercer(plan.schema, column), shortened(array)
    rows = rows_of(pa.RecordBatch.from_arrays([short.array], names=[field.key]))
    found = [row[field.key] for row in rows]
    values = [None if each is None else into(each) for each in found]
    if any(_differs(value, each) for value, each in zip(values, found, strict=True)):
        return None
    return Fitted(array_of(root.table, column, values), short.cut)


def _differs(value: Any, found: Any) -> bool:
    """Whether it did not fit, or is another number than it was: a decimal is rounded to its scale."""
    if isinstance(value, Decimal):
        return bool(float(value) != found)
    return value is MISFIT or (isinstance(value, float) and Decimal(str(value)) != found)


def _nested(array: pa.Array, wanted: pa.DataType, texts: bool) -> Fitted | None:
    """Nested values, or JSON texts of such, as a nested type."""
    try:
        if texts:
            return Fitted(nested_of_texts(plain(array).to_pylist(), wanted))
        return Fitted(nested_cast(array, wanted))
    except Misfit:
        return None


def _read(texts: pa.Array, column: Column) -> Fitted | None:
    """Texts as what they say, read by Arrow; a time without a zone is UTC."""
    wanted = arrow_type(column)
    try:
        if not pa.types.is_timestamp(wanted):
            return Fitted(texts.cast(wanted))
        try:
            return Fitted(texts.cast(pa.timestamp(wanted.unit, "UTC")).cast(wanted))
        except pa.ArrowInvalid:
            return Fitted(texts.cast(pa.timestamp(wanted.unit)).cast(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def misfit(plan: Plan, root: TableWalk, field: Field, column: Column, file: str) -> Verdict:
    """What becomes of values that do not fit. Raises ContractError where nothing may."""
    contract = contract_for(plan.schema, root.name, prefix=plan.dialect.capabilities.system_prefix)
    signed, room = "", "another type"
    if column.data_type == "bigint" and (wider := _UNSIGNED.get(value_type(field.arrow))) is not None:
        signed, room = ", which has a sign", wider
    reason = (
        f"{field.key} comes as {field.arrow}, and some of its values do not fit {_described(column)}, "
        f"the type of the column{signed}"
    )
    match contract.data_type:
        case "discard_value" | "discard_row" as verdict:
            return verdict
        case "freeze":
            raise ContractViolation(
                plan.schema.name,
                root.name,
                field.name,
                "data_type",
                "freeze",
                contract=contract,
                table_schema=root.table,
                reason=reason,
            )
    raise ContractError(
        f"{file}: column {field.name} of table {root.name}: {reason}; convert them, declare {room} for "
        "a new table, or load with the contract data_type: discard_value"
    )


def refuse_null(field: Field, root: TableWalk, record: str) -> NoReturn:
    raise ContractError(
        f"{record}: {field.key} is null, but column {field.name} of table {root.name} may not be null; "
        "give it a value, or declare the column nullable"
    )


def refuse_missing(column: str, root: TableWalk, record: str) -> NoReturn:
    raise ContractError(
        f"{record}: there is no value for column {column} of table {root.name}, which may not be null; "
        "give every record one, or declare the column nullable"
    )


def refuse_shared(fields: tuple[Field, ...], root: TableWalk, file: str) -> None:
    """Raises UsageError where two fields have one column."""
    twins = [field.key for field in fields if field.shared]
    if twins:
        raise UsageError(
            f"{file}: {', '.join(twins)} would share a column of table {root.name}; rename all but one"
        )


_UNSIGNED: Mapping[pa.DataType, str] = {
    pa.uint8(): "precision 16",
    pa.uint16(): "precision 32",
    pa.uint32(): "precision 64",
    pa.uint64(): "the type wei",
}
"""What holds all their values: the column they make has as many bits, and one of them is the sign."""
_TEXTS: tuple[DataType, ...] = ("double", "decimal", "bool", "date", "timestamp", "time")
_WRITTEN = {("double", "decimal"), ("decimal", "double"), *((each, "text") for each in _TEXTS)}


def _described(column: Column) -> str:
    nested = described(column)
    if nested is not None:
        return nested
    said = [str(each) for each in (column.precision, column.scale) if each is not None]
    return f"{column.data_type}({', '.join(said)})" if said else str(column.data_type)
