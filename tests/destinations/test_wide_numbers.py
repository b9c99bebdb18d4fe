"""Numbers of more than 38 digits: kept to the last one where the destination has room, else beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destinations.postgres_server import Server
from trellis.dialects import DEFAULT_DIALECT, get_dialect
from trellis.engine.arrow.cast import fitted
from trellis.engine.arrow.types import arrow_type
from trellis.errors import ContractError, SchemaError
from trellis.evolution.scalars.coerce import coerce, coercer
from trellis.evolution.scalars.values import MISFIT, Wei
from trellis.evolution.scalars.wei import with_default_precision
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import Column, Schema, Settings, Table

MOST = 2**255
"""The size of the numbers of 256 bits: 77 digits."""
LONG = Context(prec=400)
MANY = f"{10**38 - 7}.123456789012345678"
WEI = (Column("w", "wei"),)
ROOM = (156, 78)
UPSERT: Mapping[str, Any] = {"mode": "merge", "keys": ("id",), "strategy": "upsert"}


@pytest.fixture
def wide(postgres: Server, database: str) -> Pipeline:
    """Into a PostgreSQL database."""
    return pipeline("shop", to=postgres.url(database))


@pytest.fixture(params=["duckdb", "parquet"])
def narrow(request: pytest.FixtureRequest, tmp_path: Path) -> Pipeline:
    """Into a destination that holds 38 digits of a wei."""
    return pipeline("shop", to=f"{request.param}:{tmp_path}/shop.{request.param}")


def rows_of(pipe: Pipeline, table: str = "t") -> list[dict[str, Any]]:
    """The rows in the order of their ids, if they have such, without bookkeeping."""
    rows = [
        {name: value for name, value in row.items() if not name.startswith("_dlt")}
        for row in pipe.destination.query(pipe.dataset, table)
    ]
    return sorted(rows, key=lambda row: row.get("id") or 0)


def values(pipe: Pipeline, column: str = "w") -> list[Any]:
    return [row[column] for row in rows_of(pipe)]


def types(pipe: Pipeline, table: str = "t") -> dict[str, str]:
    columns = pipe.destination.catalog(pipe.dataset)[table].columns
    return {name: type_ for name, type_ in columns.items() if not name.startswith("_dlt")}


# ---- wei


def in_a_file(rows: list[dict[str, Any]], folder: Path) -> Any:
    path = folder / "records.jsonl"
    path.write_text("".join(f"{json.dumps(row, default=str)}\n" for row in rows))
    return str(path)


def as_texts(rows: list[dict[str, Any]], folder: Path) -> Any:
    return [{**row, "w": str(row["w"])} for row in rows]


def as_decimals(rows: list[dict[str, Any]], folder: Path) -> Any:
    return [{**row, "w": Decimal(row["w"])} for row in rows]


def as_they_are(rows: list[dict[str, Any]], folder: Path) -> Any:
    return rows


WAYS = (as_they_are, in_a_file, as_texts, as_decimals)
BIG: list[Any] = [MOST, -MOST + 1, 10**78 - 1, Decimal("1.000000000000000001"), Decimal(MANY), 0, 7]


@pytest.mark.parametrize("way", WAYS)
def test_seed_d079_postgres_holds_256_bits(
    way: Callable[[list[dict[str, Any]], Path], Any], wide: Pipeline, tmp_path: Path
) -> None:
    rows = [{"id": number, "w": value} for number, value in enumerate(BIG)]
    report = wide.load(way(rows, tmp_path), table="t", columns=WEI)
    assert types(wide)["w"] == "numeric(156,78)"
    assert values(wide) == [Decimal(value) for value in BIG]
    assert wide.schema.tables["t"].columns["w"] == Column("w", "wei")
    assert (report.rows.loaded, report.discards.count, report.notes) == (len(BIG), 0, ())


def test_seed_d079_hexadecimal_text_and_doubles(wide: Pipeline) -> None:
    wide.load([{"id": 1, "w": hex(MOST)}, {"id": 2, "w": 1e40}], table="t", columns=WEI)
    assert values(wide) == [MOST, 10**40]


def test_seed_d079_what_even_postgres_does_not_hold_goes_to_a_variant(wide: Pipeline) -> None:
    small = Decimal(1).scaleb(-79)
    wide.load([{"id": 1, "w": 10**78}, {"id": 2, "w": small}, {"id": 3, "w": 1}], table="t", columns=WEI)
    assert rows_of(wide) == [
        {"id": 1, "w": None, "w__v_text": str(10**78)},
        {"id": 2, "w": None, "w__v_text": str(small)},
        {"id": 3, "w": 1, "w__v_text": None},
    ]


@pytest.mark.parametrize("way", WAYS)
def test_seed_d079_where_there_is_no_room_nothing_is_lost(
    way: Callable[[list[dict[str, Any]], Path], Any], narrow: Pipeline, tmp_path: Path
) -> None:
    numbers = [MOST, -MOST + 1, 10**38 - 1, 5]
    rows = [{"id": number, "w": value} for number, value in enumerate(numbers)]
    report = narrow.load(way(rows, tmp_path), table="t", columns=WEI)
    assert values(narrow) == [None, None, 10**38 - 1, 5]
    assert values(narrow, "w__v_text") == [str(MOST), str(-MOST + 1), None, None]
    note = "column t.w: some values do not fit wei as the destination holds it; they are kept in w__v_text"
    assert note in report.notes and note in str(report)
    assert narrow.load([{"w": MOST}], table="t").notes == ()


def test_seed_d079_a_fraction_is_not_rounded_away(narrow: Pipeline) -> None:
    narrow.load([{"id": 1, "w": "1.5"}, {"id": 2, "w": "2.0"}], table="t", columns=WEI)
    assert (values(narrow), values(narrow, "w__v_text")) == ([None, 2], ["1.5", None])


def test_seed_d079_a_wei_that_says_how_wide_it_is(wide: Pipeline) -> None:
    column = Column("w", "wei", precision=78, scale=18)
    wide.load([{"id": 1, "w": "1.000000000000000001"}, {"id": 2, "w": 10**60}], table="t", columns=(column,))
    assert types(wide)["w"] == "numeric(78,18)"
    assert values(wide) == [Decimal("1.000000000000000001"), None]
    assert values(wide, "w__v_text") == [None, str(10**60)]


@pytest.mark.parametrize(
    ("kind", "precision", "reason"),
    [
        ("duckdb", 39, "column w: DuckDB has no wei of precision 39 and scale 0; 38 digits are the most"),
        ("parquet", 77, "column w: Parquet has no wei of precision 77 and scale 0; 76 digits are the most"),
    ],
)
def test_seed_d079_a_declared_width_without_room_is_refused(
    kind: str, precision: int, reason: str, tmp_path: Path
) -> None:
    pipe = pipeline("shop", to=f"{kind}:{tmp_path}/shop.{kind}")
    with pytest.raises(SchemaError, match=reason):
        pipe.load([{"w": 1}], table="t", columns=(Column("w", "wei", precision=precision),))
    assert "t" not in pipe.destination.catalog(pipe.dataset)


def test_seed_d079_parquet_holds_76_digits_of_a_wei_that_asks_for_them(tmp_path: Path) -> None:
    pipe = pipeline("shop", to=f"parquet:{tmp_path}/lake")
    column = Column("w", "wei", precision=76)
    pipe.load([{"id": 1, "w": 10**76 - 1}, {"id": 2, "w": MOST}], table="t", columns=(column,))
    assert types(pipe)["w"] == "decimal256(76, 0)"
    assert (values(pipe), values(pipe, "w__v_text")) == ([10**76 - 1, None], [None, str(MOST)])


def test_c18_d079_values_of_the_class_wei_go_where_dlt_puts_them(wide: Pipeline) -> None:
    limit = 578960446186580977117854925043439539266
    numbers = [Wei(2**120), Wei(6 * 10**38), Wei(limit), Wei(-limit - 1), Wei(-limit - 2), Wei(MOST)]
    wide.load([{"id": number, "w": value} for number, value in enumerate(numbers)], table="t")
    assert types(wide) == {"id": "bigint", "w": "numeric(156,78)", "w__v_str": "character varying"}
    assert values(wide) == [2**120, None, limit, -limit - 1, None, None]
    assert values(wide, "w__v_str") == [None, "6" + "0" * 38, None, None, str(-limit - 2), str(MOST)]


def test_d06_d079_the_detector_of_large_integers(wide: Pipeline) -> None:
    document = Schema("given", settings=Settings(detections=("large_integer",)))
    wide.load([{"a": 2**63 - 1, "b": 2**63, "c": MOST}], table="t", schema=document)
    assert [wide.schema.tables["t"].columns[name].data_type for name in "abc"] == ["bigint", "wei", "text"]
    assert rows_of(wide) == [{"a": 2**63 - 1, "b": 2**63, "c": str(MOST)}]


@pytest.mark.parametrize("loads", [((2**100, MOST),), ((2**100,), (MOST,))], ids=["one", "two"])
def test_seed_d079_the_schema_does_not_depend_on_how_the_input_is_divided(
    loads: tuple[tuple[int, ...], ...], wide: Pipeline
) -> None:
    for numbers in loads:
        wide.load([{"w": number} for number in numbers], table="t")
    assert types(wide) == {"w": "numeric(156,78)"}
    assert sorted(values(wide)) == [2**100, MOST]


# ---- decimals

LENGTHS = (38, 39, 76, 77, 120)


def decimals(*lengths: int) -> tuple[tuple[Column, ...], dict[str, Decimal]]:
    """A column per length, with and without a fraction, and the longest number of each."""
    whole = {f"d{digits}": (digits, 0) for digits in lengths}
    split = {f"f{digits}": (digits, 18) for digits in lengths}
    sizes = {**whole, **split}
    columns = tuple(Column(name, "decimal", precision=p, scale=s) for name, (p, s) in sizes.items())
    return columns, {
        name: Decimal("-" + "9" * (p - s) + ("." + "8" * s if s else "")) for name, (p, s) in sizes.items()
    }


@pytest.mark.parametrize("form", [str, Decimal])
def test_seed_d079_decimals_of_a_declared_precision(form: Callable[[Any], Any], wide: Pipeline) -> None:
    columns, numbers = decimals(*LENGTHS)
    wide.load([{name: form(number) for name, number in numbers.items()}], table="t", columns=columns)
    assert types(wide) == {c.name: f"numeric({c.precision},{c.scale})" for c in columns}
    assert rows_of(wide) == [numbers]


def test_seed_d079_integers_of_json_are_decimals(wide: Pipeline, tmp_path: Path) -> None:
    column = Column("w", "decimal", precision=120, scale=0)
    wide.load(in_a_file([{"w": 10**120 - 1}], tmp_path), table="t", columns=(column,))
    assert values(wide) == [10**120 - 1]


def test_seed_d079_decimals_in_parquet(tmp_path: Path) -> None:
    columns, numbers = decimals(38, 39, 76)
    pipe = pipeline("shop", to=f"parquet:{tmp_path}/lake")
    pipe.load([numbers], table="t", columns=columns)
    assert types(pipe)["d76"] == "decimal256(76, 0)"
    assert rows_of(pipe) == [numbers]


@pytest.mark.parametrize(("kind", "most"), [("duckdb", 38), ("parquet", 76), ("postgres", 1000)])
def test_seed_d079_decimals_beyond_every_type_are_refused(
    kind: str, most: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    pipe = (
        request.getfixturevalue("wide")
        if kind == "postgres"
        else pipeline("shop", to=f"{kind}:{tmp_path}/shop.{kind}")
    )
    with pytest.raises(SchemaError, match=rf"column w: .*\b{most} digits"):
        pipe.load([{"w": "1"}], table="t", columns=(Column("w", "decimal", precision=most + 1),))
    assert "t" not in pipe.destination.catalog(pipe.dataset)


def test_seed_d079_a_decimal_is_rounded_to_its_scale_and_misfits_beyond_its_digits(wide: Pipeline) -> None:
    column = Column("w", "decimal", precision=100, scale=10)
    rows: list[dict[str, Any]] = [
        {"id": 1, "w": "9" * 50 + ".12345678905"},
        {"id": 2, "w": "9" * 90 + ".99999999999"},
        {"id": 3, "w": 10**90},
    ]
    wide.load(rows, table="t", columns=(column,))
    assert values(wide) == [Decimal("9" * 50 + ".1234567891"), None, None]
    assert values(wide, "w__v_text") == [None, rows[1]["w"], str(10**90)]


# ---- Arrow


@pytest.mark.parametrize("whole", [False, True], ids=["load", "run"])
def test_seed_d079_arrow_decimals_of_256_bits(wide: Pipeline, whole: bool) -> None:
    numbers = [Decimal("9" * 50 + ".1234567890"), None, Decimal("-0.0000000001")]
    kinds = {"w": pa.decimal256(76, 18), "x": pa.decimal256(60, 10), "y": pa.decimal256(60, 10)}
    table = pa.table({name: pa.array(numbers, type_) for name, type_ in kinds.items()})
    declared = (*WEI, Column("y", "decimal", precision=120, scale=20))
    if whole:
        hints = {
            c.name: {"data_type": c.data_type, "precision": c.precision, "scale": c.scale} for c in declared
        }
        wide.run(table, table_name="t", columns=hints)
    else:
        wide.load(table, table="t", columns=declared)
    assert types(wide) == {"w": "numeric(156,78)", "x": "numeric(60,10)", "y": "numeric(120,20)"}
    assert [values(wide, name) for name in "wxy"] == [numbers] * 3


def test_seed_d079_texts_and_integers_of_arrow_that_are_taken_whole(wide: Pipeline) -> None:
    table = pa.table({"w": pa.array([str(MOST), None]), "x": pa.array([5, None])})
    hints = {name: {"data_type": "decimal", "precision": 80, "scale": 1} for name in "wx"}
    wide.run(table, table_name="t", columns=hints)
    assert (values(wide), values(wide, "x")) == ([MOST, None], [5, None])


def test_seed_d079_arrow_decimals_beside_nested_values(wide: Pipeline) -> None:
    """Rows that are looked at one by one for another column's sake."""
    numbers = [Decimal("9" * 50 + ".1234567890"), None]
    wide.load(
        pa.table({"w": pa.array(numbers, pa.decimal256(60, 10)), "l": [[1, 2], [3]]}), table="t", columns=WEI
    )
    assert types(wide) == {"w": "numeric(156,78)"}
    assert values(wide) == numbers
    assert [row["value"] for row in rows_of(wide, "t__l")] == [1, 2, 3]


def test_seed_d079_arrow_decimals_that_do_not_fit(wide: Pipeline) -> None:
    column = Column("w", "decimal", precision=80, scale=70)
    numbers = [Decimal(10**10 - 1), Decimal(10**10)]
    wide.load(pa.table({"w": pa.array(numbers, pa.decimal256(60, 1))}), table="t", columns=(column,))
    assert sorted(rows_of(wide), key=str) == [
        {"w": numbers[0], "w__v_text": None},
        {"w": None, "w__v_text": "10000000000.0"},
    ]


def test_seed_d079_whole_arrow_decimals_that_do_not_fit_are_refused(wide: Pipeline) -> None:
    hints = {"w": {"data_type": "decimal", "precision": 80, "scale": 70}}
    table = pa.table({"w": pa.array([Decimal(10**10)], pa.decimal256(60, 1))})
    with pytest.raises(
        ContractError, match=r"w comes as decimal256\(60, 1\), and some of its values do not fit"
    ):
        wide.run(table, table_name="t", columns=hints)


def test_seed_d079_numbers_in_objects_and_lists(wide: Pipeline) -> None:
    table = Table("t", {"o__w": Column("o__w", "wei")})
    child = Table("t__l", {"w": Column("w", "wei")}, parent="t")
    document = Schema("given", {"t": table, "t__l": child})
    wide.load([{"o": {"w": MOST}, "l": [{"w": -MOST}, {"w": 1}]}], table="t", schema=document)
    assert values(wide, "o__w") == [MOST]
    assert [row["w"] for row in rows_of(wide, "t__l")] == [-MOST, 1]


# ---- merges


@pytest.mark.parametrize("strategy", ["upsert", "delete-insert", "insert-only"])
def test_seed_d079_rows_with_wide_numbers_are_merged(strategy: Any, wide: Pipeline) -> None:
    columns = (*WEI, Column("d", "decimal", precision=120, scale=18))
    first = [{"id": n, "w": MOST - n, "d": f"{10**100 + n}.5"} for n in range(3)]
    second = [{"id": n, "w": -MOST + n, "d": f"-{10**100 + n}.25"} for n in range(2, 4)]
    for rows in (first, second):
        wide.load(rows, table="t", columns=columns, mode="merge", keys=("id",), strategy=strategy)
    winners = (*second, *first) if strategy == "insert-only" else (*first, *second)
    kept = {row["id"]: {**row, "d": Decimal(str(row["d"]))} for row in winners}
    assert rows_of(wide) == [kept[n] for n in range(4)]


def test_seed_d079_a_wide_number_is_a_key(wide: Pipeline) -> None:
    options: dict[str, Any] = {**UPSERT, "table": "t", "keys": ("w",), "columns": WEI}
    wide.load([{"w": MOST, "id": 1}, {"w": MOST - 1, "id": 2}], **options)
    wide.load([{"w": MOST, "id": 3}], **options)
    assert rows_of(wide) == [{"id": 2, "w": MOST - 1}, {"id": 3, "w": MOST}]


def test_seed_d079_versions_of_a_wide_number(wide: Pipeline) -> None:
    for value in (MOST, MOST, MOST - 1):
        wide.load([{"id": 1, "w": value}], table="t", columns=WEI, mode="merge", strategy="scd2")
    assert sorted(values(wide)) == [MOST - 1, MOST]


# ---- laws

SIZES = [("wei", *ROOM), ("decimal", 39, 5), ("decimal", 76, 18), ("decimal", 120, 0), ("decimal", 90, 78)]


@st.composite
def number(draw: st.DrawFn, precision: int = 90, scale: int = 80) -> Decimal:
    digits = draw(st.integers(1, precision))
    places = draw(st.integers(0, scale))
    with localcontext(LONG):
        return Decimal(draw(st.integers(-(10**digits), 10**digits))).scaleb(-places)


@given(number(), st.sampled_from(SIZES))
def test_seed_d079_text_of_the_number_in_is_text_out(value: Decimal, size: tuple[Any, int, int]) -> None:
    data_type, precision, scale = size
    converted = coerce(f"{value:f}", data_type, precision=precision, scale=scale)
    assert converted is MISFIT or abs(converted - value) * 2 <= Decimal(1).scaleb(-scale)
    exact = value == round_to(value, scale)
    fits = exact and abs(value) < Decimal(1).scaleb(precision - scale)
    if fits:
        assert converted == value and f"{converted.normalize():f}" == f"{value.normalize():f}"
    elif exact or data_type == "wei":
        assert converted is MISFIT


def round_to(value: Decimal, scale: int) -> Decimal:
    with localcontext(LONG):
        return value.quantize(Decimal(1).scaleb(-scale))


@pytest.fixture(autouse=True)
def exact_arithmetic() -> Any:
    with localcontext(LONG):
        yield


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.none() | number(76, 70), min_size=1, max_size=4), st.sampled_from(SIZES))
def test_seed_d079_columns_of_arrow_become_what_single_values_become(
    numbers: list[Decimal | None], size: tuple[Any, int, int]
) -> None:
    column = Column("w", size[0], precision=size[1], scale=size[2])
    try:
        array = pa.array(numbers, pa.decimal256(76, 70))
    except pa.ArrowInvalid:
        return
    into = coercer(column.data_type or "wei", precision=column.precision, scale=column.scale)
    one_by_one = [None if value is None else into(value) for value in array.to_pylist()]
    fit = fitted(array, column)
    if fit is not None:
        read = [None if value is None else Decimal(str(value)) for value in fit.array.to_pylist()]
        assert (fit.array.type, read) == (arrow_type(column), one_by_one)
    elif pa.types.is_string(arrow_type(column)):
        assert MISFIT in one_by_one


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(number(76, 18), min_size=1, max_size=20))
def test_seed_d079_both_ways_into_postgres_agree(numbers: list[Decimal], wide: Pipeline) -> None:
    numbers = [value for value in numbers if len(value.as_tuple().digits) <= 76]
    ids = list(range(len(numbers)))
    rows = [{"id": row_id, "w": f"{value:f}"} for row_id, value in zip(ids, numbers, strict=True)]
    table = pa.table({"id": ids, "w": pa.array(numbers, pa.decimal256(76, 18))}) if fits(numbers) else None
    for source in (rows, table):
        if source is not None and ids:
            wide.load(source, table="t", columns=WEI, mode="replace")
            assert values(wide) == numbers


def fits(numbers: list[Decimal]) -> bool:
    return all(abs(value) < Decimal(10) ** 58 for value in numbers)


@given(number())
def test_seed_d079_kinds_tell_what_fits_a_wide_wei(value: Decimal) -> None:
    kind_of = get_dialect(DEFAULT_DIALECT).types.classifier(Schema("s"), fresh=True, wei=ROOM)
    for form in (value, f"{value:f}", int(value)):
        if coerce(form, "wei", precision=ROOM[0], scale=ROOM[1]) is not MISFIT:
            assert "wei" in kind_of(form).fits
        elif coerce(form, "wei") is MISFIT:
            assert "wei" not in kind_of(form).fits


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0e999999999", 0), ("1e999999999", MISFIT), ("1e-999999999", 0), ("nan", MISFIT), ("", MISFIT)],
)
def test_seed_d079_odd_texts(text: str, expected: Any) -> None:
    assert coerce(text, "decimal", precision=120, scale=20) == expected


def test_seed_d079_sizes_are_for_the_load_alone() -> None:
    schema = Schema(
        "s", {"t": Table("t", {"w": Column("w", "wei"), "x": Column("x", "text")}), "u": Table("u")}
    )
    sized = with_default_precision(schema, ROOM)
    assert sized.tables["t"].columns["w"] == Column("w", "wei", precision=156, scale=78)
    assert arrow_type(sized.tables["t"].columns["w"]) == pa.string()
    assert list(sized.tables["t"].columns) == ["w", "x"]
    assert with_default_precision(schema, (38, 0)) is schema
