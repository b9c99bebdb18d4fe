"""Loads of new files: what the destination remembers of them, whatever it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from destinations.conftest import merging
from trellis.destinations.base import StateConflict
from trellis.errors import UsageError
from trellis.pipelines.loading import new_files
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.pipelines.report import Report

RowsOf = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    return folder


@pytest.fixture
def shop(destination_url: str) -> Pipeline:
    return pipeline("shop", to=destination_url, engine="inline")


def write(raw: Path, name: str, *ids: int) -> Path:
    path = raw / name
    path.write_text("".join(f'{{"id": {number}}}\n' for number in ids))
    return path


def load(shop: Pipeline, raw: Path, **options: Any) -> Report:
    return shop.load(str(raw), table="t", new_only=True, **options)


def ids(rows_of: RowsOf, shop: Pipeline) -> list[int]:
    return sorted(row["id"] for row in rows_of(shop, "t", "id"))


def test_a_file_is_loaded_once(shop: Pipeline, raw: Path, rows_of: RowsOf) -> None:
    write(raw, "a.jsonl", 1, 2)
    first = load(shop, raw)
    assert first.notes[-1] == "1 of 1 files are new"
    write(raw, "b.jsonl", 3)
    second = load(shop, raw)
    assert (second.rows.read, second.notes[-1]) == (1, "1 of 2 files are new")
    third = load(shop, raw)
    assert (third.already_loaded, third.rows.read) == (True, 0)
    assert third.notes == ("no new files among 2; nothing was loaded",)
    assert ids(rows_of, shop) == [1, 2, 3]
    assert [(Path(file.path).name, file.size, file.table, file.load_id) for file in shop.loaded_files()] == [
        ("a.jsonl", 20, "t", first.load_id),
        ("b.jsonl", 10, "t", second.load_id),
    ]


def test_another_spelling_of_a_path_is_the_same_file(
    shop: Pipeline, raw: Path, rows_of: RowsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(raw, "a.jsonl", 1)
    load(shop, raw)
    monkeypatch.chdir(raw)
    for source in ("a.jsonl", "../raw/*.jsonl", ["./a.jsonl"], Path("a.jsonl")):
        assert shop.load(source, table="t", new_only=True).already_loaded
    assert ids(rows_of, shop) == [1]


def test_a_changed_file_is_named_and_loaded_again_on_request(
    shop: Pipeline, raw: Path, rows_of: RowsOf
) -> None:
    write(raw, "a.jsonl", 1)
    write(raw, "b.jsonl", 2)
    load(shop, raw)
    changed = write(raw, "a.jsonl", 1, 10)
    nothing, note = load(shop, raw).notes
    assert nothing == "no new files among 2; nothing was loaded"
    assert note == (
        f"1 file changed after the load, and the new content was not loaded: {changed}; load it with "
        "--reload-changed (reload_changed=True), best with the mode merge"
    )
    assert ids(rows_of, shop) == [1, 2]
    assert load(shop, raw, reload_changed=True).notes[-1] == "1 of 2 files are new or changed"
    assert ids(rows_of, shop) == [1, 1, 2, 10]
    assert load(shop, raw).notes == ("no new files among 2; nothing was loaded",)


def test_the_same_file_is_new_for_another_table(shop: Pipeline, raw: Path) -> None:
    write(raw, "a.jsonl", 1)
    load(shop, raw)
    assert shop.load(str(raw), table="u", new_only=True).rows.loaded == 1
    assert [file.table for file in shop.loaded_files()] == ["t", "u"]


def test_a_plan_records_nothing(shop: Pipeline, raw: Path) -> None:
    write(raw, "a.jsonl", 1)
    assert shop.plan(str(raw), table="t", new_only=True).rows.loaded == 1
    assert shop.loaded_files() == []
    assert load(shop, raw).rows.loaded == 1


def test_a_load_that_fails_records_nothing(shop: Pipeline, raw: Path, rows_of: RowsOf) -> None:
    write(raw, "a.jsonl", 1)
    load(shop, raw)
    (raw / "b.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(Exception, match="does not fit its column"):
        load(shop, raw, contract="freeze")
    write(raw, "b.jsonl", 2)
    assert load(shop, raw).notes[-1] == "1 of 2 files are new"
    assert ids(rows_of, shop) == [1, 2]


def test_of_two_loads_at_once_each_file_is_in_one(
    shop: Pipeline, raw: Path, rows_of: RowsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(raw, "a.jsonl", 1)
    load(shop, raw)
    write(raw, "b.jsonl", 2)
    read, others = new_files.read_file_log, iter([True])

    def read_before_another_load(pipeline: Pipeline, table: str) -> Any:
        log = read(pipeline, table)
        if next(others, False):
            load(shop, raw)
            write(raw, "c.jsonl", 3)
        return log

    monkeypatch.setattr(new_files, "read_file_log", read_before_another_load)
    assert load(shop, raw).notes[-1] == "1 of 3 files are new"
    assert ids(rows_of, shop) == [1, 2, 3]


def test_a_commit_that_chose_its_files_too_early_is_refused(
    shop: Pipeline, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(raw, "a.jsonl", 1)
    load(shop, raw)
    write(raw, "b.jsonl", 2)
    monkeypatch.setattr(new_files, "read_file_log", lambda *_: new_files.FileLog(()))
    with pytest.raises(
        StateConflict,
        match="table t: another load of new files committed meanwhile; nothing was loaded, load again",
    ):
        load(shop, raw)


def test_a_load_that_was_interrupted_is_completed_first(tmp_path: Path, raw: Path) -> None:
    shop = pipeline("shop", to=f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    write(raw, "a.jsonl", 1)
    first = load(shop, raw)
    with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:  # as a lake is after a kill: rows without a record
        db.execute("DELETE FROM main._dlt_loads")
    again = load(shop, raw)
    assert (again.load_id, again.notes[-1]) == (
        first.load_id, f"load {first.load_id}, which was interrupted, is complete now"
    )  # fmt: skip
    with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
        db.execute("DELETE FROM main._dlt_loads")
    write(raw, "b.jsonl", 2)
    after = load(shop, raw)
    assert after.load_id != first.load_id
    assert after.notes[-2:] == (again.notes[-1], "1 of 2 files are new")
    with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
        db.execute("DELETE FROM main._dlt_loads WHERE load_id = ?", [first.load_id])
    write(raw, "a.jsonl", 1, 10)
    with pytest.raises(UsageError, match=f"load {first.load_id} of this file was interrupted, and the file"):
        load(shop, raw)


def test_a_file_that_two_sources_name_is_loaded_once(shop: Pipeline, raw: Path, rows_of: RowsOf) -> None:
    path = write(raw, "a.jsonl", 1)
    assert shop.load([str(raw), str(path)], table="t", new_only=True).notes[-1] == "1 of 1 files are new"
    assert ids(rows_of, shop) == [1]


def test_an_empty_folder_is_no_error(shop: Pipeline, raw: Path) -> None:
    assert load(shop, raw).notes == ("no files there yet; nothing was loaded",)
    assert shop.load(f"{raw}/*.jsonl", new_only=True).rows.read == 0
    with pytest.raises(UsageError, match="no such file"):
        shop.load(f"{raw}/no.jsonl", new_only=True)


def test_what_new_files_cannot_be_loaded_with(shop: Pipeline, raw: Path, rows_of: RowsOf) -> None:
    write(raw, "a.jsonl", 1)
    load(shop, raw)
    write(raw, "b.jsonl", 2)
    with pytest.raises(UsageError, match="table t: the mode replace would delete the rows of the files"):
        load(shop, raw, mode="replace")
    with pytest.raises(UsageError, match="new_only is for files, and the source is a dict"):
        shop.load({"id": 1}, table="t", new_only=True)
    with pytest.raises(UsageError, match=r"table:raw\.events: new_only is for files that Trellis lists"):
        shop.load("table:raw.events", new_only=True)
    with pytest.raises(UsageError, match="reload_changed goes with new_only"):
        shop.load(str(raw), reload_changed=True)
    assert ids(rows_of, shop) == [1]


@merging
def test_a_merge_takes_new_files(shop: Pipeline, raw: Path, rows_of: RowsOf) -> None:
    write(raw, "a.jsonl", 1, 2)
    load(shop, raw, mode="merge", keys="id")
    write(raw, "b.jsonl", 2, 3)
    os.utime(raw / "a.jsonl", ns=(0, 0))
    report = load(shop, raw, reload_changed=True)
    assert report.notes[-1] == "2 of 2 files are new or changed"
    assert ids(rows_of, shop) == [1, 2, 3]
