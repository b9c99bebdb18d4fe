"""Two writers of one table, of which one or both write a frame of Spark."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dialects.ytsaurus.killing import interrupt_writes, pause
from dialects.ytsaurus.test_conflicts import APPENDS, EXCLUSIVE, KEYED, LONG_VERBS, OTHER, run_both, step_of
from dialects.ytsaurus.test_tables import T, code_of, create, read
from trellis.dialects.ytsaurus.spark import enable_yt
from trellis.dialects.ytsaurus.store.store import Store

pytestmark = pytest.mark.spark
MODES = {"append": "{k=a;v=1}{k=b;v=2}{k=z;v=9}", "overwrite": "{k=z;v=9}"}
"""The rows that a frame leaves."""
HOLDER = r"cannot {} //tmp/t: it is locked by {} \(process \d+ on \S+, .* UTC\); wait for it"


@pytest.fixture
def url(spark: Any, tmp_path: Path) -> str:
    url = f"yt:{tmp_path}/store"
    enable_yt(spark, url)
    return url


def write_keyed(spark: Any, mode: str) -> None:
    spark.sql("SELECT CAST('z' AS BINARY) AS k, 9L AS v").write.sorted_by("k").yt(T, mode=mode)


def append_plain(spark: Any, *_: object) -> None:
    spark.sql("SELECT 2L AS v").write.yt(T, mode="append")


@contextmanager
def writing(spark: Any, folder: Path, write: Callable[[], None]) -> Iterator[None]:
    """Inside, a frame has been written and locks the table, but is not committed yet."""
    interrupt_writes(spark, "frames", "commit_slices", partial(pause, folder))
    # Spark looks for data sources in the session that a thread has as its own.
    active = spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession
    with ThreadPoolExecutor(1, initializer=active, initargs=(spark._jsparkSession,)) as threads:
        written = threads.submit(write)
        try:
            while not (folder / "paused").exists():
                assert not written.done(), written.result()
                time.sleep(0.02)
            enable_yt(spark, f"yt:{folder}/store")
            yield
        finally:
            (folder / "released").touch()
        written.result()


@pytest.mark.parametrize("mode", MODES)
def test_b12_writers_beside_a_frame(spark: Any, store: Store, url: str, tmp_path: Path, mode: str) -> None:
    create(store, KEYED, rows="{k=a;v=1};{k=b;v=2}")
    create(store, KEYED, OTHER, "{k=o;v=3}")
    with writing(spark, tmp_path, partial(write_keyed, spark, mode)), Store.open(url) as other:
        for name, verb in EXCLUSIVE.items():
            code, message = code_of(verb, other, url)
            verb_again = {"append": "write", "replace": "remove"}.get(name, name)
            assert code == 402
            assert re.match(HOLDER.format(verb_again, "write"), message)
        for second in MODES:
            with pytest.raises(Exception, match=HOLDER.format("write", "write")):
                write_keyed(spark, second)
    assert (read(store), store.locks.of_node(store.node(T).id)) == (MODES[mode], [])


@pytest.mark.parametrize("first", LONG_VERBS)
def test_b12_a_frame_beside_another_writer(
    spark: Any, store: Store, url: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    create(store, KEYED, rows="{k=a;v=1};{k=b;v=2}")
    create(store, KEYED, OTHER, "{k=o;v=3}")

    def write_frames(*_: object) -> None:
        for mode in MODES:
            with pytest.raises(
                Exception, match=HOLDER.format("write", {"append": "write"}.get(first, first))
            ):
                write_keyed(spark, mode)

    verb, rows = LONG_VERBS[first]
    run_both(url, verb, write_frames, monkeypatch, step_of(first))
    assert read(store) == rows


@pytest.mark.parametrize("second", ["frame", *APPENDS])
def test_b12_an_append_beside_a_frame_that_is_appended(
    spark: Any, store: Store, url: str, tmp_path: Path, second: str
) -> None:
    create(store, "[v]", rows="{v=1}" if second == "frame" else "")
    with writing(spark, tmp_path, partial(append_plain, spark)):
        {**APPENDS, "frame": partial(append_plain, spark)}[second](store, url)
    assert read(store) == ("{v=1}" if second == "frame" else "") + "{v=2}{v=2}"


@pytest.mark.parametrize("first", APPENDS)
def test_b12_a_frame_that_is_appended_beside_an_append(
    spark: Any, store: Store, url: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    create(store, "[v]", rows="{v=1}")
    run_both(url, APPENDS[first], partial(append_plain, spark), monkeypatch, step_of(first))
    assert read(store) == "{v=1}{v=2}{v=2}"
