"""Documents of the programs that dialects come from, handed over as schemas of Trellis."""

from __future__ import annotations

import json

from trellis.dialects import registrations


def describe_foreign(text: str, file: str) -> str | None:
    """What the document is to the dialect that knows it, and what to do with it; None where none does."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    descriptions = (
        registration.describe_document(document, file) for registration in registrations().values()
    )
    return next((description for description in descriptions if description), None)
