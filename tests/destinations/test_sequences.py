"""Any sequence of loads leaves what a few lines of Python say it should, in each database."""

from __future__ import annotations

import secrets
import tempfile
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destinations.postgres_server import Server
from trellis.pipelines.pipeline import pipeline
from trellis.schema.model import Column

RECORD = st.fixed_dictionaries(
    {"id": st.integers(0, 4), "day": st.integers(0, 2), "s": st.none() | st.integers(0, 3)},
    optional={"gone": st.booleans(), "k": st.lists(st.integers(0, 9), max_size=3)},
)
LOAD = st.tuples(
    st.sampled_from(["append", "replace", "delete-insert", "day", "upsert"]), st.lists(RECORD, max_size=6)
)
COLUMNS = (
    Column("id", "bigint", nullable=False).with_hints(primary_key=True),
    Column("day", "bigint"),
    Column("s", "bigint").with_hints(dedup_sort="desc"),
    Column("gone", "bool").with_hints(hard_delete=True),
)
Rows = list[dict[str, Any]]


def expected(now: Rows, how: str, coming: Rows) -> Rows:
    """Section 14 of the spec in Python."""
    if how == "append":
        return now + coming
    if how == "replace":
        return coming
    days = {row["day"] for row in coming} if how == "day" else set()
    keys = {row["id"] for row in coming}
    stay = [row for row in now if row["id"] not in keys and row["day"] not in days]
    chosen: dict[int, dict[str, Any]] = {}
    for row in coming:
        other = chosen.get(row["id"])
        sequence = -1 if row["s"] is None else row["s"]
        if other is None or sequence > (-1 if other["s"] is None else other["s"]):
            chosen[row["id"]] = row
    return stay + [row for row in chosen.values() if not row.get("gone")]


def shown(rows: Rows) -> list[str]:
    return sorted(
        repr((row["id"], row["day"], row["s"], row.get("gone"), row.get("k") or [])) for row in rows
    )


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LOAD, min_size=1, max_size=5))
def test_w01_w04_w12_any_sequence(postgres: Server, database: str, loads: list[tuple[str, Rows]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for url in (f"duckdb:{folder}/shop.duckdb", postgres.url(database)):
            # one name for each example, as all of them share the one database
            dataset = f"d{secrets.token_hex(4)}"
            pipe, now = pipeline("shop", to=url, dataset=dataset), list[dict[str, Any]]()
            # the first load is a merge, so that all nested rows know their root, and makes the nested table
            seed = [{"id": 99, "day": 99, "s": 0, "gone": False, "k": [1]}]
            for how, rows in [("delete-insert", seed), *loads]:
                if how == "upsert":
                    rows = list({row["id"]: row for row in rows}.values())
                strategy = "upsert" if how == "upsert" else "delete-insert"
                options: Any = {"mode": "merge", "strategy": strategy}
                if how in ("append", "replace"):
                    options = {"mode": how}
                day = (
                    COLUMNS[1].with_hints(merge_key=True)
                    if how == "day"
                    else COLUMNS[1].with_hints(merge_key=False)
                )
                pipe.load(rows, table="t", columns=(COLUMNS[0], day, *COLUMNS[2:]), **options)
                now = expected(now, how, rows)
            stored = pipe.destination.query(dataset, "t")
            nested: dict[str, list[tuple[int, int]]] = {}
            for row in pipe.destination.query(dataset, "t__k"):
                nested.setdefault(row["_dlt_parent_id"], []).append((row["_dlt_list_idx"], row["value"]))
            for row in stored:
                row["k"] = [value for _, value in sorted(nested.pop(row["_dlt_id"], []))]
            assert not nested, "nested rows without their parents"
            assert shown(stored) == shown(now), url
