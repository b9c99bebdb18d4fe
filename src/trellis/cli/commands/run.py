"""`trellis run` and `trellis drop`: sources written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import (
    HOW,
    At,
    ConfigFile,
    Dataset,
    Debug,
    EngineArguments,
    Json,
    MaxRejected,
    Name,
    Setting,
    Staging,
    To,
    option,
)
from trellis.cli.verbosity import is_quiet

if TYPE_CHECKING:
    from trellis.pipelines.pipeline import Pipeline

Where = Annotated[
    str,
    typer.Argument(
        metavar="FILE:NAME",
        help="A source or resource, such as shop.py:orders or company.sources:shop.",
        show_default=False,
    ),
]
Resources = Annotated[
    list[str] | None,
    option("--resource", metavar="NAME", panel=HOW, help="Load only this resource; repeatable."),
]
Refresh = Annotated[
    str | None,
    option(
        "--refresh",
        metavar="MODE",
        panel=HOW,
        help="Start again: drop_sources (all tables and the state of the source), drop_resources (those of "
        "the selected resources) or drop_data (only their rows and state).",
    ),
]
SourceArguments = Annotated[
    list[str] | None,
    option("--with", metavar="NAME=VALUE", panel=HOW, help="Argument of the source's function; repeatable."),
]
Dropped = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RESOURCE", help="Resources, also re:PATTERN; default all of the source.", show_default=False
    ),
]


@expand_groups
def run_source(
    where: Where,
    to: To = None,
    dataset: Dataset = None,
    name: Name = None,
    resource: Resources = None,
    refresh: Refresh = None,
    arguments: SourceArguments = None,
    option: Setting = None,
    max_rejected: MaxRejected = None,
    config: ConfigFile = None,
    *,
    engine: EngineArguments,
    staging: Staging = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Load a source written in Python, all its tables in one commit.

    Its cursors and its state are kept in the destination, so the next run goes on where this one ended.
    """
    from trellis.cli.commands.load import settings_of
    from trellis.cli.output.console import console, print_json, progress, quiet_children
    from trellis.cli.output.load_report import show
    from trellis.cli.settings import open_pipeline
    from trellis.cli.source_modules import own_fault, source_at
    from trellis.errors import TrellisError
    from trellis.pipelines.config import Config, find_config
    from trellis.pipelines.refresh import refresh_of

    settings = Config(
        to,
        dataset,
        None,
        name,
        options=settings_of(option),
        **engine._asdict(),
        staging=staging,
        max_rejected=max_rejected,
    ).over(find_config(config))
    pipeline = open_pipeline(settings)
    try:
        source = source_at(where, settings_of(arguments, "--with"), tuple(resource or ()))
        with quiet_children(bool(debug)), progress() as tell:
            pipeline.tell = tell
            report = pipeline.run(source, refresh=refresh_of(refresh), max_rejected=settings.max_rejected)
    except TrellisError:
        raise
    except Exception as bad:
        fault = own_fault(bad)
        if fault is None:
            raise
        raise fault from bad
    if json:
        print_json(report.to_dict())
    elif not is_quiet():
        show(report, [where], console())


def drop_resources(
    resources: Dropped = None,
    at: At = None,
    dataset: Dataset = None,
    name: Name = None,
    source: Annotated[
        str | None, option("--source", metavar="NAME", help="Schema of the source, default the pipeline's.")
    ] = None,
    pending: Annotated[
        bool, option("--pending", help="Drop no table, only the rows that wait since a run failed.")
    ] = False,
    yes: Annotated[bool, option("--yes", help="Do not ask for confirmation.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Drop the tables of resources, with their nested tables and their state.

    What a resource loaded is gone; its next run begins anew. Nothing else but `run --refresh` drops a table.
    """
    from trellis.cli.output.console import counted, print_json

    pipeline = _pipeline(at, dataset, name)
    if pending:
        count = pipeline.drop_pending()
        if json:
            print_json({"dropped_pending": count})
        else:
            typer.echo(f"{counted(count, 'pending load')} dropped")
        return
    what = ", ".join(resources or ()) or "all resources"
    if not yes and not typer.confirm(f"Drop the tables of {what} in {pipeline.where}?", err=True):
        raise typer.Exit(2)
    report = pipeline.drop(tuple(resources or ()), source=source or "")
    dropped = [change.table for change in report.changes]
    if json:
        print_json({"dropped": dropped, "schema": report.to_dict()["schema"]})
    else:
        typer.echo(f"dropped in {pipeline.where}: {', '.join(dropped) or 'nothing'}")


def _pipeline(at: str | None, dataset: str | None, name: str | None) -> Pipeline:
    from trellis.cli.settings import open_pipeline
    from trellis.pipelines.config import Config, find_config

    settings: Any = Config(to=at, dataset=dataset, name=name)
    return open_pipeline(settings.over(find_config()))
