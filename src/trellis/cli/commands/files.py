"""`trellis files`: which files loads with --new-only brought, and which of a folder are new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trellis.cli.arguments import At, Dataset, Debug, Dialect, Json, Table, option

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.pipelines.loading.new_files import ListedFile, LoadedFile

STYLES = {"new": "green", "loaded": "", "changed": "yellow"}


def show_files(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Show the state of these files.", show_default=False),
    ] = None,
    at: At = None,
    dataset: Dataset = None,
    table: Table = None,
    dialect: Dialect = None,
    most: Annotated[int, option("--limit", metavar="N", help="Newest files to show, default 20.")] = 20,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the files that loads with --new-only brought into a dataset.

    With sources: whether each of their files is new, loaded, or changed after the load.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.cli.settings import open_pipeline
    from trellis.errors import UsageError
    from trellis.pipelines.config import Config, find_config
    from trellis.pipelines.loading.new_files import list_states

    config = Config(to=at, dataset=dataset, table=table, dialect=dialect).over(find_config())
    if config.to is None:
        raise UsageError("missing option --to: name the destination, such as --to duckdb:shop.duckdb")
    pipeline = open_pipeline(config)
    if sources:
        listed = list_states(pipeline, sources, config.table)
        if json:
            print_json({"files": [_state_object(file) for file in listed]})
        else:
            _show_states(listed, console())
        return
    loaded = [file for file in pipeline.loaded_files() if config.table in (None, file.table)]
    if json:
        print_json({"files": [_file_object(file) for file in loaded]})
    else:
        _show_loaded(loaded, most, console())


def _show_states(listed: list[ListedFile], out: Console) -> None:
    from rich.text import Text

    from trellis.cli.output.console import cut, grid, indented

    table = grid("File", "Bytes", "State", "Loaded (UTC)", right=("Bytes",))
    for file in listed:
        loaded_at = f"{file.last.loaded_at:%Y-%m-%d %H:%M:%S}" if file.last else ""
        state = Text(file.state, style=STYLES[file.state])
        table.add_row(cut(file.name, 60), f"{file.version.size:,}", state, loaded_at)
    out.print(indented(table) if listed else "no files there")


def _show_loaded(files: list[LoadedFile], most: int, out: Console) -> None:
    from trellis.cli.output.console import counted, cut, grid, indented

    if not files:
        out.print("no files recorded; trellis load --new-only records them")
        return
    table = grid("File", "Bytes", "Table", "Loaded (UTC)", "Load", right=("Bytes",))
    for file in sorted(files, key=lambda file: file.loaded_at, reverse=True)[:most]:
        loaded_at = f"{file.loaded_at:%Y-%m-%d %H:%M:%S}"
        table.add_row(cut(file.path, 60), f"{file.size:,}", file.table, loaded_at, file.load_id)
    out.print(indented(table))
    if len(files) > most:
        out.print(f"  and {counted(len(files) - most, 'file')} more; --limit shows more")


def _state_object(file: ListedFile) -> dict[str, Any]:
    version, last = file.version, file.last
    return {
        "name": file.name,
        "path": version.path,
        "size": version.size,
        "modified_at": version.modified_at.isoformat(),
        "state": file.state,
        "load_id": last.load_id if last else None,
        "loaded_at": last.loaded_at.isoformat() if last else None,
    }


def _file_object(file: LoadedFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "size": file.size,
        "modified_at": file.modified_at.isoformat(),
        "table": file.table,
        "load_id": file.load_id,
        "loaded_at": file.loaded_at.isoformat(),
    }
