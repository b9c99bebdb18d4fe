"""The five decisions of this dialect, put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.dialects.rudderstack.keep import RudderKeep
from trellis.dialects.rudderstack.name import RudderName
from trellis.dialects.rudderstack.route import RudderRoute
from trellis.dialects.rudderstack.type import RudderType
from trellis.evolution.quiet import FlatShape


@dataclass(frozen=True)
class RudderStack:
    name: str = "rudderstack"
    route: RudderRoute = field(default_factory=RudderRoute)
    shape: FlatShape = field(default_factory=FlatShape)
    naming: RudderName = field(default_factory=RudderName)
    type: RudderType = field(default_factory=RudderType)
    keep: RudderKeep = field(default_factory=RudderKeep)
