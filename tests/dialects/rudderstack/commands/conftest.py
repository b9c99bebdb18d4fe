"""The command line, for the commands of this dialect."""

from __future__ import annotations

from cli.conftest import folder, lines, trellis

__all__ = ["folder", "lines", "trellis"]
