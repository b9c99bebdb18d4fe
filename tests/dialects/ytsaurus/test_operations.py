"""Merge, sort and erase of stored tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialects.ytsaurus.schemas import document
from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of, write
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store.attributes import exists, get, set_attribute
from trellis.dialects.ytsaurus.store.operations import OperationSpec, erase, merge, remote_copy, sort
from trellis.dialects.ytsaurus.store.reading import TableVersion
from trellis.dialects.ytsaurus.store.store import Store

KEYED = "[k:string^, v]"


def spec(**settings: Any) -> OperationSpec:
    return OperationSpec.parse(settings)


def files(folder: Path) -> set[str]:
    return {path.name for path in (folder / "store/chunks").iterdir()}


@pytest.fixture
def tables(store: Store) -> Store:
    create(store, KEYED, "//tmp/a", "{k=a;v=1};{k=c;v=2}")
    create(store, KEYED, "//tmp/b", "{k=a;v=3};{k=b;v=4}")
    return store


def test_c71_c72_an_ordered_merge_takes_chunks(tables: Store, tmp_path: Path) -> None:
    before = files(tmp_path)
    merge(tables, ["//tmp/a"], T, "ordered")
    assert (schema_of(tables), read(tables, f"{T}[c]")) == ("[k:optional<string>^, v] strong", "{k=c;v=2}")
    merge(tables, ["//tmp/a", "//tmp/b[#1:]"], "//tmp/u", "ordered")
    assert schema_of(tables, "//tmp/u") == "[k:optional<string>, v] strong"
    assert read(tables, "//tmp/u") == "{k=a;v=1}{k=c;v=2}{k=b;v=4}"
    assert (files(tmp_path), get(tables, "//tmp/u/@chunk_count")) == (before, 2)


def test_c79_rows_that_are_not_in_order(tables: Store) -> None:
    create(tables, KEYED)
    assert code_of(
        merge, tables, ["//tmp/a", "//tmp/b"], T, "ordered", spec(schema_inference_mode="from_output")
    ) == (
        301,
        '//tmp/t: row 2: the key ["a";] is less than that of row 1; the table is sorted by k',
    )
    assert read(tables) == ""


def test_c80_weak_rows_into_a_strong_table(store: Store) -> None:
    create(store, None, "//tmp/w", "{a=1}")
    create(store, "[a]")
    merge(store, ["//tmp/w"], T, "ordered")
    assert read(store) == "{a=1}"


def test_c81_nulls_into_a_required_column(store: Store) -> None:
    create(store, "[a]", "//tmp/i", "{a=1}")
    create(store, "[a:int64!]")
    merge(store, ["//tmp/i"], T, "ordered")
    write(store, "<append=%true>//tmp/i", "{}")
    assert code_of(merge, store, ["//tmp/i"], T, "ordered") == (
        307,
        '//tmp/t: row 1, column "a": null in a required column of the type int64 (from //tmp/i)',
    )
    assert read(store) == "{a=1}"


@pytest.mark.parametrize("mode", ["sorted", "auto"])
def test_a_sorted_merge_keeps_the_order_of_inputs(tables: Store, mode: Any) -> None:
    merge(tables, ["//tmp/b", "//tmp/a"], T, mode)
    assert read(tables) == "{k=a;v=3}{k=a;v=1}{k=b;v=4}{k=c;v=2}"
    assert schema_of(tables) == "[k:optional<string>^, v] strong"


def test_a_sorted_merge_of_unique_keys(store: Store) -> None:
    for name in ("a", "b"):
        create(store, f"{KEYED}u", f"//tmp/{name}", "{k=a}")
    assert code_of(merge, store, ["//tmp/a", "//tmp/b"], T)[0] == 306


def test_c84_a_sort_into_its_input(store: Store) -> None:
    create(store, "[a, b, c, d]", rows="{a=1;c=2};{a=2;c=1};{a=3};{a=4;c=1}")
    sort(store, [T], T, [SortColumn("c")])
    assert (schema_of(store), read(store)) == ("[c^, b, a, d] strong", "{a=3}{c=1;a=2}{c=1;a=4}{c=2;a=1}")


def test_c86_a_sort_of_a_weak_table(store: Store) -> None:
    create(store, None, rows="{k=x;v=1};{k=5u};{k=-1};{v=2}")
    sort(store, [T], "//tmp/s", [SortColumn("k")])
    assert (schema_of(store, "//tmp/s"), read(store, "//tmp/s")) == (
        "~[k:any^] weak",
        "{v=2}{k=-1}{k=5u}{k=x;v=1}",
    )


def test_c31_a_sort_in_descending_order_where_the_store_has_none(tables: Store) -> None:
    refused = (
        314,
        (
            "sort_by: sort_order of v is descending; expected ascending (the switch enable_descending "
            "allows both)"
        ),
    )
    assert code_of(sort, tables, ["//tmp/a"], T, [SortColumn("v", "descending")]) == refused
    path = "<sorted_by=[{name=v;sort_order=descending}]>//tmp/t"
    assert code_of(write, tables, path, "{v=1}") == (
        314,
        f"{T}: {refused[1].replace('sort_by', 'sorted_by')}",
    )
    assert not exists(tables, T)


def test_c108_a_sort_in_descending_order(tmp_path: Path) -> None:
    with Store.open(f"yt:{tmp_path}/d?enable_descending=true") as store:
        create(store, "[v:double]", rows="{v=1.};{};{v=2.};{v=%nan}")
        sort(store, [T], T, [SortColumn("v", "descending")])
        assert read(store) == "{v=%nan}{v=2.}{v=1.}{}"


def test_c89_erase(store: Store, tmp_path: Path) -> None:
    create(store, KEYED, rows="{k=a;v=1};{k=b;v=2};{k=b;v=3};{k=c;v=4}")
    before = files(tmp_path)
    erase(store, f"{T}[b:]")
    assert (read(store), schema_of(store), files(tmp_path)) == (
        "{k=a;v=1}",
        "[k:optional<string>^, v] strong",
        before,
    )
    write(store, f"<append=%true>{T}", "{k=a;v=5}")
    erase(store, T)
    assert (read(store), schema_of(store)) == ("", "[k:optional<string>^, v] strong")


def test_an_erased_middle_keeps_the_keys_of_what_is_left(store: Store) -> None:
    create(store, KEYED, rows="{k=a};{k=b};{k=c};{k=d}")
    erase(store, f"{T}[#1:#3]")
    assert [(part.first_key, part.last_key) for part in store.catalog.slices(store.node(T).id)] == [
        ((b"a",), (b"a",)),
        ((b"d",), (b"d",)),
    ]
    assert read(store, f"{T}[b:]") == "{k=d}"


def test_c90_what_cannot_be_erased(tables: Store) -> None:
    assert code_of(erase, tables, "//tmp/a[#0,#2]") == (1, "//tmp/a: one range is erased at a time, not 2")
    assert code_of(erase, tables, "//tmp/a{v}") == (
        1,
        "//tmp/a: rows are erased whole; leave the columns away",
    )
    assert code_of(erase, tables, "//tmp/none")[0] == 500


def test_c92_force_transform_rewrites_chunks(tables: Store, tmp_path: Path) -> None:
    before = files(tmp_path)
    set_attribute(tables, "//tmp/a/@optimize_for", b"scan")
    merge(tables, ["//tmp/a"], "//tmp/a", "ordered", spec(force_transform=True))
    (part,) = tables.catalog.slices(tables.node("//tmp/a").id)
    assert (part.chunk.optimize_for, f"{part.chunk.id}.parquet" in before) == ("scan", False)
    assert (schema_of(tables, "//tmp/a"), read(tables, "//tmp/a")) == (
        "[k:optional<string>^, v] strong",
        "{k=a;v=1}{k=c;v=2}",
    )


def test_renames_and_filters(tables: Store) -> None:
    merge(tables, ["<rename_columns={k=key}>//tmp/a{key}"], T, "ordered")
    assert (schema_of(tables), read(tables)) == ("[key:optional<string>^] strong", "{key=a}{key=c}")


def test_computed_columns_are_evaluated(store: Store) -> None:
    create(store, "[k:string]", "//tmp/i", "{k=k1}")
    store.create("table", T, {"schema": document("[h:uint64^=farm_hash(k), k:string^]")})
    merge(store, ["//tmp/i"], T, "ordered", spec(schema_inference_mode="from_output"))
    assert read(store) == "{h=2692134488169246299u;k=k1}"


def test_c91_a_remote_copy_copies_files(tables: Store, tmp_path: Path) -> None:
    set_attribute(tables, "//tmp/a/@note", 1)
    with Store.open(f"yt:{tmp_path}/other") as other:
        for _ in range(2):
            remote_copy(other, tables, "//tmp/a", "//tmp/copy", copy_attributes=True)
        assert (schema_of(other, "//tmp/copy"), read(other, "//tmp/copy")) == (
            "[k:optional<string>^, v] strong",
            "{k=a;v=1}{k=c;v=2}",
        )
        assert get(other, "//tmp/copy/@note") == 1
        remote_copy(other, tables, "//tmp/a{v}[c]", "//tmp/part")
        assert (schema_of(other, "//tmp/part"), read(other, "//tmp/part")) == ("[v] strong", "{v=2}")
        create(other, "[k:string^, v, w]", "//tmp/wide")
        assert code_of(remote_copy, other, tables, "//tmp/a", "//tmp/wide") == (
            316,
            (
                "the schema of //tmp/a is [k:optional<string>^, v:optional<int64>], that of //tmp/wide "
                "[k:optional<string>^, v:optional<int64>, w:optional<int64>]; a remote copy needs equal ones"
            ),
        )


def test_a_chunk_that_is_deleted_while_it_is_taken_over(
    tables: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_after_deletion(self: TableVersion, start: int, end: int) -> Any:
        for part in self.slices:
            tables.files.path(part.chunk.id).unlink()
            yield part

    monkeypatch.setattr(TableVersion, "cut", cut_after_deletion)
    code, message = code_of(merge, tables, ["//tmp/a"], T, "ordered")
    assert (code, message.partition(" was ")[2]) == (
        402,
        "deleted while it was taken over, or it is lost; run this again, or restore it from a backup",
    )


def test_a_sort_keeps_computed_columns(store: Store) -> None:
    create(store, "[h:uint64^=farm_hash(k), k:string^, v]", rows="{k=k1;v=2};{k=k1;v=1}")
    sort(store, [T], T, [SortColumn("v")])
    hash_of_k1 = "h=2692134488169246299u"
    assert read(store) == f"{{v=1;k=k1;{hash_of_k1}}}{{v=2;k=k1;{hash_of_k1}}}"


def test_an_appending_merge(tables: Store) -> None:
    code, _ = code_of(merge, tables, ["//tmp/b"], "<append=%true>//tmp/a", "ordered")
    assert code == 301
    create(tables, None, rows="{k=z}")
    merge(tables, ["//tmp/b"], f"<append=%true>{T}", "ordered")
    assert (schema_of(tables), read(tables)) == ("~[] weak", "{k=z}{k=a;v=3}{k=b;v=4}")


def test_settings_that_are_none(tables: Store) -> None:
    assert code_of(spec_of_mode, "from_inputs") == (
        1,
        "schema_inference_mode is 'from_inputs'; expected one of auto, from_input, from_output",
    )
    assert code_of(merge, tables, [], T) == (1, "there is no input; name at least one table: --src //home/t")


def spec_of_mode(mode: str) -> OperationSpec:
    return spec(schema_inference_mode=mode)
