"""The command line, and a folder of schemas."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.conftest import folder, trellis

__all__ = ["folder", "trellis"]

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def schemas(folder: Path) -> Path:
    """The versions of org.harbor/vessel_call, in the folder in which commands run."""
    shutil.copytree(EXAMPLES / "schemas", folder / "schemas")
    shutil.copy(EXAMPLES / "vessel_call-next.json", folder)
    return folder / "schemas/org.harbor/vessel_call/jsonschema"
