"""What a user without the jars reads; no JVM is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trellis import Pipeline
from trellis.cli.app import run
from trellis.dialects.pinot.jars import gateway
from trellis.errors import UsageError

SCHEMA = {
    "schemaName": "visits",
    "dimensionFieldSpecs": [
        {"name": "url", "dataType": "STRING"},
        {"name": "domain", "dataType": "STRING", "transformFunction": "urlDomain(url)"},
    ],
}


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(gateway.JARS, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")


def test_a_function_that_is_not_implemented_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="--option functions=pinot-jars"):
        Pipeline("v", f"parquet:{tmp_path}/lake", dialect="pinot").load(
            [{"url": "http://a.b/c"}], schema="schema.json"
        )


def test_a_load_without_jars_says_how_to_get_them(tmp_path: Path) -> None:
    pipeline = Pipeline(
        "v", f"parquet:{tmp_path}/lake", dialect="pinot", settings={"functions": "pinot-jars"}
    )
    with pytest.raises(UsageError) as refusal:
        pipeline.load([{"url": "http://a.b/c"}], schema="schema.json")
    assert str(refusal.value) == (
        f"{gateway.chosen_folder()}: the jars of Pinot 1.5.1 are not there: fetch them with "
        "`trellis pinot jars`, or set TRELLIS_PINOT_JARS to their folder"
    )


def test_a_folder_without_jars_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(gateway.JARS, "/nowhere")
    assert run(["pinot", "validate", "schema.json", "--pinot-jars"]) == 2
    assert capsys.readouterr().err == (
        "error: /nowhere: the jars of Pinot 1.5.1 are not there: fetch them with `trellis pinot jars`, or "
        "set TRELLIS_PINOT_JARS to their folder\n"
    )


def test_segments_need_a_delivery(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pinot", "segments", "nothing"]) == 2
    assert capsys.readouterr().err == (
        "error: nothing: it is not a delivery; `trellis pinot deliver --out nothing` writes one\n"
    )


def test_jars_without_maven(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert run(["pinot", "jars"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: `mvn` is not on the PATH: install Maven, or put the jars that ")
