"""What must hold of every load: both ways agree, the division does not matter, rows balance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import trellis.engine.conform.learned
import trellis.engine.input.blocks
import trellis.pipelines.records
from trellis.engine.records.files import FileRecords
from trellis.generate import generate
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report

BOOKKEEPING = ("_dlt_load_id",)


def write(path: Path, lines: list[bytes]) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def load(folder: Path, name: str, source: Any, **options: Any) -> tuple[Pipeline, Report]:
    shop = Pipeline("shop", f"duckdb:{folder / name}.duckdb")
    return shop, shop.load(source, table="events", load_id="1", **options)


def content(shop: Pipeline, ids: bool = True) -> dict[str, list[str]]:
    """Every data table as sorted text, without what differs by its nature."""
    drop = BOOKKEEPING if ids else (*BOOKKEEPING, "_dlt_id", "_dlt_parent_id", "_dlt_root_id")
    rows_by_table = {}
    with duckdb.connect(shop.to.removeprefix("duckdb:")) as db:
        db.execute("SET TimeZone = 'UTC'")
        for (table,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            if not table.startswith("_"):
                rows = db.sql('SELECT * FROM "' + table.replace('"', '""') + '"').to_arrow_table().to_pylist()
                rows_by_table[table] = sorted(
                    json.dumps({k: v for k, v in row.items() if k not in drop}, default=str) for row in rows
                )
    return rows_by_table


@pytest.mark.parametrize("profile", ["flat", "shop", "github", "wide", "nasty"])
def test_the_columnar_way_gives_what_the_exact_way_gives(
    tmp_path: Path, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trellis.engine.input.blocks, "BLOCK", 20_000)
    monkeypatch.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 20_000)
    source = write(tmp_path / "x.jsonl", list(generate(400, seed=3, profile=profile)))
    fast, report = load(tmp_path, "fast", source)
    monkeypatch.setattr(trellis.engine.conform.learned, "layout_of", lambda root: None)
    exact, told_exact = load(tmp_path, "exact", source)
    assert fast.schema.stored_hash == exact.schema.stored_hash
    assert content(fast) == content(exact)
    assert report.rows == told_exact.rows
    assert report.balanced
    assert (report.discards, report.rejects) == (told_exact.discards, told_exact.rejects)


def test_most_of_a_clean_file_goes_the_columnar_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trellis.engine.input.blocks, "BLOCK", 20_000)
    walked = []
    exact = trellis.engine.conform.learned.LearnedConformer._one_by_one
    monkeypatch.setattr(
        trellis.engine.conform.learned.LearnedConformer,
        "_one_by_one",
        lambda self, work, chosen: walked.append(len(chosen)) or exact(self, work, chosen),
    )
    monkeypatch.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 20_000)
    source = write(tmp_path / "x.jsonl", list(generate(4000, seed=3, profile="flat")))
    _, report = load(tmp_path, "flat", source)
    assert report.rows.loaded == 4000
    assert sum(walked) < 150  # the first block, of which the layout is learned


@pytest.mark.parametrize("profile", ["shop", "github", "nasty"])
@pytest.mark.parametrize("files", [1, 20])
@pytest.mark.parametrize("split", [1 << 20, 5_000])
def test_the_division_of_the_input_changes_nothing(
    tmp_path: Path, profile: str, files: int, split: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list(generate(300, seed=5, profile=profile))
    whole, one = load(tmp_path, "whole", write(tmp_path / "whole.jsonl", lines))
    size = -(-len(lines) // files)
    for number in range(files):
        write(tmp_path / f"part-{number:02d}.jsonl", lines[number * size : (number + 1) * size])
    monkeypatch.setattr(
        trellis.pipelines.records,
        "FileRecords",
        lambda files, runner, storage: FileRecords(files, runner, storage, split),
    )
    monkeypatch.setattr(trellis.engine.input.blocks, "BLOCK", 3_000)
    monkeypatch.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 1_000)
    parts, many = load(tmp_path, "parts", str(tmp_path / "part-*.jsonl"))
    assert parts.schema.stored_hash == whole.schema.stored_hash
    assert content(parts, ids=False) == content(whole, ids=False)
    assert (many.rows, many.rejects, many.discards) == (one.rows, one.rejects, one.discards)


@pytest.mark.parametrize("profile", ["shop", "github"])
def test_loading_the_parts_one_after_the_other_gives_the_same_columns(tmp_path: Path, profile: str) -> None:
    lines = list(generate(300, seed=6, profile=profile))
    whole, _ = load(tmp_path, "whole", write(tmp_path / "whole.jsonl", lines))
    parts = Pipeline("shop", f"duckdb:{tmp_path}/parts.duckdb")
    for number in range(3):
        parts.load(
            write(tmp_path / f"{number}.jsonl", lines[number * 100 : number * 100 + 100]), table="events"
        )
    tables = {name: list(table.columns) for name, table in whole.schema.tables.items()}
    assert {name: list(table.columns) for name, table in parts.schema.tables.items()} == tables


KEYS = st.sampled_from(
    ["a", "A", "b", "a_b", "aB", "_dlt_id", "x y", "", "é", '"; drop table x; --', "value", "list"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "x", "1", "2.5", "true", "2024-05-06T01:02:03Z", "2024-05-06", "\x00", "日本", "0x1f"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.dictionaries(KEYS, VALUES, max_size=4)
BAD_LINES = st.sampled_from(
    [b"{", b"nope", b"5", b"[1]", b'{"a":1}{"a":2}', b'{"a":NaN}', b"\xff", b'{"a":"\\ud800"}']
)
LINES = st.lists(RECORDS.map(lambda record: json.dumps(record).encode()) | BAD_LINES, max_size=12)


@settings(max_examples=40)
@given(lines=LINES, contract=st.sampled_from([None, "discard_row", "discard_value"]))
def test_rows_balance_for_any_records(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], contract: str | None
) -> None:
    folder = tmp_path_factory.mktemp("balance")
    half = len(lines) // 2
    try:
        _, first = load(folder, "x", write(folder / "1.jsonl", lines[:half]), max_rejected="100%")
        shop = Pipeline("shop", f"duckdb:{folder / 'x'}.duckdb")
        report = shop.load(
            write(folder / "2.jsonl", lines[half:]), table="events", contract=contract, max_rejected="100%"
        )
    except trellis.errors.ContractError as error:
        assert "column" in str(error) or "null" in str(error)
        return
    assert first.balanced and report.balanced
    assert report.rows.read == len(lines) - half
    counts = shop.destination.row_counts("main")
    assert counts.get("events", 0) == first.rows.loaded + report.rows.loaded
    assert counts["_trellis_rejects"] == first.rows.rejected + report.rows.rejected


@settings(max_examples=40)
@example(records=[{"a": 1, "_dlt_id": "x"}, {"a": 2, "_dlt_id": None}])
@given(records=st.lists(RECORDS, min_size=1, max_size=8))
def test_items_in_memory_load_as_the_same_records_in_a_file(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("items")
    lines = [orjson_line(record) for record in records]
    try:
        file, _ = load(folder, "file", write(folder / "1.jsonl", lines))
    except trellis.errors.ContractError:
        with pytest.raises(trellis.errors.ContractError):
            load(folder, "items", records)
        return
    items, _ = load(folder, "items", records)
    assert items.schema.stored_hash == file.schema.stored_hash
    assert content(items, ids=False) == content(file, ids=False)


def orjson_line(record: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(record)
    except TypeError:
        return json.dumps(record).encode()
