"""Errors for programs: a stable code, and whether another try may help."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from trellis import errors
from trellis.cli.app import run
from trellis.destinations.base import StateConflict
from trellis.destinations.postgres.errors import cannot_connect
from trellis.errors import TrellisError

CODES = {
    "TrellisError": ("error", False, 2),
    "UsageError": ("usage", False, 2),
    "SchemaError": ("schema", False, 2),
    "ContractError": ("contract", False, 1),
    "ConflictError": ("conflict", True, 3),
    "DestinationError": ("destination", True, 3),
    "StorageError": ("storage", True, 3),
    "SourceError": ("source", True, 3),
    "SparkError": ("spark", True, 3),
}


def test_every_kind_of_error_has_its_code() -> None:
    classes = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, TrellisError)
    }
    assert {
        name: (error.error_code, error.retryable, error.exit_code) for name, error in classes.items()
    } == CODES
    assert (StateConflict.error_code, StateConflict.retryable) == ("conflict", True)


def test_an_error_as_an_object() -> None:
    error = pickle.loads(pickle.dumps(errors.DestinationError("no rights", retryable=False)))
    assert error.to_dict() == {
        "type": "DestinationError",
        "code": "destination",
        "message": "no rights",
        "retryable": False,
        "exit_code": 3,
    }


@pytest.mark.parametrize(
    ("message", "retryable"),
    [
        ("connection to server: Connection refused", True),
        ("FATAL: password authentication failed for user", False),
        ('FATAL: database "shop" does not exist', False),
        ("FATAL: sorry, too many clients already", True),
    ],
)
def test_a_login_that_is_refused_is_not_tried_again(message: str, retryable: bool) -> None:
    assert cannot_connect(Exception(message), "postgresql://host").retryable is retryable


@pytest.mark.parametrize(
    ("words", "code"),
    [(["load", "no.jsonl", "--json"], "usage"), (["load", "--json", "--no-such"], "usage")],
)
def test_the_command_line_prints_it(
    words: list[str],
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["retryable"], error["exit_code"]) == (code, False, 2)
