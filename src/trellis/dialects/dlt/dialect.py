"""The five decisions of this dialect, put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.dialects.dlt.keep import DltKeep
from trellis.dialects.dlt.name import DltName
from trellis.dialects.dlt.route import DltRoute
from trellis.dialects.dlt.shape import DltShape
from trellis.dialects.dlt.type import DltType


@dataclass(frozen=True)
class Dlt:
    name: str = "dlt"
    route: DltRoute = field(default_factory=DltRoute)
    shape: DltShape = field(default_factory=DltShape)
    naming: DltName = field(default_factory=DltName)
    type: DltType = field(default_factory=DltType)
    keep: DltKeep = field(default_factory=DltKeep)
