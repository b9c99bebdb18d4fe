"""Arrow tables and authored schemas at random, for columns of any type under schemas of any type."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

from dialects.pinot.row.rows import column, config, document, map_column, several, time
from trellis.dialects import get_dialect
from trellis.engine.plan import Plan
from trellis.schema.naming import Convention, Naming

NOW: Final = datetime(2026, 1, 2, tzinfo=timezone.utc)
NAMES: Final = ("a", "b", "c", "d", "o.x", "o.y.z", "day", "ms", "at")
TOPS: Final = ("a", "b", "c", "d", "o", "day", "ms", "at", "n", "t", "map", "unknown")
SINGLE: Final = (
    *("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES"),
)
SEVERAL: Final = ("INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING", "BYTES")
STRATEGIES: Final = ("TRIM_LENGTH", "SUBSTITUTE_DEFAULT_VALUE", "NO_ACTION", "ERROR")
ZONES: Final = ("UTC", "Europe/Zurich", "America/New_York")


# --- schemas


@st.composite
def dimensions(draw: st.DrawFn, name: str) -> dict[str, Any]:
    if draw(st.integers(0, 3)) == 0:
        return several(name, draw(st.sampled_from(SEVERAL)))
    field = column(name, draw(st.sampled_from(SINGLE)))
    if field["dataType"] in ("STRING", "JSON", "BYTES"):
        field["maxLength"] = draw(st.sampled_from((1, 5, 24, 512)))
        field["maxLengthExceedStrategy"] = draw(st.sampled_from(STRATEGIES))
    if field["dataType"] == "BIG_DECIMAL":
        field["allowTrailingZeros"] = draw(st.booleans())
    return field


TIMES: Final = (
    time("day", "STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd"),
    time("ms", "LONG", "EPOCH|MILLISECONDS"),
    time("ms", "INT", "EPOCH|SECONDS"),
    time("ms", "DOUBLE", "EPOCH|MILLISECONDS"),
    time("at", "TIMESTAMP", "TIMESTAMP"),
)
TRANSFORMS: Final = (
    ("n", "toEpochDays(a)"),
    ("n", "plus(a, b)"),
    ("t", "toDateTime(a, 'yyyy-MM-dd HH:mm')"),
    ("t", "concat(a, b, '-')"),
)


class Given(NamedTuple):
    """What a plan is made of."""

    schema: dict[str, Any]
    table: dict[str, Any]
    options: dict[str, Any]


def plan_of(case: Given) -> Plan:
    dialect = get_dialect("pinot")
    user_schema = dialect.schemas.parse_document(json.dumps(case.schema), "schema")
    assert user_schema is not None
    options = {"table_config": json.dumps(case.table), **case.options}
    schema = dialect.schemas.configure(dialect.schemas.new_schema("t"), options, "parquet")
    schema = dialect.schemas.merge_user_schema(
        schema, user_schema, lambda _: Naming(Convention("direct", str))
    )
    return Plan(schema, "", "pinot", "1.0", "/nowhere", now=NOW)


@st.composite
def small_plans(draw: st.DrawFn) -> Given:
    """A schema that any value may go on from."""
    schema_document = document([draw(dimensions(name)) for name in ("a", "b")])
    options = {"zone": draw(st.sampled_from(ZONES)), "view": draw(st.sampled_from(("stored", "nullable")))}
    return Given(schema_document, config(continueOnError=True), options)


@st.composite
def plans(draw: st.DrawFn) -> Given:
    names = draw(st.lists(st.sampled_from(NAMES[:-3]), min_size=2, max_size=5, unique=True))
    main = draw(st.one_of(st.none(), st.sampled_from(TIMES)))
    computed = draw(st.lists(st.sampled_from(TRANSFORMS), max_size=2, unique_by=lambda value: value[0]))
    results = {"n": column("n", "DOUBLE"), "t": column("t", "STRING")}
    schema_document = document(
        [*(draw(dimensions(name)) for name in names), *(results[name] for name, _ in computed)],
        times=[] if main is None else [main],
        maps=[map_column("map", "INT")] if draw(st.booleans()) else [],
    )
    ingestion: dict[str, Any] = {
        "transformConfigs": [
            {"columnName": name, "transformFunction": function} for name, function in computed
        ],
        "rowTimeValueCheck": draw(st.booleans()),
        "continueOnError": draw(st.booleans()),
    }
    if draw(st.booleans()):
        ingestion["complexTypeConfig"] = {}
    if draw(st.integers(0, 3)) == 0:
        ingestion["filterConfig"] = {"filterFunction": "a > 3 OR b = 'a'"}
    options: dict[str, Any] = {"view": draw(st.sampled_from(("stored", "nullable")))}
    options["strict"] = draw(st.booleans())
    options["zone"] = draw(st.sampled_from(ZONES))
    if on_error := draw(st.sampled_from((None, "null", "reject", "null"))):
        options["on_error"] = on_error
    return Given(schema_document, config(main["name"] if main else None, **ingestion), options)


# --- tables


class Values(NamedTuple):
    """An Arrow type, what its values may be, and how an array of the type is stored."""

    type: pa.DataType
    values: st.SearchStrategy[Any]
    stored: Callable[[pa.Array], pa.Array] = lambda array: array


TEXTS: Final = st.one_of(
    st.sampled_from(
        [
            *("", "a", "abcdefgh", "ab\0c", " 7 ", "7.50", "1e3", "TRUE ", "0", "no", "cafe", "CAF", "-0"),
            *("😀😀😀😀", '"', "\\", '{"b":1,"a":[1.50]}'),
            *("2023-11-14 22:13:20.1239", "2023-11-14", "2050-07-01 00:00:00"),
        ]
    ),
    st.text(st.characters(codec="utf-8"), max_size=6),
)
TIDY: Final = (
    st.integers(0, 50).map(str),
    st.sampled_from(["2023-11-14", "2024-02-29"]),
    st.sampled_from(["2023-11-14 22:13:20", "2031-07-01 00:00:00.5"]),
    st.sampled_from(["cafe", "00", ""]),
    st.sampled_from(["true", "0"]),
)


def whole(bits: int, signed: bool) -> st.SearchStrategy[int]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    odd = [
        value
        for value in (0, low, high, 2**24 + 1, 2**31, 2**53 + 1, 1_700_000_000_123)
        if low <= value <= high
    ]
    return st.one_of(st.integers(0, 100), st.integers(low, high), st.sampled_from(odd))


def real(width: int) -> st.SearchStrategy[float]:
    odd = [0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf")]
    fitting = [value for value in (1e20, 2.0**63, 2.0**24 + 1, 1.7e12) if width == 64]
    return st.one_of(st.integers(0, 100).map(float), st.floats(width=width), st.sampled_from(odd + fitting))


SCALARS: Final[list[Values]] = [
    Values(pa.bool_(), st.booleans()),
    *(Values(getattr(pa, f"int{bits}")(), whole(bits, True)) for bits in (8, 16, 32, 64, 64)),
    *(Values(getattr(pa, f"uint{bits}")(), whole(bits, False)) for bits in (8, 16, 32, 64)),
    *(Values(getattr(pa, f"float{bits}")(), real(bits)) for bits in (16, 32, 64, 64)),
    *(Values(type_, TEXTS) for type_ in (pa.string(), pa.large_string(), pa.string_view())),
    *(Values(pa.string(), tidy) for tidy in TIDY),
    *(Values(type_, st.binary(max_size=6)) for type_ in (pa.binary(), pa.large_binary(), pa.binary_view())),
    Values(pa.binary(3), st.binary(min_size=3, max_size=3)),
    *(
        Values(
            type_,
            st.one_of(
                st.decimals(-99, 99, places=0),
                st.decimals(-(10**6), 10**6, places=max(type_.scale, 0)),
                st.sampled_from([0]),
            ),
        )
        for type_ in (pa.decimal128(12, 2), pa.decimal128(20, 0), pa.decimal256(60, 9), pa.decimal32(9, 1))
    ),
    *(
        Values(
            pa.timestamp(unit, tz),
            st.one_of(
                st.integers(1_600_000_000 * per, 1_700_000_000 * per),
                st.integers(-(2**35) * per, 2**33 * per).filter(lambda value: abs(value) < 2**63),
                st.sampled_from([0, -1, 1, 1_700_000_000 * per, 2_500_000_000 * per, 1_698_541_200 * per]),
            ),
        )
        for unit, per in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
        for tz in (None, "UTC", "Europe/Zurich", "+05:30")
    ),
    Values(pa.date32(), st.one_of(st.integers(19_000, 19_999), st.integers(-719_162, 2_932_896))),
    Values(pa.date64(), st.integers(19_000, 19_999).map(lambda day: day * 86_400_000)),
    Values(pa.time64("us"), st.integers(0, 86_399_999_999)),
    Values(pa.duration("s"), st.integers(0, 10**6)),
    Values(pa.null(), st.none()),
]
BEYOND: Final = (
    Values(pa.timestamp("us"), st.sampled_from([0, 2**62, -(2**62)])),
    Values(pa.date32(), st.sampled_from([0, 2**30])),
    Values(pa.timestamp("ns"), st.sampled_from([0, 2**63 - 1, 1 - 2**63])),
    Values(pa.timestamp("us", "Mars/Base"), st.just(0)),
)


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values, values, values)


@st.composite
def columns(draw: st.DrawFn) -> Values:
    """Of which type a column is; mostly of one value."""
    sort = draw(st.integers(0, 15))
    drawn = draw(st.sampled_from(SCALARS))
    if sort < 8 or drawn.type == pa.null():
        return drawn
    listed = st.lists(nullable(drawn.values), max_size=3)
    if sort == 8:
        return Values(drawn.type, drawn.values, lambda array: array.dictionary_encode())
    if sort == 9 and (pa.types.is_string(drawn.type) or pa.types.is_integer(drawn.type)):
        return Values(drawn.type, drawn.values, pc.run_end_encode)
    if sort in (10, 11):
        return Values(pa.list_(drawn.type), listed)
    if sort == 12:
        lists = (pa.large_list(drawn.type), pa.list_view(drawn.type))
        return Values(draw(st.sampled_from(lists)), listed)
    if sort == 13:
        return Values(pa.list_(drawn.type, 2), st.lists(nullable(drawn.values), min_size=2, max_size=2))
    if sort == 14:
        entries = st.dictionaries(st.sampled_from(["x", "y", "o.x"]), nullable(drawn.values), max_size=2)
        return Values(pa.map_(pa.string(), drawn.type), entries.map(lambda value: list(value.items())))
    return draw(objects())


@st.composite
def objects(draw: st.DrawFn) -> Values:
    first, second = draw(st.sampled_from(SCALARS)), draw(st.sampled_from(SCALARS))
    inner = st.fixed_dictionaries({"z": nullable(second.values)})
    type_ = pa.struct([("x", first.type), ("y", pa.struct([("z", second.type)]))])
    whole_ = Values(
        type_, st.fixed_dictionaries({"x": nullable(first.values), "y": st.one_of(st.none(), inner)})
    )
    if draw(st.integers(0, 4)):
        return whole_
    return Values(pa.list_(type_), st.lists(whole_.values, max_size=2))


@st.composite
def batches(draw: st.DrawFn, tops: tuple[str, ...] = TOPS) -> pa.RecordBatch:
    size, before = draw(st.integers(1, 20)), draw(st.integers(0, 2))
    names = draw(st.lists(st.sampled_from(tops), unique=True, min_size=1, max_size=6))
    beyond = draw(st.integers(0, 20)) == 0
    arrays = []
    for name in names:
        drawn = draw(objects() if name == "o" and draw(st.booleans()) else columns())
        if beyond and name == names[0]:
            drawn = draw(st.sampled_from(BEYOND))
        values = draw(st.one_of(st.just(drawn.values), st.just(nullable(drawn.values))))
        drawn_values = draw(st.lists(values, min_size=size + before, max_size=size + before))
        arrays.append(_stored(drawn, pa.array(drawn_values, drawn.type)))
    return pa.record_batch(arrays, names).slice(before)


def _stored(values: Values, array: pa.Array) -> pa.Array:
    try:
        return values.stored(array)
    except pa.ArrowNotImplementedError:
        return array
