"""Pinot's own classes, for the tests that ask them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialects.pinot.jvm import NoPinot, kept_path, tool
from dialects.pinot.oracle.client import Oracle, oracle
from trellis.cli.app import run
from trellis.dialects.pinot import jars
from trellis.dialects.pinot.jars.gateway import JARS


@pytest.fixture(scope="module")
def pinot() -> Iterator[Oracle]:
    try:
        with oracle() as process:
            yield process
    except NoPinot as missing:
        pytest.skip(str(missing))


@pytest.fixture
def pinot_jars(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The jars of `trellis pinot jars`, fetched once and kept between runs."""
    folder = kept_path("own-jars", Path(jars.__file__).with_name("pom.xml").read_bytes())
    if not list(folder.glob("*pinot-core-*.jar")):
        tool("mvn")
        part = folder.with_suffix(f".{os.getpid()}")
        monkeypatch.setenv(JARS, str(part))
        assert run(["pinot", "jars"]) == 0
        part.rename(folder)
    monkeypatch.setenv(JARS, str(folder))
    return folder
