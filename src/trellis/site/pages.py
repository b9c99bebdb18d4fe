"""The pages of a dataset, written into a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.destinations import open_destination
from trellis.dialects import DEFAULT_DIALECT, get_dialect
from trellis.errors import DestinationError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.read import dialect_of
from trellis.site import diagram
from trellis.site.content import DatasetPages, read_pages

if TYPE_CHECKING:
    from jinja2 import Environment

SCAN_ROWS = 1_000_000
TEMPLATES = Path(__file__).parent / "templates"
EXAMPLE = 200
"""Letters of an example that are shown."""


def write_docs(to: str, out: str | Path, *, dataset: str | None = None, scan_rows: int = SCAN_ROWS) -> Path:
    """Write pages about a dataset into a folder, and give the path of the first one.

    Nulls are counted in tables of up to `scan_rows` rows. Pages of an earlier call are replaced. Raises
    UsageError where the dataset holds no schema, DestinationError.

        trellis.write_docs("duckdb:shop.duckdb", "site")
    """
    destination = open_destination(to)
    name = destination.abilities.default_dataset if dataset is None else dataset
    dialect = dialect_of(destination, name) or DEFAULT_DIALECT
    stored = destination.history(name, get_dialect(dialect).metadata.tables())
    if not stored:
        raise UsageError(f"{destination.url}, dataset {name}: holds no schema yet; load something into it")
    pipeline = Pipeline(str(stored[-1]["schema_name"]), to, name, dialect)
    return write_pages(read_pages(pipeline, scan_rows), Path(out))


def write_pages(pages: DatasetPages, folder: Path) -> Path:
    """Write the pages, and give the path of the first one. Raises DestinationError."""
    templates, files = _templates(), table_files(table.name for table in pages.tables)
    shared = {"pages": pages, "files": files, "diagram": diagram.draw_diagram(pages.tables)}
    texts = {
        f"{name}.html": templates.get_template(f"{name}.html").render(shared, page=f"{name}.html")
        for name in ("index", "history", "left_out")
    }
    for table in pages.tables:
        texts[files[table.name]] = templates.get_template("table.html").render(shared, page="", table=table)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("table-*.html"):
            path.unlink()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as bad:
        raise DestinationError(
            f"{folder}: the pages cannot be written ({bad.strerror or bad}); name another folder with --out"
        ) from None
    return folder / "index.html"


def table_files(names: Iterable[str]) -> Mapping[str, str]:
    """The file of each table's page; of names that differ in case or signs only, each has its own.

    >>> table_files(["orders", "Orders", "a/b"])
    {'orders': 'table-orders.html', 'Orders': 'table-Orders-2.html', 'a/b': 'table-a-b.html'}
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:100]
        file, number = stem, 1
        while file.lower() in taken:
            number += 1
            file = f"{stem}-{number}"
        taken.add(file.lower())
        files[name] = f"table-{file}.html"
    return files


def _templates() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise UsageError(
            "the pages are made with Jinja2, which is not installed; pip install 'trellis-spark[docs]'"
        ) from None
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["time"] = _time
    templates.filters["number"] = lambda number: f"{number:,}"
    templates.filters["example"] = lambda text: diagram.shortened(text, EXAMPLE)
    templates.filters["shortened"] = diagram.shortened
    templates.globals["layout"] = diagram
    return templates


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""
