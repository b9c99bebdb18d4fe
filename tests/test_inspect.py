"""trellis.pipelines.inspect: every path, every kind, from all records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from trellis.engine.input.blocks import BLOCK
from trellis.engine.input.files import input_files, splits_of
from trellis.engine.storage.storage import DEFAULT_STORAGE
from trellis.engine.survey.splits import merged, survey_split
from trellis.errors import UsageError
from trellis.pipelines.inspect import Inspection, inspect, inspection

KINDS = {
    "null": ("null", "null"),
    "true": ("bool", "true"),
    "1": ("int", "1"),
    "1.0": ("float", "1.0"),
    "1e2": ("float", "100.0"),
    '"1"': ("string", '"1"'),
    "9223372036854775807": ("int", "9223372036854775807"),
    "9223372036854775808": ("integer beyond 64 bits", "9223372036854775808"),
    "-9223372036854775809": ("integer beyond 64 bits", "-9223372036854775809"),
    "123456789012345678901234567890": ("integer beyond 64 bits", "123456789012345678901234567890"),
    "0.12345678901234567890123": ("float", "0.12345678901234568"),
    "{}": ("object", "{}"),
    '{"a":1,"b c":2}': ("object", '{a, "b c"}'),
    "[]": ("array", "[0 items]"),
    "[1]": ("array", "[1 item]"),
    '"\\u001b[31m"': ("string", '"\\u001b[31m"'),
    '"é"': ("string", '"é"'),
}


def lines(path: Path, *texts: str) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("text", KINDS)
def test_kinds(tmp_path, text):
    kind = inspect(lines(tmp_path / "a.jsonl", f'{{"x":{text}}}')).paths[0].kinds[0]
    assert (kind.kind, kind.example) == KINDS[text]


def table(inspection: Inspection) -> list[tuple[Any, ...]]:
    return [
        (
            path.path,
            path.count,
            path.nulls,
            path.missing,
            *((k.kind, k.count, k.first.line) for k in path.kinds),
        )
        for path in inspection.paths
    ]


def test_counts_nulls_missing_and_first_places(tmp_path):
    file = lines(
        tmp_path / "a.jsonl",
        '{"id":1,"user":{"name":"a"},"items":[{"sku":1},{"sku":"x","n":1}]}',
        "",
        '{"id":null,"user":"b"}',
        '{"user":{"name":null,"zip":"7"},"items":[3,[4]]}',
    )
    assert table(inspect(file)) == [
        ("id", 2, 1, 1, ("int", 1, 1), ("null", 1, 3)),
        ("user", 3, 0, 0, ("object", 2, 1), ("string", 1, 3)),
        ("user.name", 2, 1, 0, ("string", 1, 1), ("null", 1, 4)),
        ("user.zip", 1, 0, 1, ("string", 1, 4)),
        ("items", 2, 0, 1, ("array", 2, 1)),
        ("items[]", 4, 0, 0, ("object", 2, 1), ("int", 1, 4), ("array", 1, 4)),
        ("items[].sku", 2, 0, 0, ("int", 1, 1), ("string", 1, 1)),
        ("items[].n", 1, 0, 1, ("int", 1, 1)),
        ("items[][]", 1, 0, 0, ("int", 1, 4)),
    ]


def test_strings_that_are_times(tmp_path):
    texts = ("2024-01-01T00:00:00Z", "2024-01-01 10:00", "2024", "12 monkeys", "")
    inspection = inspect(lines(tmp_path / "a.jsonl", *(json.dumps({"at": text}) for text in texts)))
    assert (inspection.paths[0].count, inspection.paths[0].timestamps) == (5, 2)


def test_the_first_place_is_the_first_whatever_the_shapes(tmp_path):
    """Objects are grouped by their keys; the group that comes first is not where a kind comes first."""
    rows = ['{"a":1,"b":1}', '{"a":"x"}', '{"a":"y","b":1}', '{"b":"z","a":2}']
    inspection = inspect(lines(tmp_path / "a.jsonl", *rows))
    assert table(inspection) == [
        ("a", 4, 0, 0, ("int", 2, 1), ("string", 2, 2)),
        ("b", 3, 0, 1, ("int", 2, 1), ("string", 1, 4)),
    ]
    assert inspection.paths[0].kinds[1].example == '"x"'


@pytest.mark.parametrize("count", [5, 300])
def test_hardly_two_records_with_the_same_keys(tmp_path, count):
    rows = [{f"k{key}": row for key in range(12) if (row * 7 + key * 5) % 11} for row in range(count)]
    inspection = inspect(lines(tmp_path / "a.jsonl", *map(json.dumps, rows)))
    assert {(path.path, path.count, path.missing, path.kinds[0].first.line) for path in inspection.paths} == {
        (
            name,
            sum(name in row for row in rows),
            sum(name not in row for row in rows),
            next(at for at, row in enumerate(rows, 1) if name in row),
        )
        for name in {key for row in rows for key in row}
    }


def test_bad_lines_and_duplicate_keys(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"a":1,"a":2}\nno\n{"a":{"b":1, "b" :2}}\n\xff\n[1]\n{"a":"\\":"}\n{"a" :1,"a":3}\n')
    inspection = inspect(file)
    assert (inspection.records, inspection.rejected) == (4, 3)
    assert [(reject.what, reject.count, reject.first.line) for reject in inspection.rejects] == [
        ("not JSON", 1, 2),
        ("not UTF-8", 1, 4),
        ("a record must be a JSON object, this line is an array", 1, 5),
    ]
    assert [
        (duplicate.what, duplicate.count, duplicate.first.line, duplicate.example)
        for duplicate in inspection.duplicate_keys
    ] == [
        ("a", 2, 1, "1"),
        ("b", 1, 3, "1"),
    ]


def test_lines_count_on_through_blocks(tmp_path):
    rows = 2 * BLOCK // 900
    file = lines(tmp_path / "a.jsonl", *(['{"x":"' + "y" * 1000 + '"}'] * rows), '{"last":1}')
    assert file.stat().st_size > 2 * BLOCK
    assert inspect(file).paths[1].kinds[0].first.line == rows + 1


def test_several_files(tmp_path):
    lines(tmp_path / "a.jsonl", '{"x":1}')
    with gzip.open(tmp_path / "b.jsonl.gz", "wb") as packed:
        packed.write(b'{"x":"y"}\n')
    (tmp_path / "c.json").write_text('[{"x":1},\n{"x":true}]')
    inspection = inspect(tmp_path)
    assert [
        (kind.kind, Path(kind.first.file).name, kind.first.line) for kind in inspection.paths[0].kinds
    ] == [
        ("int", "a.jsonl", 1),
        ("string", "b.jsonl.gz", 1),
        ("bool", "c.json", 2),
    ]


def test_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": 1, "tags": ["a"]}, {"id": None, "tags": []}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert table(inspect(tmp_path / "a.parquet")) == [
        ("id", 2, 1, 0, ("int", 1, 1), ("null", 1, 2)),
        ("tags", 2, 0, 0, ("array", 2, 1)),
        ("tags[]", 1, 0, 0, ("string", 1, 1)),
    ]


def test_records_that_are_python_values():
    inspection = inspect({"n": number} for number in range(12_000))
    assert table(inspection) == [("n", 12_000, 0, 0, ("int", 12_000, 1))]


def test_deep_records(tmp_path):
    deep = '{"a":' * 900 + "1" + "}" * 900
    assert len(inspect(lines(tmp_path / "a.jsonl", deep)).paths) == 900


def test_keys_that_would_be_misread_are_quoted(tmp_path):
    inspection = inspect(lines(tmp_path / "a.jsonl", '{"a.b":1,"c[]":{"":2},"d e":3,"é":4}'))
    assert [path.path for path in inspection.paths] == ['"a.b"', '"c[]"', '"c[]".""', '"d e"', "é"]


def test_nothing_there(tmp_path):
    with pytest.raises(UsageError, match=r"nix.jsonl: no such file"):
        inspect(tmp_path / "nix.jsonl")
    assert inspect(lines(tmp_path / "a.jsonl")).to_dict() == {
        "files": [str(tmp_path / "a.jsonl")],
        "rows": {"in": 0, "read": 0, "rejected": 0},
        "paths": [],
        "rejects": {},
        "duplicate_keys": {},
    }


# --- one law: what a plain walk over every value counts ---------------------------------------------------

VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text('ab:"'),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=12,
)


def walk(value: Any, path: str, line: int, into: dict[tuple[str, str], list[int]]) -> None:
    kinds = {type(None): "null", bool: "bool", float: "float", str: "string", dict: "object", list: "array"}
    kind = kinds.get(type(value)) or ("int" if -(2**63) <= value < 2**63 else "integer beyond 64 bits")
    into.setdefault((path, kind), []).append(line)
    if isinstance(value, dict):
        for key, inner in value.items():
            walk(inner, f"{path}.{key}", line, into)
    if isinstance(value, list):
        for inner in value:
            walk(inner, f"{path}[]", line, into)


@given(some.lists(some.dictionaries(some.sampled_from("abc"), VALUES, max_size=3), max_size=25))
def test_it_counts_what_a_plain_walk_counts(tmp_path_factory, records):
    file = lines(tmp_path_factory.mktemp("law") / "a.jsonl", *map(json.dumps, records))
    expected: dict[tuple[str, str], list[int]] = {}
    for line, record in enumerate(records, 1):
        for key, value in record.items():
            walk(value, key, line, expected)
    inspection = inspect(file)
    assert {
        (path.path, kind.kind): (kind.count, kind.first.line)
        for path in inspection.paths
        for kind in path.kinds
    } == {key: (len(at), at[0]) for key, at in expected.items()}
    assert inspection.duplicate_keys == ()


@given(some.lists(some.dictionaries(some.sampled_from("abc"), VALUES, max_size=3), max_size=25), some.data())
def test_the_surveys_of_splits_together_are_that_of_the_file(tmp_path_factory, records, data):
    file = lines(tmp_path_factory.mktemp("law") / "a.jsonl", *map(json.dumps, records), "no record")
    size = data.draw(some.integers(1, file.stat().st_size))
    files = input_files([str(file), str(file)])
    splits = data.draw(some.permutations(splits_of(files, size)))
    whole = inspect([file, file])
    surveys = [survey_split(split, DEFAULT_STORAGE, lambda _: None) for split in splits]
    together = inspection(merged(surveys), whole.files)
    assert table(together) == table(whole)
    assert together.to_dict()["rejects"] == whole.to_dict()["rejects"]
    assert together.to_dict()["duplicate_keys"] == whole.to_dict()["duplicate_keys"]


def test_keys_stand_in_the_order_of_the_first_record_that_has_them(tmp_path):
    """Though objects of one shape are looked at together: the third record before the second here."""
    records = (
        {"a": 1, "c": 1, "b": 1},
        {"a": 1, "b": 1, "c": {"b": 1, "a": 1}},
        {"a": 1, "c": {"a": 1}, "b": 1},
    )
    file = lines(tmp_path / "a.jsonl", *map(json.dumps, records))
    assert [path.path for path in inspect(file).paths] == ["a", "c", "c.b", "c.a", "b"]
