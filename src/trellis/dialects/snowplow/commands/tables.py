"""What the commands of `loaded` were asked, and what they print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.cli.output.console import console, counted, grid, indented
from trellis.cli.verbosity import is_quiet
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.commands.arguments import ReplayArguments, ShredArguments
from trellis.dialects.snowplow.commands.runs import open_loader, verification_of
from trellis.dialects.snowplow.commands.shredder import open_shredder
from trellis.dialects.snowplow.rows.csv import EVENTS
from trellis.dialects.snowplow.runs.loading.adoption import Adoption, TableAdopter, key_of_table
from trellis.dialects.snowplow.runs.loading.archive import ArchivedRun
from trellis.dialects.snowplow.runs.loading.inspection import TableStatus
from trellis.dialects.snowplow.runs.loading.loader import RunLoader
from trellis.dialects.snowplow.runs.loading.migration import FamilyVersions
from trellis.dialects.snowplow.runs.loading.redshift_script import RedshiftScript, read_catalog
from trellis.dialects.snowplow.runs.loading.replay import Replayer, ReplayReport
from trellis.dialects.snowplow.runs.manifest import find_runs
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.errors import UsageError, nearest

if TYPE_CHECKING:
    from rich.console import Console


def show_statuses(statuses: Sequence[TableStatus], out: Console) -> None:
    if not statuses:
        out.print("no tables of schemas", style="bold")
        return
    table = grid("Table", "State", "Version", "Registry", whole=("Table",))
    for status in statuses:
        versions = (uri.rpartition("/")[2] for uri in (status.version, status.last))
        table.add_row(status.table, status.state, *versions)
    out.print(indented(table))
    for status in statuses:
        for reason in status.reasons:
            out.print(f"{status.table}: {reason}", soft_wrap=True)


def adopt(
    name: str,
    schema: str,
    to: str,
    dataset: str,
    version: str,
    columns: Sequence[str],
    *,
    dry_run: bool,
) -> Adoption:
    """How loads can go on with a table; unless it is a dry run or a column stands against it, they do.

    Raises UsageError, SchemaError, DestinationError.
    """
    named = dict(map(_named_column, columns))
    with open_loader(to, schema, dataset, read_only=dry_run) as loader:
        if name == EVENTS:
            raise UsageError(
                f"{EVENTS} has no schema, so there is nothing to adopt; `trellis snowplow load` names the "
                "columns that it lacks"
            )
        tables = loader.warehouse.tables(dataset)
        if name not in tables:
            raise UsageError(f"{dataset}: there is no table {name!r}{nearest(name, sorted(tables))}")
        table, families = tables[name], FamilyVersions(loader.registry, loader.warehouse.profile)
        key = key_of_table(name, table.comment, families)
        adopter = TableAdopter(families, named)
        adoption = adopter.adopt(name, table, families.versions(key.family), version)
        if not dry_run and not adoption.obstacles:
            if adoption.overlay != (families.overlay(key.family) or Overlay({})):
                loader.registry.put_overlay(key.family, adoption.overlay)
            loader.warehouse.set_comment(dataset, name, str(adoption.version))
    return adoption


def show_adoption(adoption: Adoption, out: Console, *, dry_run: bool) -> None:
    out.print(json.dumps(adoption.overlay.to_dict(), indent=2, ensure_ascii=False), soft_wrap=True)
    for obstacle in adoption.obstacles:
        out.print(f"{adoption.table}.{obstacle.column} {obstacle.reason}", soft_wrap=True)
    if adoption.obstacles:
        out.print(f"{adoption.table} cannot be adopted as it is; nothing was changed", style="bold red")
    elif dry_run:
        out.print(f"{adoption.table} would be {adoption.version}; nothing was changed", style="bold")
    else:
        out.print(f"{adoption.table} is {adoption.version}", style="bold")


def open_replayer(loader: RunLoader, schema: str, arguments: ReplayArguments) -> Replayer:
    """Copies of events that failed count one by one, so nothing is deduplicated."""

    def shredder_for(out: Path, profile: str) -> Shredder:
        return open_shredder(
            ShredArguments(schema, str(out), profile=profile, dedup="none", **arguments._asdict())
        )

    return Replayer(loader, shredder_for)


def show_replay(report: ReplayReport, out: Console) -> None:
    """What failed again alone, where the user wants no more."""
    if not is_quiet():
        out.print(f"{counted(report.tried, 'failed event')}: {report.loaded} loaded", style="bold")
    for reason, count in report.failed.most_common():
        out.print(f"  {count} failed again: {reason}")
    if report.run and not is_quiet():
        for statement in report.run.statements:
            out.print(statement, soft_wrap=True)


def show_archived(runs: Sequence[ArchivedRun]) -> None:
    for run in runs:
        if run.target and is_quiet():
            continue
        state = f"moved to {run.target}" if run.target else "not loaded, left alone"
        console().print(f"{run.run}: {state}", soft_wrap=True)


def redshift_scripts(
    place: str,
    schema: str,
    stage: str,
    role: str,
    catalog: str | None,
    dataset: str,
    verify: str,
    max_errors: int,
) -> dict[str, str]:
    """The script of each run, by its name. Raises UsageError, SchemaError."""
    if not stage.startswith("s3://"):
        raise UsageError(
            f"--stage {stage}: Redshift copies from S3; name the folder of the runs, s3://BUCKET/PATH"
        )
    tables = read_catalog(Path(catalog)) if catalog else {}
    script = RedshiftScript(open_registry(schema), dataset, stage, role, verification_of(verify), max_errors)
    runs = find_runs(place)
    return dict(zip([run.name for run in runs], script.scripts(runs, tables), strict=True))


def _named_column(text: str) -> tuple[str, str]:
    pointer, equals, name = text.partition("=")
    if not (pointer.startswith("/") and equals and name):
        raise UsageError(f"--column {text}: expected POINTER=NAME, such as /berth=dock")
    return pointer, name
