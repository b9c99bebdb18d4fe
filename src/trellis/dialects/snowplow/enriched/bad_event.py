"""Why an event is bad: it goes whole, with its line, to the bad rows."""

from __future__ import annotations

import re
from typing import Final, Literal

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


_PLACE: Final = re.compile(r"(iglu:[^\s:]+/\d+-\d+-\d+)(?:: (/.*?) \w+: )?", re.DOTALL)


def failed_place(message: str) -> tuple[str | None, str | None]:
    """The schema that a message names first, and the place in its data.

    >>> failed_place("iglu:com.acme/event/jsonschema/1-0-0: /geo/lat type: 'x' is not of type 'number'")
    ('iglu:com.acme/event/jsonschema/1-0-0', '/geo/lat')
    >>> failed_place("not 131 fields")
    (None, None)
    """
    match = _PLACE.search(message)
    return (match[1], match[2]) if match else (None, None)
