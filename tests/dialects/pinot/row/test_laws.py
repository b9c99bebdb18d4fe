"""What holds of the row pipeline for every schema, table config and record."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dialects.pinot.row.rows import NOW, column, config, document, map_column, pipeline, several, time
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.options import Options
from trellis.dialects.pinot.row.pipeline import Pipeline
from trellis.dialects.pinot.row.row import Row
from trellis.dialects.pinot.row_transform import PinotProgram
from trellis.dialects.pinot.stored_schema import Authored
from trellis.dialects.pinot.table.config import table_config
from trellis.dialects.pinot.value.source_kinds import Float32, Int64
from trellis.evolution.record_outcome import Rejected, Stopped
from trellis.evolution.row_transform import TransformResult

SINGLE = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES")
SEVERAL = ("INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING", "BYTES")
NAMES = ("a", "b", "c", "o.p", "o.q.r", "lines", "lines.sku", "lines.tags")
STRATEGIES = ("TRIM_LENGTH", "SUBSTITUTE_DEFAULT_VALUE", "NO_ACTION")


@st.composite
def fields(draw: st.DrawFn, name: str) -> dict[str, Any]:
    if draw(st.booleans()):
        return several(name, draw(st.sampled_from(SEVERAL)))
    field = column(name, draw(st.sampled_from(SINGLE)))
    if field["dataType"] in ("STRING", "JSON", "BYTES"):
        field["maxLength"] = draw(st.sampled_from((0, 1, 3, 512)))
        if field["dataType"] == "STRING":
            field["maxLengthExceedStrategy"] = draw(st.sampled_from(STRATEGIES))
    if field["dataType"] == "BIG_DECIMAL":
        field["allowTrailingZeros"] = draw(st.booleans())
    return field


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    times = [
        time("day", "STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd"),
        time("ms", "LONG", "EPOCH"),
        time("at", "TIMESTAMP", "TIMESTAMP"),
    ]
    computed = [several("map__KEYS", "STRING"), column("n", "DOUBLE", transformFunction="plus(b, 1)")]
    return document(
        [*(draw(fields(name)) for name in names), *computed], (), times, [map_column("map", "INT")]
    )


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5).map(Int64),
    st.floats(),
    st.floats(width=32).map(Float32),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9),
    st.sampled_from(
        [Decimal("1E+3"), "cafe", "7", "2023-11-14", "true", "{}", '{"b":1,"a":[1.50]} x', "1.50"]
    ),
    st.text(max_size=5),
    st.binary(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("p", "q", "r", "sku", "tags")), inner, max_size=3),
    ),
    max_leaves=6,
)
RECORDS = st.dictionaries(
    st.sampled_from((*NAMES, "o", "map", "day", "ms", "at", "n", "x")), VALUES, max_size=6
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    ingestion: dict[str, Any] = {"rowTimeValueCheck": draw(st.booleans())}
    if draw(st.booleans()):
        ingestion["complexTypeConfig"] = {
            "fieldsToUnnest": draw(st.lists(st.sampled_from(("lines", "lines.tags", "a")), unique=True)),
            "collectionNotUnnestedToJson": draw(st.sampled_from(("NONE", "NON_PRIMITIVE", "ALL"))),
        }
    return config(draw(st.sampled_from((None, "day", "ms", "at"))), **ingestion)


def rows_of(pipe: Pipeline, record: dict[str, Any]) -> list[Row]:
    try:
        return pipe.rows(record).rows
    except RowFault:
        return []


@given(schemas(), tables(), RECORDS)
def test_running_it_on_its_own_output_changes_nothing(
    schema_document: dict[str, Any], table: dict[str, Any], record: dict[str, Any]
) -> None:
    pipe = pipeline(schema_document, table, continue_on_error=True)
    again = pipeline(schema_document, _flat(table), continue_on_error=True)
    for row in rows_of(pipe, record):
        (second,) = rows_of(again, stored(pipe, row.values))
        for name, value in row.values.items():
            same = _meaning if pipe.specs[name].data_type is PinotType.JSON else repr
            assert same(second.values[name]) == same(value), name
        assert not second.incomplete


def _meaning(text: str) -> Any:
    """What JSON text means: a second reading writes its decimals anew, `1.0` as `1` (J02)."""
    return json.loads(text, parse_float=Decimal) if text and text[0] in "[{-0123456789" else text


def _flat(table: dict[str, Any]) -> dict[str, Any]:
    """The config of a job that reads what was written: lists are values of their columns, not rows."""
    nested = {"collectionNotUnnestedToJson": "NONE"}
    return {**table, "ingestionConfig": {**table["ingestionConfig"], "complexTypeConfig": nested}}


def stored(pipe: Pipeline, values: dict[str, Any]) -> dict[str, Any]:
    """Stored values as a file gives them back: of the class of their type."""
    classes = {"LONG": Int64, "TIMESTAMP": Int64, "FLOAT": Float32}
    read = {}
    for name, value in values.items():
        one = classes.get(pipe.specs[name].data_type.value, lambda member: member)
        read[name] = list(map(one, value)) if isinstance(value, list) else one(value)
    return read


@given(schemas(), tables(), RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_the_keys_of_a_record_changes_nothing(
    schema_document: dict[str, Any], table: dict[str, Any], record: dict[str, Any], dice: Any
) -> None:
    turned = list(record.items())
    dice.shuffle(turned)
    pipe = pipeline(schema_document, table, continue_on_error=True)
    one, other = rows_of(pipe, record), rows_of(pipe, dict(turned))
    assert [(repr(row.values), row.nulls) for row in one] == [(repr(row.values), row.nulls) for row in other]


@given(schemas(), tables(), st.lists(RECORDS, max_size=5), st.sampled_from(("null", "reject")), st.booleans())
def test_every_record_is_loaded_rejected_or_dropped(
    schema_document: dict[str, Any],
    table: dict[str, Any],
    records: list[dict[str, Any]],
    on_error: str,
    strict: bool,
) -> None:
    table["ingestionConfig"]["filterConfig"] = {"filterFunction": "x IS NULL"}
    authored = Authored(
        read_schema(schema_document), table_config(table), Options(on_error=on_error, strict=strict)
    )
    program = PinotProgram(authored, NOW)
    for record in records:
        views = become(program, record)
        if views is None:
            continue
        assert views.dropped == (not views.rows)
        assert views.dropped <= (record.get("x") is None or record.get("x") in ([], {}))
        assert all(set(row) == set(program.pipeline.specs) for row in views.rows)


def become(program: PinotProgram, record: dict[str, Any]) -> TransformResult | None:
    """None for a record that is rejected."""
    try:
        return program(record)
    except Rejected:
        return None


@given(schemas(), tables(), RECORDS)
def test_a_record_never_breaks_the_program(
    schema_document: dict[str, Any], table: dict[str, Any], record: dict[str, Any]
) -> None:
    program = PinotProgram(Authored(read_schema(schema_document), table_config(table)), NOW)
    try:
        program(record)
    except Stopped as stopped:
        assert str(stopped).startswith("column ")


@given(schemas(), tables(), RECORDS)
def test_the_nullable_view_is_the_stored_one_without_its_defaults(
    schema_document: dict[str, Any], table: dict[str, Any], record: dict[str, Any]
) -> None:
    views = {
        view: become(
            PinotProgram(
                Authored(
                    read_schema(schema_document),
                    table_config(table),
                    Options(view=view, on_error="null"),
                ),
                NOW,
            ),
            record,
        )
        for view in ("stored", "nullable")
    }
    result, other = views["stored"], views["nullable"]
    assert (result is None) == (other is None)
    if result is None or other is None:
        return
    for row, fewer in zip(result.rows, other.rows, strict=True):
        assert repr({name: row[name] for name in fewer}) == repr(fewer)


@given(schemas(), RECORDS)
def test_strict_settings_keep_every_value_or_note_it(
    schema_document: dict[str, Any], record: dict[str, Any]
) -> None:
    authored = Authored(read_schema(schema_document), options=Options(strict=True, on_error="null"))
    program = PinotProgram(authored, NOW)
    views = become(program, record)
    if views is not None:
        assert not program.take_warnings()
