"""`trellis load` and `trellis plan`: the same arguments; plan writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import typer

from trellis.cli.argument_groups import expand_groups
from trellis.cli.arguments import (
    ConfigFile,
    Contract,
    Dataset,
    Debug,
    Dialect,
    EngineArguments,
    ExitCode,
    Format,
    Json,
    KafkaColumn,
    Key,
    LoadId,
    MaxRejected,
    MergeKey,
    Mode,
    Name,
    NewOnly,
    OnlyTable,
    Payload,
    ReadOption,
    ReloadChanged,
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
    from trellis.pipelines.loading.options import LoadOptions
    from trellis.pipelines.report import Report


class RecordArguments(NamedTuple):
    """What `load`, `plan` and `stream` say of records and of the tables that they go to."""

    sources: Sources
    to: To = None
    dataset: Dataset = None
    name: Name = None
    table: Table = None
    dialect: Dialect = None
    mode: Mode = None
    strategy: Strategy = None
    key: Key = None
    merge_key: MergeKey = None
    schema: SchemaFile = None
    contract: Contract = None
    option: Setting = None
    format: Format = None
    read_option: ReadOption = None
    payload: Payload = None
    kafka_column: KafkaColumn = None
    config: ConfigFile = None
    max_rejected: MaxRejected = None
    engine: EngineArguments = EngineArguments()
    staging: Staging = None
    json: Json = False
    debug: Debug = False

    def settings(
        self, trigger: str | None = None, checkpoint: str | None = None, on_violation: str | None = None
    ) -> Config:
        """These arguments and those of a stream over trellis.yaml. Raises UsageError, SchemaError."""
        return Config(
            self.to, self.dataset, self.dialect, self.name, self.table, self.mode, self.strategy,
            tuple(self.key or ()), tuple(self.merge_key or ()), self.schema, self.contract,
            settings_of(self.option), **self.engine._asdict(), staging=self.staging, format=self.format,
            read_options=settings_of(self.read_option, "--read-option", "sep=;", exact=True),
            max_rejected=self.max_rejected, payload=self.payload,
            kafka_columns=tuple(self.kafka_column or ()), trigger=trigger, checkpoint=checkpoint,
            on_violation=on_violation,
        ).over(find_config(self.config))  # fmt: skip


class LoadArguments(NamedTuple):
    """The command line of `load` and `plan`."""

    records: RecordArguments
    new_only: NewOnly = False
    reload_changed: ReloadChanged = False
    only_table: OnlyTable = None
    load_id: LoadId = None


@expand_groups
def load_records(arguments: LoadArguments) -> None:
    """Load records into typed tables that grow with them.

    New keys become columns, lists become tables, and every value that does not fit is quarantined. The report
    adds up: rows in = loaded + rejected + dropped.
    """
    _run(arguments, dry_run=False)


@expand_groups
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
    from trellis.cli.verbosity import is_quiet

    records = arguments.records
    settings = records.settings()
    options: LoadOptions = {
        "new_only": arguments.new_only,
        "reload_changed": arguments.reload_changed,
        "only_tables": tuple(arguments.only_table or ()),
        "load_id": arguments.load_id,
    }
    with quiet_children(records.debug):
        start_engine(settings, records.sources)
        from trellis.cli.output.load_report import show
        from trellis.cli.settings import LoadCommand

        work = LoadCommand.of(settings)
        with progress() as tell:
            report = work.run(records.sources, options, dry_run, tell)
    if records.json:
        print_json(report.to_dict())
    elif dry_run or not is_quiet():
        show(report, records.sources, console())
    if report.failures:
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
