"""`trellis table create|get|set|exists|list|copy|move|remove`: nodes and their attributes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from trellis.cli.arguments import HOW, OUTPUT, Debug, Json, option
from trellis.dialects.ytsaurus.commands.arguments import (
    At,
    Force,
    Recursive,
    TablePath,
    parse_map,
    parse_yson,
)
from trellis.dialects.ytsaurus.commands.reports import (
    open_store,
    print_report,
    print_value,
    standard_input,
)

ValueFormat = Annotated[
    str | None, option("--format", metavar="NAME", panel=OUTPUT, help="json or yson; default pretty YSON.")
]
Attributes = Annotated[
    list[str] | None,
    option(
        "--attribute",
        metavar="NAME",
        panel=OUTPUT,
        help="Print this attribute of nodes, too; again for more.",
    ),
]
IgnoreExisting = Annotated[
    bool, typer.Option("-i", "--ignore-existing", help="Keep what is there.", rich_help_panel=HOW)
]


def add_node_commands(tables: typer.Typer) -> None:
    """The commands below `trellis table`."""
    tables.command("create")(create_node)
    tables.command("get")(get_value)
    tables.command("set")(set_value)
    tables.command("exists")(check_existence)
    tables.command("list")(list_nodes)
    tables.command("copy")(copy_node)
    tables.command("move")(move_node)
    tables.command("remove")(remove_node)


def create_node(
    type: Annotated[str, typer.Argument(metavar="TYPE", help="table or map_node.", show_default=False)],
    path: TablePath,
    at: At,
    attributes: Annotated[
        str | None,
        option("--attributes", metavar="YSON", panel=HOW, help="Such as '{schema=[{name=k;type=int64}]}'."),
    ] = None,
    recursive: Recursive = False,
    ignore_existing: IgnoreExisting = False,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Create a table or a folder of tables, and print its id."""
    with open_store(at) as store:
        node_id = store.create(
            type,
            path,
            parse_map(attributes, "--attributes"),
            recursive=recursive,
            ignore_existing=ignore_existing,
            force=force,
        )
    print_report({"id": node_id}, node_id, json)


def get_value(
    path: TablePath,
    at: At,
    attribute: Attributes = None,
    format: ValueFormat = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Print an attribute, such as //home/t/@schema, or the tree of nodes."""
    from trellis.dialects.ytsaurus.store.attributes import get

    with open_store(at) as store:
        value = get(store, path, attribute or ())
    print_value(value, "json" if json else format)


def set_value(
    path: TablePath,
    at: At,
    value: Annotated[
        str | None,
        typer.Argument(metavar="VALUE", help="YSON; default standard input.", show_default=False),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Set an attribute, such as //home/t/@optimize_for."""
    from trellis.dialects.ytsaurus.store.attributes import set_attribute

    text = standard_input().read().decode() if value is None else value
    with open_store(at) as store:
        set_attribute(store, path, parse_yson(text.strip(), "the value"))
    print_report({"path": path}, "", json)


def check_existence(path: TablePath, at: At, json: Json = False, debug: Debug = False) -> None:
    """Print whether a node or an attribute is there."""
    from trellis.dialects.ytsaurus.store.attributes import exists

    with open_store(at) as store:
        answer = exists(store, path)
    print_report({"exists": answer}, "true" if answer else "false", json)


def list_nodes(
    path: TablePath,
    at: At,
    attribute: Attributes = None,
    absolute: Annotated[bool, option("--absolute", panel=HOW, help="Print whole paths.")] = False,
    format: ValueFormat = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the names of the nodes in a folder of tables."""
    from trellis.dialects.ytsaurus.store.attributes import list_children

    with open_store(at) as store:
        names = list_children(store, path, attribute or ())
    if absolute:
        names = [_absolute_path(path, name) for name in names]
    if json or format or attribute:
        print_value(names, "json" if json else format)
    else:
        typer.echo("".join(f"{name}\n" for name in names), nl=False)


def copy_node(
    source: TablePath,
    target: TablePath,
    at: At,
    recursive: Recursive = False,
    ignore_existing: IgnoreExisting = False,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Copy a table or a folder of tables; no data is read."""
    with open_store(at) as store:
        node_id = store.copy(
            source, target, recursive=recursive, ignore_existing=ignore_existing, force=force
        )
    print_report({"id": node_id}, "", json)


def move_node(
    source: TablePath,
    target: TablePath,
    at: At,
    recursive: Recursive = False,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Give a table or a folder of tables another path."""
    with open_store(at) as store:
        node_id = store.move(source, target, recursive=recursive, force=force)
    print_report({"id": node_id}, "", json)


def remove_node(
    path: TablePath,
    at: At,
    recursive: Recursive = False,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Remove a table, a folder of tables with -r, or an attribute that a user set."""
    from trellis.dialects.ytsaurus.store.attributes import remove

    with open_store(at) as store:
        remove(store, path, recursive=recursive, force=force)
    print_report({"path": path}, "", json)


def _absolute_path(folder: str, name: Any) -> Any:
    from trellis.dialects.ytsaurus.paths.node_path import escape_name
    from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes

    plain, attributes = split_attributes(name)
    path = f"{folder.rstrip('/') or '/'}/{escape_name(plain)}"
    return Attributed(path, attributes) if attributes else path
