"""Rows between formats and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.dialects.ytsaurus.errors import warn

Row = dict[str, Any]
"""Values by column. Strings are bytes; a name that is not UTF-8 carries its bytes as surrogates."""


@dataclass
class ReadingNotes:
    """What a format leaves out of the rows that it reads, as YTsaurus does."""

    skipped_fields: int = 0
    """Of DSV, without a key."""
    first_skipped: str = ""

    def skip_field(self, line: int, field: bytes) -> None:
        if not self.skipped_fields:
            text = field[:40].decode("utf-8", "backslashreplace")
            self.first_skipped = f"{text!r} in line {line}"
        self.skipped_fields += 1

    def tell(self, place: str) -> list[str]:
        """Warn users of what was left out of the rows of a place, such as a table; the sentences."""
        if not self.skipped_fields:
            return []
        fields = "1 field" if self.skipped_fields == 1 else f"{self.skipped_fields} fields"
        sentence = (
            f"{place}: {fields} without '=' skipped, as in YTsaurus, the first {self.first_skipped}; "
            "expected fields such as name=value"
        )
        warn(sentence)
        return [sentence]
