"""The error of this package."""

from __future__ import annotations


class FormatError(ValueError):
    """A format that is not one, or a value that does not follow its format; the text is one sentence."""
