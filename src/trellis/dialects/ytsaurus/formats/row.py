"""Rows between formats and tables."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
"""Values by column. Strings are bytes; a name that is not UTF-8 carries its bytes as surrogates."""
