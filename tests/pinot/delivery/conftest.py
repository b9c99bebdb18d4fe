"""A stand-in for the controller, and a client that does not wait between attempts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinot.delivery.standin import Standin, standin
from trellis.pinot.controller import Controller
from trellis.pinot.http import Http


@pytest.fixture
def cluster() -> Iterator[Standin]:
    with standin() as made:
        yield made


@pytest.fixture
def controller(cluster: Standin) -> Controller:
    return Controller(Http.of(cluster.url, timeout=0.3, wait=lambda _: None))
