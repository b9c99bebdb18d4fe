"""What every warehouse gets, written down: `golden/*.txt` beside this file.

`python tests/warehouses/golden.py` writes the files anew; the difference is then the change of behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Final

import pyarrow as pa

from trellis.destinations.base import CatalogTable
from trellis.destinations.duckdb.destination import DuckDB
from trellis.destinations.parquet import types as parquet
from trellis.destinations.parquet.destination import Parquet
from trellis.destinations.postgres import types as postgres
from trellis.destinations.postgres.destination import Postgres
from trellis.destinations.sql.literals import duckdb_value, postgres_value
from trellis.destinations.sql.migration import Migration
from trellis.dialects.dlt.plan.ddl import statements
from trellis.dialects.dlt.plan.warehouses import WAREHOUSES
from trellis.dialects.dlt.system_tables import new_schema
from trellis.dialects.rudderstack import ddl, diff
from trellis.dialects.rudderstack.system import LONG
from trellis.dialects.rudderstack.warehouses import NEUTRAL, PROVIDERS, Provider
from trellis.dialects.rudderstack.writes import RudderWrites
from trellis.errors import SchemaError
from trellis.schema.model import DATA_TYPES, Column, DataType, Schema, Table
from trellis.schema.version import bump
from trellis.warehouses.catalog import WAREHOUSES as WAREHOUSE_OF
from trellis.warehouses.catalog.databases import DUCKDB, POSTGRES

FOLDER: Final = Path(__file__).parent / "golden"

PRECISIONS: Mapping[DataType, tuple[int, ...]] = {
    "text": (0, 1, 40, 4000, 4001, 65535, 65536, 10_485_760, 10_485_761, 134_217_728, 134_217_729),
    "double": (24, 25, 53),
    "bigint": (0, 8, 9, 16, 24, 32, 48, 64, 65, 128, 129),
    "timestamp": (0, 1, 3, 6, 7, 9, 10),
    "time": (0, 3, 6, 7, 9, 10),
    "binary": (0, 16, 8000, 8001, 1_024_000, 1_024_001),
}
SIZES: Final = (
    *((None, scale) for scale in (0, 4, 18, 39)),
    *((precision, None) for precision in (12, 38, 39, 76, 77, 156, 1000, 1001)),
    *((10, 2), (3, 5), (20, 12), (29, 0), (30, 0), (38, 5), (38, 9), (38, 38), (39, 2), (76, 38), (156, 78)),
)


def cases() -> Iterator[Column]:
    """Every type with every precision that some warehouse treats apart."""
    for data_type in DATA_TYPES:
        yield Column(data_type, data_type)
        yield Column(f"{data_type}_required", data_type, nullable=False)
        for precision in PRECISIONS.get(data_type, ()):
            yield Column(f"{data_type}_{precision}", data_type, precision=precision)
        if data_type in ("decimal", "wei"):
            for precision, scale in SIZES:
                yield Column(f"{data_type}_{precision}_{scale}", data_type, precision=precision, scale=scale)
        if data_type == "timestamp":
            yield Column("naive", data_type, timezone=False)
            for precision in PRECISIONS[data_type]:
                yield Column(f"naive_{precision}", data_type, precision=precision, timezone=False)


PLAIN: Final = [Column(data_type, data_type) for data_type in DATA_TYPES]
HINTED: Final = [
    Column("id", "bigint", nullable=False).with_hints(primary_key=True),
    Column("shop", "text", precision=20).with_hints(cluster=True),
    Column("branch", "text").with_hints(cluster=True),
    Column("at", "timestamp").with_hints(partition=True, sort=True),
    Column("till", "bigint", nullable=False).with_hints(sort=True),
    Column("code", "text", nullable=False).with_hints(unique=True),
    Column("row", "json", nullable=False),
]
ODD: Final = ["a\"b`c]d'e\\f", "select", "Größe"]


def guarded(render: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return list(render())
    except SchemaError as bad:
        return [f"!! {bad}"]


def shared(one: str, other: str) -> str:
    """How two texts both begin."""
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def of_dlt(warehouse: str) -> Iterator[str]:
    known = WAREHOUSES[warehouse]

    def schema(*tables: Table, naming: str = "snake_case") -> Schema:
        empty = replace(new_schema("shop"), normalizers={"names": naming})
        return replace(empty, tables={table.name: table for table in tables})

    def created(*columns: Column, naming: str = "snake_case", **hints: object) -> list[str]:
        table = Table("t", {column.name: column for column in columns}).with_hints(**hints)
        stored = bump(schema(naming=naming))
        return guarded(lambda: statements(known, "shop", stored, stored.with_tables(table)))

    def added(*columns: Column, **hints: object) -> list[str]:
        start = Table("t", {"a": Column("a", "text")}).with_hints(**hints)
        stored = bump(schema(start))
        after = stored.with_tables(start.with_columns(*columns))
        return guarded(lambda: statements(known, "shop", stored, after))

    yield "# types"
    one, other = (created(column)[0] for column in (Column("a", "date"), Column("b", "bool", nullable=False)))
    head, tail = shared(one, other).rstrip('"`['), shared(one[::-1], other[::-1])[::-1]
    for column in cases():
        for statement in created(column):
            yield statement.replace(head, "").removesuffix(tail)
    yield "# a new dataset"
    yield from guarded(
        lambda: statements(known, "shop", new_schema("shop"), schema(Table("t", {"a": PLAIN[0]})))
    )
    yield "# hints of new tables"
    yield from created(*HINTED)
    for hint in ("partition", "cluster", "sort"):
        for data_type in ("date", "timestamp", "bigint", "text"):
            yield from created(Column("a", data_type, nullable=False).with_hints(**{hint: True}))
        yield from created(*(Column(name, "date").with_hints(**{hint: True}) for name in "abcdef"))
    yield from created(*HINTED, *PLAIN, table_format="iceberg")
    yield "# new columns"
    for column in (*PLAIN, *(replace(column, nullable=False) for column in PLAIN)):
        yield from added(column)
    yield from added(*PLAIN)
    yield from added(*HINTED)
    yield from added(*HINTED, *PLAIN, table_format="iceberg")
    yield "# names"
    for name in (*ODD, "x" * 130, "x" * 301):
        yield from created(Column(name, "date"), naming="direct")
    for naming in ("direct", "sql_cs_v1", "snake_case"):
        yield from created(Column("Foo", "date"), naming=naming)
        yield from created(Column("Foo", "date"), Column("foo", "date"), naming=naming)


def of_rudderstack(name: str) -> Iterator[str]:
    provider: Provider = PROVIDERS[name]
    known: list[tuple[str, object]] = [
        *(("case", provider.case), ("max_name", provider.max_name), ("max_columns", provider.max_columns)),
        *(("database", provider.database), ("json_type", provider.json_type)),
        *(("types", dict(provider.types)), ("iceberg", provider.iceberg and dict(provider.iceberg))),
        ("words", digest(provider.words)),
        ("namespace words", digest(provider.namespace_words)),
    ]
    yield from (f"{fact}: {value}" for fact, value in known)
    yield "# statements"
    yield ddl.create_schema(provider, "o'x")
    columns = [(neutral, neutral) for neutral in NEUTRAL]
    standard = [("id", "string"), ("received_at", "datetime"), ("event", "string"), ("event_text", "text")]
    rows = [(f"row_{each}", "string") for each in ("id", "x")] + [
        ("column_name", "string"),
        ("table_name", "string"),
    ]
    for table in ("tracks", "users", "rudder_discards"):
        for chosen in (
            columns,
            [*standard, *columns],
            [standard[1], *rows],
            [*standard, ("event_date", "string")],
        ):
            yield ddl.create_table(provider, "shop", table, chosen)
            yield from ddl.add_columns(provider, "shop", table, chosen)
    many = ddl.add_columns(provider, "shop", "t", [(f"c{number}", "int") for number in range(103)])
    yield f"{len(many)} statements, the last of which is {many[-1]}"
    for odd in ODD:
        yield ddl.create_table(provider, odd, odd, [(odd, "int")])
        yield from ddl.widen(provider, "shop", "t", [odd], "0b5d8f0e-5a51-4a0f-9d5f-7c1f6a3b2c1d")
    yield "# from one schema to the next"
    before = bump(Schema("shop", {"t": Table("t", {"a": Column("a", "text")})}))
    after = before.with_tables(
        Table("t", {"a": Column("a", "text").with_hints(**{LONG: True}), "b": Column("b", "date")}),
        Table("u", {column.name: column for column in PLAIN if column.name not in ("time", "binary", "wei")}),
    )
    yield from diff.statements(provider, "shop", before, after)
    yield from diff.statements(provider, "shop", Schema("shop"), after)


def digest(words: Iterable[str]) -> str:
    listed = sorted(words)
    return f"{len(listed)} {sha256(' '.join(listed).encode()).hexdigest()[:16]}"


CATALOG: Final = {"t": CatalogTable("t", {"a": "bigint", "Old": "bigint"})}
NAMES: Final = {
    "duckdb": "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT UBIGINT UHUGEINT DOUBLE FLOAT VARCHAR JSON "
    "BLOB DATE TIME BOOLEAN DECIMAL(18,3) DECIMAL(18,3)[] UUID TIMESTAMP TIMESTAMP_S TIMESTAMP_MS "
    "TIMESTAMP_NS BIT",
    "postgres": "int2 int4 int8 numeric float4 float8 timestamptz timestamp date time timetz text varchar "
    "bpchar json jsonb bytea bool uuid",
    "parquet": "int8 int16 int32 int64 uint8 string float double halffloat bool timestamp[us] "
    "timestamp[ns,tz=UTC] date32[day] date64[ms] time64[us] time32[ms] binary large_string decimal128(38,9) "
    "decimal256(76,0) fixed_size_binary[16] list<item:int64>",
}


def of_destination(name: str) -> Iterator[str]:
    native = RudderWrites().native_types(Schema("shop"), name)
    warehouse = WAREHOUSE_OF[name]
    plain: Callable[[Column], str] = parquet.type_name if name == "parquet" else warehouse.type_of
    destination = {"duckdb": DuckDB, "postgres": Postgres, "parquet": Parquet}[name]
    abilities = destination.abilities
    yield (
        f"names of {abilities.max_identifier}, case sensitive {abilities.case_sensitive}, "
        f"family {abilities.family}, "
        f"casts {abilities.casts}, nested {abilities.nested_types}, {abilities.digits}"
    )
    yield "# types"
    for column in cases():
        yield from (f"{column.name}: {text}" for text in guarded(lambda column=column: [plain(column)]))
    yield "# types of rudderstack"
    yield from (f"{column.name}: {warehouse.type_of(column, names=native)}" for column in PLAIN)
    yield "# what a schema calls the types that are there"
    yield from (f"{known}: {warehouse.data_type(known)}" for known in NAMES[name].split())
    if name == "postgres":
        yield f"numeric without bounds: {postgres.data_type('numeric', bounded=False)}"
        yield from (f"{column.name}: {postgres.spelled_out(plain(column))}" for column in PLAIN)
    yield "# statements"
    retyped = {"t": ("a", "Old")}
    filled = {"t": {"text": pa.scalar("it's"), "date": pa.scalar(date(2024, 2, 29))}}
    words, written = (POSTGRES, postgres_value) if name == "postgres" else (DUCKDB, duckdb_value)
    plan = Migration(words, CATALOG, plain, retyped=retyped, filled=filled, written=written)
    changed = [Column("a", "text"), Column("old", "double"), Column("must", "bigint", nullable=False)]
    yield from plan.statements(
        [
            Table("t", {column.name: column for column in (*changed, *PLAIN)}),
            Table("new", {column.name: column for column in (*HINTED, *PLAIN)}),
            Table("none", {"a": Column("a")}),
            *(Table(odd, {odd: Column(odd, "date")}) for odd in ODD),
        ]
    )


FILES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    **{f"dlt_{name}": lambda name=name: of_dlt(name) for name in WAREHOUSES},
    **{f"rudderstack_{name}": lambda name=name: of_rudderstack(name) for name in PROVIDERS},
    **{f"destination_{name}": lambda name=name: of_destination(name) for name in NAMES},
}


def text_of(file: str) -> str:
    return "\n".join(FILES[file]()) + "\n"


if __name__ == "__main__":
    for file in FILES:
        (FOLDER / f"{file}.txt").write_text(text_of(file), encoding="utf-8")
