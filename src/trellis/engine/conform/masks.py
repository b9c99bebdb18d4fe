"""Personal data is masked in the rows that are staged, before anything of them is written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.conform.outcome import Conformed
from trellis.engine.plan import Plan
from trellis.engine.staging.batches import TableBatch
from trellis.errors import SchemaError
from trellis.schema.model import Column, Table
from trellis.schema.personal_data import Mask, mask_of

MASKED: Final = "***"
NOT_KEPT: Final = b"(not kept, as the schema masks personal data)"
_KEYS: Final = ("primary_key", "merge_key")


class Masks:
    """The masks of the columns of a schema. Raises SchemaError for one that its column cannot have.

    Where there are any, rejects and discards keep no records.
    """

    def __init__(self, plan: Plan) -> None:
        tables = plan.schema.tables.values()
        self.by_table = {table.name: masks for table in tables if (masks := _masks_of(table))}

    def mask_block(self, conformed: Conformed) -> None:
        if not self.by_table:
            return
        for batch in conformed.batches:
            self.mask_batch(batch)
        for discard in conformed.discards:
            discard.row = None
            if not discard.column or discard.column in self.by_table.get(discard.table, ()):
                discard.value = MASKED
        conformed.rejects = [replace(reject, text=NOT_KEPT) for reject in conformed.rejects]

    def mask_batch(self, batch: TableBatch) -> None:
        for name, mask in self.by_table.get(batch.table, {}).items():
            if name in batch.columns:
                batch.columns[name] = _masked(batch.columns[name], mask)


def _masks_of(table: Table) -> Mapping[str, Mask]:
    masks: dict[str, Mask] = {}
    for column in table.columns.values():
        if mask := mask_of(column):
            _check_mask(table, column, mask)
            masks[column.name] = mask
    for column in table.complete_columns:
        base = column.name.rpartition("__v_")[0]
        if column.is_variant and base in masks:
            masks[column.name] = masks[base] if column.data_type == "text" else "drop"
    return masks


def _check_mask(table: Table, column: Column, mask: Mask) -> None:
    where = f"table {table.name}, column {column.name}: pii: {mask}"
    is_key = any(column.hint(key) for key in _KEYS)
    if mask != "drop" and column.data_type not in (None, "text"):
        raise SchemaError(f"{where} is for text, and the column is {column.data_type}; use pii: drop")
    if mask == "drop" and column.required:
        raise SchemaError(f"{where} leaves no value, and the column is required; use pii: hash")
    if mask != "hash" and is_key:
        raise SchemaError(f"{where} makes all rows equal, and the column is a key; use pii: hash")


def _masked(values: pa.Array | pa.ChunkedArray, mask: Mask) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if mask == "drop":
        return pa.nulls(len(values), values.type)
    if mask == "mask":
        return pc.if_else(values.is_valid(), pa.scalar(MASKED, values.type), pa.scalar(None, values.type))
    encoded = values.dictionary_encode()
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in encoded.dictionary.to_pylist()]
    return pa.array(hashes, values.type).take(encoded.indices)
