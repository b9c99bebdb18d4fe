"""Unsigned integers of a source with types: their column has a sign, and no value is lost for it (T06)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from trellis.errors import ContractError
from trellis.pipelines.pipeline import Pipeline

TYPES = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
ROOM: dict[int, dict[str, Any]] = {
    8: {"precision": 16},
    16: {"precision": 32},
    32: {"precision": 64},
    64: {"data_type": "wei"},
}


def largest(bits: int) -> pa.Table:
    return pa.table({"a": pa.array([2 ** (bits - 1) - 1, 2**bits - 1, None], TYPES[bits])})


def values(pipe: Pipeline, *names: str) -> set[tuple[Any, ...]]:
    """The numbers that are stored; a lake has text for a type of more than 38 digits."""
    stored = pipe.destination.query(pipe.dataset, "t")
    assert len(stored) == 3
    types = pipe.schema.tables["t"].columns
    return {
        tuple(
            int(row[name]) if types[name].data_type == "wei" and row[name] is not None else row[name]
            for name in names
        )
        for row in stored
    }


@pytest.mark.parametrize("bits", TYPES)
def test_what_needs_the_bit_of_the_sign_goes_to_a_variant(shop: Pipeline, bits: int) -> None:
    variant, value = ("a__v_wei", 2**64 - 1) if bits == 64 else ("a__v_text", str(2**bits - 1))
    shop.load(largest(bits), table="t")
    assert shop.schema.tables["t"].columns["a"].precision == (None if bits == 64 else bits)
    assert values(shop, "a", variant) == {(2 ** (bits - 1) - 1, None), (None, None), (None, value)}


@pytest.mark.parametrize("bits", TYPES)
def test_rows_taken_whole_ask_for_a_wider_column(shop: Pipeline, bits: int) -> None:
    stored = "bigint" if bits == 64 else rf"bigint\({bits}\)"
    room = "the type wei" if bits == 64 else f"precision {2 * bits}"
    with pytest.raises(
        ContractError,
        match=f"t.a: a comes as uint{bits}, and some of its values do not fit {stored}, the "
        f"type of the column, which has a sign; convert them, declare {room} for a new table, or load",
    ):
        shop.run(largest(bits), table_name="t")
    shop.run(largest(bits), table_name="t", columns=[{"name": "a", **ROOM[bits]}])
    assert values(shop, "a") == {(2 ** (bits - 1) - 1,), (2**bits - 1,), (None,)}
