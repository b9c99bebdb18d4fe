"""The ids of rows: of the load and the place of the record, whichever way and however often it is read."""

from __future__ import annotations

from datetime import datetime, timezone

import numpy as np

from trellis.dialects import get_dialect
from trellis.engine.staging.batches import Keyring
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.schema.model import Schema

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
KEYS = RowKeys(row_id="_dlt_id")


def ids(*records: int, first: int = 100, rows: int | None = None) -> list[str]:
    keyring = Keyring(get_dialect("dlt"), Schema("shop"), "L", b"L/0/0/0", NOW, first)
    origins = np.array(records, np.int64) if records else None
    return list(
        keyring.root("t", KEYS, len(records) if rows is None else rows, (), None, None, origins)["_dlt_id"]
    )


def test_an_id_does_not_depend_on_the_other_rows() -> None:
    together = ids(100, 101, 102, 103)
    assert [*ids(101, 103), *ids(100, 102)] == [together[1], together[3], together[0], together[2]]
    assert ids(103, 100) == [together[3], together[0]]
    assert together == ids(rows=4)


def test_rows_of_one_record_have_ids_of_their_own() -> None:
    """Code of the user may make several rows of one table from a record."""
    several = ids(100, 100, 100, 102, 102)
    assert len({*several}) == 5
    assert several[0] == ids(100)[0]
    assert several[3:] == ids(102, 102)
