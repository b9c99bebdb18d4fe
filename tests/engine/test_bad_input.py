"""Bad input gets a clear answer, and nothing is lost."""

from __future__ import annotations

import gzip
import json
import secrets
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from trellis.errors import ContractError, DestinationError, SchemaError, TrellisError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report


class Shop:
    """A DuckDB shop in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pipeline = Pipeline("shop", f"duckdb:{folder}/shop.duckdb")

    def load(self, *lines: bytes | str, **options: Any) -> Report:
        data = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)
        (self.folder / "x.jsonl").write_bytes(data)
        report = self.pipeline.load(str(self.folder / "x.jsonl"), table="t", **options)
        assert report.balanced
        return report

    def rows(self, table: str = "t") -> list[dict[str, Any]]:
        records = self.pipeline.destination.query("main", table)
        return [
            {k: v for k, v in row.items() if not k.startswith("_dlt") and v is not None} for row in records
        ]

    def rejects(self) -> list[tuple[int, str, str]]:
        records = self.pipeline.destination.query("main", "_trellis_rejects")
        return [(row["position"], row["text"], row["reason"]) for row in records]

    def discards(self) -> list[tuple[str, str, str, int, str]]:
        records = self.pipeline.destination.query("main", "_trellis_discards")
        return [(r["column_name"], r["path"], r["value"], r["position"], r["reason"]) for r in records]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_an_empty_file_loads_nothing(shop: Shop) -> None:
    assert shop.load().rows.read == 0


def test_blank_lines_are_no_records(shop: Shop) -> None:
    assert shop.load('{"a":1}', "", "   ", '{"a":2}').rows.loaded == 2


def test_no_such_file_offers_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "orders.jsonl").write_text("{}")
    with pytest.raises(UsageError, match=r"order\.jsonl: no such file; did you mean .*orders\.jsonl\?"):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb").load(str(tmp_path / "order.jsonl"))


def test_a_folder_of_mixed_kinds_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(UsageError, match="holds both Parquet and JSON files; name one kind"):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb").load(str(tmp_path))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match=r"files of kind '\.xlsx' are not read; JSON lines.*--format"):
        Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb").load(str(tmp_path / "a.xlsx"))


def test_half_a_gzip_loads_nothing(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"n":%d}\n' % n for n in range(50_000)))
    (tmp_path / "x.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    shop = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb")
    with pytest.raises(UsageError, match="ends in the middle of the file; nothing was loaded"):
        shop.load(str(tmp_path / "x.jsonl.gz"))
    assert shop.destination.row_counts("main") == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nope", "not JSON: expecting value at column 1"),
        (b"5", "a record must be a JSON object, this line is a number"),
        (b'"five"', "a record must be a JSON object, this line is a string"),
        (b"null", "a record must be a JSON object, this line is null"),
        (b"[1]", "a record must be a JSON object, this line is an array"),
        (b'{"a":1', "not JSON: expecting ',' delimiter at column 7"),
        (b'{"a":1} {"a":2}', "not JSON: extra data at column 9"),
        (b'{"a":NaN}', "not JSON: NaN is no JSON number"),
        (b'{"a":Infinity}', "not JSON: Infinity is no JSON number"),
        (b"{'a':1}", "not JSON: expecting property name enclosed in double quotes at column 2"),
        (b'{"a":"\xff"}', "not UTF-8: byte 0xff at column 7"),
        (b'{"a":"\x00"}', "not JSON: invalid control character at column 7"),
        (b'{"a":"\\ud800"}', "not UTF-8: half of a surrogate pair in an escape"),
        (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "nested deeper than 1024 levels"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested deeper than 1024 levels"),
        (b"[" * 2000, "nested deeper than 1024 levels"),
        (b"[" * 1000, "not JSON: expecting value at column 1001"),
        (b'{"a":"' + b"[" * 2000, "not JSON: unterminated string starting at column 6"),
    ],
    ids=lambda value: None if isinstance(value, str) else ascii(value[:20]),
)
def test_a_line_that_is_no_record_is_rejected_with_its_place(shop: Shop, line: bytes, reason: str) -> None:
    report = shop.load('{"a":1}', line, '{"a":2}')
    assert (report.rows.loaded, report.rows.rejected) == (2, 1)
    ((position, text, stored_reason),) = shop.rejects()
    assert (position, stored_reason) == (2, reason)
    assert text == line[:4096].decode("utf-8", "backslashreplace")


@pytest.mark.parametrize("limit", [1_000, 10_000])
def test_what_is_too_deep_does_not_depend_on_the_interpreter_s_recursion_limit(
    shop: Shop, request: pytest.FixtureRequest, limit: int
) -> None:
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(limit)
    levels = (900, 1023, 1024)
    shop.load(*(b'{"a":1,"a":' + b"[" * depth + b"]" * depth + b"}" for depth in levels), b"[" * 2000)
    assert sorted((line, reason) for line, _, reason in shop.rejects()) == [
        (3, "nested deeper than 1024 levels"),
        (4, "nested deeper than 1024 levels"),
    ]


def test_a_line_of_50_megabytes_is_a_record_like_any_other(shop: Shop) -> None:
    report = shop.load('{"a":1}', b'{"big":"' + b"x" * 50_000_000 + b'"}', '{"a":2}')
    assert report.rows.loaded == 3
    assert sorted(len(row["big"]) for row in shop.rows() if "big" in row) == [50_000_000]


def test_a_bad_line_of_50_megabytes_is_kept_to_its_first_4_kb(shop: Shop) -> None:
    assert shop.load('{"a":1}', b"x" * 50_000_000).rows.rejected == 1
    assert [len(text) for _, text, _ in shop.rejects()] == [4096]


def test_a_nul_in_an_escape_is_text(shop: Shop) -> None:
    shop.load('{"a":"x\\u0000y"}')
    assert shop.rows() == [{"a": "x\x00y"}]


def test_duplicate_keys_keep_the_last_and_discard_the_others(shop: Shop) -> None:
    report = shop.load('{"a":1,"b":{"c":1,"c":2},"a":3}')
    assert shop.rows() == [{"a": 3, "b__c": 2}]
    assert sorted(shop.discards()) == [
        ("", "a", "1", 1, "duplicate key: a later value of the same key replaced it"),
        ("", "c", "1", 1, "duplicate key: a later value of the same key replaced it"),
    ]
    assert report.discards.by_reason == {"duplicate key": 2}


def test_duplicate_keys_are_found_beside_keys_with_a_spaced_colon(shop: Shop) -> None:
    assert shop.load('{"a":1,"a":2,"b" :3}').discards.by_reason == {"duplicate key": 1}


def test_text_that_looks_like_keys_is_no_duplicate(shop: Shop) -> None:
    assert shop.load('{"a":"\\"a\\":1", "b" : ":"}').discards.count == 0


def test_objects_nested_900_deep_become_one_column(shop: Shop) -> None:
    shop.load('{"a":' * 900 + "1" + "}" * 900)
    (row,) = shop.rows()
    assert row == {"__".join("a" * 900): 1}


def test_lists_nested_900_deep_become_tables_as_far_as_the_levels_go(shop: Shop) -> None:
    report = shop.load('{"a":' + "[" * 900 + "1" + "]" * 900 + "}")
    assert len(report.tables) == 501  # of 1,000 levels, a list in a list takes two


def test_5000_keys_become_5000_columns(shop: Shop) -> None:
    shop.load(json.dumps({f"k{n}": n for n in range(5000)}))
    assert shop.rows() == [{f"k{n}": n for n in range(5000)}]


def test_numbers_keep_their_value(shop: Shop) -> None:
    digits = "7" * 1000
    shop.load(
        f'{{"n":1,"wide":9223372036854775808,"huge":{digits},"over":1e400,"minus":-0.0,"x":1.0}}',
        '{"n":9223372036854775808}',
        f'{{"n":{digits}}}',
        '{"n":1e400}',
        '{"n":2.0}',
        '{"n":2.5}',
    )
    assert shop.rows() == [
        {"n": 1, "wide": 9223372036854775808, "huge": digits, "over": "1e400", "minus": 0.0, "x": 1.0},
        {"n__v_wei": 9223372036854775808},
        {"n__v_text": digits},
        {"n__v_text": "1e400"},
        {"n": 2},
        {"n__v_double": 2.5},
    ]


def test_odd_keys_are_only_names(shop: Shop) -> None:
    long = "k" * 1000
    record = {"": 1, "🎉party": 2, '"; drop table x; --': 3, long: 4, "../../etc": 5, "a'b": 6}
    shop.load(json.dumps(record), json.dumps({'"; drop table x; --': [1]}))
    assert shop.rows()[0] == {"_empty": 1, "_party": 2, "_drop_table_xxxx": 3, long: 4, "_etc": 5, "a_b": 6}
    assert shop.rows("t___drop_table_xxxx") == [{"value": 1}]


def test_keys_equal_but_for_case_or_separators_are_reported(shop: Shop) -> None:
    report = shop.load('{"Foo":1,"foo":2,"FOO ":3}', '{"user id":1,"user-id":2}')
    assert shop.rows() == [{"foo": 3}, {"user_id": 2}]
    assert [(path, value, line) for _, path, value, line, _ in shop.discards()] == [
        ("Foo", "1", 1),
        ("foo", "2", 1),
        ("user id", "1", 2),
    ]
    assert report.discards.by_reason == {"collision": 3}


def test_a_null_key_names_file_record_and_column(shop: Shop) -> None:
    with pytest.raises(
        ContractError, match=r"x\.jsonl:2: shop\.t\.id: id is null, but column id of table t may not be null"
    ):
        shop.load('{"id":1}', '{"id":null}', mode="merge", keys=("id",))


def test_a_key_that_is_missing_in_a_record_is_a_clear_error(shop: Shop) -> None:
    with pytest.raises(TrellisError, match=r"x\.jsonl:2: shop\.t\.id: there is no value for column id"):
        shop.load('{"id":1}', '{"x":1}', mode="merge", keys=("id",))
    assert shop.pipeline.destination.row_counts("main") == {}


def test_a_key_that_never_arrives_is_named(shop: Shop) -> None:
    with pytest.raises(SchemaError, match="table t: primary key column idd is in no record"):
        shop.load('{"id":1}', mode="merge", keys=("idd",))


def test_a_file_locked_by_another_process_is_named(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    code = f"import duckdb,sys;c=duckdb.connect({str(path)!r});print('open',flush=True);sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"open\n"
        shop = Pipeline("shop", f"duckdb:{path}")
        shop.destination.lock_wait = 0.3  # type: ignore[attr-defined]
        with pytest.raises(
            DestinationError, match=rf"another process holds the file .*{holder.pid}.*close it"
        ):
            shop.load([{"a": 1}], table="t")
    finally:
        holder.kill()
        holder.wait()
    Pipeline("shop", f"duckdb:{path}").load([{"a": 1}], table="t")


@pytest.mark.parametrize("scheme", ["duckdb", "parquet"])
def test_a_destination_that_cannot_be_written_is_a_clear_error(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DestinationError, match="file"):
        Pipeline("shop", f"{scheme}:{tmp_path}/file/below").load([{"a": 1}], table="t")


@pytest.mark.parametrize("scheme", ["duckdb", "parquet"])
def test_a_full_disk_loads_nothing_and_says_so(tmp_path: Path, scheme: str) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        shop = Pipeline("shop", f"{scheme}:{small}/shop")
        rows = [{"n": n, "text": secrets.token_hex(100)} for n in range(20_000)]
        with pytest.raises(DestinationError, match=r"small|[Nn]o space"):
            shop.load(rows, table="t")
        assert shop.destination.row_counts(shop.dataset).get("t", 0) == 0
    finally:
        subprocess.run(["umount", "--lazy", str(small)], check=True)


def test_an_object_that_has_no_data_type_is_named(shop: Shop) -> None:
    with pytest.raises(ContractError, match="record 2: a holds a set, which no data type takes"):
        shop.pipeline.load([{"a": 1}, {"a": {1, 2}}], table="t")


def test_a_source_that_is_none_is_named(shop: Shop) -> None:
    with pytest.raises(UsageError, match="records cannot be read from a int; give paths"):
        shop.pipeline.load(5, table="t")


@pytest.mark.parametrize(
    ("file", "table"),
    [
        ("orders-2024-01.jsonl.gz", "orders"),
        ("events_1.json", "events"),
        ("o3.jsonl", "o3"),
        ("2024.jsonl", "_2024"),
    ],
)
def test_a_table_without_a_name_is_named_after_its_file(tmp_path: Path, file: str, table: str) -> None:
    data = b'{"a":1}\n'
    (tmp_path / file).write_bytes(gzip.compress(data) if file.endswith(".gz") else data)
    report = Pipeline("shop", f"duckdb:{tmp_path}/x.duckdb").load(str(tmp_path / file))
    assert [t.name for t in report.tables] == [table]
