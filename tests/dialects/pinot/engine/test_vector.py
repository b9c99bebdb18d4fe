"""Lines that go by columns become the rows that they become one by one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects.pinot.engine.tables import TOPS, Given, plans
from dialects.pinot.engine.tables import plan_of as plan_of_documents
from dialects.pinot.row.rows import column, config, document, time
from trellis.dialects import get_dialect
from trellis.engine.conform.authored import AuthoredConformer
from trellis.engine.conform.choose import conformer_of
from trellis.engine.conform.learned import Conformed
from trellis.engine.input.blocks import Block, Split
from trellis.engine.plan import Plan
from trellis.errors import ContractError
from trellis.schema.naming import Convention, Naming

NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)
TYPES = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES")


def dimension(name: str, data_type: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "dataType": data_type, **others}


SCHEMA = {
    "schemaName": "t",
    "dimensionFieldSpecs": [
        *(dimension(f"s_{member}", member, maxLength=6) for member in TYPES),
        *(
            dimension(f"m_{member}", member, singleValueField=False)
            for member in TYPES
            if member not in ("JSON", "BIG_DECIMAL")
        ),
        dimension("o.a.b", "INT"),
        dimension("d_days", "LONG"),
        dimension("d_bucket", "INT"),
        dimension("d_text", "STRING"),
        dimension("d_many", "LONG", singleValueField=False),
    ],
    "dateTimeFieldSpecs": [
        {
            "name": "day",
            "dataType": "STRING",
            "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
            "granularity": "1:DAYS",
        }
    ],
    "complexFieldSpecs": [
        {
            "name": "map",
            "dataType": "MAP",
            "childFieldSpecs": {
                "key": dimension("key", "STRING", fieldType="DIMENSION"),
                "value": dimension("value", "INT", fieldType="DIMENSION"),
            },
        }
    ],
}
TABLE = {
    "tableName": "t_OFFLINE",
    "segmentsConfig": {"timeColumnName": "day"},
    "ingestionConfig": {
        "rowTimeValueCheck": True,
        "continueOnError": True,
        "transformConfigs": [
            {"columnName": column, "transformFunction": function}
            for column, function in {
                "d_days": "toEpochDays(fromDateTime(day, 'yyyy-MM-dd'))",
                "d_bucket": "toEpochMinutesBucket(fromEpochSeconds(s_INT), 15)",
                "d_text": "toDateTime(s_LONG, 'yyyy-MM-dd HH:mm')",
                "d_many": "round(s_DOUBLE, 7)",
            }.items()
        ],
    },
}


def plan_of(view: str, strict: bool = False, nested: bool = False, drops: str = "") -> Plan:
    dialect = get_dialect("pinot")
    user_schema = dialect.schemas.parse_document(json.dumps(SCHEMA), "schema")
    assert user_schema is not None
    options = {"view": view, "strict": strict, "table_config": json.dumps(_table_config(nested, drops))}
    schema = dialect.schemas.configure(dialect.schemas.new_schema("t"), options, "parquet")
    schema = dialect.schemas.merge_user_schema(
        schema, user_schema, lambda _: Naming(Convention("direct", str))
    )
    return Plan(schema, "", "pinot", "1.0", "/nowhere", now=NOW)


def _table_config(nested: bool, drops: str = "") -> dict[str, Any]:
    ingestion = {**TABLE["ingestionConfig"], **({"complexTypeConfig": {}} if nested else {})}  # type: ignore[dict-item]
    if drops:
        ingestion["filterConfig"] = {"filterFunction": drops}
    return {**TABLE, "ingestionConfig": ingestion}


def conformed(plan: Plan, blocks: Sequence[bytes], columnar: bool) -> tuple[list[Any], Any]:
    """The rows, and all that is told of them."""
    conformer = conformer_of(plan, columnar)
    assert isinstance(conformer, AuthoredConformer)
    rows: list[Any] = []
    outcomes: list[Any] = []
    line = 0
    for offset, data in enumerate(blocks):
        block = Block(data, line, offset)
        line += data.count(b"\n")
        conformed_block: Conformed = conformer.block(Split(0, 0, "f.jsonl"), block)
        for batch in conformed_block.batches:
            columns = {name: plain(array).to_pylist() for name, array in batch.columns.items()}
            table = plan.schema.tables[batch.table]
            rows += [
                tuple(columns[name][at] if name in columns else None for name in table.columns)
                for at in range(batch.rows)
            ]
        outcomes.append(
            (
                conformed_block.counts,
                conformed_block.discards,
                [(reject.line, reject.reason) for reject in conformed_block.rejects],
            )
        )
    return rows, (outcomes, sorted((+conformer.warnings).items()))


def plain(array: Any) -> Any:
    """The instants as numbers: Python's calendar ends with the year 9999."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.int64())
    return array.cast(pa.list_(pa.int64())) if _holds_times(array.type) else array


def _holds_times(type_: Any) -> bool:
    return bool(pa.types.is_list(type_) and pa.types.is_timestamp(type_.value_type))


def lines(records: Sequence[Any]) -> bytes:
    return b"".join(
        json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for record in records
    )


DAY = st.sampled_from(
    ["2023-11-14", "1969-01-01", "2023-1-4", "x", "2071-01-01", "2071-01-02", "20231114", "2023-02-30"]
)
TEXT = st.one_of(
    st.sampled_from(
        [
            "",
            "a",
            "abcdefgh",
            "ab\0c",
            " 7 ",
            "7.50",
            "1e3",
            "TRUE ",
            "0",
            "no",
            "cafe",
            "CAF",
            "😀😀😀😀",
            '{"a":1}',
            "2023-11-14 22:13:20.1239",
            "2023-11-14T22:13:20",
            "2023-11-14",
            "-0",
            "-0.00",
            "100.00",
            "0x1p3",
            '"',
            "\\",
        ]
    ),
    st.text(st.characters(codec="utf-8"), max_size=9),
)
NUMBER = st.one_of(
    st.integers(-(2**33), 2**33),
    st.sampled_from(
        [0, 1, 2**53 + 1, 2**63 - 1, 2**64, 1700000000123, 0.0, -0.0, 1.5, 1e20, 1e-7, 7.9, 16777217]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALAR = st.one_of(st.none(), st.booleans(), NUMBER, TEXT)
OBJECT = st.dictionaries(
    st.sampled_from(["a", "b", "é"]),
    st.one_of(SCALAR, st.dictionaries(st.just("b"), NUMBER, max_size=1)),
    max_size=3,
)
ANY = st.one_of(SCALAR, st.lists(SCALAR, max_size=3), OBJECT)
KEYS = [
    *(f"s_{member}" for member in TYPES),
    *(f"m_{member}" for member in TYPES),
    "map",
    "o",
    "day",
    "d_days",
    "d_text",
    "unknown",
]
ODD = st.fixed_dictionaries({}, optional={key: DAY if key == "day" else ANY for key in KEYS})


@st.composite
def alike(draw: st.DrawFn, keys: Sequence[str] = KEYS) -> list[list[dict[str, Any]]]:
    """Blocks of records whose values under one key are mostly of one class."""
    kinds = {
        key: draw(
            st.sampled_from(
                [
                    st.booleans(),
                    st.integers(-(2**40), 2**40),
                    st.floats(-1e9, 1e9),
                    NUMBER,
                    st.lists(NUMBER, max_size=3),
                    TEXT,
                    OBJECT,
                    st.lists(st.integers(0, 9), max_size=3),
                    st.lists(TEXT, max_size=3),
                ]
            )
        )
        for key in draw(st.lists(st.sampled_from(keys), unique=True, max_size=8))
    }
    record = st.fixed_dictionaries(
        {}, optional={key: st.one_of(st.none(), kind) for key, kind in kinds.items()}
    )
    return draw(st.lists(st.lists(record, min_size=1, max_size=12), min_size=1, max_size=4))


@pytest.mark.parametrize("view", ["stored", "nullable"])
@pytest.mark.parametrize("nested", [False, True], ids=["flat", "flattened"])
@given(blocks=alike())
@settings(max_examples=int(os.environ.get("TRELLIS_EXAMPLES", "60")), deadline=None)
def test_alike_records(view: str, nested: bool, blocks: list[list[dict[str, Any]]]) -> None:
    plan, data = plan_of(view, nested=nested), [lines(block) for block in blocks]
    assert _comparable(conformed(plan, data, columnar=True)) == _comparable(
        conformed(plan, data, columnar=False)
    )


@given(blocks=st.lists(st.lists(ODD, min_size=1, max_size=6), min_size=1, max_size=4), strict=st.booleans())
@settings(max_examples=int(os.environ.get("TRELLIS_EXAMPLES", "60")), deadline=None)
def test_odd_records(blocks: list[list[dict[str, Any]]], strict: bool) -> None:
    plan, data = plan_of("stored", strict), [lines(block) for block in blocks]
    assert _comparable(conformed(plan, data, columnar=True)) == _comparable(
        conformed(plan, data, columnar=False)
    )


def _comparable(result: tuple[list[Any], Any]) -> Any:
    """Told per block: a few lines that go one by one tell the same as all that do."""
    return repr(result)


@pytest.mark.parametrize(
    "values",
    [
        [0, 7.9],
        [[0, 7.9], [1.5]],
        [18446744073709551616, 1.5],
        [[18446744073709551616]],
        [7, "7"],
        [None, -0.0],
    ],
    ids=repr,
)
@pytest.mark.parametrize("data_type", TYPES)
def test_numbers_that_arrow_reads_as_others(data_type: str, values: list[Any]) -> None:
    """An integer among floats, or beyond 64 bits, stays what it is."""
    plan = plan_of("stored")
    data = [lines([{f"s_{data_type}": value, f"m_{data_type}": value} for value in values])] * 2
    assert _comparable(conformed(plan, data, columnar=True)) == _comparable(
        conformed(plan, data, columnar=False)
    )


@given(blocks=alike())
@settings(max_examples=int(os.environ.get("TRELLIS_EXAMPLES", "60")), deadline=None)
def test_filtered_records(blocks: list[list[dict[str, Any]]]) -> None:
    """What is damaged in a row that the filter drops is not told."""
    plan, data = plan_of("stored", drops="s_INT > 3 OR s_STRING = 'a'"), [lines(block) for block in blocks]
    assert _comparable(conformed(plan, data, columnar=True)) == _comparable(
        conformed(plan, data, columnar=False)
    )


def _rows(case: Given, records: list[dict[str, Any]], columnar: bool) -> Any:
    return conformed(plan_of_documents(case), [lines(records)] * 2, columnar)


@given(case=plans(), blocks=alike(TOPS))
@settings(max_examples=int(os.environ.get("TRELLIS_EXAMPLES", "60")), deadline=None)
def test_any_schema(case: Given, blocks: list[list[dict[str, Any]]]) -> None:
    plan, data = plan_of_documents(case), [lines(block) for block in blocks]
    assert _comparable(told(plan, data, columnar=True)) == _comparable(told(plan, data, columnar=False))


def told(plan: Plan, blocks: Sequence[bytes], columnar: bool) -> Any:
    """The rows and all that is told of them, or why there are none."""
    try:
        return conformed(plan, blocks, columnar)
    except ContractError as error:
        return str(error)


TRIMMED = {"maxLength": 4, "maxLengthExceedStrategy": "TRIM_LENGTH"}


@pytest.mark.parametrize(
    ("column_", "value", "stored"),
    [
        (column("a", "JSON", **TRIMMED), {"key": 1}, '{"ke'),
        (column("a", "STRING", **TRIMMED), False, "fals"),
        (column("a", "STRING", **TRIMMED), True, "true"),
        (column("a", "JSON"), {"\x1f": 1}, '{"\\u001f":1}'),
        (column("a", "TIMESTAMP"), "2050-07-01 00:00:00", 2_540_239_200_000),
    ],
    ids=repr,
)
@pytest.mark.parametrize("columnar", [True, False], ids=["by columns", "by rows"])
def test_values(column_: dict[str, Any], value: Any, stored: Any, columnar: bool) -> None:
    case = Given(document([column_]), config(), {"zone": "Europe/Zurich"})
    assert _rows(case, [{"a": value}] * 3, columnar)[0] == [(stored,)] * 6


@pytest.mark.parametrize("columnar", [True, False], ids=["by columns", "by rows"])
def test_a_main_time_without_a_kernel_is_looked_at(columnar: bool) -> None:
    case = Given(document(times=[time("ms", "LONG", "EPOCH|MILLISECONDS")]), config("ms"), {})
    rows, (_, warnings) = _rows(case, [{"ms": 5.0}, {"ms": 1.7e12}], columnar)
    assert rows == [(5,), (1_700_000_000_000,)] * 2
    assert [(text.partition(" between ")[0], count) for text, count in warnings] == [
        ("the main time ms is not", 2)
    ]
