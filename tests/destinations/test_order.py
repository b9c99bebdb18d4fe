"""In which order the rows of a load stand in its table."""

from __future__ import annotations

from pathlib import Path

import pytest

import trellis


@pytest.mark.parametrize("to", ["duckdb:{}/farm.duckdb", "parquet:{}/lake"])
def test_rows_of_many_files_stand_in_the_order_of_the_input(to: str, tmp_path: Path) -> None:
    files = []
    for number in range(40):
        file = tmp_path / f"{number:02d}.jsonl"
        file.write_text("".join(f'{{"a": {number * 50 + row}}}\n' for row in range(50)))
        files.append(str(file))
    pipe = trellis.pipeline("farm", to=to.format(tmp_path))
    pipe.load(files, table="t")
    assert [row["a"] for row in pipe.destination.query(pipe.dataset, "t")] == list(range(2000))


def test_a_file_with_something_new_keeps_its_place(tmp_path: Path) -> None:
    new = [{"a": number, "b": number} for number in (3, 4)]
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    (tmp_path / "2.jsonl").write_text("".join(f"{row}\n".replace("'", '"') for row in new))
    (tmp_path / "3.jsonl").write_text('{"a": 5}\n')
    pipe = trellis.pipeline("farm", to=f"duckdb:{tmp_path}/farm.duckdb")
    pipe.load([str(tmp_path / f"{number}.jsonl") for number in (1, 2, 3)], table="t")
    assert [row["a"] for row in pipe.destination.query("main", "t")] == [1, 2, 3, 4, 5]
