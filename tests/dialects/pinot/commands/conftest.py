"""The command line, for the commands of this dialect."""

from __future__ import annotations

from cli.conftest import folder, lines, process, trellis

__all__ = ["folder", "lines", "process", "trellis"]
