"""`trellis load` and `trellis plan`: the same arguments; plan writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from trellis.cli.arguments import (
    ConfigFile,
    Contract,
    Dataset,
    Debug,
    Dialect,
    Engine,
    ExitCode,
    Format,
    Json,
    KafkaColumn,
    Key,
    LoadId,
    Master,
    MaxRejected,
    MergeKey,
    Mode,
    Name,
    OnlyTable,
    ReadOption,
    Remote,
    SchemaFile,
    Setting,
    Sources,
    Staging,
    Strategy,
    Table,
    To,
)
from trellis.errors import DestinationError
from trellis.pipelines.config import Config, find_config

if TYPE_CHECKING:
    from trellis.pipelines.report import Report


class LoadArguments(NamedTuple):
    """The command line of `load` and `plan`."""

    sources: list[str]
    settings: Config
    config_file: str | None
    load_id: str | None
    only_tables: tuple[str, ...]
    json: bool
    debug: bool


def parse_arguments(
    sources: Sources,
    to: To = None,
    dataset: Dataset = None,
    name: Name = None,
    table: Table = None,
    dialect: Dialect = None,
    mode: Mode = None,
    strategy: Strategy = None,
    key: Key = None,
    merge_key: MergeKey = None,
    schema: SchemaFile = None,
    contract: Contract = None,
    option: Setting = None,
    format: Format = None,
    read_option: ReadOption = None,
    kafka_column: KafkaColumn = None,
    only_table: OnlyTable = None,
    config: ConfigFile = None,
    max_rejected: MaxRejected = None,
    load_id: LoadId = None,
    engine: Engine = None,
    master: Master = None,
    remote: Remote = None,
    staging: Staging = None,
    json: Json = False,
    debug: Debug = False,
) -> LoadArguments:
    settings = Config(
        to, dataset, dialect, name, table, mode, strategy, tuple(key or ()), tuple(merge_key or ()),
        schema, contract, settings_of(option), master, remote, engine, staging,
        format, settings_of(read_option, "--read-option", "sep=;", exact=True), max_rejected,
        kafka_columns=tuple(kafka_column or ()),
    )  # fmt: skip
    return LoadArguments(sources, settings, config, load_id, tuple(only_table or ()), json, debug)


def with_load_arguments(command: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """The command with the parameters of `parse_arguments` and its own keywords, for Typer to read.

    `without` are parameters that it does not have.
    """
    (_, *keywords) = signature(command, eval_str=True).parameters.values()

    @wraps(command)
    def typed(**values: Any) -> None:
        own_values = {keyword.name: values.pop(keyword.name) for keyword in keywords}
        command(parse_arguments(**values), **own_values)

    shared = signature(parse_arguments, eval_str=True).parameters.values()
    parameters = [*(parameter for parameter in shared if parameter.name not in without), *keywords]
    typed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    typed.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return typed


@with_load_arguments
def load_records(arguments: LoadArguments) -> None:
    """Load records into typed tables that grow with them.

    New keys become columns, lists become tables, and every value that does not fit is quarantined:
    rows in = rows loaded + rejected + dropped, always.
    """
    _run(arguments, dry_run=False)


@with_load_arguments
def plan_load(arguments: LoadArguments, *, exit_code: ExitCode = False) -> None:
    """Show what a load would do, and write nothing.

    The whole input is read and its commit rehearsed: the new tables and columns, the statements, the
    discards and the rejects are those that the load will have, and what it refuses the plan refuses.
    """
    report = _run(arguments, dry_run=True)
    if report.changes and exit_code:
        raise typer.Exit(1)


def _run(arguments: LoadArguments, dry_run: bool) -> Report:
    from trellis.cli.output.console import console, print_json, progress, quiet_children
    from trellis.cli.spark_start import start_engine

    settings = arguments.settings.over(find_config(arguments.config_file))
    with quiet_children(arguments.debug):
        start_engine(settings, arguments.sources)
        from trellis.cli.output.load_report import show
        from trellis.cli.settings import LoadCommand

        work = LoadCommand.of(settings)
        with progress() as tell:
            report = work.run(arguments.sources, arguments.load_id, arguments.only_tables, dry_run, tell)
    if arguments.json:
        print_json(report.to_dict())
    else:
        show(report, arguments.sources, console())
    if report.failures and not dry_run:
        raise typer.Exit(DestinationError.exit_code)
    return report


def settings_of(
    pairs: list[str] | None, what: str = "--option", example: str = "max_nesting=2", exact: bool = False
) -> dict[str, str]:
    """What NAME=VALUE options give; `exact` with the spaces around a value. Raises UsageError."""
    from trellis.errors import UsageError

    settings: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{what} {pair!r}: write NAME=VALUE, for example {example}")
        settings[name.strip()] = value if exact else value.strip()
    return settings
