"""The five decisions of this dialect, put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.dialects.pinot.keep import PinotKeep
from trellis.dialects.pinot.name import PinotName
from trellis.dialects.pinot.route import PinotRoute
from trellis.dialects.pinot.type import PinotType
from trellis.evolution.quiet import FlatShape


@dataclass(frozen=True)
class Pinot:
    name: str = "pinot"
    route: PinotRoute = field(default_factory=PinotRoute)
    shape: FlatShape = field(default_factory=FlatShape)
    naming: PinotName = field(default_factory=PinotName)
    type: PinotType = field(default_factory=PinotType)
    keep: PinotKeep = field(default_factory=PinotKeep)
