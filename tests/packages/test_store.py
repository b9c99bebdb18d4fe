"""The files of pending loads: whole or not there, of one pipeline, and never executed."""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trellis
from packages.commits import refuse
from packages.sample import sample
from trellis.errors import DestinationError
from trellis.pipelines.packages import Package, Packages
from trellis.pipelines.pipeline import Pipeline

LOAD = "1715000000.000001"
DISCARD = "discard it with `trellis drop --pending` (in Python: drop_pending())"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the staged files of all loads."""
    folder = tmp_path / "staging"
    folder.mkdir()
    return folder


def packages(home: Path, pipeline: str = "shop") -> Packages:
    return Packages(home / "pending", pipeline)


def staged(home: Path, load_id: str = LOAD, pipeline: str = "shop") -> Package:
    """A package whose staged files are there."""
    staging = home / load_id.replace(".", "%2E")
    package = sample(str(staging), load_id, pipeline)
    for file in package.commit.files["orders"]:
        Path(file.path).parent.mkdir(parents=True, exist_ok=True)
        Path(file.path).write_bytes(b"rows")
    (staging / "_owner").write_text("{}")
    return package


def file_of(home: Path, name: str = f"shop-{LOAD}") -> Path:
    file = home / "pending" / f"{name}.package"
    file.parent.mkdir(exist_ok=True)
    return file


def refusal(home: Path) -> str:
    with pytest.raises(DestinationError) as refused:
        packages(home).oldest()
    assert refused.value.exit_code == 3
    return str(refused.value)


def test_a_package_is_kept_until_it_is_done(home: Path) -> None:
    package = staged(home)
    packages(home).keep(package)
    assert os.listdir(home / "pending") == [f"shop-{LOAD}.package"]
    assert sorted(os.listdir(home / "1715000000%2E000001")) == ["1", "orders"]
    assert packages(home).oldest() == package
    packages(home).done(package)
    assert packages(home).oldest() is None
    assert sorted(os.listdir(home)) == ["pending"]


def test_the_oldest_comes_first_and_all_can_be_dropped(home: Path) -> None:
    first, second = staged(home, "1715000000.1"), staged(home, "1715000000.2")
    for package in (second, first):
        packages(home).keep(package)
    assert packages(home).oldest() == first
    assert packages(home).drop() == 2
    assert sorted(os.listdir(home)) == ["pending"]
    assert packages(home).drop() == 0


def test_a_pipeline_whose_name_begins_alike_has_packages_of_its_own(home: Path) -> None:
    other = staged(home, LOAD, "shop-eu")
    packages(home, "shop-eu").keep(other)
    assert packages(home).oldest() is None
    assert packages(home).drop() == 0
    assert packages(home, "shop-eu").oldest() == other
    assert packages(home, "[s]hop-eu").oldest() is None


def test_a_load_id_may_be_any_text(home: Path) -> None:
    package = sample(str(home / "a%2F%2E%2E%2Fb%25"), "a/../b%")
    packages(home).keep(
        Package(package.commit.__class__(**{**vars(package.commit), "files": {}}), package.report)
    )
    assert os.listdir(home / "pending") == ["shop-a%2F..%2Fb%25.package"]
    kept = packages(home).oldest()
    assert kept is not None
    assert kept.commit.load_id == "a/../b%"
    assert packages(home).drop() == 1


# --- what is no package


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, (f"touch {os.environ['TRELLIS_BOMB']}",)


@pytest.fixture
def crater(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What is there if the bomb went off."""
    monkeypatch.setenv("TRELLIS_BOMB", str(tmp_path / "crater"))
    yield tmp_path / "crater"
    assert not (tmp_path / "crater").exists()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_not_executed(home: Path, crater: Path, protocol: int) -> None:
    file = file_of(home)
    file.write_bytes(pickle.dumps(Bomb(), protocol))
    assert refusal(home) == (
        f"{file}: an older version of Trellis stored this pending load as a pickle, which is no longer read; "
        f"load it with that version, or {DISCARD}"
    )
    assert not crater.exists()
    assert packages(home).drop() == 1
    assert not file.exists()


@pytest.mark.parametrize("protocol", [0, 1])
def test_a_pickle_of_the_oldest_protocols_is_damaged(home: Path, crater: Path, protocol: int) -> None:
    file_of(home).write_bytes(pickle.dumps(Bomb(), protocol))
    assert f"{file_of(home)}: this pending load is damaged (it is not JSON: " in refusal(home)
    assert packages(home).drop() == 1
    assert not crater.exists()


def test_the_rows_of_a_pickled_package_are_dropped_with_it(home: Path) -> None:
    staged(home)
    file_of(home).write_bytes(pickle.dumps("whatever"))
    assert packages(home).drop() == 1
    assert os.listdir(home) == ["pending"]
    assert os.listdir(home / "pending") == []


def test_a_newer_version_is_refused(home: Path) -> None:
    file_of(home).write_text('{"format": "trellis-package", "version": 2, "pipeline": "shop"}')
    assert refusal(home) == (
        f"{file_of(home)}: this pending load has format version 2, and this version of Trellis reads "
        f"versions up to 1; upgrade Trellis, or {DISCARD}"
    )


def test_an_edited_file_is_refused(home: Path) -> None:
    packages(home).keep(staged(home))
    document = json.loads(file_of(home).read_text())
    document["commit"]["key"] = "id"
    file_of(home).write_text(json.dumps(document))
    assert refusal(home) == (
        f"{file_of(home)}: this pending load is damaged (package.commit: unknown key 'key': did you mean "
        f"'keys'?); restore the file from a backup, or {DISCARD}"
    )


def test_a_file_that_was_cut_is_refused(home: Path) -> None:
    packages(home).keep(staged(home))
    file_of(home).write_bytes(file_of(home).read_bytes()[:100])
    assert refusal(home).startswith(f"{file_of(home)}: this pending load is damaged (it is not JSON: ")
    assert refusal(home).endswith(f"); restore the file from a backup, or {DISCARD}")


def test_a_file_of_another_name_is_refused(home: Path) -> None:
    packages(home).keep(staged(home))
    file_of(home).rename(file_of(home, "shop-other"))
    assert refusal(home) == (
        f"{file_of(home, 'shop-other')}: this pending load is damaged (commit.load_id: expected the load id "
        f"in the name of the file); restore the file from a backup, or {DISCARD}"
    )


def test_a_folder_in_the_place_of_a_file_is_refused(home: Path) -> None:
    file_of(home).mkdir()
    assert refusal(home) == (
        f"{file_of(home)}: this pending load cannot be read (Is a directory); give this user the right to "
        "read it"
    )


# --- crashes


@pytest.mark.parametrize("step", ["write_durably", "os.replace"])
def test_a_full_disk_leaves_no_package(home: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    package = staged(home)
    monkeypatch.setattr(f"trellis.pipelines.packages.store.{step}", full)
    with pytest.raises(DestinationError) as refused:
        packages(home).keep(package)
    assert str(refused.value) == (
        f"{file_of(home)}: the disk is full; free some space and load again; nothing was loaded"
    )
    assert os.listdir(home / "pending") == []


KILLED = """
import os, sys
from pathlib import Path
import trellis.pipelines.packages.store as store
from packages.sample import sample

def killed(*_):
    os._exit(9)
module, name = (os, "replace") if sys.argv[2] == "os.replace" else (store, sys.argv[2])
setattr(module, name, killed)
home = Path(sys.argv[1])
package = sample(str(home / "1715000000%2E000001"))
store.Packages(home / "pending", "shop").keep(package)
"""


@pytest.mark.parametrize("step", ["sync_to_disk", "write_durably", "os.replace"])
def test_a_process_that_is_killed_leaves_no_package(home: Path, step: str) -> None:
    staged(home)
    assert in_another_process(KILLED, str(home), step).returncode == 9
    assert packages(home).oldest() is None
    assert packages(home).drop() == 0


def in_another_process(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).parent.parent
    path = os.pathsep.join(map(str, (here.parent / "src", here)))
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


REFUSED = """
import sys
import trellis
from packages.commits import refuse
farm = trellis.pipeline("farm", to=sys.argv[1], dataset="d")
farm.run([{"a": 1}], table_name="t")
farm.destination.commit = refuse
try:
    farm.run(iter([{"a": 2, "k": [1, 2]}, {"a": "three"}]), table_name="t")
except trellis.errors.DestinationError as refused:
    print(refused)
"""


def test_another_process_delivers_what_was_refused(destination_url: str) -> None:
    refused = in_another_process(REFUSED, destination_url)
    assert refused.stdout.startswith(
        "the disk is full; the rows are kept, the next run loads them first (load "
    )
    assert refused.stderr == ""

    farm = trellis.pipeline("farm", to=destination_url, dataset="d")
    report = farm.run([{"a": 4}], table_name="t")
    assert report.rows.loaded == 2
    assert [(table.name, table.rows) for table in report.tables] == [("t", 2), ("t__k", 2)]
    assert "the rows of this run were not read: run again" in report.notes[-1]
    assert sorted((row["a"], row["a__v_text"]) for row in farm.destination.query("d", "t") if row["a"]) == [
        (1, None),
        (2, None),
    ]
    assert farm.destination.row_counts("d")["t"] == 3
    assert farm.drop_pending() == 0


def refused_farm(url: str) -> Pipeline:
    """A pipeline with one row in table t and another that is pending."""
    farm = trellis.pipeline("farm", to=url, dataset="d")
    farm.run([{"a": 1}], table_name="t")
    commit = farm.destination.commit
    farm.destination.commit = refuse  # type: ignore[method-assign]
    with pytest.raises(DestinationError):
        farm.run([{"a": 2}], table_name="t")
    farm.destination.commit = commit  # type: ignore[method-assign]
    return farm


@pytest.mark.parametrize("to", ["duckdb:{}/farm.duckdb", "parquet:{}/farm"])
def test_a_load_that_was_delivered_before_a_crash_is_not_loaded_twice(
    to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    farm = refused_farm(to.format(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(Packages, "done", refuse)
        with pytest.raises(DestinationError, match="the disk is full"):
            farm.run([{"a": 3}], table_name="t")
    assert "which failed before, is now loaded" in farm.run([{"a": 3}], table_name="t").notes[-1]
    assert sorted(row["a"] for row in farm.destination.query("d", "t")) == [1, 2]


@pytest.mark.parametrize("to", ["duckdb:{}/farm.duckdb", "parquet:{}/farm"])
def test_a_staged_file_that_is_missing_is_one_sentence(to: str, tmp_path: Path) -> None:
    farm = refused_farm(to.format(tmp_path))
    (file,) = tmp_path.glob("**/t/items-*.parquet")
    (package,) = tmp_path.glob("**/*.package")
    file.unlink()
    with pytest.raises(DestinationError) as refused:
        farm.run([{"a": 3}], table_name="t")
    assert str(refused.value) == (
        f"{package}: this pending load is damaged (its staged file {file} is missing); restore the file from "
        f"a backup, or {DISCARD}"
    )
    assert farm.drop_pending() == 1
    farm.run([{"a": 3}], table_name="t")
    assert sorted(row["a"] for row in farm.destination.query("d", "t")) == [1, 3]


def test_a_folder_that_was_moved_is_delivered_from_its_new_place(tmp_path: Path) -> None:
    refused_farm(f"parquet:{tmp_path}/old")
    (tmp_path / "old").rename(tmp_path / "new")
    farm = trellis.pipeline("farm", to=f"parquet:{tmp_path}/new", dataset="d")
    assert farm.run([{"a": 3}], table_name="t").rows.loaded == 1
    assert sorted(row["a"] for row in farm.destination.query("d", "t")) == [1, 2]
