"""`trellis load` and `trellis plan`: the same arguments; plan writes nothing."""

from __future__ import annotations

from trellis.cli.arguments import (
    ConfigFile,
    Contract,
    Dataset,
    Debug,
    Dialect,
    Engine,
    Format,
    Json,
    Key,
    LoadId,
    Master,
    MaxRejected,
    MergeKey,
    Mode,
    Name,
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
from trellis.pipelines.config import Config, find_config


def load_records(
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
    config: ConfigFile = None,
    max_rejected: MaxRejected = None,
    load_id: LoadId = None,
    engine: Engine = None,
    master: Master = None,
    remote: Remote = None,
    staging: Staging = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Load records into typed tables that grow with them.

    New keys become columns, lists become tables, and every value that does not fit is quarantined:
    rows in = rows loaded + rejected + dropped, always.
    """
    arguments = Config(
        to, dataset, dialect, name, table, mode, strategy, tuple(key or ()), tuple(merge_key or ()),
        schema, contract, settings_of(option), master, remote, engine, staging,
        format, settings_of(read_option, "--read-option", "sep=;", exact=True), max_rejected,
    )  # fmt: skip
    _run(sources, arguments, config, load_id, json, dry_run=False)


def plan_load(
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
    config: ConfigFile = None,
    max_rejected: MaxRejected = None,
    load_id: LoadId = None,
    engine: Engine = None,
    master: Master = None,
    remote: Remote = None,
    staging: Staging = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a load would do, and write nothing.

    The whole input is read: the new tables and columns, the statements, the discards and the rejects
    are those that the load will have.
    """
    arguments = Config(
        to, dataset, dialect, name, table, mode, strategy, tuple(key or ()), tuple(merge_key or ()),
        schema, contract, settings_of(option), master, remote, engine, staging,
        format, settings_of(read_option, "--read-option", "sep=;", exact=True), max_rejected,
    )  # fmt: skip
    _run(sources, arguments, config, load_id, json, dry_run=True)


def _run(
    sources: list[str], arguments: Config, config: str | None, load_id: str | None, json: bool, dry_run: bool
) -> None:
    from trellis.cli.arguments import debug
    from trellis.cli.output.console import console, print_json, progress, quiet_children
    from trellis.cli.spark_start import start_engine

    settings = arguments.over(find_config(config))
    with quiet_children(bool(debug)):
        start_engine(settings, sources)
        from trellis.cli.output.load_report import show
        from trellis.cli.settings import LoadCommand

        work = LoadCommand.of(settings)
        with progress() as tell:
            report = work.run(sources, load_id, dry_run, tell)
    if json:
        print_json(report.to_dict())
    else:
        show(report, sources, console())


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
