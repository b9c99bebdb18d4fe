"""What dlt makes of every warehouse: `golden/*.txt` beside this file.

`PYTHONPATH=src:tests python tests/dialects/dlt/golden.py` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final

from golden_files import GoldenFiles, lines_or_refusal
from trellis.dialects.dlt.system_tables import new_schema
from trellis.dialects.dlt.warehouses import WAREHOUSES, statements
from trellis.schema.model import Column, Schema, Table
from trellis.schema.version import bump
from warehouses.columns import ODD_NAMES, ONE_PER_TYPE, WITH_HINTS, every_column


def shared(one: str, other: str) -> str:
    """How two texts both begin."""
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def of_warehouse(warehouse: str) -> Iterator[str]:
    known = WAREHOUSES[warehouse]

    def schema(*tables: Table, naming: str = "snake_case") -> Schema:
        empty = replace(new_schema("shop"), normalizers={"names": naming})
        return replace(empty, tables={table.name: table for table in tables})

    def created(*columns: Column, naming: str = "snake_case", **hints: object) -> list[str]:
        table = Table("t", {column.name: column for column in columns}).with_hints(**hints)
        stored = bump(schema(naming=naming))
        return lines_or_refusal(lambda: statements(known, "shop", stored, stored.with_tables(table)))

    def added(*columns: Column, **hints: object) -> list[str]:
        start = Table("t", {"a": Column("a", "text")}).with_hints(**hints)
        stored = bump(schema(start))
        after = stored.with_tables(start.with_columns(*columns))
        return lines_or_refusal(lambda: statements(known, "shop", stored, after))

    yield "# types"
    one, other = (created(column)[0] for column in (Column("a", "date"), Column("b", "bool", nullable=False)))
    head, tail = shared(one, other).rstrip('"`['), shared(one[::-1], other[::-1])[::-1]
    for column in every_column():
        for statement in created(column):
            yield statement.replace(head, "").removesuffix(tail)
    yield "# a new dataset"
    yield from lines_or_refusal(
        lambda: statements(known, "shop", new_schema("shop"), schema(Table("t", {"a": ONE_PER_TYPE[0]})))
    )
    yield "# hints of new tables"
    yield from created(*WITH_HINTS)
    for hint in ("partition", "cluster", "sort"):
        for data_type in ("date", "timestamp", "bigint", "text"):
            yield from created(Column("a", data_type, nullable=False).with_hints(**{hint: True}))
        yield from created(*(Column(name, "date").with_hints(**{hint: True}) for name in "abcdef"))
    yield from created(*WITH_HINTS, *ONE_PER_TYPE, table_format="iceberg")
    yield "# new columns"
    for column in (*ONE_PER_TYPE, *(replace(column, nullable=False) for column in ONE_PER_TYPE)):
        yield from added(column)
    yield from added(*ONE_PER_TYPE)
    yield from added(*WITH_HINTS)
    yield from added(*WITH_HINTS, *ONE_PER_TYPE, table_format="iceberg")
    yield "# names"
    for name in (*ODD_NAMES, "x" * 130, "x" * 301):
        yield from created(Column(name, "date"), naming="direct")
    for naming in ("direct", "sql_cs_v1", "snake_case"):
        yield from created(Column("Foo", "date"), naming=naming)
        yield from created(Column("Foo", "date"), Column("foo", "date"), naming=naming)


GOLDEN: Final = GoldenFiles(
    Path(__file__).parent / "golden", {name: partial(of_warehouse, name) for name in WAREHOUSES}
)

if __name__ == "__main__":
    GOLDEN.write_all()
