"""Stored tables: what is written, read and left behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dialects.ytsaurus.schemas import document
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.store import chunks
from trellis.dialects.ytsaurus.store.altering import alter_table
from trellis.dialects.ytsaurus.store.attributes import exists, get, set_attribute
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import write_rows
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import StorageError

T = "//tmp/t"
ROWS = "{k=a;v=1};{k=b;v=2};{k=b;v=3};{k=c;v=4}"


def create(store: Store, text: str | None, path: str = T, rows: str = "", **attributes: Any) -> None:
    if text is not None:
        attributes["schema"] = document(text)
    store.create("table", path, attributes)
    if rows:
        write(store, path, rows)


def write(store: Store, path: str, rows: str, form: str = "yson") -> None:
    parsed = Format.parse(form)
    write_rows(store, path, parsed.read_rows(rows.encode()), parsed.forms)


def read(store: Store, path: str = T) -> str:
    """Rows as text without nulls: `{k=a;v=1}`."""
    rows = open_source(store, path).read_rows()
    text = b"".join(Format.parse("<format=text;skip_null_values=%true>yson").write_rows(rows)).decode()
    return text.replace('"', "").replace(";}", "}").replace("};\n", "}")


def schema_of(store: Store, path: str = T) -> str:
    table = store.table(path)
    return f"{table.schema} {table.mode}".replace(":optional<int64>", "").replace(":optional<yson>", ":any")


def code_of(action: Any, *arguments: Any) -> tuple[int, str]:
    with pytest.raises(YtError) as error:
        action(*arguments)
    return int(error.value.code), str(error.value)


@pytest.fixture
def table(store: Store) -> Store:
    create(store, "[k:string^, v]", rows=ROWS)
    return store


def test_c05_columns_and_rows(table: Store) -> None:
    assert read(table, f"{T}{{v}}[#1:#3]") == "{v=2}{v=3}"


def test_c07_ranges_of_keys(table: Store) -> None:
    assert read(table, f"{T}[b]") == "{k=b;v=2}{k=b;v=3}"
    assert read(table, f"{T}[a:c]") == "{k=a;v=1}{k=b;v=2}{k=b;v=3}"
    assert read(table, f"{T}[(b,1):]") == "{k=c;v=4}"
    assert (
        read(table, f"<ranges=[{{upper_limit={{key=[b;<type=max>#]}}}}]>{T}") == "{k=a;v=1}{k=b;v=2}{k=b;v=3}"
    )


def test_c08_several_ranges(table: Store) -> None:
    assert read(table, f"{T}[#3,#0]") == "{k=c;v=4}{k=a;v=1}"


@pytest.mark.parametrize("columns", ["{}", "{zz}"])
def test_c09_no_columns(table: Store, columns: str) -> None:
    assert read(table, f"{T}{columns}") == "{}{}{}{}"


def test_c10_ranges_beyond_the_end(table: Store) -> None:
    assert read(table, f"{T}[#2:#99]") == "{k=b;v=3}{k=c;v=4}"
    assert read(table, f"{T}[#3:#1]") == ""


def test_c11_keys_of_an_unsorted_table(store: Store) -> None:
    create(store, "[k:string]", rows="{k=a}")
    assert code_of(read, store, f"{T}[a:b]") == (
        1,
        "//tmp/t is not sorted, so it has no ranges of keys; use row numbers: [#0:#10]",
    )


def test_integer_limits_have_the_kind_of_the_column(store: Store) -> None:
    create(store, "[k:uint64^, v]", rows="{k=1u;v=1};{k=5u;v=2}")
    assert read(store, f"{T}[2:]") == "{k=5u;v=2}"
    assert read(store, f"{T}[#0:5]") == "{k=1u;v=1}"


def test_c58_modes_of_new_tables(store: Store) -> None:
    create(store, None)
    create(store, "~[]", "//tmp/u")
    assert (schema_of(store), schema_of(store, "//tmp/u")) == ("~[] weak", "~[] strong")


def test_c59_an_append_unsorts_a_weak_table(store: Store) -> None:
    write(store, f"<sorted_by=[k]>{T}", "{k=a}")
    assert (schema_of(store), get(store, f"{T}/@sorted_by")) == ("~[k:any^] weak", ["k"])
    write(store, f"<append=%true>{T}", "{k=0}")
    assert schema_of(store) == "~[] weak"
    assert code_of(get, store, f"{T}/@sorted_by") == (
        500,
        "//tmp/t is not sorted, so it has no attribute sorted_by",
    )
    assert read(store) == "{k=a}{k=0}"


def test_c60_an_append_by_fewer_keys(store: Store) -> None:
    write(store, f"<sorted_by=[a;b]>{T}", "{a=1;b=5};{a=2;b=6}")
    write(store, f"<append=%true;sorted_by=[a]>{T}", "{a=2;b=1}")
    assert (schema_of(store), read(store)) == ("~[a:any^] weak", "{a=1;b=5}{a=2;b=6}{a=2;b=1}")
    assert read(store, f"{T}[2]") == "{a=2;b=6}{a=2;b=1}"


def test_c62_an_append_to_a_sorted_table(table: Store) -> None:
    assert code_of(write, table, f"<append=%true>{T}", "{k=b;v=1}") == (
        301,
        (
            '//tmp/t: row 0: the key ["b";] is less than that of the last row of the table; '
            "the table is sorted by k"
        ),
    )
    write(table, f"<append=%true>{T}", "{k=c;v=5}")
    assert read(table, f"{T}[c]") == "{k=c;v=4}{k=c;v=5}"


def test_c63_an_append_to_unique_keys(store: Store) -> None:
    create(store, "[k:string^, v]u", rows="{k=a};{k=b};{k=c}")
    assert code_of(write, store, f"<append=%true>{T}", "{k=c}") == (
        306,
        (
            '//tmp/t: row 0: the key ["c";] is that of the last row of the table, '
            "and keys of the table are unique"
        ),
    )


def test_c64_another_schema(table: Store) -> None:
    write(table, f"<schema=[{{name=x;type=int64}}]>{T}", "{x=1}")
    assert (schema_of(table), read(table)) == ("[x] strong", "{x=1}")


def test_c65_other_keys(table: Store) -> None:
    assert code_of(write, table, f"<sorted_by=[v]>{T}", "{v=1}")[0] == 1
    assert read(table, f"{T}[#0]") == "{k=a;v=1}"


def test_a_write_that_fails_leaves_the_table_and_no_files(table: Store, tmp_path: Path) -> None:
    files = sorted((tmp_path / "store/chunks").iterdir())
    assert code_of(write, table, T, "{k=a;v=1};{k=b;v=x}") == (
        307,
        '//tmp/t: row 1, column "v": expected int64, not string "x"',
    )
    assert (sorted((tmp_path / "store/chunks").iterdir()), table.catalog.totals(table.node(T).id).rows) == (
        files,
        4,
    )


def test_values_come_back_as_they_went_in(store: Store) -> None:
    rows = r'{a=5u;b={x=[1;2u;#;%true]};c="\xFF";d=0.5;e=-0.}{a="5"}{}'
    create(store, "~[a:any]", rows=rows.replace("}{", "};{"))
    assert read(store) == rows.replace('"', "").replace("]}", ";]}")


def test_c52_undeclared_columns(store: Store) -> None:
    create(store, "~[a]", rows="{a=1;z=q};{a=2}")
    assert read(store) == "{a=1;z=q}{a=2}"
    assert read(store, f"{T}{{z}}") == "{z=q}{}"


def test_c55_structs_by_position(store: Store) -> None:
    struct = loads(
        "{type_name=struct;members=[{name=a;type=utf8};{name=b;type={type_name=optional;item=int64}}]}"
    )
    store.create("table", T, {"schema": [{"name": "s", "type_v3": struct}]})
    write(store, T, "{s=[x]}", "<complex_type_mode=positional>yson")
    assert read(store) == "{s={a=x;b=#}}"
    struct["members"].append({"name": "c", "type": {"type_name": "optional", "item": "utf8"}})
    alter_table(store, T, [{"name": "s", "type_v3": struct}])
    assert read(store) == "{s={a=x;b=#;c=#}}"


def test_c93_c99_c103_old_rows_after_alters(table: Store) -> None:
    columns = loads(
        "[{name=k;type=string;sort_order=ascending};{name=w;stable_name=v;type=int64};{name=x;type=utf8}]"
    )
    alter_table(table, T, columns)
    write(table, f"<append=%true>{T}", "{k=d;w=5;x=y}")
    assert read(table, f"{T}[#3:]") == "{k=c;w=4}{k=d;w=5;x=y}"
    assert read(table, f"{T}{{w}}[#3:]") == "{w=4}{w=5}"
    columns[1]["type"] = "any"
    alter_table(table, T, columns)
    assert read(table, f"{T}[#3:]") == "{k=c;w=4}{k=d;w=5;x=y}"


def test_c94_an_added_key_column_is_null(table: Store) -> None:
    alter_table(table, T, document("[k:string^, m^, v]"))
    write(table, f"<append=%true>{T}", "{k=c;m=1};{k=d}")
    assert read(table, f"{T}[(c,#):]") == "{k=c;v=4}{k=c;m=1}{k=d}"
    assert read(table, f"{T}[(c,0):]") == "{k=c;m=1}{k=d}"


def test_c96_a_column_that_is_removed_stays_in_the_rows(store: Store) -> None:
    create(store, "~[k^, v]", rows="{k=1;v=2}")
    alter_table(store, T, document("~[k^]"))
    assert read(store) == "{k=1;v=2}"


def test_c105_alters_that_are_refused(table: Store) -> None:
    assert code_of(alter_table, table, T, document("[a, a]"))[0] == ErrorCode.INVALID_SCHEMA
    assert code_of(alter_table, table, T, document("[k:string^]")) == (
        316,
        (
            "the schema of //tmp/t cannot be changed without its data: column v: column removed from a "
            "strict schema"
        ),
    )
    assert schema_of(table) == "[k:optional<string>^, v] strong"


def test_attributes(table: Store) -> None:
    assert dumps(get(table, f"{T}/@schema/0/type")) == b'"string"'
    assert get(table, f"{T}/@schema/@strict") is True
    assert [
        get(table, f"{T}/@{name}")
        for name in ("row_count", "chunk_count", "sorted", "key_columns", "dynamic")
    ] == [*(4, 1, True, ["k"], False)]
    assert get(table, f"{T}/@data_weight") == 4 * (1 + 1 + 8)
    set_attribute(table, f"{T}/@note", {"a": [1, Uint64(2)]})
    assert get(table, f"{T}/@note/a/1") == 2
    assert get(table, f"#{table.node(T).id}/@note/a/0") == 1
    assert code_of(set_attribute, table, f"{T}/@schema", []) == (
        1,
        "the attribute schema of //tmp/t cannot be set; change the schema with alter-table",
    )
    assert [exists(table, path) for path in (T, f"{T}/@note", f"{T}/@zz", "//tmp/zz")] == [
        True,
        True,
        False,
        False,
    ]
    assert code_of(get, table, f"{T}/@row_cnt") == (
        500,
        "//tmp/t has no attribute row_cnt: did you mean 'row_count'?",
    )
    assert get(table, "//tmp") == {"t": None}


def test_nodes(store: Store) -> None:
    assert code_of(store.create, "table", "//home/a/b")[0] == ErrorCode.PATH_NOT_FOUND
    node_id = store.create("table", "//home/a/b", recursive=True)
    assert code_of(store.create, "table", "//home/a/b") == (
        501,
        "//home/a/b exists already; replace it with -f",
    )
    assert store.create("table", "//home/a/b", ignore_existing=True) == node_id
    assert store.create("table", "//home/a/b", force=True) != node_id
    assert code_of(store.remove, "//home/a") == (1, "//home/a is not empty; remove it with -r")
    assert code_of(store.copy, "//home/a", "//home/a/c") == (
        1,
        "cannot copy //home/a to //home/a/c: both are one node, or one is in the other",
    )
    assert code_of(store.copy, "//home/a/b", "//home/a/b")[0] == 1
    store.remove("//home/a", recursive=True)
    assert store.find("//home/a/b") is None


def test_copies_and_moves_keep_everything(table: Store) -> None:
    set_attribute(table, f"{T}/@note", 1)
    table.copy(T, "//home/x/t", recursive=True)
    table.move("//home/x", "//home/y")
    write(table, T, "")
    assert (schema_of(table, "//home/y/t"), get(table, "//home/y/t/@note")) == (
        "[k:optional<string>^, v] strong",
        1,
    )
    assert read(table, "//home/y/t[#0]") == "{k=a;v=1}"
    assert read(table) == ""


def test_a_lock_names_its_holder(table: Store, tmp_path: Path) -> None:
    with table.command("sort into") as command, Store.open(f"yt:{tmp_path}/store") as other:
        command.lock(table.table(T), "sort into")
        code, message = code_of(write, other, T, "{k=a}")
    assert code == ErrorCode.CONCURRENT_LOCK
    assert message.startswith("cannot write //tmp/t: it is locked by sort into (process ")


def test_two_appends_to_an_unsorted_table(store: Store, tmp_path: Path) -> None:
    create(store, "[v]")

    def rows() -> Any:
        yield {"v": 1}
        with Store.open(f"yt:{tmp_path}/store") as other:
            write(other, f"<append=%true>{T}", "{v=2}")

    write_rows(store, f"<append=%true>{T}", rows())
    assert read(store) == "{v=2}{v=1}"


def test_readers_keep_the_version_that_they_began_with(table: Store) -> None:
    rows = open_source(table, T).read_rows()
    next(rows)
    write(table, T, "{k=z}")
    assert [row["v"] for row in rows] == [2, 3, 4]


def test_garbage_is_collected(table: Store, tmp_path: Path) -> None:
    write(table, T, "{k=z}")
    (old, _) = sorted((tmp_path / "store/chunks").iterdir(), key=lambda path: path.stat().st_mtime)
    os.utime(old, (0, 0))
    assert table.collect_garbage() == []
    assert table.collect_garbage(age=0) == [old.stem]
    assert (len([*(tmp_path / "store/chunks").iterdir()]), read(table)) == (1, "{k=z}")


def test_garbage_of_a_command_that_runs_is_kept(table: Store, tmp_path: Path) -> None:
    """However long it runs: what it wrote, and the rows that it began with."""
    written = tmp_path / "store/chunks/written.parquet"
    with table.command("merge into") as inner:
        rows = open_source(inner, T).read_rows()
        written.touch()
        write(table, T, "{k=z}")
        assert table.collect_garbage(age=-1) == []
        assert next(rows)["v"] == 1
    assert len(table.collect_garbage(age=-1)) == 2
    assert (written.exists(), read(table)) == (False, "{k=z}")


def test_chunks_are_on_the_disk_before_their_table_has_them(
    table: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(chunks, "sync_to_disk", synced.append)
    write(table, T, "{k=z}")
    folder = tmp_path / "store/chunks"
    (chunk,) = (part.chunk.id for part in table.catalog.slices(table.node(T).id))
    assert synced == [str(folder / f"{chunk}.parquet"), str(folder)]


def test_b14_chunks_that_are_gone_or_damaged(table: Store, tmp_path: Path) -> None:
    (chunk,) = (tmp_path / "store/chunks").iterdir()
    data = chunk.read_bytes()
    chunk.write_bytes(data[:-9])
    with pytest.raises(StorageError, match=r"parquet is damaged \(.*\); restore it from a backup$"):
        read(table)
    chunk.unlink()
    with pytest.raises(StorageError, match=r"is gone; restore it from a backup$"):
        read(table)
    write(table, T, "{k=new}")
    assert read(table) == "{k=new}"


def test_switches_are_kept(tmp_path: Path) -> None:
    Store.open(f"yt:{tmp_path}/s?enable_descending=true").close()
    with Store.open(f"yt:{tmp_path}/s") as opened:
        opened.create("table", T, {"schema": [{"name": "k", "type": "int64", "sort_order": "descending"}]})
        write(opened, T, "{k=2};{k=1};{}")
        assert read(opened, f"{T}[1:]") == "{k=1}{}"


def test_chunks_of_strict_tables_are_plain_parquet(table: Store, tmp_path: Path) -> None:
    rows = duckdb.sql(f"SELECT * FROM '{tmp_path}/store/chunks/*.parquet' ORDER BY v").fetchall()
    assert rows == [(b"a", 1), (b"b", 2), (b"b", 3), (b"c", 4)]
