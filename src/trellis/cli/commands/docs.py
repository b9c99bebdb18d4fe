"""`trellis docs`: a dataset as a folder of pages."""

from __future__ import annotations

from typing import Annotated

from trellis.cli.arguments import OUTPUT, At, Dataset, Debug, Json, option


def write_pages(
    at: At = None,
    out: Annotated[
        str, option("--out", metavar="DIR", panel=OUTPUT, help="Folder for the pages, default docs-site.")
    ] = "docs-site",
    dataset: Dataset = None,
    scan_rows: Annotated[
        int,
        option("--scan-rows", metavar="N", help="Count nulls in tables of up to N rows, default 1,000,000."),
    ] = 1_000_000,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write pages about a dataset: tables, an ERD, the history, and what was left out.

    They are plain HTML without scripts, and work from the folder as from any web server.
    """
    from trellis.cli.output.console import console, print_json
    from trellis.errors import UsageError
    from trellis.pipelines.config import Config, find_config
    from trellis.site.pages import write_docs

    config = Config(to=at, dataset=dataset).over(find_config())
    if config.to is None:
        raise UsageError("missing option --to: name the destination, such as --to duckdb:shop.duckdb")
    first = write_docs(config.to, out, dataset=config.dataset, scan_rows=scan_rows)
    if json:
        print_json({"index": str(first)})
    else:
        console().print(f"{first}: open it in a browser", soft_wrap=True)
