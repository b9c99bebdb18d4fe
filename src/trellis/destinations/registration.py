"""What the folder of a destination brings: how its URLs look, and what opens them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.destinations.base import Destination


@dataclass(frozen=True)
class Registration:
    """One destination, as the rest of Trellis reaches it. Its name is the scheme of its URLs.

    It is read whenever Trellis starts, so `open` imports what it needs when it is called.
    """

    open: Callable[[str], Destination]
    """Opens the destination of a URL, which has no naming convention any more. Raises UsageError."""
    url_form: str
    """How a URL is written, such as `duckdb:PATH`."""
    other_schemes: tuple[str, ...] = ()
    """Schemes of its URLs besides its name."""
    request_packages: Callable[[str], None] = lambda _: None
    """Requests what a Spark session needs for a URL, before one starts in this process. Raises UsageError."""
