"""Errors of date-time formats."""

from __future__ import annotations


class FormatError(ValueError):
    """An invalid format, or a value that does not follow its format; the text is one sentence."""
