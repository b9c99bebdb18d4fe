"""What goes wrong with PostgreSQL is told in one sentence, with what to do and without the password."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from destinations.postgres_loads import commit_of, staged
from destinations.postgres_server import PrivateServer, Server
from trellis.destinations import open_destination
from trellis.destinations.postgres.names import digest, lock_number
from trellis.errors import ContractError, DestinationError, SchemaError, TrellisError
from trellis.pipelines.pipeline import pipeline
from trellis.schema.model import Column, Schema, Table

Sql = Callable[..., list[tuple[Any, ...]]]
PASSWORD = "wonder/l@nd"
ROW = [{"a": 1, "k": [1]}]


@pytest.fixture
def url(postgres: Server, database: str) -> str:
    return postgres.url(database)


@pytest.fixture
def sql(postgres: Server, database: str) -> Sql:
    return lambda *statements: postgres.run(*statements, database=database)


@pytest.fixture
def role(private_postgres: PrivateServer, database: str) -> Iterator[str]:
    """A user with no rights but those of everybody."""
    name = f"someone_{secrets.token_hex(4)}"
    private_postgres.run(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    yield name
    private_postgres.run(f"REASSIGN OWNED BY {name} TO trellis", f"DROP OWNED BY {name}", database=database)
    private_postgres.run(f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def refused(url: str, rows: Any = ROW, table: str = "t", **options: Any) -> str:
    """The sentence with which a load ends."""
    shop = pipeline("shop", to=url, dataset=options.pop("dataset", ""))
    with pytest.raises(TrellisError) as raised:
        shop.load(rows, table=table, **options)
    message = str(raised.value)
    assert "\n" not in message
    assert url.partition("@")[0].rpartition(":")[2] not in message
    return message


# --- No connection ---------------------------------------------------------------------------------------


def test_no_server() -> None:
    assert refused("postgresql://me:secret@127.0.0.1:1/shop") == (
        "postgresql://me:***@127.0.0.1:1/shop: no server answers there; start PostgreSQL, or correct host "
        "and port"
    )


def test_no_host() -> None:
    assert "the host is not known; correct its name" in refused("postgresql://me:secret@nowhere.invalid/shop")


def test_no_socket(tmp_path: Path) -> None:
    assert "no server answers there" in refused(f"postgresql://me:secret@/shop?host={tmp_path}")


def test_wrong_password(private_postgres: PrivateServer, role: str) -> None:
    message = refused(private_postgres.url("postgres", user=role, password="wrong-secret"))
    assert "the server does not take this user or password; correct them in the URL" in message
    assert "wrong-secret" not in message


def test_no_database(postgres: Server) -> None:
    message = refused(postgres.url("my shop"))
    assert message.endswith(
        'the server has no database my shop; correct its name, or create it with CREATE DATABASE "my shop"'
    )


# --- No rights -------------------------------------------------------------------------------------------


def test_no_right_to_make_schemas(
    private_postgres: PrivateServer, database: str, role: str, sql: Sql
) -> None:
    url = private_postgres.url(database, user=role, password=PASSWORD)
    message = refused(url, dataset="shop")
    assert f'let its owner or a superuser run: GRANT CREATE ON DATABASE "{database}" TO "{role}"' in message
    sql(f'CREATE SCHEMA shop_trellis_staging AUTHORIZATION "{role}"')
    assert f'GRANT CREATE ON DATABASE "{database}" TO "{role}"' in refused(url, dataset="shop")
    sql("CREATE SCHEMA shop")
    message = refused(url, dataset="shop")
    assert f'let its owner or a superuser run: GRANT USAGE, CREATE ON SCHEMA "shop" TO "{role}"' in message
    sql(f'GRANT USAGE, CREATE ON SCHEMA shop TO "{role}"')
    assert pipeline("shop", to=url, dataset="shop").load(ROW, table="t").balanced


def test_rights_that_are_enough(private_postgres: PrivateServer, database: str, role: str, sql: Sql) -> None:
    sql(f'REVOKE ALL ON DATABASE "{database}" FROM public', "REVOKE ALL ON SCHEMA public FROM public")
    sql(f'GRANT CONNECT, CREATE ON DATABASE "{database}" TO "{role}"')
    shop = pipeline("shop", to=private_postgres.url(database, user=role, password=PASSWORD), dataset="shop")
    merge: Any = {"table": "t", "mode": "merge", "keys": ("a",)}
    with pytest.raises(DestinationError, match=rf'GRANT TEMPORARY ON DATABASE "{database}" TO "{role}"'):
        shop.load(ROW, **merge)
    sql(f'GRANT TEMPORARY ON DATABASE "{database}" TO "{role}"')
    for _ in range(2):
        assert shop.load(ROW, **merge).balanced
    assert shop.destination.row_counts("shop")["t"] == 1


def test_no_right_to_a_table(private_postgres: PrivateServer, database: str, role: str, sql: Sql) -> None:
    pipeline("shop", to=private_postgres.url(database)).load(ROW, table="t")
    sql(
        "GRANT USAGE, CREATE ON SCHEMA public, public_trellis_staging TO public",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO public",
    )
    url = private_postgres.url(database, user=role, password=PASSWORD)
    message = refused(url)
    assert f'GRANT SELECT, INSERT, UPDATE, DELETE ON "public"."t" TO "{role}"' in message
    assert f'run: ALTER TABLE "public"."t" OWNER TO "{role}"' in refused(url, [{"a": 1, "new": 1}])
    sql("REVOKE SELECT ON t FROM public")
    with pytest.raises(DestinationError, match=r'GRANT SELECT ON "public"."t" TO'):
        open_destination(url).query("public", "t")


def test_reserved_dataset(url: str) -> None:
    assert "give the dataset a name that does not begin with pg_" in refused(url, dataset="pg_shop")


def test_read_only(url: str, sql: Sql, database: str) -> None:
    sql(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
    message = refused(url)
    assert "nothing can be written there (cannot execute CREATE SCHEMA in a read-only transaction)" in message
    assert "add ?target_session_attrs=read-write to the URL" in message


def test_disk_full(url: str, sql: Sql) -> None:
    shop = pipeline("shop", to=url)
    shop.load(ROW, table="t")
    sql(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
        "'could not extend file \"base/1/2\": No space left on device' USING ERRCODE = '53100'; END $$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON t__k EXECUTE FUNCTION full_disk()",
    )
    message = refused(url)
    assert "the disk of the server is full (could not extend file" in message
    assert "free some space there and load again; nothing was loaded" in message
    assert dict(shop.destination.row_counts("public"))["t"] == 1


# --- Locks -----------------------------------------------------------------------------------------------


def test_a_reader_holds_the_table(url: str, sql: Sql, database: str) -> None:
    pipeline("shop", to=url).load(ROW, table="t")
    sql(f"ALTER DATABASE \"{database}\" SET lock_timeout = '100ms'")
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*), 'a   reader' FROM t")
        pid = reader.info.backend_pid
        message = refused(url, [{"a": 1, "new": 1}])
        assert pipeline("shop", to=url).load(ROW, table="t").balanced
    assert message == (
        f"table t: process {pid} of user trellis (idle in transaction, "
        "\"SELECT count(*), 'a reader' FROM t\") held it for more than 100ms; let it finish, or end it with "
        f"SELECT pg_terminate_backend({pid}), and load again; nothing was loaded"
    )


def test_another_load_holds_the_dataset(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trellis.destinations.postgres.staging.LOAD_WAIT", "100ms")
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [lock_number(digest("dataset", "public"))])
        message = refused(url)
        assert f"dataset public: process {other.info.backend_pid} of user trellis (idle," in message
        other.execute("SELECT pg_advisory_unlock_all()")
        other.execute("SELECT pg_advisory_lock(%s)", [lock_number(digest("load", "public", "mine"))])
        assert "load mine: process " in refused(url, load_id="mine")
    assert pipeline("shop", to=url).load(ROW, table="t").balanced


def test_a_deadlock_is_tried_again(url: str, sql: Sql, database: str) -> None:
    """The server ends one of two transactions that wait for each other; the load begins its own anew."""
    shop = pipeline("shop", to=url)
    shop.load(ROW, table="t")
    sql(
        "CREATE SEQUENCE fired",
        "CREATE FUNCTION once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('fired') < 3 THEN "
        "RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF; RETURN NULL; END $$",
        "CREATE TRIGGER once AFTER INSERT ON _dlt_loads EXECUTE FUNCTION once()",
    )
    shop.load(ROW, table="t")
    assert sql("SELECT count(*) FROM t") == [(2,)]
    assert sql("SELECT last_value FROM fired") == [(3,)]


# --- What the tables do not take -------------------------------------------------------------------------


def test_required_by_hand(url: str, sql: Sql) -> None:
    pipeline("shop", to=url).load([{"a": 1, "b": 2}], table="t")
    sql("ALTER TABLE t ALTER b SET NOT NULL")
    with pytest.raises(ContractError, match=r"table t, column b: it is required \(NOT NULL\)"):
        pipeline("shop", to=url).load([{"a": 1}], table="t")


def test_constraint_by_hand(url: str, sql: Sql) -> None:
    pipeline("shop", to=url).load([{"a": 1}], table="t")
    sql("ALTER TABLE t ADD CONSTRAINT once UNIQUE (a) DEFERRABLE INITIALLY DEFERRED")
    message = refused(url, [{"a": 1}])
    assert message.startswith(
        "table t: rows of this load break its constraint once (Key (a)=(1) already exists.)"
    )


def test_column_changed_by_hand(url: str, sql: Sql) -> None:
    pipeline("shop", to=url).load([{"a": 1, "b": 1}], table="t")
    sql("ALTER TABLE t ALTER b TYPE date USING current_date")
    message = refused(url, [{"a": 1, "b": 7}])
    assert message.startswith(
        "table t, column b: it is date in the destination, but bigint in the schema, and '7' does"
    )


def test_column_made_smaller_by_hand(url: str, sql: Sql) -> None:
    pipeline("shop", to=url).load([{"a": 1, "b": 1}], table="t")
    sql("ALTER TABLE t ALTER b TYPE smallint")
    message = refused(url, [{"a": 1, "b": 1}, {"a": 2, "b": 70000}])
    assert message == (
        "table t, column b: it is smallint in the destination, but bigint in the schema, and '70000' does "
        "not fit; give the column its old type, or load into another table; nothing was loaded"
    )


def test_value_too_long_for_the_schema(url: str) -> None:
    message = refused(url, [{"a": "abc"}, {"a": "abcdef"}], columns=(Column("a", "text", precision=3),))
    assert message.startswith(
        "table t, column a: PostgreSQL does not take a value of this load (value too long for type character "
        "varying(3) in 'abcdef')"
    )


def test_column_dropped_by_hand_comes_back(url: str, sql: Sql) -> None:
    shop = pipeline("shop", to=url)
    shop.load([{"a": 1, "b": 1}], table="t")
    sql("ALTER TABLE t DROP b")
    shop.load([{"a": 2, "b": 2}], table="t")
    assert sql("SELECT a, b FROM t ORDER BY a") == [(1, None), (2, 2)]


def test_view_in_the_place_of_a_table(url: str, sql: Sql) -> None:
    sql("CREATE VIEW t AS SELECT 1 AS a")
    assert refused(url).startswith(
        "table t: it is a view in the destination, and a load needs a table; rename"
    )


def test_view_on_a_column_that_must_change(url: str, sql: Sql, tmp_path: Path) -> None:
    sql("CREATE TABLE t (id bigint, n bigint)", "CREATE VIEW seen AS SELECT n FROM t")
    table = Table("t", {"id": Column("id", "bigint"), "n": Column("n", "double")})
    commit = commit_of({"t": staged(tmp_path, table, [{"id": 1, "n": 0.5}])}, table, retyped={"t": ["n"]})
    with pytest.raises(
        SchemaError, match=r"table t: view seen depends on a column .* drop the view, load, and"
    ):
        open_destination(url).commit(commit)


def test_rows_that_do_not_take_the_new_type(url: str, sql: Sql, tmp_path: Path) -> None:
    sql("CREATE TABLE t (id bigint, n text)", "INSERT INTO t VALUES (1, 'word')")
    table = Table("t", {"id": Column("id", "bigint"), "n": Column("n", "double")})
    commit = commit_of({"t": staged(tmp_path, table, [{"id": 1, "n": 0.5}])}, table, retyped={"t": ["n"]})
    reason = "it is text in the destination, but double precision in the schema, and 'word' does not fit"
    with pytest.raises(SchemaError, match=f"table t, column n: {reason}"):
        open_destination(url).commit(commit)


def test_too_many_columns(url: str) -> None:
    message = refused(url, [{f"c{n}": n for n in range(1700)}])
    assert message.startswith(
        "table t: it is more than a table of PostgreSQL holds (tables can have at most 1600"
    )


def test_column_that_the_server_keeps_for_itself(url: str) -> None:
    message = refused(url, [{"xmin": 1}])
    assert message.startswith("table t: a column has a name that PostgreSQL keeps for itself or has already")
    assert "xmin" in message


def test_names_that_would_be_cut(url: str) -> None:
    names = {"names": "direct", "json": {}}
    name = "\u00e9" * 40
    schema = Schema("shop", {"t": Table("t", {name: Column(name, "bigint")})}, normalizers=names)
    message = refused(url, [{name: 1}], schema=schema)
    assert "the name has 80 bytes, and PostgreSQL takes 63; shorten it" in message


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        TrellisError, match=r"PostgreSQL needs the package psycopg: pip install 'trellis-spark\[post"
    ):
        open_destination("postgresql://me:secret@host/shop")


def test_who_does_not_own_a_table_leaves_its_comments(
    url: str, sql: Sql, postgres: Server, database: str, role: str
) -> None:
    """Comments are for owners: a description that changed does not stop the load of somebody else."""
    owner, number = pipeline("shop", to=url, dataset="shop"), Column("id", "bigint", description="its number")
    owner.load([{"id": 1}], table="orders", columns=(number,))
    sql(
        f'GRANT CONNECT, CREATE, TEMPORARY ON DATABASE "{database}" TO "{role}"',
        f'GRANT USAGE, CREATE ON SCHEMA shop, shop_trellis_staging TO "{role}"',
        f'GRANT ALL ON ALL TABLES IN SCHEMA shop TO "{role}"',
    )
    loader = pipeline("shop", to=postgres.url(database, user=role, password=PASSWORD), dataset="shop")
    renumbered = replace(number, description="its position")
    assert loader.load([{"id": 2}], table="orders", columns=(renumbered,)).rows.loaded == 1
    assert owner.destination.catalog("shop")["orders"].comments == {"id": "its number"}
    owner.load([{"id": 3}], table="orders")
    assert owner.destination.catalog("shop")["orders"].comments == {"id": "its position"}
