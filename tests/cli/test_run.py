"""`trellis run` and `trellis drop`, as a user types them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from cli.conftest import Ran, Trellis

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders_source.py"
SHOP = """
import trellis

@trellis.resource(primary_key="id", write_disposition="merge")
def users(n=3, cursor=trellis.incremental("id", initial_value=0)):
    for number in range(int(n)):
        yield {"id": number, "tags": ["a"]}

@trellis.source
def shop(n=3):
    return users(n), trellis.resource([{"x": 1}], name="other")

number = 3
"""


@pytest.fixture(autouse=True)
def shop(folder: Path) -> None:
    (folder / "shop.py").write_text(SHOP)


def tables(ran: Ran) -> dict[str, int]:
    assert ran.code == 0, ran.err
    return {table["name"]: table["rows"] for table in ran.json["tables"]}


def test_a_source_is_loaded_and_goes_on_where_it_ended(trellis: Trellis) -> None:
    ran = trellis("run", "shop.py:shop", "--to", "duckdb:x.duckdb", "--json")
    assert tables(ran) == {"users": 3, "users__tags": 3, "other": 1}
    ran = trellis("run", "shop.py:shop", "--with", "n=5", "--to", "duckdb:x.duckdb", "--json")
    assert tables(ran) == {"users": 2, "users__tags": 2, "other": 1}
    assert ran.json["rows"] == {"in": 3, "loaded": 3, "rejected": 0, "dropped": 0}
    note = "cursor id of users left out 3 records: 2 before its start 2, 1 loaded before"
    assert ran.json["notes"] == [note]
    ran = trellis("run", "shop.py:shop", "--with", "n=5", "--to", "duckdb:x.duckdb")
    assert "cursor id of users left out 5 records: 4 before its start 4, 1 loaded before" in ran.out


def test_one_resource_may_be_chosen(trellis: Trellis) -> None:
    ran = trellis("run", "shop.py:shop", "--resource", "other", "--to", "duckdb:x.duckdb", "--json")
    assert tables(ran) == {"other": 1}


def test_drop_takes_a_resource_away(trellis: Trellis) -> None:
    trellis("run", "shop.py:shop", "--to", "duckdb:x.duckdb")
    ran = trellis("drop", "users", "--at", "duckdb:x.duckdb", "--yes", "--json")
    assert ran.json["dropped"] == ["users", "users__tags"]
    ran = trellis("run", "shop.py:shop", "--to", "duckdb:x.duckdb", "--json")
    assert tables(ran) == {"users": 3, "users__tags": 3, "other": 1}


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("run", "shop.py"), "'shop.py': write FILE:NAME, such as shop.py:orders"),
        (("run", "shop.py:shp"), "shop.py has no 'shp': did you mean 'shop'?"),
        (("run", "nope.py:shop"), "nope.py: no such file"),
        (("run", "shop.py:number"), "shop.py:number is a int, no source"),
        (("run", "shop.py:shop", "--with", "m=1"), "give its arguments with --with NAME=VALUE"),
        (("run", "shop.py:shop", "--refresh", "all"), "refresh: there is no 'all'"),
        (("run", "shop.py:shop", "--resource", "user"), "source shop has no resource 'user'"),
        (("drop", "user", "--at", "duckdb:x.duckdb", "--yes"), "holds no schema 'x'"),
    ],
)
def test_a_mistake_is_one_sentence(trellis: Trellis, argv: tuple[str, ...], says: str) -> None:
    ran = trellis(*argv)
    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err


def test_the_example_ends_the_version_of_the_customer_who_moved(trellis: Trellis) -> None:
    for day in ("1", "2"):
        ran = trellis("run", f"{EXAMPLE}:shop", "--with", f"day={day}", "--to", "duckdb:x.duckdb", "--json")
        assert ran.code == 0, ran.err
    with duckdb.connect("x.duckdb") as db:
        customers = db.execute("SELECT no, city, _dlt_valid_to IS NULL FROM customers ORDER BY no, city")
        assert customers.fetchall() == [(1, "Bruges", True), (1, "Ghent", False), (2, "Lyon", True)]
        assert db.execute("SELECT id FROM orders ORDER BY id").fetchall() == [(1,), (2,), (3,)]
        assert db.execute("SELECT sku FROM orders__lines ORDER BY sku").fetchall() == [
            ("cup",),
            ("pot",),
            ("tea",),
        ]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "@trellis.resource\ndef x():\n    yield {'a': 1}\n    1 / 0\n",
            "own.py, line 5, in x: ZeroDivisionError: division by zero; nothing was loaded",
        ),
        ("x = = 1\n", "own.py, line 2: invalid syntax"),
        ("import nosuch\n", "own.py, line 2, in <module>: ModuleNotFoundError: No module named 'nosuch'"),
        (
            "@trellis.resource\nasync def x():\n    yield {'a': 1}\n    1 / 0\n",
            "own.py, line 5, in x: ZeroDivisionError: division by zero; nothing was loaded",
        ),
        (
            "x = trellis.resource([{'a': 1}], name='x', table_name=lambda row: row['kind'])\n",
            "own.py, line 2, in <lambda>: KeyError: 'kind'",
        ),
    ],
)
def test_a_fault_in_the_source_is_told_with_its_line(trellis: Trellis, code: str, says: str) -> None:
    Path("own.py").write_text(f"import trellis\n{code}")
    ran = trellis("run", "own.py:x", "--to", "duckdb:x.duckdb")
    assert ran.code == 2
    assert says in ran.err
    assert not Path("x.duckdb").exists()


def test_an_unknown_option_is_refused(trellis: Trellis) -> None:
    ran = trellis("run", "shop.py:shop", "--to", "duckdb:x.duckdb", "--option", "widden=safe")
    assert (ran.code, "did you mean 'widen'?" in ran.err) == (2, True)


def test_a_drop_of_what_was_never_loaded_is_a_mistake(trellis: Trellis) -> None:
    trellis("run", "shop.py:shop", "--to", "duckdb:x.duckdb")
    ran = trellis("drop", "user", "--at", "duckdb:x.duckdb", "--yes")
    assert (ran.code, "has no resource 'user': did you mean 'users'?" in ran.err) == (2, True)
    ran = trellis("drop", "--at", "duckdb:x.duckdb", "--source", "shp", "--yes")
    assert ran.code == 2
    assert "holds no schema 'shp', so there is nothing to drop" in ran.err


ASYNC = """
import trellis

@trellis.resource
async def pages(n="2"):
    for number in range(int(n)):
        yield {"a": number}

@trellis.source
async def shop(n="2"):
    return pages(n)
"""


@pytest.mark.parametrize("name", ["pages", "shop"])
def test_sources_and_resources_may_be_asynchronous(trellis: Trellis, name: str) -> None:
    Path("own.py").write_text(ASYNC)
    ran = trellis("run", f"own.py:{name}", "--with", "n=3", "--to", "duckdb:x.duckdb", "--json")
    assert tables(ran) == {"pages": 3}
