"""The names that are not the user's: of tables and columns that Trellis and its dialects keep."""

from __future__ import annotations

OURS = "_trellis"
"""What our own tables begin with, in any dialect."""


def is_system(name: str, *prefixes: str) -> bool:
    """Whether a table or column of that name is ours, or one of a dialect whose names begin so.

    Give a dialect's prefix as the naming spells it.

    >>> is_system("_trellis_loads"), is_system("orders"), is_system("_acme_id", "_acme")
    (True, False, True)
    """
    return name.startswith((OURS, *prefixes))
