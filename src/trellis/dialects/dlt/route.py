"""Every record belongs to the one table the user named."""

from __future__ import annotations

from trellis.evolution.dialect import Router


class DltRoute:
    def router(self, table: str) -> Router | None:
        return None
