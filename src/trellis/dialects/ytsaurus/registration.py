"""What the folder of this dialect brings, for the registry of dialects."""

from __future__ import annotations

from trellis.dialects.registration import Registration

registration = Registration(dialect=None)
"""The YTsaurus dialect: tables with schemas, and their operations."""
