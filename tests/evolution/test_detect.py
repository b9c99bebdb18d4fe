"""Detectors, row by row of the conformance table."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import SchemaError
from trellis.evolution.scalars.detect import DETECTORS, Detecting, detect
from trellis.evolution.scalars.kinds import classify
from trellis.evolution.scalars.values import WEI_LIMIT, HexBytes, Wei

NOW = 1_700_000_000.0
YEAR = 365 * 86_400

ROWS: dict[str, tuple[Any, tuple[str, ...], str | None]] = {
    "d01-timestamp": ("2024-05-06T01:02:03Z", ("iso_timestamp",), "timestamp"),
    "d01-date": ("2024-05-06", ("iso_timestamp",), None),
    "d01-time": ("12:30:01", ("iso_timestamp",), None),
    "d02-space": ("2024-05-06 07:08", ("iso_timestamp",), "timestamp"),
    "d02-basic": ("20240506T070809Z", ("iso_timestamp",), "timestamp"),
    "d02-slash": ("2024/05/06 10:11", ("iso_timestamp",), "timestamp"),
    "d03-padded": (" 2024-05-06T07:08:09Z", ("iso_timestamp",), None),
    "d03-hour": ("2024-05-06T25:00:00Z", ("iso_timestamp",), None),
    "d03-short": ("2024-5-6T7:8:9", ("iso_timestamp",), None),
    "d03-duration": ("P1D", ("iso_timestamp",), None),
    "d03-digits": ("1700000000", ("iso_timestamp",), None),
    "d04-year": ("2024", ("iso_date",), "date"),
    "d04-month": ("2024-05", ("iso_date",), "date"),
    "d04-week": ("2024-W10", ("iso_date",), "date"),
    "d04-day": ("2024-130", ("iso_date",), "date"),
    "d04-not": ("13", ("iso_date",), None),
    "d04-timestamp": ("2024-05-06T01:02:03Z", ("iso_date",), None),
    "d05-now": (NOW, ("timestamp",), "timestamp"),
    "d05-int": (int(NOW), ("timestamp",), "timestamp"),
    "d05-edge": (NOW - YEAR, ("timestamp",), "timestamp"),
    "d05-two years": (NOW - 2 * YEAR, ("timestamp",), None),
    "d05-bool": (True, ("timestamp",), None),
    "d05-text": (str(NOW), ("timestamp",), None),
    "d05-nan": (float("nan"), ("timestamp",), None),
    "d06-64 bits": (2**63 - 1, ("large_integer",), None),
    "d06-65 bits": (2**63, ("large_integer",), "wei"),
    "d06-256 bits": (2**255, ("large_integer",), "text"),
    "d06-negative": (-(2**70), ("large_integer",), None),
    "d07-removed": ("2024-05-06T01:02:03Z", (), None),
    "hexbytes": (HexBytes(b"x"), ("hexbytes_to_text",), "text"),
    "bytes": (b"x", ("hexbytes_to_text",), None),
    "wei": (Wei(1), ("wei_to_double",), "double"),
    "decimal": (Decimal(1), ("wei_to_double",), None),
    "empty": ("", tuple(DETECTORS), None),
    "none": (None, tuple(DETECTORS), None),
}


@pytest.mark.parametrize("row", ROWS)
def test_detect(row: str) -> None:
    value, detections, expected = ROWS[row]
    assert detect(value, detections, Detecting(now=NOW)) == expected
    if value is not None:
        assert classify(value, detections, Detecting(now=NOW)).detected == expected


def test_d05_without_a_fixed_now_it_is_now() -> None:
    assert detect(time.time(), ("timestamp",)) == "timestamp"
    assert detect(time.time() - 2 * YEAR, ("timestamp",)) is None
    assert detect(time.time() - 2 * YEAR, ("timestamp",), Detecting(window=5 * YEAR)) == "timestamp"
    assert classify(time.time(), ("timestamp",)).detected == "timestamp"


def test_d06_a_wei_column_holds_what_is_called_wei() -> None:
    """dlt calls it wei up to 5.8e38, which no decimal of 38 digits holds."""
    assert detect(WEI_LIMIT - 1, ("large_integer",)) == "wei"
    assert detect(WEI_LIMIT, ("large_integer",)) == "text"


def test_an_unknown_detector_is_named() -> None:
    with pytest.raises(SchemaError, match="did you mean 'iso_timestamp'"):
        detect("x", ("iso_timestmap",))
    with pytest.raises(SchemaError, match="did you mean 'iso_timestamp'"):
        classify("x", ("iso_timestmap",))


VALUES = st.one_of(
    st.text(max_size=40),
    st.integers(),
    st.integers(int(NOW) - 2 * YEAR, int(NOW) + 2 * YEAR),
    st.floats(),
    st.floats(NOW - 2 * YEAR, NOW + 2 * YEAR),
    st.booleans(),
    st.datetimes().map(str),
    st.dates().map(str),
    st.decimals().map(Wei),
)


@given(VALUES, st.permutations(list(DETECTORS)))
def test_their_order_does_not_matter(value: Any, order: list[str]) -> None:
    using = Detecting(now=NOW)
    assert detect(value, order, using) == detect(value, tuple(DETECTORS), using)


@given(VALUES, st.sets(st.sampled_from(sorted(DETECTORS))))
def test_a_kind_says_what_detect_says(value: Any, detections: set[str]) -> None:
    using = Detecting(now=NOW)
    kind = classify(value, tuple(detections), using)
    assert kind.detected == detect(value, detections, using)


@given(VALUES)
def test_what_is_detected_fits(value: Any) -> None:
    kind = classify(value, tuple(DETECTORS), Detecting(now=NOW))
    assert kind.detected is None or kind.detected in kind.fits or isinstance(value, Decimal)


@given(VALUES)
def test_dlt_detects_the_same(value: Any) -> None:
    """Of text, any; of integers, those a wei column holds. The window of dlt is another (Q-1)."""
    theirs = pytest.importorskip("dlt.common.schema.detections")
    kind = type(value)
    assert detect(value, ("iso_timestamp",)) == theirs.is_iso_timestamp(kind, value)
    assert detect(value, ("iso_date",)) == theirs.is_iso_date(kind, value)
    if not isinstance(value, int) or value < WEI_LIMIT:
        assert detect(value, ("large_integer",)) == theirs.is_large_integer(kind, value)
