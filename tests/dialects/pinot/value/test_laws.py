"""Laws of values, for any value: what was done once is not changed by doing it again."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dialects.pinot.value.columns import column, convert
from trellis.dialects.pinot.conversion.converter import converter
from trellis.dialects.pinot.conversion.sanitization import sanitiser, special_value_fixer
from trellis.dialects.pinot.conversion.settings import PINOT_DEFAULTS, LossCounts, LossyConversion, Settings
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32, Int64

TARGETS = (
    *("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "BYTES"),
    *("INT[]", "DOUBLE[]", "BIG_DECIMAL[]", "TIMESTAMP[]", "STRING[]", "MAP", "LIST"),
)

TEXTS = st.one_of(
    st.text(max_size=6),
    st.text(st.sampled_from('0123456789abcdef.-+eE:{}[]" \0\ud83d'), max_size=8),
    st.integers().map(str),
    st.floats().map(str),
    st.datetimes().map(str),
    st.uuids().map(str),
    st.sampled_from(
        ("true", "TRUE ", "2023-11-14 22:13:20.5", "2023-02-31 25:61:61", '{"a": [1.10]}', "NaN", "0x1p3")
    ),
)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-(2**63), 2**63 - 1).map(Int64),
    st.floats(),
    st.floats(width=32).map(Float32),
    st.decimals(allow_nan=False, allow_infinity=False).map(lambda member: member.scaleb(0)),
    st.datetimes(timezones=st.just(timezone.utc)) | st.datetimes(),
    st.dates(),
    st.uuids(),
    st.binary(max_size=6) | st.binary(min_size=16, max_size=16),
    TEXTS,
)
VALUES = st.recursive(
    st.none() | SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def finished(value: Any, target: str) -> Any:
    """Converted, special values set right, cut."""
    spec = column(target, max_length=5)
    converted = converter(spec)(value)
    change = special_value_fixer(spec)
    if change is not None:
        converted = change(converted)
    cut = sanitiser(spec)
    return converted if cut is None or converted is None else cut(converted)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40, deadline=None)
@given(value=VALUES)
def test_converting_again_changes_nothing(target: str, value: Any) -> None:
    try:
        stored = convert(value, target)
    except CannotConvert:
        assume(False)
    assert repr(convert(stored, target)) == repr(stored)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40, deadline=None)
@given(value=VALUES)
def test_all_three_steps_again_change_nothing(target: str, value: Any) -> None:
    try:
        stored = finished(value, target)
    except CannotConvert:
        assume(False)
    assert repr(finished(stored, target)) == repr(stored)


@given(VALUES)
def test_json_is_the_same_from_the_second_time_on(value: Any) -> None:
    """The first time a double is written as Java does, 1.0E8; read as JSON text it is the decimal 1E+8."""
    try:
        once = convert(value, "JSON")
    except CannotConvert:
        assume(False)
    twice = convert(once, "JSON")
    assert convert(twice, "JSON") == twice
    if isinstance(value, str):
        assert twice == once


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40, deadline=None)
@given(value=VALUES)
def test_any_value_gives_a_value_or_one_sentence(target: str, value: Any) -> None:
    try:
        proposal = convert(value, target)
    except CannotConvert as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 500
        return
    for member in proposal if target.endswith("[]") and proposal is not None else [proposal]:
        assert isinstance(member, CLASSES[target.removesuffix("[]")] | type(None))
        if isinstance(member, str):
            member.encode()


CLASSES: dict[str, Any] = {
    **dict.fromkeys(("INT", "LONG", "BOOLEAN", "TIMESTAMP"), int),
    **dict.fromkeys(("FLOAT", "DOUBLE"), float),
    "MAP": dict,
    "BYTES": bytes,
    "BIG_DECIMAL": Decimal,
    "STRING": str,
    "LIST": list,
}


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40, deadline=None)
@given(value=VALUES)
def test_strict_mode_refuses_exactly_what_is_counted(target: str, value: Any) -> None:
    losses = LossCounts()
    try:
        stored = convert(value, target, PINOT_DEFAULTS, losses)
    except CannotConvert:
        with pytest.raises(CannotConvert):
            convert(value, target, Settings(strict=True))
        return
    if losses.take_counts():
        with pytest.raises(LossyConversion):
            convert(value, target, Settings(strict=True))
    else:
        assert repr(convert(value, target, Settings(strict=True))) == repr(stored)


@given(st.datetimes(timezones=st.just(timezone.utc), min_value=datetime(1900, 1, 1)))
def test_a_timestamp_and_its_text_are_the_same_instant(value: datetime) -> None:
    assert convert(convert(value, "STRING"), "TIMESTAMP") == convert(value, "TIMESTAMP")


@given(st.floats() | st.floats(width=32).map(Float32))
def test_a_float_and_its_text_are_the_same_number(value: float) -> None:
    target = "FLOAT" if isinstance(value, Float32) else "DOUBLE"
    assert repr(convert(convert(value, "STRING"), target)) == repr(float(value))


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=4) | st.integers(-(2**80), 2**80).map(Decimal)
)
def test_a_decimal_and_its_bytes_are_the_same_number(value: Decimal) -> None:
    stored = convert(value, "BYTES")
    assert repr(convert(stored, "BIG_DECIMAL")) == repr(convert(value, "BIG_DECIMAL"))


@given(st.binary())
def test_bytes_and_their_text_are_the_same(value: bytes) -> None:
    assert convert(convert(value, "STRING"), "BYTES") == value
