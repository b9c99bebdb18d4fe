"""Runs that tests shred and load, and a loader for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dialects.snowplow.enriched import write_run
from trellis.cli.arguments import EngineArguments
from trellis.destinations.lake.store import TableName
from trellis.destinations.sql.names import quoted
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.commands.arguments import ReplayArguments
from trellis.dialects.snowplow.runs.loading.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.delta import DeltaWarehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.engine.runner import InlineRunner

TABLE: Final = "org_harbor_vessel_call_1"
DATA: Final[dict[str, dict[str, Any]]] = {
    "1-0-0": {"arrivedAt": "2024-03-09T05:06:07+02:00"},
    "1-1-0": {"draughtM": 1.5},
    "1-2-0": {"pilot": True, "agent": "a\\N"},
    "1-0-1": {"cargo": "\\N"},
    "1-2-1": {"tugCount": 2},
}
"""What each version of F adds."""
REPLAY_INLINE: Final = ReplayArguments(engine=EngineArguments("inline"))


def shred(
    folder: Path,
    warehouse: RunWarehouse,
    registry: str,
    lines: list[str],
    *,
    profile: str = "",
    **options: Any,
) -> Path:
    """A run folder with these events, for the tables of a warehouse or of another profile."""
    return shred_for(profile or warehouse.profile.name, folder, registry, lines, **options)


def shred_for(profile: str, folder: Path, registry: str, lines: list[str], **options: Any) -> Path:
    number = len([*folder.glob("enriched-*")])
    source = folder / f"enriched-{number}"
    source.mkdir()
    run = write_run(source, lines, f"run=2031-04-05-{number:02}-00-00")
    references = RegistryReferences.open(registry)
    [_] = Shredder(folder / "out", references, InlineRunner(), profile=profile, **options).shred(str(run))
    return folder / "out" / run.name


def loader(warehouse: RunWarehouse, registry: str, **options: Any) -> RunLoader:
    return RunLoader(warehouse, open_registry(registry), "atomic", **options)


def load(warehouse: RunWarehouse, registry: str, run: Path, **options: Any) -> RunReport:
    [report] = loader(warehouse, registry, **options).load(str(run))
    return report


def rows(warehouse: RunWarehouse, table: str, *names: str) -> list[tuple[Any, ...]]:
    """The rows of a table in these columns, in the order of their texts."""
    if isinstance(warehouse, SqlWarehouse):
        listed = ", ".join(map(quoted, names))
        return sorted(warehouse.execute(f"SELECT {listed} FROM atomic.{table}"), key=str)
    assert isinstance(warehouse, DeltaWarehouse)
    scanned = warehouse.store.scan(TableName("atomic", table), list(names)).read_all().to_pylist()
    return sorted((tuple(row[name] for name in names) for row in scanned), key=str)


def columns(warehouse: RunWarehouse, table: str = TABLE) -> list[str]:
    """The columns of the schemas that a table has."""
    tables = warehouse.tables("atomic")
    return [*tables[table].names[9:]] if table in tables else []
