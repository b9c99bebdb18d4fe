"""Columns that the golden files of warehouses, destinations and dialects have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trellis.schema.model import DATA_TYPES, Column, DataType

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


def every_column() -> Iterator[Column]:
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


ONE_PER_TYPE: Final = [Column(data_type, data_type) for data_type in DATA_TYPES]
WITH_HINTS: Final = [
    Column("id", "bigint", nullable=False).with_hints(primary_key=True),
    Column("shop", "text", precision=20).with_hints(cluster=True),
    Column("branch", "text").with_hints(cluster=True),
    Column("at", "timestamp").with_hints(partition=True, sort=True),
    Column("till", "bigint", nullable=False).with_hints(sort=True),
    Column("code", "text", nullable=False).with_hints(unique=True),
    Column("row", "json", nullable=False),
]
ODD_NAMES: Final = ["a\"b`c]d'e\\f", "select", "Größe"]
