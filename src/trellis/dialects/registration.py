"""What the folder of a dialect brings besides its decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.evolution.dialect import Dialect


@dataclass(frozen=True)
class Registration:
    """One dialect, as the rest of Trellis reaches it.

    It is read whenever Trellis starts, so its functions import what they need when they are called.
    """

    dialect: Callable[[], Dialect]
    """Makes the dialect."""
