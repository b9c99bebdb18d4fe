"""Lines of Pinot's own documentation that values show."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.value.columns import column, convert
from trellis.dialects.pinot.conversion.sanitization import sanitiser, special_value_fixer
from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import ExceedStrategy, FieldType, PinotType
from trellis.dialects.pinot.value.source_kinds import Int64

DEFAULTS: list[tuple[str, str, Any]] = [
    ("seed_p12", "INT", -(2**31)),
    ("seed_p13", "LONG", -(2**63)),
    ("seed_p14", "FLOAT", float("-inf")),
    ("seed_p15", "DOUBLE", float("-inf")),
    ("seed_p16", "BIG_DECIMAL", Decimal(0)),
    ("seed_p17", "BOOLEAN", 0),
    ("seed_p18", "TIMESTAMP", Int64(0)),
    ("seed_p19", "STRING", "null"),
    ("seed_p20", "JSON", "null"),
    ("seed_p21", "BYTES", b""),
]


@pytest.mark.parametrize(("target", "value"), [row[1:] for row in DEFAULTS], ids=[row[0] for row in DEFAULTS])
def test_a_default_goes_through_the_pipeline_unchanged(target: str, value: Any) -> None:
    spec = column(target)
    assert default_of(spec) == value
    proposal = convert(value, target)
    change, cut = special_value_fixer(spec), sanitiser(spec)
    if change is not None:
        proposal = change(proposal)
    if cut is not None:
        proposal = cut(proposal)
    assert repr(proposal) == repr(value)


@pytest.mark.parametrize(("target", "value"), [row[1:] for row in DEFAULTS if row[1] != "JSON"])
def test_seed_p32_the_default_of_several_values_is_one(target: str, value: Any) -> None:
    assert default_of(column(f"{target}[]")) == [value] == convert([value], f"{target}[]")


@pytest.mark.parametrize("role", [FieldType.DIMENSION, FieldType.METRIC, FieldType.DATE_TIME])
def test_seed_p70_advanced_fields_belong_to_every_kind_of_field(role: FieldType) -> None:
    text = sanitiser(FieldSpec("c", PinotType.STRING, role, max_length=2))
    raw = sanitiser(
        FieldSpec(
            "c", PinotType.BYTES, FieldType.METRIC, max_length=2, exceed_strategy=ExceedStrategy.TRIM_LENGTH
        )
    )
    assert text is not None
    assert raw is not None
    assert (text("abc"), raw(b"abc")) == ("ab", b"ab")
