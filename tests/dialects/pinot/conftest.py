"""Pinot's own classes, for the tests that ask them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialects.pinot.jvm import NoPinot
from dialects.pinot.oracle.client import Oracle, oracle


@pytest.fixture(scope="module")
def pinot() -> Iterator[Oracle]:
    try:
        with oracle() as process:
            yield process
    except NoPinot as missing:
        pytest.skip(str(missing))
