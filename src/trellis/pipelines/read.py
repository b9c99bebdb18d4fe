"""`trellis.read`: a table of a destination, without a pipeline."""

from __future__ import annotations

from datetime import datetime

from trellis.destinations import open_destination
from trellis.destinations.base import Destination
from trellis.dialects import DEFAULT_DIALECT, get_dialect
from trellis.dialects import names as dialects
from trellis.pipelines.datasets.dataset import Dataset, StoredTable


def read(
    to: str,
    table: str,
    *,
    dataset: str | None = None,
    load: str | datetime | None = None,
    nested: bool = False,
    system_columns: bool = True,
    master: str | None = None,
    remote: str | None = None,
) -> StoredTable:
    """A table of a destination: `.spark()`, `.arrow()`, `.pandas()` and `.duckdb()` read it.

    The options are those of `Dataset.table`; `dataset` is that of `trellis.pipeline`. Raises UsageError.

        trellis.read("duckdb:shop.duckdb", "orders", nested=True).spark().show()
    """
    destination = open_destination(to)
    name = destination.abilities.default_dataset if dataset is None else dataset
    dialect = dialect_of(destination, name) or DEFAULT_DIALECT
    return Dataset(destination, name, dialect, master, remote).table(
        table, load=load, nested=nested, system_columns=system_columns
    )


def dialect_of(destination: Destination, dataset: str) -> str | None:
    """The dialect that filled a dataset, by the tables it records loads in."""
    tables = destination.catalog(dataset)
    return next((name for name in dialects() if get_dialect(name).metadata.tables().versions in tables), None)
