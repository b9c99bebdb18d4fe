"""The table of the documentation says of each format what the code says."""

from __future__ import annotations

from pathlib import Path

from trellis.exchange.catalog import formats
from trellis.schema.documents.schema_format import ASPECTS, SchemaFormat

PAGE = Path(__file__).parents[2] / "docs/schemas.md"
SIZED = ("text", "double", "bigint", "timestamp", "time", "binary", "decimal", "wei")
"""The types that have a precision."""


def row_of(known: SchemaFormat) -> str:
    sizes = [data_type for data_type in SIZED if data_type not in known.sizes]
    cells = (
        f"`{known.name}`",
        "yes" if known.read else "no",
        ", ".join(aspect for aspect in ASPECTS if aspect not in known.keeps) or "nothing",
        "all" if len(sizes) == len(SIZED) else ", ".join(sizes) or "none",
        ", ".join(f"{data_type} as {name}" for data_type, name in known.other_types.items()) or "none",
    )
    return f"| {' | '.join(cells)} |"


def test_the_table_is_that_of_the_code() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| format | read |")[2].splitlines()[2:]
    assert table == [row_of(known) for known in formats().values() if not known.bookkeeping]
