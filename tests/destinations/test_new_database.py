"""A DuckDB file that two processes make at one moment: what the first commits stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from trellis.destinations.scan.connections import connect_to

Make = Callable[[str], duckdb.DuckDBPyConnection]


@pytest.fixture
def another_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a process has seen that there is no file, another one makes it, commits a table and lets go."""
    look = os.path.exists

    def look_and_lose(path: str) -> bool:
        is_there = look(path)
        if path.endswith(".duckdb") and not is_there:
            with duckdb.connect(path) as other:
                other.execute("CREATE TABLE theirs AS SELECT 1 AS n")
        return is_there

    monkeypatch.setattr("os.path.exists", look_and_lose)


@pytest.mark.usefixtures("another_is_first")
def test_what_another_process_commits_meanwhile_stays(tmp_path: Path) -> None:
    with connect_to(f"{tmp_path}/shop.duckdb") as db:
        assert db.execute("SELECT n FROM theirs").fetchall() == [(1,)]
    assert [path.name for path in tmp_path.iterdir()] == ["shop.duckdb"]


def test_a_new_file_is_complete_when_it_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_name = os.link
    seen: list[list[tuple[str]]] = []

    def give_name_and_look(source: str, target: str) -> None:
        give_name(source, target)
        with duckdb.connect(target, read_only=True) as other:
            seen.append(other.execute("SHOW TABLES").fetchall())

    monkeypatch.setattr("os.link", give_name_and_look)
    connect_to(f"{tmp_path}/shop.duckdb").close()
    assert seen == [[]]


def test_a_file_where_a_link_points(tmp_path: Path) -> None:
    (tmp_path / "shop.duckdb").symlink_to(tmp_path / "disk.duckdb")
    connect_to(f"{tmp_path}/shop.duckdb").close()
    assert (tmp_path / "shop.duckdb").is_symlink()
    assert (tmp_path / "disk.duckdb").stat().st_size > 0
    assert len([*tmp_path.iterdir()]) == 2


def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(1, "Operation not permitted", source)

    monkeypatch.setattr("os.link", refuse)
    with connect_to(f"{tmp_path}/shop.duckdb") as db:
        db.execute("CREATE TABLE t AS SELECT 1 AS n")
        assert [path.name for path in tmp_path.glob("*.new")] == []
    assert (tmp_path / "shop.duckdb").exists()


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(duckdb.IOException, match=r'"[^"]*/none/shop\.duckdb"'):
        connect_to(f"{tmp_path}/none/shop.duckdb")


def test_the_log_of_a_database_that_was_removed(tmp_path: Path) -> None:
    """DuckDB drops it together with making the file; it belongs to no other one."""
    (tmp_path / "shop.duckdb.wal").write_bytes(b"of another file")
    with connect_to(f"{tmp_path}/shop.duckdb") as db:
        assert db.execute("SHOW TABLES").fetchall() == []
    assert [path.name for path in tmp_path.iterdir()] == ["shop.duckdb"]
