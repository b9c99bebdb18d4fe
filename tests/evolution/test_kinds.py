"""Kinds: the type of a value, and that `fits` tells exactly what `coerce` does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evolution.values import VALUES, WORDS
from trellis.errors import ContractError
from trellis.evolution.scalars.coerce import coerce
from trellis.evolution.scalars.kinds import Kind, classify, type_of
from trellis.evolution.scalars.values import MISFIT, HexBytes, Wei
from trellis.schema.model import DATA_TYPES, DataType


@dataclass
class Point:
    x: int


class Name(str):
    pass


TYPES: list[tuple[Any, DataType | None]] = [
    ("", "text"),
    (Name("x"), "text"),
    (UUID(int=1), "text"),
    (0, "bigint"),
    (True, "bool"),
    (0.5, "double"),
    (float("nan"), "double"),
    (b"", "binary"),
    (HexBytes(b""), "binary"),
    ({}, "json"),
    ([], "json"),
    ((), "json"),
    (bytearray(), "json"),
    (range(3), "json"),
    (Point(1), "json"),
    (Decimal(1), "decimal"),
    (Wei(1), "wei"),
    (Wei(2**200), "wei"),
    (datetime(2024, 1, 1), "timestamp"),
    (date(2024, 1, 1), "date"),
    (time(), "time"),
    (2**63 - 1, "bigint"),
    (-(2**63), "bigint"),
    (2**63, "wei"),
    (2**70, "wei"),
    (10**38 - 1, "wei"),
    (10**38, "text"),
    (-(10**38), "text"),
    (Decimal("1e400"), "text"),
    (Decimal("NaN"), "text"),
    (None, None),
    ({1}, None),
    (timedelta(1), None),
    (1j, None),
    (Ellipsis, None),
]


@pytest.mark.parametrize(("value", "expected"), TYPES, ids=[f"{v!r:.30}" for v, _ in TYPES])
def test_type_of(value: Any, expected: DataType | None) -> None:
    assert type_of(value) == expected
    if expected is None:
        with pytest.raises(ContractError, match="has no data type"):
            classify(value)
    else:
        assert classify(value).type == expected


def fits_by_trying(value: Any) -> set[DataType]:
    return {to for to in DATA_TYPES if coerce(value, to) is not MISFIT}


@given(VALUES)
@example("2024-05-31T01:02:03Z")
@example("2024-06-31T01:02:03Z")
@example("1\x1c")
def test_fits_is_what_coerce_does(value: Any) -> None:
    kind = classify(value)
    assert kind.type == type_of(value)
    assert kind.fits == fits_by_trying(value)


@pytest.mark.parametrize("text", WORDS)
def test_fits_is_what_coerce_does_with_words(text: str) -> None:
    assert classify(text).fits == fits_by_trying(text)


FIGURES = st.from_regex(r"[ +-]?[0-9]{0,13}([._eExX:T/-]?[0-9a-f]{0,6}){0,3}[Z ]?", fullmatch=True)


@given(FIGURES)
def test_fits_is_what_coerce_does_with_figures(text: str) -> None:
    assert classify(text).fits == fits_by_trying(text)


@given(VALUES)
def test_a_value_fits_its_own_type(value: Any) -> None:
    kind = classify(value)
    beyond = isinstance(value, datetime) and value.tzinfo is not None and value.year in (1, 9999)
    assert kind.type in kind.fits or isinstance(value, Wei) or beyond


@given(VALUES, VALUES)
def test_equal_kinds_are_one(one: Any, other: Any) -> None:
    first, second = classify(one, ("iso_timestamp",)), classify(other, ("iso_timestamp",))
    assert (first is second) == (first == second)


def test_c18_a_wei_beyond_any_column_fits_text_but_not_wei() -> None:
    assert "wei" in classify(Wei(2**120)).fits
    kind = classify(Wei(2**200))
    assert kind.type == "wei" and "wei" not in kind.fits and "text" in kind.fits


def test_kinds_of_plain_values_are_shared() -> None:
    assert classify("a sentence") is classify("another one")
    assert classify(1) is classify(1_700_000_000)
    assert classify("x x") == Kind("text", None, frozenset({"text"}))


def test_a_moment_far_from_the_ends_is_like_any_other() -> None:
    east = timezone(timedelta(hours=2))
    assert classify(datetime(2024, 1, 1, tzinfo=east)) is classify(datetime(2024, 1, 1))
    assert classify(datetime(1, 1, 1, tzinfo=east)).fits == {"text"}
