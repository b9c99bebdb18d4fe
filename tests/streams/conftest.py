"""Destinations of streams."""

from __future__ import annotations

from destinations.conftest import destination_url
from destinations.postgres_server import database, postgres

__all__ = ["database", "destination_url", "postgres"]
