"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.dialects.registration import Registration

if TYPE_CHECKING:
    from trellis.evolution.dialect import Dialect


def _dialect() -> Dialect:
    from trellis.dialects.dlt.dialect import Dlt

    return Dlt()


registration = Registration(dialect=_dialect, option_example="max_nesting=2")
