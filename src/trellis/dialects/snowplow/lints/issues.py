"""Findings of linters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ERROR", "WARNING", "INFO"]
"""ERROR keeps a schema from being published."""


@dataclass(frozen=True)
class Issue:
    """What a linter found at a place of a schema."""

    level: Level
    linter: str
    pointer: str
    message: str
