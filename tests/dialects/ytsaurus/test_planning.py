"""What operations and reads open: chunks that need not be read are taken over, row groups passed over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow.parquet as pq
import pytest

from dialects.ytsaurus.test_operations import KEYED, spec
from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of, write
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store import chunks
from trellis.dialects.ytsaurus.store.attributes import get, set_attribute
from trellis.dialects.ytsaurus.store.chunks import Chunk, ChunkFiles
from trellis.dialects.ytsaurus.store.operations import erase, merge, remote_copy, sort
from trellis.dialects.ytsaurus.store.rewriting import planning
from trellis.dialects.ytsaurus.store.store import Store


class Opened:
    """The chunks that were opened, and the row groups with their columns that were read."""

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.groups: list[tuple[int, list[str] | None]] = []


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    record = Opened()
    open_chunk, read_group = ChunkFiles.open, pq.ParquetFile.read_row_group

    @contextmanager
    def open_and_record(self: ChunkFiles, chunk: Chunk) -> Iterator[pq.ParquetFile]:
        record.chunks.append(chunk.id)
        with open_chunk(self, chunk) as file:
            yield file

    def read_and_record(self: pq.ParquetFile, group: int, columns: Any = None, **others: Any) -> Any:
        record.groups.append((group, columns))
        return read_group(self, group, columns, **others)

    monkeypatch.setattr(ChunkFiles, "open", open_and_record)
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", read_and_record)
    return record


def ids(store: Store, path: str = T) -> list[str]:
    """The chunks of a table, in order."""
    return [part.chunk.id for part in store.catalog.slices(store.node(path).id)]


def append(store: Store, path: str, *batches: str) -> None:
    """Each batch is a chunk."""
    for rows in batches:
        write(store, f"<append=%true>{path}", rows)


@pytest.fixture
def sorted_tables(store: Store) -> Store:
    """Three chunks of //tmp/a, two of //tmp/b: a..b and e..f are alone, c..d is in both."""
    for name in ("a", "b"):
        create(store, KEYED, f"//tmp/{name}")
    append(store, "//tmp/a", "{k=a;v=1};{k=b;v=2}", "{k=c;v=3};{k=d;v=4}", "{k=g;v=5}")
    append(store, "//tmp/b", "{k=c;v=6};{k=c;v=7}", "{k=e;v=8};{k=f;v=9}")
    return store


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
def test_c72_c76_merges_open_no_file(sorted_tables: Store, opened: Opened, mode: Any) -> None:
    merge(sorted_tables, ["//tmp/a", "//tmp/b", "//tmp/a"], T, mode)
    assert opened.chunks == []
    first, second = (ids(sorted_tables, path) for path in ("//tmp/a", "//tmp/b"))
    assert ids(sorted_tables) == [*first, *second, *first]


def test_copies_moves_and_whole_erasures_open_no_file(sorted_tables: Store, opened: Opened) -> None:
    sorted_tables.copy("//tmp/a", T)
    sorted_tables.move(T, "//tmp/c")
    merge(sorted_tables, ["//tmp/a"], "//tmp/d", "ordered")
    assert schema_of(sorted_tables, "//tmp/d") == "[k:optional<string>^, v] strong"
    erase(sorted_tables, "//tmp/a")
    assert (opened.chunks, get(sorted_tables, "//tmp/a/@row_count")) == ([], 0)


def test_a_remote_copy_opens_no_file(sorted_tables: Store, opened: Opened, tmp_path: Any) -> None:
    with Store.open(f"yt:{tmp_path}/other") as other:
        remote_copy(other, sorted_tables, "//tmp/a", "//tmp/a")
        assert (opened.chunks, ids(other, "//tmp/a")) == ([], ids(sorted_tables, "//tmp/a"))


def test_c89_an_erasure_opens_the_chunks_at_its_borders(sorted_tables: Store, opened: Opened) -> None:
    before = ids(sorted_tables, "//tmp/a")
    erase(sorted_tables, "//tmp/a[#1:#3]")
    assert {*opened.chunks} == {*before[:2]}
    assert (ids(sorted_tables, "//tmp/a"), read(sorted_tables, "//tmp/a")) == (
        before,
        "{k=a;v=1}{k=d;v=4}{k=g;v=5}",
    )


def test_a_sorted_merge_takes_over_chunks_that_overlap_no_other(sorted_tables: Store, opened: Opened) -> None:
    first, second, third = ids(sorted_tables, "//tmp/a")
    overlapping, alone = ids(sorted_tables, "//tmp/b")
    merge(sorted_tables, ["//tmp/a", "//tmp/b"], T, "sorted")
    assert {*opened.chunks} == {second, overlapping}
    merged = ids(sorted_tables)
    assert (merged[0], merged[2:]) == (first, [alone, third])
    opened.chunks.clear()
    assert read(sorted_tables, f"{T}[c:e]") == "{k=c;v=3}{k=c;v=6}{k=c;v=7}{k=d;v=4}"
    assert {*opened.chunks} == {merged[1]}


def test_equal_keys_at_a_border_keep_the_order_of_the_inputs(store: Store, opened: Opened) -> None:
    for name, rows in (("a", "{k=b;v=1};{k=c;v=2}"), ("b", "{k=a;v=3};{k=b;v=4}")):
        create(store, KEYED, f"//tmp/{name}", rows)
    merge(store, ["//tmp/b", "//tmp/a"], T, "sorted")
    assert opened.chunks == []
    assert read(store) == "{k=a;v=3}{k=b;v=4}{k=b;v=1}{k=c;v=2}"
    merge(store, ["//tmp/a", "//tmp/b"], T, "sorted")
    assert read(store) == "{k=a;v=3}{k=b;v=1}{k=b;v=4}{k=c;v=2}"


def test_a_sorted_merge_range_by_range(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "RANGE_WEIGHT", 60)
    monkeypatch.setitem(chunks._GROUP_ROWS, "lookup", 2)
    tables = {"b": (1, 2, 2, 2, 2, 2, 3, 5, 9, 15), "c": range(0, 20, 2)}
    for name, keys in tables.items():
        rows = ";".join(f"{{k={key};v={name}}}" for key in keys)
        create(store, "[k:int64^, v:string]", f"//tmp/{name}", rows)
    merge(store, ["//tmp/b", "//tmp/c"], T, "sorted")
    assert len(ids(store)) > 2
    merged = sorted((key, name) for name, keys in tables.items() for key in keys)
    assert read(store) == "".join(f"{{k={key};v={name}}}" for key, name in merged)


def test_small_chunks_are_combined(sorted_tables: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write(sorted_tables, "<append=%true>//tmp/a", ";".join(f"{{k=h;v={number}}}" for number in range(9)))
    monkeypatch.setattr(planning, "CHUNK_WEIGHT", 100)
    (*_, large) = ids(sorted_tables, "//tmp/a")
    merge(sorted_tables, ["//tmp/a"], T, "ordered", spec(combine_chunks=True))
    combined, taken = ids(sorted_tables)
    assert (taken, combined in ids(sorted_tables, "//tmp/a")) == (large, False)
    assert (schema_of(sorted_tables), read(sorted_tables, f"{T}[:h]")) == (
        "[k:optional<string>^, v] strong",
        "{k=a;v=1}{k=b;v=2}{k=c;v=3}{k=d;v=4}{k=g;v=5}",
    )


def test_c92_seed_y87_force_transform_takes_no_chunk_over(sorted_tables: Store) -> None:
    set_attribute(sorted_tables, "//tmp/a/@optimize_for", b"scan")
    before = ids(sorted_tables, "//tmp/a")
    for mode in ("ordered", "sorted"):
        merge(sorted_tables, ["//tmp/a"], "//tmp/a", mode, spec(force_transform=True))  # type: ignore[arg-type]
        assert not {*before} & {*ids(sorted_tables, "//tmp/a")}
    slices = sorted_tables.catalog.slices(sorted_tables.node("//tmp/a").id)
    assert {part.chunk.optimize_for for part in slices} == {"scan"}
    assert read(sorted_tables, "//tmp/a") == "{k=a;v=1}{k=b;v=2}{k=c;v=3}{k=d;v=4}{k=g;v=5}"


def test_only_rows_that_do_not_fit_as_they_are_are_read(sorted_tables: Store, opened: Opened) -> None:
    merge(sorted_tables, ["//tmp/a", "<rename_columns={v=v}>//tmp/b"], T, "ordered")
    assert {*opened.chunks} == {*ids(sorted_tables, "//tmp/b")}


def test_an_append_takes_over_chunks_that_follow(sorted_tables: Store, opened: Opened) -> None:
    before = ids(sorted_tables, "//tmp/a")
    create(sorted_tables, KEYED, "//tmp/c", "{k=g;v=0};{k=h;v=1}")
    merge(sorted_tables, ["//tmp/c"], "<append=%true>//tmp/a", "ordered")
    assert (opened.chunks, ids(sorted_tables, "//tmp/a")) == ([], [*before, *ids(sorted_tables, "//tmp/c")])
    create(sorted_tables, f"{KEYED}u", "//tmp/u", "{k=h;v=2}")
    create(sorted_tables, f"{KEYED}u", "//tmp/w", "{k=h;v=3}")
    assert code_of(merge, sorted_tables, ["//tmp/w"], "<append=%true>//tmp/u", "ordered") == (
        306,
        (
            '//tmp/u: row 0: the key ["h";] is that of the last row of the table, '
            "and keys of the table are unique"
        ),
    )


def test_c07_a_range_of_keys_reads_the_row_groups_that_can_hold_it(
    store: Store, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(chunks._GROUP_ROWS, "lookup", 4)
    create(store, "[k^, v, w]")
    append(store, T, *(";".join(f"{{k={k};v={k};w={k}}}" for k in range(at, at + 20)) for at in (0, 20, 40)))
    (_, middle, _) = ids(store)
    assert read(store, f"{T}{{w}}[26:29]") == "{w=26}{w=27}{w=28}"
    assert {*opened.chunks} == {middle}
    assert sorted({*(group for group, _ in opened.groups)}) == [1, 2]
    assert {*(name for _, columns in opened.groups for name in columns or ())} == {"k", "w"}


def test_c84_a_sort_that_is_refused_leaves_no_chunks(store: Store, tmp_path: Any) -> None:
    create(store, None, "//tmp/w", "{k=1;v=x}")
    create(store, "[k, v]")
    before = {*(tmp_path / "store/chunks").iterdir()}
    assert code_of(sort, store, ["//tmp/w"], T, [SortColumn("k")]) == (
        307,
        '//tmp/t: row 0, column "v": expected int64, not string "x" (from //tmp/w)',
    )
    assert {*(tmp_path / "store/chunks").iterdir()} == before
