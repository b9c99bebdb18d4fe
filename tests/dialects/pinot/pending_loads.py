"""Loads by authored schemas, and loads of any rides."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dialects.pinot.row.rows import column, document, map_column, several, time
from packages.commits import DUCKDB, PARQUET, Case, Load

KEYED = document([column("n", "INT"), column("s", "STRING")], primaryKeyColumns=["n"])
ALL = document(
    [
        *(column(value, value) for value in ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN")),
        *(column(value, value) for value in ("TIMESTAMP", "STRING", "JSON", "BYTES")),
        *(several(f"{value}s", value) for value in ("INT", "FLOAT", "TIMESTAMP", "STRING", "BYTES")),
        column("n", "INT"),
    ],
    [column("metric", "DOUBLE")],
    [time("day", "STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd")],
    [map_column("map", "LONG")],
)
SMALL = document([column("n", "INT")])


def rides(schema: Any, rows: Any = ({"n": 1}, {"n": "no number"})) -> Load:
    return lambda pipeline: pipeline.load(list(rows), schema=schema)


def table(load: Load, *before: Load, to: str = DUCKDB) -> Case:
    return Case(load, before, "pinot", {"on_error": "null"}, to)


CASES = {
    "append": table(rides(ALL)),
    "merge": table(rides(KEYED), rides(KEYED)),
    "new-columns": table(rides(ALL), rides(SMALL)),
    "new-columns-parquet": table(rides(ALL), rides(SMALL), to=PARQUET),
}

ride_rows = st.lists(
    st.fixed_dictionaries({"n": st.integers(-5, 5) | st.text(max_size=2), "s": st.text(max_size=3)}),
    max_size=3,
)
LOADS = st.builds(
    lambda before, rows, to: table(rides(KEYED, rows), *(rides(KEYED, part) for part in before), to=to),
    st.lists(ride_rows, max_size=1),
    ride_rows,
    st.sampled_from([DUCKDB, PARQUET]),
)
