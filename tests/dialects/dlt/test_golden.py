"""Every type and statement of every warehouse for a schema of dlt."""

from __future__ import annotations

import pytest

from dialects.dlt.golden import GOLDEN


@pytest.mark.parametrize("name", GOLDEN.lines)
def test_statements_and_types(name: str) -> None:
    assert GOLDEN.render(name) == GOLDEN.read(name)


def test_every_file_is_compared() -> None:
    assert GOLDEN.stored_names() == {*GOLDEN.lines}
