"""Splits and blocks: every line exactly once, whatever the division."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine.input import blocks
from trellis.engine.input.blocks import Split, read_blocks
from trellis.engine.input.files import InputFile, input_files, split_for, splits_of
from trellis.errors import UsageError

LINES = st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=40)


def lines_of(splits: list[Split]) -> list[bytes]:
    return [line for split in splits for block in read_blocks(split) for line in block.lines]


@given(lines=LINES, size=st.integers(1, 60), block=st.integers(1, 50), ending=st.booleans())
def test_every_line_is_read_once_for_any_split_and_block_size(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, block: int, ending: bool
) -> None:
    lines = [b"{" + line for line in lines]
    path = tmp_path_factory.mktemp("blocks") / "x.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ending and lines else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(blocks, "PEEK_BYTES", block)
        splits = splits_of([InputFile(str(path), "lines", "", path.stat().st_size)], size)
        assert lines_of(splits) == lines
        counted = [(b.line, len(b.lines)) for split in splits for b in read_blocks(split)]
    assert sum(count for _, count in counted) == len(lines)


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.jsonl.zst", "x.jsonl.bz2", "x.jsonl"])
def test_compressed_files_read_the_same(tmp_path: Path, name: str) -> None:
    data = b"".join(b'{"n":%d}\n' % n for n in range(1000))
    pack = {"gz": gzip.compress, "zst": zstandard.compress, "bz2": bz2.compress}.get(
        name.rpartition(".")[2], bytes
    )
    (tmp_path / name).write_bytes(pack(data))
    assert lines_of(splits_of(input_files([str(tmp_path)]))) == data.splitlines()


def test_a_compressed_file_without_an_ending_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "events.json").write_bytes(gzip.compress(b'{"a":1}\n'))
    assert input_files([str(tmp_path / "events.json")])[0].compression == "gzip"


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_a_json_array_is_read_element_by_element(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    text = '\ufeff [ {"a": "x]y\\"[", "b":\n [1, {"c": "é"}]} ,{"a":2},\r\n 3, "s", '
    text += "null ,[] , 12345678901234567890 ]\n"
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert lines_of(splits_of(input_files([str(tmp_path / "a.json")]))) == [
        '{"a": "x]y\\"[", "b":  [1, {"c": "é"}]}'.encode(),
        b'{"a":2}',
        b"3",
        b'"s"',
        b"null",
        b"[]",
        b"12345678901234567890",
    ]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[{"a":1},{"a":2}', "after element 2, at the end of the file"),
        ('[{"a":1},{"a":', """after element 1, at '{"a":'"""),
        ('[{"a":1} {"a":2}]', """after element 1, at '{"a":2}]'"""),
        ('[{"a":1}] trailing', "after element 1, at 'trailing'"),
    ],
)
def test_a_damaged_array_is_a_clear_error(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UsageError) as error:
        lines_of(splits_of(input_files([str(tmp_path / "a.json")])))
    assert where in str(error.value)


def test_lines_that_begin_with_an_array_are_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[1]\n{"a":1}\n')
    assert lines_of(splits_of(input_files([str(tmp_path / "a.json")]))) == [b"[1]", b'{"a":1}']


def test_half_a_gzip_is_a_clear_error(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"n":%d}\n' % n for n in range(50_000)))
    (tmp_path / "x.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match="ends in the middle of the file; nothing was loaded"):
        lines_of(splits_of(input_files([str(tmp_path / "x.jsonl.gz")])))


def test_files_are_taken_in_the_order_given_and_by_name_within_a_folder(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "_hidden.jsonl", ".dot.jsonl"):
        (tmp_path / name).write_text("{}\n")
    assert [Path(f.path).name for f in input_files([str(tmp_path)])] == ["a.jsonl", "b.jsonl"]
    chosen = [str(tmp_path / "b.jsonl"), str(tmp_path / "a*")]
    assert [Path(f.path).name for f in input_files(chosen)] == ["b.jsonl", "a.jsonl"]


@pytest.mark.parametrize(
    ("megabytes", "cores", "tables", "expected"),
    [
        (1, 2, 1, 4),
        (34, 2, 1, 17),
        (34, 16, 1, 4),
        (75, 1, 1, 64),
        (300, 2, 1, 64),
        (3000, 2, 1, 187),
        (9000, 2, 1, 256),
        (300, 2, 250, 75),
        (300, 2, 500, 150),
        (300, 8, 500, 37),
        (3000, 2, 500, 256),
    ],
)
def test_every_core_has_a_split_and_large_inputs_or_many_tables_have_larger_ones(
    megabytes, cores, tables, expected
):
    assert split_for([InputFile("x", "lines", "", megabytes << 20)], cores, tables) >> 20 == expected
