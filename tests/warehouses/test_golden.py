"""Every type and statement of every warehouse, of both dialects and all destinations."""

from __future__ import annotations

import pytest

from warehouses.golden import FILES, FOLDER, text_of


@pytest.mark.parametrize("file", FILES)
def test_statements_and_types(file: str) -> None:
    assert text_of(file) == (FOLDER / f"{file}.txt").read_text(encoding="utf-8")


def test_every_file_is_compared() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*FILES}
