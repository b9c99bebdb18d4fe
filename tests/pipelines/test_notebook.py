"""What a notebook and a prompt show of pipelines, schemas and reports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from trellis.pipelines.pipeline import pipeline
from trellis.schema.model import Column, Schema, Table

HOSTILE = "<script>alert(1)</script>"


def test_short_representations(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    shop.load([{f"column_{number}": number for number in range(300)}], table="wide")
    assert repr(shop) == f"Pipeline('shop', 'duckdb:{tmp_path}/shop.duckdb', dataset='main', dialect='dlt')"
    assert repr(shop.schema) == (
        "Schema('shop', version=2, tables=[_dlt_version, _dlt_loads, _dlt_pipeline_state, wide])"
    )
    assert (
        repr(shop.read("wide")) == "StoredTable(name='wide', load_id=None, nested=False, system_columns=True)"
    )


def test_no_password_is_shown() -> None:
    to = "postgresql://me:secret@localhost:1/shop"
    assert "secret" not in repr(pipeline("shop", to, engine="inline"))


def test_a_schema_as_html() -> None:
    schema = Schema("shop", {"t": Table("t", {"<b>": Column("<b>", "text", nullable=False)})})
    assert schema._repr_html_() == (
        "<p>schema shop, not stored</p><table><thead><tr><th>Table</th><th>Column</th><th>Type</th>"
        "<th>Null</th></tr></thead><tbody><tr><td>t</td><td>&lt;b&gt;</td><td>text</td><td>no</td></tr>"
        "</tbody></table>"
    )


def test_a_report_and_a_plan_as_html(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline", naming="direct")
    (tmp_path / "t.jsonl").write_text(f'{{"id": 1, "{HOSTILE}": 2}}\nno json\n')
    plan = shop.plan(str(tmp_path / "t.jsonl"))._repr_html_()
    assert plan.startswith("<p>plan of a load into duckdb:")
    assert "CREATE TABLE" in plan
    report = shop.load(str(tmp_path / "t.jsonl"), load_id="first")._repr_html_()
    assert report.startswith("<p>load first into duckdb:")
    assert "<tr><td>t</td><td>1</td><td></td><td>new</td></tr>" in report
    assert "<tr><td>1</td><td>rejected</td><td>not JSON</td></tr>" in report
    assert report.endswith("<p>rows in 2 = loaded 1 + rejected 1 + dropped 0</p>")
    for shown in (plan, report, shop.schema._repr_html_()):
        assert HOSTILE not in shown
    assert "&lt;script&gt;" in shop.schema._repr_html_()


NOTEBOOK = """
import duckdb, trellis
shop = trellis.pipeline("shop", to, engine="inline")
shop.load([{"id": 1, "price": 5}, {"id": 2}], table="orders", mode="merge", keys="id")
print(shop.load([{"id": 2, "price": 7}], table="orders", mode="merge", keys="id").rows.loaded)
print(shop.read("orders").arrow().num_rows)
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.Error as error:
    print("ipywidgets" in str(error))
"""
"""DuckDB takes a process without a main file, in which IPython says that it is a kernel, for a notebook."""


def test_a_notebook_without_widgets(tmp_path: Path) -> None:
    kernel = tmp_path / "packages" / "IPython.py"
    kernel.parent.mkdir()
    kernel.write_text("class Shell:\n    config = {'IPKernelApp': {}}\n\n\nget_ipython = Shell\n")
    (kernel.parent / "ipywidgets.py").write_text("raise ImportError('no widgets')\n")
    paths = os.pathsep.join([str(kernel.parent), *filter(None, sys.path)])
    program = f"import IPython\nto = 'duckdb:{tmp_path}/shop.duckdb'\n{NOTEBOOK}"
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "1\n2\nTrue\n", "")


def test_changes_of_a_wide_table_are_short(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    report = shop.load([{f"column_{number}": number for number in range(300)}], table="wide")
    names = "[column_0, column_1, column_2, column_3, column_4, ...]"
    assert repr(report.changes) == (f"(AddTable(definition=Table('wide', columns={names}), breaking=False),)")
    assert repr(report.tables) == f"(TableReport('wide', rows=1, created=True, columns_added={names}),)"
    assert "  wide: 1 row (new)" in str(report).splitlines()
