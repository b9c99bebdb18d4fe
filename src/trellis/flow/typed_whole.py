"""Rows with types that are taken as they are: no child tables, no variants (spec dlt.md, section 18).

What does not fit its column is an error, unless the contract says what else becomes of it (section 13).
"""

from __future__ import annotations

from typing import NoReturn

import pyarrow as pa

from trellis.errors import ContractError, UsageError
from trellis.evolution.contract import ContractViolation, contract_for
from trellis.evolution.evolve import Verdict
from trellis.flow.arrow_types import arrow_type
from trellis.flow.nested_types import described, nested_type
from trellis.flow.nested_values import Misfit, nested_cast, nested_of_texts
from trellis.flow.number_text import is_number_text
from trellis.flow.plan import Plan
from trellis.flow.slots import TableWalk
from trellis.flow.typed_cast import Fitted, fitted, json_of, plain
from trellis.flow.typed_fields import Field
from trellis.schema.model import Column


def fitted_whole(array: pa.Array, field: Field, column: Column) -> Fitted | None:
    """The values as the column stores them, nested ones as such or as JSON; None where one does not fit."""
    nested, texts = nested_type(column), field.type is not None and field.type.data_type == "text"
    if nested is not None:
        return _nested(array, nested, texts)
    if field.nested:
        return Fitted(json_of(array)) if column.data_type in ("json", "text") else None
    found = plain(array)
    if texts and column.data_type != "text" and not is_number_text(column):
        return _read(found.cast(pa.string()), column)
    return fitted(found, column)


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
    contract = contract_for(plan.schema, root.name)
    reason = (
        f"{field.key} comes as {field.arrow}, and some of its values do not fit {_described(column)}, "
        "the type of the column"
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
        f"{file}: column {field.name} of table {root.name}: {reason}; convert them, declare another type for "
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


def _described(column: Column) -> str:
    nested = described(column)
    if nested is not None:
        return nested
    said = [str(each) for each in (column.precision, column.scale) if each is not None]
    return f"{column.data_type}({', '.join(said)})" if said else str(column.data_type)
