"""`trellis registry`: a server of schemas, and tools for them."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.arguments import HOW, OUTPUT, WHERE, Debug, Json, option

registry = typer.Typer(
    name="registry",
    help="Schemas of Snowplow: serve and publish them, check them, see their tables, find the version of a "
    "change.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
At = Annotated[
    str,
    option(
        "--at",
        metavar="REGISTRY",
        panel=WHERE,
        help="URL, sqlite:FILE, postgresql://..., folder of schemas (VENDOR/NAME/FORMAT/VERSION), or "
        "resolver configuration file.",
    ),
]
Server = Annotated[
    str,
    option("--at", metavar="REGISTRY", panel=WHERE, help="URL of a server, sqlite:FILE or postgresql://..."),
]
AssumeOrder = Annotated[
    bool,
    option(
        "--assume-schemaver-order",
        panel=HOW,
        help="Order versions by number where their order is not known; columns may then be in another order "
        "than in your tables.",
    ),
]
Profiles = Annotated[
    list[str] | None,
    option(
        "--profile",
        metavar="NAME",
        panel=HOW,
        help="Warehouse whose tables count: redshift, postgres or spark; again for more; default "
        "redshift and spark.",
    ),
]


@registry.command("serve")
def serve_registry(
    store: Annotated[
        str,
        option(
            "--store", metavar="STORE", panel=WHERE, help="sqlite:FILE or postgresql://..., made if absent."
        ),
    ],
    port: Annotated[int, option("--port", metavar="N", panel=WHERE, help="Port, default 8081.")] = 8081,
    host: Annotated[
        str, option("--host", metavar="ADDRESS", panel=WHERE, help="Address, default 127.0.0.1.")
    ] = "127.0.0.1",
    evolution: Annotated[
        str,
        option(
            "--evolution",
            metavar="MODE",
            panel=HOW,
            help="Refuse versions whose changes need another kind: strict (default), model-only or off.",
        ),
    ] = "strict",
    succession: Annotated[
        str,
        option(
            "--succession",
            metavar="MODE",
            panel=HOW,
            help="registry-order (default), or sequential: a revision gets no additions once another one "
            "follows.",
        ),
    ] = "registry-order",
    patches: Annotated[
        bool, option("--patches", panel=HOW, help="Let schemas that exist be changed and deleted.")
    ] = False,
    profile: Profiles = None,
    webhook: Annotated[
        list[str] | None,
        option(
            "--webhook",
            metavar="[PREFIX,...=]URL",
            panel=HOW,
            help="POST each published schema's key to a URL; again for more.",
        ),
    ] = None,
    hsts: Annotated[
        bool, option("--hsts", panel=HOW, help="Tell browsers to use HTTPS alone, as a proxy before it does.")
    ] = False,
    warehouse: Annotated[
        str | None,
        option(
            "--warehouse",
            metavar="DEST",
            panel=HOW,
            help="Show on pages the tables and failed events of duckdb:PATH, delta:PATH or postgresql://...",
        ),
    ] = None,
    dataset: Annotated[
        str, option("--dataset", metavar="NAME", panel=HOW, help="Schema of these tables, default atomic.")
    ] = "atomic",
    next_registry: Annotated[
        str | None,
        option("--next", metavar="URL", panel=HOW, help="Let pages promote schemas to another registry."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Serve a registry over HTTP: Iglu's API below /api, and pages."""
    import warnings

    from trellis.dialects.snowplow.commands.serve import open_service

    loaded = (warehouse, dataset) if warehouse else None
    service = open_service(
        store, evolution, succession, patches, profile, webhook, hsts, loaded, next_registry
    )
    from trellis.dialects.snowplow.registry.http.server import serve
    from trellis.dialects.snowplow.registry.store.database import redact

    if not service.store.has_super_key():
        make_one = f"make one with: trellis registry keygen --super --at {redact(store)}"
        warnings.warn(f"no key may change schemas yet; {make_one}", stacklevel=1)

    def show_url(url: str) -> None:
        typer.echo(f"registry at {url}, stored in {redact(store)}; end it with Ctrl-C")

    serve(service, host, port, show_url)


@registry.command("keygen")
def make_keys(
    at: Server,
    vendor: Annotated[
        str | None,
        option("--vendor", metavar="PREFIX", panel=HOW, help="Make a key that reads and one that writes."),
    ] = None,
    super_key: Annotated[
        bool, option("--super", panel=HOW, help="Make a key that may do everything; in a store alone.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Make keys. They are shown this once; the registry stores their hashes."""
    from trellis.cli.output.console import print_json
    from trellis.dialects.snowplow.commands.serve import make_keys

    keys = make_keys(at, vendor, super_key=super_key)
    if json:
        print_json(keys)
    else:
        typer.echo("\n".join(f"{name:5} {key}" for name, key in keys.items()))


@registry.command("push")
def push_schemas(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Schemas.", show_default=False)],
    at: Server,
    public: Annotated[bool, option("--public", panel=HOW, help="Let all read them.")] = False,
    assume_order: AssumeOrder = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Publish the schemas of a folder in their order. Ends with 1 if one is refused."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.transfer import push_folder

    report = push_folder(folder, at, public=public, assume_order=assume_order)
    if json:
        print_json(report.to_dict())
    else:
        report.show(console())
    if report.refused:
        raise typer.Exit(1)


@registry.command("pull")
def pull_schemas(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A new folder.", show_default=False)],
    at: Server,
    force: Annotated[bool, option("--force", panel=HOW, help="Write over files that are there.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Copy the schemas of a server, with the order and times of their creation."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.transfer import pull_registry

    report = pull_registry(at, folder, force=force)
    if json:
        print_json(report.to_dict())
    else:
        report.show(console())


@registry.command("lint")
def lint_schemas(
    at: At,
    skip: Annotated[
        list[str] | None,
        option(
            "--skip", metavar="LINTER", panel=HOW, help="A linter of warnings to leave out; again for more."
        ),
    ] = None,
    info: Annotated[bool, option("--info", panel=OUTPUT, help="List remarks of level INFO, too.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Check every schema. Ends with 1 if one has an error that keeps it from being published."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.lint import lint_registry

    report = lint_registry(at, skip or ())
    if json:
        print_json(report.to_dict())
    else:
        report.show(console(), with_info=info)
    if report.count("ERROR"):
        raise typer.Exit(1)


@registry.command("ddl")
def show_ddl(
    at: At,
    target: Annotated[
        str, option("--target", metavar="NAME", panel=HOW, help="Warehouse: redshift, postgres or spark.")
    ],
    schemas: Annotated[
        str | None,
        typer.Argument(
            metavar="SCHEMA",
            help="com.acme/event, or com.acme/event/1-1-0 for its versions until that one; default all.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        option("--from", metavar="VERSION", panel=HOW, help="Show the scripts from this version instead."),
    ] = None,
    dataset: Annotated[
        str, option("--dataset", metavar="NAME", panel=HOW, help="Schema of the tables, default atomic.")
    ] = "atomic",
    layout: Annotated[
        str,
        option(
            "--layout",
            metavar="NAME",
            panel=HOW,
            help="model (default): a table for each family; wide: columns of the table of events, for spark.",
        ),
    ] = "model",
    compat: Annotated[
        bool, option("--compat", panel=HOW, help="Repeat what Snowplow's own tools do wrong.")
    ] = False,
    assume_order: AssumeOrder = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the statements that create the tables of schemas, or bring them to a later version."""
    from trellis.cli.output.console import print_json
    from trellis.dialects.snowplow.client.locator import open_registry
    from trellis.dialects.snowplow.client.selection import Selection, parse_version
    from trellis.dialects.snowplow.columns.profiles import get_profile
    from trellis.dialects.snowplow.ddl.rendering import report_dict
    from trellis.dialects.snowplow.ddl.wide_rendering import rendering_of
    from trellis.errors import UsageError

    source = open_registry(at, assume_order=assume_order)
    selection = Selection.parse(schemas) if schemas else Selection()
    families = selection.read(source)
    if schemas and not families:
        raise selection.unknown(source)
    overlays = {family: overlay for family in families if (overlay := source.overlay(family))}
    rendering = rendering_of(layout, get_profile(target), dataset, compat, overlays)
    tables = rendering.tables(families)
    scripts = [*rendering.scripts(families.values(), parse_version(start))] if start else []
    if start and not scripts:
        raise UsageError(f"--from: none of these schemas has a version {start}")
    if json:
        print_json(report_dict(tables, scripts))
    else:
        typer.echo("\n".join(report.sql for report in (scripts if start else tables)), nl=False)


@registry.command("suggest")
def suggest_number(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The new schema.", show_default=False)],
    at: At,
    profile: Profiles = None,
    base: Annotated[
        str | None,
        option("--from", metavar="VERSION", panel=HOW, help="Version to compare with, default the greatest."),
    ] = None,
    assume_order: AssumeOrder = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the smallest version that the changes of a schema may have, and say why."""
    from trellis.cli.output.console import console, print_json
    from trellis.dialects.snowplow.commands.suggest import SuggestionReport

    report = SuggestionReport.of(file, at, profile, base, assume_order=assume_order)
    if json:
        print_json(report.to_dict())
    else:
        report.show(console())
