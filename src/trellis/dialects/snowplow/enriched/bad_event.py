"""Why an event is bad: it goes whole, with its line, to the bad rows."""

from __future__ import annotations

from typing import Literal

from trellis.evolution.record_outcome import Rejected

BadKind = Literal[
    "loader_parsing_error",
    "loader_iglu_error",
    "loader_runtime_error",
    "schema_violations",
    "generic_error",
]
"""Names of the schemas that bad rows of Snowplow have."""


class BadEvent(Rejected):
    """An event that reaches no table."""

    def __init__(self, kind: BadKind, message: str) -> None:
        super().__init__(f"{kind}: {message}", kind)
