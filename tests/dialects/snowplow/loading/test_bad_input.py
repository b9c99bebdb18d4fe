"""Values that look bad, from files of runs into tables: as they are, or kept beside the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialects.snowplow.enriched import write_registry
from dialects.snowplow.loading.runs import TABLE, load, rows, shred
from dialects.snowplow.shredder.test_bad_input import CASES, LONG, SCHEMA
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse

LENGTH = 4096
"""Of texts without a maxLength, where texts have one."""


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_b05_b06_b07_values_are_loaded_as_they_are_or_discarded(
    any_warehouse: RunWarehouse, tmp_path: Path, format: str
) -> None:
    """In files with types an event with a number that its type does not take has failed."""
    registry = write_registry(tmp_path, documents=[SCHEMA])
    good = [case for case in CASES.values() if not case.reason]
    bad = [case for case in good if case.wide and format == "parquet"]
    lines = [case.line for case in good]
    run = shred(tmp_path, any_warehouse, registry, lines, format=format, deduplication="none")
    report = load(any_warehouse, registry, run)
    is_postgres = any_warehouse.profile.texts_have_length
    texts = [
        case.csv[0].replace(r"\\N", r"\N") if format == "csv" else case.values[0]
        for case in good
        if case.values[0] is not None
    ]
    expected = [text.replace("\0", " ")[:LENGTH] if is_postgres else text for text in texts]
    numbers = [case.values for case in good if case.values[0] is None and not case.wide]
    numbers += [(None, None, None)] * (0 if bad else 2)
    loaded = [(text, None, None) for text in expected] + numbers
    assert rows(any_warehouse, TABLE, "berth", "tugs", "size") == sorted(loaded, key=str)
    assert (report.rows, report.failed) == ({TABLE: len(loaded), "events": len(loaded)}, len(bad))
    discards = [("berth", LONG, f"cut to {LENGTH} characters")] * is_postgres
    if not bad:
        discards += [
            ("size", "1e400", "not a number of at most 1.8e308"),
            ("tugs", "9223372036854775808", "not an integer of 64 bits"),
        ]
    kept = rows(any_warehouse, "_trellis_discards", "column_name", "value", "reason") if discards else []
    assert kept == sorted(discards, key=str)
    assert report.discards == len(discards)
