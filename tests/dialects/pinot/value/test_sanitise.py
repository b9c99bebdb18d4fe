"""Values that are too long or hold the null character."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.pinot.value.columns import column
from trellis.dialects.pinot.conversion.sanitization import sanitiser
from trellis.dialects.pinot.conversion.settings import LossCounts, LossKind, LossyConversion, Settings
from trellis.dialects.pinot.document.types import ExceedStrategy
from trellis.dialects.pinot.value.source_kinds import CannotConvert

TRIM, SUBSTITUTE = ExceedStrategy.TRIM_LENGTH, ExceedStrategy.SUBSTITUTE_DEFAULT_VALUE
NO_ACTION, ERROR = ExceedStrategy.NO_ACTION, ExceedStrategy.ERROR
EMOJI = "\U0001f600"

ROWS: list[tuple[str, str, ExceedStrategy | None, Any, Any]] = [
    ("Z01 seed_p73", "STRING", None, "abcdef", "abcd"),
    ("Z02", "STRING", None, "ab\0cdef", "ab"),
    ("Z03", "STRING", None, f"h{EMOJI}llo", f"h{EMOJI}l"),
    ("Z04 seed_p75", "STRING", NO_ACTION, "abcdef", "abcdef"),
    ("Z05", "STRING", NO_ACTION, "ab\0", "ab"),
    ("Z07", "STRING", SUBSTITUTE, "ab\0", "null"),
    ("Z07 seed_p74", "STRING", SUBSTITUTE, "abcdef", "null"),
    ("Z09", "BYTES", TRIM, bytes.fromhex("0102030405"), bytes.fromhex("01020304")),
    ("fits", "STRING", None, "abcd", "abcd"),
    ("empty", "STRING", None, "", ""),
    ("only NUL", "STRING", None, "\0", ""),
    ("fits in UTF-16", "STRING", None, f"ab{EMOJI}", f"ab{EMOJI}"),
    ("half of a pair", "STRING", None, f"abc{EMOJI}", "abc?"),
    ("NUL after the length", "STRING", None, "abcdef\0g", "abcd"),
    ("NO_ACTION cuts both", "STRING", NO_ACTION, "abcdef\0g", "abcd"),
    ("JSON TRIM", "JSON", TRIM, "[1,2]", "[1,2"),
    ("JSON SUBSTITUTE", "JSON", SUBSTITUTE, "[1,2]", "null"),
    ("BYTES SUBSTITUTE", "BYTES", SUBSTITUTE, bytes(5), b""),
    ("BYTES may hold NUL", "BYTES", ERROR, bytes(4), bytes(4)),
    ("several", "STRING[]", None, ["abcdef", "a\0b", "x"], ["abcd", "a", "x"]),
    ("several that fit", "STRING[]", None, ["a", "b"], ["a", "b"]),
    ("several SUBSTITUTE", "STRING[]", SUBSTITUTE, ["abcdef", "x"], ["null", "x"]),
]


@pytest.mark.parametrize(
    ("target", "exceed", "value", "stored"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_row(target: str, exceed: ExceedStrategy | None, value: Any, stored: Any) -> None:
    change = sanitiser(column(target, max_length=4, exceed_strategy=exceed))
    assert change is not None
    assert change(value) == stored


ERRORS = [
    (
        "Z06",
        "STRING",
        "ab\0",
        "Throwing exception as value: ab\0 for column c contains null character.",
    ),
    (
        "seed_p76",
        "STRING",
        "abcdef",
        "Throwing exception as value: abcdef for column c exceeds configured max length 4.",
    ),
    (
        "NUL first",
        "JSON",
        "abcdef\0",
        "Throwing exception as value: abcdef\0 for column c contains null character.",
    ),
    ("BYTES", "BYTES", bytes(5), "Throwing exception as value for column c exceeds configured max length 4."),
    (
        "several",
        "STRING[]",
        ["x", "abcde"],
        "Throwing exception as value: abcde for column c exceeds configured max length 4.",
    ),
]


@pytest.mark.parametrize(
    ("target", "value", "sentence"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS]
)
def test_error(target: str, value: Any, sentence: str) -> None:
    change = sanitiser(column(target, max_length=4, exceed_strategy=ERROR))
    assert change is not None
    with pytest.raises(CannotConvert) as caught:
        change(value)
    assert str(caught.value) == sentence


def test_z08_seed_p72_json_and_bytes_are_left_alone() -> None:
    assert sanitiser(column("JSON", max_length=4)) is None
    assert sanitiser(column("BYTES", max_length=4)) is None


@pytest.mark.parametrize("target", ["INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "MAP"])
def test_seed_p71_only_string_json_and_bytes_have_a_length(target: str) -> None:
    assert sanitiser(column(target, max_length=4, exceed_strategy=ERROR)) is None


def test_seed_p72_a_string_is_cut_at_512_unless_it_says_otherwise() -> None:
    change = sanitiser(column("STRING"))
    assert change is not None
    assert change("x" * 513) == "x" * 512


def test_the_default_is_put_as_it_is_even_if_it_is_too_long() -> None:
    change = sanitiser(column("STRING", max_length=4, exceed_strategy=SUBSTITUTE, default="unknown"))
    assert change is not None
    assert change("abcdef") == "unknown"


def test_a_length_of_zero_leaves_nothing() -> None:
    change = sanitiser(column("STRING", max_length=0))
    assert change is not None
    assert change("abc") == ""


def test_what_is_cut_is_counted_and_in_strict_mode_refused() -> None:
    losses = LossCounts()
    change = sanitiser(column("STRING[]", max_length=4), losses=losses)
    assert change is not None
    change(["abcdef", "a\0b", "x", "ghijkl"])
    assert dict(losses.take_counts()) == {("c", LossKind.TOO_LONG): 2, ("c", LossKind.NUL): 1}
    strict = sanitiser(column("STRING", max_length=4), Settings(strict=True))
    assert strict is not None
    with pytest.raises(LossyConversion, match="'abcdef' is longer than 4 UTF-16 units"):
        strict("abcdef")


TEXTS = st.text(st.sampled_from(["a", "é", "\0", EMOJI, "\ud83d", "\uffff"]), max_size=10)


@given(TEXTS, st.integers(0, 8), st.sampled_from([TRIM, NO_ACTION]))
def test_doing_it_again_changes_nothing(value: str, most: int, exceed: ExceedStrategy) -> None:
    change = sanitiser(column("STRING", max_length=most, exceed_strategy=exceed))
    assert change is not None
    actual = change(value)
    assert change(actual) == actual
    assert "\0" not in actual
    if actual != value:
        assert len(actual.encode("utf-16-le")) // 2 <= most
