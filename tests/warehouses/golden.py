"""The types and statements of each destination: `golden/*.txt` beside this file.

`PYTHONPATH=src:tests python tests/warehouses/golden.py` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from golden_files import GoldenFiles, lines_or_refusal
from trellis.destinations.base import CatalogTable
from trellis.destinations.duckdb.destination import DuckDB
from trellis.destinations.parquet import types as parquet
from trellis.destinations.parquet.destination import Parquet
from trellis.destinations.postgres import literals as postgres_literals
from trellis.destinations.postgres import types as postgres
from trellis.destinations.postgres.destination import Postgres
from trellis.destinations.scan import literals as duckdb_literals
from trellis.destinations.sql.migration import Migration
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog import WAREHOUSES
from trellis.warehouses.catalog.databases import DUCKDB, POSTGRES
from warehouses.columns import ODD_NAMES, ONE_PER_TYPE, WITH_HINTS, every_column

CATALOG: Final = {"t": CatalogTable("t", {"a": "bigint", "Old": "bigint"})}
TYPES_IN_CATALOGS: Final = {
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
    warehouse = WAREHOUSES[name]
    plain: Callable[[Column], str] = parquet.type_name if name == "parquet" else warehouse.type_of
    destination = {"duckdb": DuckDB, "postgres": Postgres, "parquet": Parquet}[name]
    abilities = destination.abilities
    yield (
        f"names of {abilities.max_identifier}, case sensitive {abilities.case_sensitive}, "
        f"family {abilities.family}, "
        f"casts {abilities.casts}, nested {abilities.nested_types}, {abilities.digits}"
    )
    yield "# types"
    for column in every_column():
        yield from (
            f"{column.name}: {text}" for text in lines_or_refusal(lambda column=column: [plain(column)])
        )
    yield "# what a schema calls the types that are there"
    yield from (f"{known}: {warehouse.data_type(known)}" for known in TYPES_IN_CATALOGS[name].split())
    if name == "postgres":
        yield f"numeric without bounds: {postgres.data_type('numeric', bounded=False)}"
        yield from (f"{column.name}: {postgres.spelled_out(plain(column))}" for column in ONE_PER_TYPE)
    yield "# statements"
    retyped = {"t": ("a", "Old")}
    filled = {"t": {"text": pa.scalar("it's"), "date": pa.scalar(date(2024, 2, 29))}}
    words, literals = (POSTGRES, postgres_literals) if name == "postgres" else (DUCKDB, duckdb_literals)
    plan = Migration(words, CATALOG, plain, literals.render_literal, retyped=retyped, filled=filled)
    changed = [Column("a", "text"), Column("old", "double"), Column("must", "bigint", nullable=False)]
    yield from plan.statements(
        [
            Table("t", {column.name: column for column in (*changed, *ONE_PER_TYPE)}),
            Table("new", {column.name: column for column in (*WITH_HINTS, *ONE_PER_TYPE)}),
            Table("none", {"a": Column("a")}),
            *(Table(odd, {odd: Column(odd, "date")}) for odd in ODD_NAMES),
        ]
    )


GOLDEN: Final = GoldenFiles(
    Path(__file__).parent / "golden", {name: partial(of_destination, name) for name in TYPES_IN_CATALOGS}
)

if __name__ == "__main__":
    GOLDEN.write_all()
