"""What `import trellis` gives: the names that the documentation uses, and values that print shortly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from doc_blocks import PAGES
from trellis.pipelines.pipeline import pipeline

CALLED = re.compile(r"\btrellis((?:\.[a-z_]\w*)+)\(")


def test_every_function_that_a_page_calls_is_there_after_the_import() -> None:
    called = {match[1] for page in PAGES for match in CALLED.finditer(page.read_text(encoding="utf-8"))}
    assert {".inspect", ".drift", ".pipeline", ".replay_discards"} <= called
    code = "import operator, sys, trellis\nfor name in sys.argv[1:]: operator.attrgetter(name[1:])(trellis)"
    done = subprocess.run(
        [sys.executable, "-c", code, *sorted({*called, ".generate.write"})],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_report_of_a_wide_load_prints_on_one_line(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    record = {f"column_{number}": number for number in range(300)}
    report = shop.load([record] * 2, table="wide", load_id="first")
    assert repr(report) == (
        f"Report(load_id='first', destination='duckdb:{tmp_path}/shop.duckdb', dataset='main', "
        "rows=Counts(read=2, loaded=2, rejected=0, dropped=0, failed=0), tables={wide: 2})"
    )
