"""Records with nested values become the same rows column by column and one by one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dialects.pinot.row.rows import NOW, column, config, document, map_column, several
from trellis.dialects import get_dialect
from trellis.engine.arrow.nested_types import without_nested_types
from trellis.engine.conform.choose import conformer_of
from trellis.engine.input.blocks import Block, Split
from trellis.engine.plan import Plan
from trellis.schema.naming import Convention, Naming

SAID = document(
    [
        column("o.n", "INT"),
        column("o.p.s", "STRING"),
        column("l", "STRING"),
        column("o", "JSON"),
        column("j", "JSON"),
        several("o.m", "STRING"),
        several("l.x", "INT"),
        column("count", "INT", defaultNullValue=-1),
    ],
    maps=[map_column("map", "STRING")],
)
INNER = st.one_of(
    st.none(),
    st.integers(-5, 3_000_000_000),
    st.booleans(),
    st.floats(-100, 100),
    st.sampled_from(["x", "7", ""]),
)
LISTS = st.one_of(
    st.lists(INNER, max_size=3),
    st.lists(st.lists(INNER, max_size=2), max_size=2),
    st.lists(st.dictionaries(st.sampled_from(["x", "y"]), INNER, max_size=2), max_size=2),
)
OBJECTS = st.dictionaries(
    st.sampled_from(["n", "m", "s", "p", "p.s"]),
    st.one_of(INNER, LISTS, st.dictionaries(st.sampled_from(["s", "t"]), INNER, max_size=2)),
    max_size=3,
)
KEYS = ["o", "l", "j", "map", "o.n", "o.p.s", "l.x", "other", "count"]
RECORDS = st.dictionaries(st.sampled_from(KEYS), st.one_of(INNER, LISTS, OBJECTS), max_size=4)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "collectionNotUnnestedToJson": st.sampled_from(["NONE", "NON_PRIMITIVE", "ALL"]),
        "fieldsToUnnest": st.just(["l"]),
        "delimiter": st.sampled_from([".", "", "_"]),
    },
)


def made(plan: Plan, blocks: list[list[dict[str, Any]]], fast: bool) -> tuple[list[Any], Any]:
    conformer = conformer_of(plan, fast)
    rows: list[Any] = []
    outcomes: list[Any] = []
    for number, records in enumerate(blocks):
        data = "".join(json.dumps(record) + "\n" for record in records).encode()
        done = conformer.block(Split(0, 0, "f"), Block(data, 10 * number, number))
        for batch in done.batches:
            columns = {name: array.to_pylist() for name, array in batch.columns.items()}
            rows += [
                [columns[name][at] if name in columns else None for name in plan.schema.tables["t"].columns]
                for at in range(batch.rows)
            ]
        outcomes.append((done.counts, done.discards, done.rejects))
    return rows, (outcomes, +conformer.warnings)


@settings(max_examples=100)
@given(
    CONFIGS,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["stored", "nullable"]),
    st.lists(st.lists(RECORDS, min_size=1, max_size=2), min_size=1, max_size=3),
)
def test_both_ways_give_the_same_rows(
    complex_type: dict[str, Any], computed: bool, nested: bool, view: str, blocks: list[list[dict[str, Any]]]
) -> None:
    ingestion: dict[str, Any] = {"continueOnError": True, "complexTypeConfig": complex_type}
    if computed:
        ingestion["transformConfigs"] = [{"columnName": "count", "transformFunction": "arrayLength(j)"}]
        ingestion["filterConfig"] = {"filterFunction": "o.n = 7"}
    dialect = get_dialect("pinot")
    user_schema = dialect.schemas.parse_document(json.dumps(SAID), "schema")
    assert user_schema is not None
    options = {"view": view, "table_config": json.dumps(config(**ingestion))}
    schema = dialect.schemas.configure(dialect.schemas.new_schema("t"), options, "parquet")
    schema = dialect.schemas.merge_user_schema(
        schema, user_schema, lambda _: Naming(Convention("direct", str))
    )
    if not nested:
        schema = without_nested_types(schema)
    plan = Plan(schema, "", "pinot", "1.0", "/nowhere", now=NOW)
    twice = [value for block in blocks for value in (block, block)]
    assert made(plan, twice, True) == made(plan, twice, False)
