"""What becomes of a value that is not of its column's type."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, NamedTuple

import pytest

from dialects.rudderstack.conformance.loading import INT_STRING, Opens, Shop, event, identify, moment, track

LONG = "x" * 513

COLUMNS = {
    "int": 1,
    "float": 1.5,
    "boolean": True,
    "datetime": "2024-02-29",
    "string": "a",
    "text": LONG,
}
VALUES: dict[str, Any] = {
    "int": 3,
    "float": 1.9,
    "boolean": False,
    "datetime": "2024-03-01T10:00:00Z",
    "string": "12",
    "text": LONG,
    "json": {"k": 1},
    "array": [1, "b"],
}
MOMENT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
X = object()
"""NULL, and a row of the discards."""

CELLS: dict[str, dict[str, Any]] = {
    "int": {"int": 3, "float": 1},
    "float": {"int": 3.0, "float": 1.9},
    "boolean": {"boolean": False},
    "datetime": {"datetime": MOMENT},
    "string": {"int": "3", "float": "1.9", "boolean": "false", "datetime": "2024-03-01T10:00:00.000Z"},
    "json": {"int": "3", "float": "1.9", "boolean": "false", "datetime": '"2024-03-01T10:00:00.000Z"'},
}
KEPT = {"string": "12", "text": LONG, "json": '{"k":1}', "array": '[1,"b"]'}
CELLS["text"] = CELLS["string"] = {**CELLS["string"], **KEPT}
CELLS["json"] |= {**KEPT, "string": '"12"', "text": f'"{LONG}"'}
PRINTED = CELLS["string"]


class Cast(NamedTuple):
    """A table with a column of each type, and in each a value of every kind: by column, by kind of value."""

    types: dict[str, str]
    cells: dict[str, dict[str, Any]]
    discards: list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def cast(tmp_path_factory: pytest.TempPathFactory) -> Cast:
    shop = Shop(tmp_path_factory.mktemp("casts") / "shop.duckdb")
    names = [*COLUMNS, "json"]
    whole = {"integrations": {"RS": {"options": {"jsonPaths": names}}}}
    first = {"integrations": {"RS": {"options": {"jsonPaths": ["json"]}}}}
    shop.load({**track("types", "Cell", **COLUMNS, json={"a": 1}), **first})
    events = [
        {**track(kind, "Cell", **dict.fromkeys(names, value)), **(whole if kind == "json" else {})}
        for kind, value in VALUES.items()
    ]
    shop.load(*events)
    types, rows = shop.types("cell"), shop.rows("cell", "id", *names)
    cells = {name: {row[0]: row[at] for row in rows} for at, name in enumerate(names, 1)}
    return Cast({name: types[name] for name in names}, cells, shop.discards)


IDS = {
    "int": "C68-C70-R59-R60",
    "string": "C69-R64",
    "float": "C70-float",
    "boolean": "C70-boolean",
    "datetime": "C70-datetime",
    "json": "C71",
    "text": "text",
}


@pytest.mark.parametrize("column", [pytest.param(column, id=name) for column, name in IDS.items()])
def test_the_matrix_of_casts(cast: Cast, column: str) -> None:
    expected = {kind: CELLS[column].get(kind, X) for kind in VALUES}
    assert {kind: cast.cells[column][kind] for kind in VALUES} == {
        kind: None if cell is X else cell for kind, cell in expected.items()
    }
    assert [row for row in cast.discards if row[2] == column] == sorted(
        (kind, "cell", column, PRINTED[kind], _reason(column, kind))
        for kind, cell in expected.items()
        if cell is X
    )


def _reason(column: str, kind: str) -> str:
    return f"incompatible schema conversion from {column} to {'string' if kind == 'array' else kind}"


def test_the_types_of_the_matrix(cast: Cast) -> None:
    assert cast.types == {
        "int": "BIGINT",
        "float": "DOUBLE",
        "boolean": "BOOLEAN",
        "datetime": "TIMESTAMP WITH TIME ZONE",
        "string": "VARCHAR",
        "text": "VARCHAR",
        "json": "JSON",
    }


# --- The seed's example ----------------------------------------------------------------------------------

CONTEXT = {"ip": "0.0.0.0"}
ANONYMOUS = "59b703e3-467a-4a1d-9fe6-da27ed319619"


def add_to_cart(id: str, at: int, **properties: Any) -> dict[str, Any]:
    return {**track(id, "Add to Cart", at, **properties), "context": CONTEXT, "anonymousId": ANONYMOUS}


FIRST = add_to_cart(
    "4d5a7681-e596-40ea-a81c-bf69f9b297f1", 1,
    price=5, currency="USD", product_id="P12345", product_name="N95 Mask", added_at="2020-05-19 14:39:22",
)  # fmt: skip
SECOND = add_to_cart(
    "a21620be-6502-44d6-941d-78209a386d58", 2,
    price="NA", currency="USD", product_id=789, product_name="N95 Mask", added_at="4 December 2020",
)  # fmt: skip


def standard(payload: dict[str, Any], at: int) -> dict[str, Any]:
    times = dict.fromkeys(("sent_at", "received_at", "original_timestamp", "timestamp"), moment(at))
    return {
        "id": payload["messageId"],
        "anonymous_id": ANONYMOUS,
        "context_ip": "0.0.0.0",
        "context_passed_ip": "0.0.0.0",
        "event": "add_to_cart",
        "event_text": "Add to Cart",
        **times,
    }


@pytest.mark.parametrize(
    "loads",
    [
        pytest.param(1, id="R01-R08-R15-R24-R34-R38-R40-R42-one load"),
        pytest.param(2, id="R59-R60-R61-R63-R64-R65-R66-R67-two loads"),
    ],
)
def test_the_seed_s_example(shop: Shop, loads: int) -> None:
    if loads == 1:
        shop.load(FIRST, SECOND)
    else:
        shop.load(FIRST)
        shop.load(SECOND)
    assert shop.tables == {"tracks", "add_to_cart", "rudder_discards"}
    assert shop.types("add_to_cart") == shop.types("tracks") | {
        "price": "BIGINT",
        "currency": "VARCHAR",
        "product_id": "VARCHAR",
        "product_name": "VARCHAR",
        "added_at": "TIMESTAMP WITH TIME ZONE",
    }
    first, second = (shop.row("add_to_cart", payload["messageId"]) for payload in (FIRST, SECOND))
    stamps = [row.pop("uuid_ts") for row in (first, second)]
    assert (stamps[0] == stamps[1]) == (loads == 1)
    assert first == standard(FIRST, 1) | {
        "price": 5,
        "currency": "USD",
        "product_id": "P12345",
        "product_name": "N95 Mask",
        "added_at": datetime(2020, 5, 19, 14, 39, 22, tzinfo=timezone.utc),
    }
    assert second == standard(SECOND, 2) | {
        "currency": "USD",
        "product_id": "789",
        "product_name": "N95 Mask",
    }
    tracks = shop.row("tracks", SECOND["messageId"])
    assert tracks == standard(SECOND, 2) | {"uuid_ts": stamps[1]}
    assert shop.sql("SELECT * EXCLUDE (uuid_ts) FROM rudder_discards ORDER BY column_name") == [
        (
            SECOND["messageId"], "add_to_cart", "added_at", "4 December 2020",
            "incompatible schema conversion from datetime to string", moment(2),
        ),
        (SECOND["messageId"], "add_to_cart", "price", "NA", INT_STRING, moment(2)),
    ]  # fmt: skip
    assert shop.types("rudder_discards") == {
        **dict.fromkeys(("row_id", "table_name", "column_name", "column_value", "reason"), "VARCHAR"),
        **dict.fromkeys(("received_at", "uuid_ts"), "TIMESTAMP WITH TIME ZONE"),
    }
    assert shop.sql("SELECT reason, count(*) FROM rudder_discards GROUP BY reason ORDER BY reason") == [
        ("incompatible schema conversion from datetime to string", 1),
        (INT_STRING, 1),
    ]


def test_r62_a_discard_joins_its_row(shop: Shop) -> None:
    shop.load(FIRST, SECOND)
    assert shop.sql(
        "SELECT t.product_id, d.column_value FROM add_to_cart t JOIN rudder_discards d ON d.row_id = t.id "
        "WHERE d.table_name = 'add_to_cart' AND d.column_name = 'price'"
    ) == [("789", "NA")]


def test_c72_the_first_value_of_several_files_types_a_column(shop: Shop, tmp_path: Any) -> None:
    files = []
    for number, price in enumerate((5, "NA", 7.5)):
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text(json.dumps(track(f"f{number}", price=price)) + "\n")
    shop.load(*map(str, files))
    assert shop.types("sale")["price"] == "BIGINT"
    assert shop.rows("sale", "id", "price") == [("f0", 5), ("f1", None), ("f2", 7)]
    assert shop.discards == [("f1", "sale", "price", "NA", INT_STRING)]
    assert shop.lost == [("sale", "price", "price", "7.5", "truncated to an integer")]


@pytest.mark.parametrize(
    "order", [("short", LONG), (LONG, "short")], ids=["C73-string first", "C73-text first"]
)
def test_text_wins_over_string(open_shop: Opens, order: tuple[str, str]) -> None:
    shop = open_shop("RS")
    report = shop.pipeline.plan([track(str(at), note=note) for at, note in enumerate(order)])
    assert report.ddl is not None
    (create,) = (statement for statement in report.ddl[1] if '"sale"' in statement)
    assert '"note" varchar(65535)' in create
    shop.load(*(track(str(at), note=note) for at, note in enumerate(order)))
    assert shop.values("sale", "note") == sorted(order)
    assert shop.discards == []
    assert shop.pipeline.schema.tables["sale"].columns["note"].hints.get("x-long") is True


def test_long_json_in_a_column_of_strings(shop: Shop) -> None:
    shop.load(track("1", note="short"))
    whole = {"k": LONG}
    asks = {"integrations": {"RS": {"options": {"jsonPaths": ["note"]}}}}
    shop.load({**track("2", note=whole), **asks}, track("3", note=10**600))
    assert shop.rows("sale", "id", "note") == [
        ("1", "short"), ("2", f'{{"k":"{LONG}"}}'), ("3", str(10**600)),
    ]  # fmt: skip
    assert shop.discards == shop.lost == []


def test_c73_text_over_the_warehouse_s_string_alters_it(shop: Shop) -> None:
    shop.load(track("1", note="short"))
    plan = shop.pipeline.plan([track("2", note=LONG)])
    assert plan.ddl is not None and plan.ddl[0] == "RS"
    assert [statement.split('"note')[0] for statement in plan.ddl[1]] != []
    assert any("-deprecated-" in statement for statement in plan.ddl[1])
    shop.load(track("2", note=LONG))
    assert shop.values("sale", "note") == ["short", LONG]
    again = shop.pipeline.plan([track("3", note=LONG + "y")])
    assert again.ddl == ("RS", ())


def test_c78_discards_of_users_go_by_the_user(shop: Shop) -> None:
    shop.load(identify("u1", 1, age=35))
    shop.load(identify("u1", 2, age="old"))
    assert shop.discards == [
        ("u1", "users", "age", "old", INT_STRING),
        ("u1/2", "identifies", "age", "old", INT_STRING),
    ]
    assert shop.row("users", "u1")["age"] == 35


def test_c78_a_row_without_an_id_has_no_row_in_the_discards(open_shop: Opens) -> None:
    shop = open_shop("SNOWFLAKE", identity_resolution=True)
    shop.load(identify("u1", 1))
    shop.sql(
        "DELETE FROM RUDDER_IDENTITY_MERGE_RULES",
        "ALTER TABLE RUDDER_IDENTITY_MERGE_RULES ALTER MERGE_PROPERTY_1_VALUE TYPE BIGINT USING NULL",
    )
    shop.load(identify("u2", 2))
    assert shop.discards == []
    column = "MERGE_PROPERTY_1_VALUE"
    assert shop.lost == [("RUDDER_IDENTITY_MERGE_RULES", column, column, "u2", INT_STRING)]


def test_a_row_whose_id_is_refused_has_its_discards_under_that_id(shop: Shop) -> None:
    shop.load(track("7", price=5))
    shop.sql("ALTER TABLE sale ALTER id TYPE BIGINT")
    report = shop.load(track("x8", price="NA"))
    assert report.rows.loaded == 1
    assert [row[:4] for row in shop.discards] == [
        ("x8", "sale", "id", "x8"),
        ("x8", "sale", "price", "NA"),
    ]


# --- Numbers ---------------------------------------------------------------------------------------------


def test_numbers_of_any_size(shop: Shop) -> None:
    big = 2**63
    shop.load(track("1", n=1, x=1.5, s="a"))
    shop.load(
        track("2", n=big, x=big, s=big),
        track("3", n=-big - 1, x=2**53 + 1, s=-big - 1),
        track("4", n=big - 1, x=10**400, s=10**30),
        track("5", n=1e300, x=1e300, s=1e21),
        track("6", n=-1.9, x=-0.0, s=1e-7),
    )
    assert shop.rows("sale", "id", "n", "x", "s") == [
        ("1", 1, 1.5, "a"),
        ("2", None, float(big), str(big)),
        ("3", None, float(2**53), str(-big - 1)),
        ("4", big - 1, None, "1" + "0" * 30),
        ("5", None, 1e300, "1" + "0" * 21),
        ("6", -1, 0.0, "0.0000001"),
    ]
    assert shop.discards == [
        ("2", "sale", "n", str(big), "value out of range for int"),
        ("3", "sale", "n", str(-big - 1), "value out of range for int"),
        ("5", "sale", "n", str(int(1e300)), "value out of range for int"),
    ]
    assert [(column, value[:17], why) for _, column, _, value, why in shop.lost] == [
        ("n", "-1.9", "truncated to an integer"),
        ("x", "1" + "0" * 16, "rounded"),
        ("x", str(2**53 + 1), "rounded"),
    ]


def test_stringified_numbers_are_plain_decimals(shop: Shop) -> None:
    values = [1234567.5, 1e21, 1.5e-9, 0.1, 100.0]
    shop.load(track("0", s="a"), *(track(str(at), s=value) for at, value in enumerate(values, 1)))
    assert shop.values("sale", "s") == [
        "0.0000000015", "0.1", "100", "1000000000000000000000", "1234567.5", "a",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "cell", "refused"),
    [
        ({}, 1, []),
        (
            {"discard_truncated": True},
            None,
            [("2", "sale", "n", "1.9", "incompatible schema conversion from int to float")],
        ),
        ({"widen": "int_to_float"}, 1.9, []),
        ({"widen": "int_to_float", "discard_truncated": True}, 1.9, []),
    ],
    ids=["C70-cut", "discarded", "widened", "widened wins"],
)
def test_a_fraction_in_a_column_of_integers(
    open_shop: Opens, settings: dict[str, Any], cell: Any, refused: list[Any]
) -> None:
    """In one load, and over two."""
    shop = open_shop("RS", **settings)
    shop.load(track("1", n=2), track("2", n=1.9), track("3", "Other", n=2))
    report = shop.load(track("4", "Other", n=1.9))
    assert shop.rows("sale", "id", "n") == [("1", 2), ("2", cell)]
    assert shop.rows("other", "id", "n") == [("3", 2), ("4", cell)]
    again = [("4", "other", *row[2:]) for row in refused]
    assert shop.discards == [*refused, *again]
    tables = ("other", "sale") if cell == 1 else ()
    assert shop.lost == [(table, "n", "n", "1.9", "truncated to an integer") for table in tables]
    assert (report.discards.count, report.truncated.count) == (len(again), len(tables) // 2)


def test_widening_goes_on(open_shop: Opens) -> None:
    shop = open_shop("RS", widen="int_to_float")
    shop.load(track("1", n=1.5, m=1), track("2", n=2, m=2.5))
    shop.load(track("3", n=3, m=3), event("page", "4", properties={"n": 1}))
    shop.load(track("5", n=4.5), event("page", "6", properties={"n": 0.5}))
    assert shop.types("sale")["n"] == shop.types("sale")["m"] == shop.types("pages")["n"] == "DOUBLE"
    assert shop.rows("sale", "id", "n", "m") == [
        ("1", 1.5, 1.0), ("2", 2.0, 2.5), ("3", 3.0, 3.0), ("5", 4.5, None),
    ]  # fmt: skip
    assert shop.rows("pages", "id", "n") == [("4", 1.0), ("6", 0.5)]
    assert shop.discards == shop.lost == []


def test_widening_a_column_of_users(open_shop: Opens) -> None:
    shop = open_shop("RS", widen="int_to_float")
    shop.load(identify("u", 1, score=1))
    shop.load(identify("u", 2, score=1.5))
    assert shop.values("users", "score") == [1.5]
    assert shop.values("identifies", "score") == [1.0, 1.5]


# --- Text ------------------------------------------------------------------------------------------------


def test_strings_are_cut_on_sql_server_and_kept_whole_in_the_discards(open_shop: Opens) -> None:
    shop = open_shop("MSSQL")
    shop.load(track("1", note="é" * 513), track("2", note="x" * 512))
    assert shop.rows("sale", "id", "note") == [("1", "é" * 512), ("2", "x" * 512)]
    assert shop.discards == []
    assert shop.lost == [("sale", "note", "note", "é" * 513, "cut to 512 characters")]


@pytest.mark.parametrize(
    ("provider", "cell"), [("POSTGRES", None), ("MSSQL", None), ("AZURE_SYNAPSE", None), ("RS", " \t")]
)
def test_white_space_alone(open_shop: Opens, provider: str, cell: str | None) -> None:
    shop = open_shop(provider)
    shop.load(track("1", note="a"), track("2", note=" \t"), track("3", price=5), track("4", price="  "))
    assert shop.rows("sale", "id", "note")[:2] == [("1", "a"), ("2", cell)]
    assert shop.discards == [("4", "sale", "price", "  ", INT_STRING)]


def test_an_integer_out_of_range_makes_its_column(shop: Shop) -> None:
    shop.load(track("1", n=2**63))
    assert shop.types("sale")["n"] == "BIGINT"
    shop.load(track("2", n=7), track("3", n="x"))
    assert shop.rows("sale", "id", "n") == [("1", None), ("2", 7), ("3", None)]
    assert shop.discards == [
        ("1", "sale", "n", str(2**63), "value out of range for int"),
        ("3", "sale", "n", "x", INT_STRING),
    ]
