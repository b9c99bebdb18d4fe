"""Records that are loaded column by column become the rows that they become one by one."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.dialects.ytsaurus.loads.options import with_options
from trellis.dialects.ytsaurus.loads.schemas import METADATA
from trellis.dialects.ytsaurus.loads.target import OnError, TargetTable, with_target
from trellis.dialects.ytsaurus.schema.document import parse_schema
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.engine.conform import authored
from trellis.engine.conform.authored import AuthoredConformer
from trellis.engine.conform.choose import conformer_of
from trellis.engine.conform.outcome import Conformed
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Plan
from trellis.errors import ContractError
from trellis.evolution.dialect.own_metadata import new_schema

EXAMPLES = int(os.environ.get("TRELLIS_EXAMPLES", "100"))
NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)
TYPES = ("int8", "int64", "uint8", "uint64", "date", "interval64", "float", "double", "boolean", "string")
SCHEMA = (
    '[{name=h;type=uint64;sort_order=ascending;expression="farm_hash(string) % 7"};'
    "{name=k;type=any;sort_order=ascending};{name=string;type=string;sort_order=ascending};"
    + ";".join(f"{{name={name};type={name}}}" for name in TYPES if name != "string")
    + ";{name=utf8;type=utf8;required=%true};{name=json;type=json};{name=uuid;type=uuid};"
    "{name=null;type=null};{name=decimal;type_v3={type_name=optional;item={type_name=decimal;precision=5;scale=2}}};{name=any;type=any};"
    "{name=list;type_v3={type_name=optional;item={type_name=list;item=int8}}};"
    "{name=struct;type_v3={type_name=optional;item={type_name=struct;members=[{name=a;type=utf8}]}}}]"
)
SMALL = "[{name=utf8;type=utf8};{name=int64;type=int64};{name=uint64;type=uint64};{name=double;type=double}]"


@pytest.fixture(autouse=True)
def _halves_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authored, "MIN_SPLIT", 2)


def plan_of(document: str = SMALL, on_error: OnError = "reject", strict: bool = True, **options: str) -> Plan:
    schema = parse_schema(loads(f"<strict={'%true' if strict else '%false'}>{document}"))
    dataset = with_options(new_schema("t", METADATA), options)
    dataset = with_target(dataset, TargetTable("t", schema, "strong", on_error))
    return Plan(dataset, "", "ytsaurus", "1.0", "/nowhere", now=NOW)


def conformer(plan: Plan, columnar: bool = True) -> AuthoredConformer:
    conformer = conformer_of(plan, columnar)
    assert isinstance(conformer, AuthoredConformer)
    return conformer


def outcome_of(plan: Plan, parts: Sequence[Conformed]) -> Any:
    """Rows, rejects and counts of the parts of an input."""
    rows: list[Any] = []
    for batch in (batch for part in parts for batch in part.batches):
        columns = {name: array.to_pylist() for name, array in batch.columns.items()}
        names = plan.schema.tables[batch.table].columns
        rows += [
            tuple(columns[name][row] if name in columns else None for name in names)
            for row in range(batch.rows)
        ]
    rejects = [(reject.line, reject.reason) for part in parts for reject in part.rejects]
    return repr((rows, rejects, [part.counts for part in parts]))


def outcome_of_lines(plan: Plan, blocks: Sequence[Sequence[Any]], columnar: bool) -> Any:
    runner, parts, line = conformer(plan, columnar), [], 0
    try:
        for number, records in enumerate(blocks):
            text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            data = text.encode("utf-8", "surrogatepass")
            parts.append(runner.block(Split(0, 0, "f.jsonl"), Block(data, line, number)))
            line += len(records)
    except ContractError as error:
        return str(error)
    return outcome_of(plan, parts)


def outcome_of_batches(plan: Plan, batches: Sequence[pa.RecordBatch], columnar: bool) -> Any:
    runner, parts, first = conformer(plan, columnar), [], 0
    try:
        for number, batch in enumerate(batches):
            parts.append(runner.batch(Split(0, 0, "f.parquet"), RowBatch(number, first, batch)))
            first += batch.num_rows
    except ContractError as error:
        return str(error)
    return outcome_of(plan, parts)


NAMES = [
    *TYPES, "utf8", "json", "uuid", "null", "decimal", "any", "list", "struct", "h", "k", "unknown", "other"
]  # fmt: skip
TEXT = st.one_of(
    st.sampled_from(["", "a", "a\0b", "é", "😀", "5", "5u", "0.5", "true", '{"a":1}', "x" * 16, "\ud800"]),
    st.text(st.characters(codec="utf-8"), max_size=5),
)
NUMBER = st.one_of(
    st.integers(-300, 300),
    st.integers(-(2**65), 2**65),
    st.sampled_from([0, 2**63 - 1, 2**63, 2**64 - 1, 49_673, 0.0, -0.0, 5.0, 0.5, 3.5e38, 1e300, -1e20]),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALAR = st.one_of(st.none(), st.booleans(), NUMBER, TEXT)
NESTED = st.one_of(st.lists(st.one_of(st.integers(-128, 127), SCALAR), max_size=3),
                   st.dictionaries(st.sampled_from(["a", "b"]), SCALAR, max_size=2))  # fmt: skip
ORDINARY: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("int8", "uint8", "date"), st.integers(0, 127)),
    **dict.fromkeys(("int64", "interval64", "uint64"), st.integers(0, 2**62)),
    **dict.fromkeys(("float", "double"), st.floats(-1e9, 1e9)),
    "boolean": st.booleans(),
    **dict.fromkeys(("string", "utf8", "k", "any"), TEXT),
    "list": st.lists(st.integers(-128, 127), max_size=3),
    "struct": st.fixed_dictionaries({"a": st.text("ab")}),
}
UNDECLARED: dict[str, st.SearchStrategy[Any]] = {
    "unknown": st.integers(0, 2**62),
    "other": st.fixed_dictionaries({"a": st.integers(0, 9)}),
}


def blocks_of(values: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[list[Any]]]:
    """Blocks of ordinary records, and of such with odd values."""
    record = st.fixed_dictionaries(
        {"utf8": values["utf8"]},
        optional={name: st.one_of(st.none(), some) for name, some in values.items() if name != "utf8"},
    )
    odd_record = st.builds(
        lambda record, odd: {**record, **odd},
        record,
        st.dictionaries(st.sampled_from(NAMES), st.one_of(SCALAR, NESTED), max_size=2),
    )
    return st.lists(
        st.one_of(st.lists(record, min_size=1, max_size=12), st.lists(odd_record, min_size=1, max_size=6)),
        min_size=1,
        max_size=4,
    )


FLAGS = st.sets(st.sampled_from(["integral_to_double", "string_to_all", "all_to_string"]), max_size=1)


@given(
    blocks=blocks_of(ORDINARY),
    flags=FLAGS,
    strict=st.booleans(),
    on_error=st.sampled_from(["reject", "refuse"]),
)
@settings(max_examples=EXAMPLES, deadline=None, report_multiple_bugs=False)
def test_lines(blocks: list[list[Any]], flags: set[str], strict: bool, on_error: OnError) -> None:
    plan = plan_of(SCHEMA, on_error, strict, **dict.fromkeys(flags, "true"))
    assert outcome_of_lines(plan, blocks, True) == outcome_of_lines(plan, blocks, False)


ARRAYS = {
    "utf8": st.one_of(st.none(), st.text("ab", max_size=3)),
    "int64": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    "uint64": st.one_of(st.none(), st.integers(-5, 2**63 - 1)),
    "double": st.one_of(st.none(), st.floats()),
}
ARROW = {
    "utf8": [pa.string(), pa.large_string(), pa.binary(), pa.int64()],
    "int64": [pa.int64(), pa.int8(), pa.uint64(), pa.float64(), pa.bool_()],
    "uint64": [pa.int64(), pa.uint64(), pa.decimal128(20, 0)],
    "double": [pa.float64(), pa.float32(), pa.int64()],
}


@st.composite
def batches(draw: st.DrawFn) -> list[pa.RecordBatch]:
    """Batches of equal types; a value that a type does not hold is null."""
    names = draw(st.lists(st.sampled_from([*ARRAYS]), unique=True, min_size=1))
    types = [draw(st.sampled_from(ARROW[name])) for name in names]
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    return [
        pa.record_batch(
            [
                array_of(draw(st.lists(ARRAYS[name], min_size=size, max_size=size)), type)
                for name, type in zip(names, types, strict=True)
            ],
            names,
        )
        for size in sizes
    ]


def array_of(values: list[Any], type: pa.DataType) -> pa.Array:
    arrays = []
    for value in values:
        try:
            arrays.append(pa.array([value], type))
        except (pa.ArrowException, OverflowError, TypeError):
            arrays.append(pa.nulls(1, type))
    return pa.concat_arrays(arrays)


DOCUMENTS = st.sampled_from([SMALL, "[{name=utf8;type=utf8}]", "[]"])


@given(
    parts=batches(), document=DOCUMENTS, strict=st.booleans(), on_error=st.sampled_from(["reject", "refuse"])
)
@settings(max_examples=EXAMPLES, deadline=None, report_multiple_bugs=False)
def test_typed_rows(parts: list[pa.RecordBatch], document: str, strict: bool, on_error: OnError) -> None:
    plan = plan_of(document, on_error, strict)
    assert outcome_of_batches(plan, parts, True) == outcome_of_batches(plan, parts, False)


@given(blocks=blocks_of(ORDINARY | UNDECLARED), document=st.sampled_from([SCHEMA, SMALL, "[]"]))
@settings(max_examples=EXAMPLES, deadline=None, report_multiple_bugs=False)
def test_lines_with_undeclared_keys(blocks: list[list[Any]], document: str) -> None:
    plan = plan_of(document, strict=False)
    assert outcome_of_lines(plan, blocks, True) == outcome_of_lines(plan, blocks, False)


@pytest.mark.parametrize(("document", "strict"), [(SCHEMA, True), (SCHEMA, False), ("[]", False)])
def test_ordinary_records_go_by_columns(monkeypatch: pytest.MonkeyPatch, document: str, strict: bool) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a record was made alone")

    runner = conformer(plan_of(document, strict=strict))
    monkeypatch.setattr(runner, "_one_by_one", refuse)
    records: list[dict[str, Any]] = [
        {"utf8": f"t{n}", "int64": n, "uint64": n, "double": n + 0.5, "boolean": n % 2 == 0, "any": [n]}
        for n in range(500)
    ]
    if not strict:
        records[7]["z"] = {"a": [1, 0.5]}
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    conformed = runner.block(Split(0, 0, "f"), Block(data, 0, 0))
    assert [batch.rows for batch in conformed.batches] == [500]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"int64": 5.0}, 'column "int64": expected int64, not double 5.'),
        ({"int64": True}, 'column "int64": expected int64, not boolean %true'),
        ({"int64": "5"}, 'column "int64": expected int64, not string "5"'),
        ({"uint64": -1}, 'column "uint64": expected uint64, not int64 -1'),
        ({"double": 5}, 'column "double": expected double, not int64 5'),
        ({"utf8": 5}, 'column "utf8": expected utf8, not int64 5'),
        (
            {"zz": None},
            'column "zz": the strict schema has no such column: it may be one of utf8, int64, uint64, double',
        ),
    ],
)
def test_one_odd_record_costs_itself_alone(record: dict[str, Any], reason: str) -> None:
    """By columns no value is converted that is not one by one: it is rejected, and its neighbours stay."""
    records = [{"utf8": "a", "int64": n, "uint64": n, "double": n + 0.5} for n in range(200)]
    records[123] = {**records[123], **record}
    data = "".join(json.dumps(item) + "\n" for item in records).encode()
    conformed = conformer(plan_of()).block(Split(0, 0, "f"), Block(data, 0, 0))
    assert [(reject.line, reject.reason) for reject in conformed.rejects] == [(123, reason)]
    columns = conformed.batches[0].columns
    assert columns["int64"].to_pylist() == [n for n in range(200) if n != 123]


def test_what_the_schema_does_not_declare_is_collected() -> None:
    """With the values that lines have: integers of any length, and no key twice."""
    lines = [
        '{"utf8": "a", "z": 1, "y": {"b": [1, 0.5, null]}}',
        '{"utf8": "b", "z": null}',
        '{"utf8": "c", "z": 18446744073709551615}',
        '{"utf8": "d", "z": 18446744073709551616}',
        '{"utf8": "e", "z": 2, "z": 3}',
        '{"utf8": "f", "y": {"b": 1, "b": 2}}',
    ]
    data = "".join(f"{line}\n" for line in lines).encode()
    conformed = conformer(plan_of(strict=False)).block(Split(0, 0, "f"), Block(data, 0, 0))
    rows = [
        (text, None if undeclared is None else loads(undeclared))
        for batch in conformed.batches
        for text, undeclared in zip(
            batch.columns["utf8"].to_pylist(),
            batch.columns["$undeclared"].to_pylist()
            if "$undeclared" in batch.columns
            else [None] * batch.rows,
            strict=True,
        )
    ]
    assert rows == [
        ("a", {"z": 1, "y": {"b": [1, 0.5, None]}}),
        ("b", None),
        ("c", {"z": 2**64 - 1}),
        ("e", {"z": 3}),
        ("f", {"y": {"b": 2}}),
    ]
    assert [(reject.line, reject.reason) for reject in conformed.rejects] == [
        (3, 'column "z": 18446744073709551616 is beyond 64 bits; YSON integers are from -2^63 to 2^64-1')
    ]
    assert [(item.path, item.value) for item in conformed.discards] == [("z", "2"), ("b", "1")]


HALF = "'\\ud800' is not UTF-8: half of a surrogate pair at character 1"
BEYOND = "18446744073709551616 is beyond 64 bits; YSON integers are from -2^63 to 2^64-1"


@pytest.mark.parametrize(
    ("document", "line", "reason"),
    [
        ("[{name=a;type=utf8}]", r'{"a":"\ud800"}', f'column "a": {HALF}'),
        ("[{name=a;type=any}]", r'{"a":{"b":"\ud800"}}', f'column "a": {HALF}'),
        ("[{name=a;type=any}]", r'{"a":{"\ud800":1}}', f'column "a": {HALF}'),
        ("[{name=a;type=any}]", '{"a":[18446744073709551616]}', f'column "a": {BEYOND}'),
        (
            "[{name=a;type=any}]",
            '{"a":{"b":1e999}}',
            (
                'column "a": a Decimal is not a YSON value; expected None, bool, int, float, bytes, str, '
                "list or dict"
            ),
        ),
        ("[]", r'{"a":"\ud800"}', f'column "a": {HALF}'),
        ("[]", r'{"\ud800":1}', HALF),
        ("[]", '{"a":[18446744073709551616]}', BEYOND),
    ],
)
def test_what_yson_does_not_have_costs_its_record(document: str, line: str, reason: str) -> None:
    """Deep in a value, too, and not the load."""
    data = f'{{"a":null}}\n{line}\n'.encode()
    conformed = conformer(plan_of(document, strict=document != "[]")).block(
        Split(0, 0, "f"), Block(data, 0, 0)
    )
    assert [(reject.line, reject.reason) for reject in conformed.rejects] == [(1, reason)]
    assert (conformed.counts.read, conformed.counts.loaded) == (2, 1)


def test_values_that_arrow_would_change() -> None:
    records = [{"double": -0.0, "uint64": 2**64 - 1, "utf8": "a\0b"}, {"double": 1e308, "uint64": 0}]
    data = "".join(json.dumps(item) + "\n" for item in records).encode()
    columns = conformer(plan_of()).block(Split(0, 0, "f"), Block(data, 0, 0)).batches[0].columns
    values = {name: array.to_pylist() for name, array in columns.items()}
    assert math.copysign(1, values["double"][0]) == -1
    assert [int(value) for value in values["uint64"]] == [2**64 - 1, 0]
    assert values["utf8"] == ["a\0b", None]


def test_texts_that_might_be_too_long() -> None:
    records = [{"k": f"k{n}"} for n in range(100)]
    records[7]["k"], records[8]["k"] = "x" * 262_144, "x" * 262_145
    data = "".join(json.dumps(item) + "\n" for item in records).encode()
    runner = conformer(plan_of("[{name=k;type=utf8;sort_order=ascending}]"))
    conformed = runner.block(Split(0, 0, "f"), Block(data, 0, 0))
    assert [(reject.line, reject.reason) for reject in conformed.rejects] == [
        (8, "262145 bytes of key; at most 262144 are allowed")
    ]
    assert conformed.batches[0].columns["k"].to_pylist()[7] == "x" * 262_144
