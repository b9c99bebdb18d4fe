"""What RudderStack makes of every provider, and of our destinations: `golden/*.txt` beside this file.

`PYTHONPATH=src:tests python tests/dialects/rudderstack/golden.py` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from golden_files import GoldenFiles
from trellis.dialects.rudderstack.providers import NEUTRAL, PROVIDERS, Provider
from trellis.dialects.rudderstack.schema_document import LONG
from trellis.dialects.rudderstack.warehouse import ddl
from trellis.dialects.rudderstack.warehouse.migration import migration_statements
from trellis.dialects.rudderstack.writes import RudderWrites
from trellis.schema.model import Column, Schema, Table
from trellis.schema.version import bump
from trellis.warehouses.catalog import WAREHOUSES
from warehouses.columns import ODD_NAMES, ONE_PER_TYPE


def of_provider(name: str) -> Iterator[str]:
    provider: Provider = PROVIDERS[name]
    known: list[tuple[str, object]] = [
        *(("case", provider.case), ("max_name", provider.max_name), ("max_columns", provider.max_columns)),
        *(("database", provider.database), ("json_type", provider.json_type)),
        ("types", dict(provider.types)),
        ("words", digest(provider.words)),
        ("namespace words", digest(provider.namespace_words)),
    ]
    yield from (f"{fact}: {value}" for fact, value in known)
    yield "# statements"
    yield ddl.create_schema(provider, "o'x")
    columns = [(neutral, neutral) for neutral in NEUTRAL]
    standard = [("id", "string"), ("received_at", "datetime"), ("event", "string"), ("event_text", "text")]
    rows = [(f"row_{name}", "string") for name in ("id", "x")] + [
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
    for odd in ODD_NAMES:
        yield ddl.create_table(provider, odd, odd, [(odd, "int")])
        yield from ddl.widen(provider, "shop", "t", [odd], "0b5d8f0e-5a51-4a0f-9d5f-7c1f6a3b2c1d")
    yield "# from one schema to the next"
    before = bump(Schema("shop", {"t": Table("t", {"a": Column("a", "text")})}))
    after = before.with_tables(
        Table("t", {"a": Column("a", "text").with_hints(**{LONG: True}), "b": Column("b", "date")}),
        Table(
            "u",
            {column.name: column for column in ONE_PER_TYPE if column.name not in ("time", "binary", "wei")},
        ),
    )
    yield from migration_statements(provider, "shop", before, after)
    yield from migration_statements(provider, "shop", Schema("shop"), after)


def digest(words: Iterable[str]) -> str:
    listed = sorted(words)
    return f"{len(listed)} {sha256(' '.join(listed).encode()).hexdigest()[:16]}"


def of_destination(warehouse: str) -> Iterator[str]:
    """The types of columns where no provider was chosen."""
    names = RudderWrites().native_types(Schema("shop"), warehouse)
    yield from (
        f"{column.name}: {WAREHOUSES[warehouse].type_of(column, names=names)}" for column in ONE_PER_TYPE
    )


GOLDEN: Final = GoldenFiles(
    Path(__file__).parent / "golden",
    {
        **{name: partial(of_provider, name) for name in PROVIDERS},
        **{
            f"destination_{name}": partial(of_destination, name) for name in ("duckdb", "parquet", "postgres")
        },
    },
)

if __name__ == "__main__":
    GOLDEN.write_all()
