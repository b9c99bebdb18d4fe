"""Whether the texts of a pattern sort as their instants do."""

from __future__ import annotations

from typing import Final

_FROM_LARGE: Final = "yMdHmsS"


def is_sortable(pattern: str) -> bool:
    """Whether Pinot accepts the pattern as sorted by both text and time.

    The last place of each of the letters `y M d H m s S` counts, in quotes too; other letters are not ranked.

    >>> is_sortable("yyyy-MM-dd"), is_sortable("MM-dd-yyyy"), is_sortable("yyyy-MM-dd'day'")
    (True, False, False)
    """
    places = [place for letter in _FROM_LARGE if (place := pattern.rfind(letter)) >= 0]
    return places == sorted(places)


def sort_order_message(pattern: str) -> str:
    """Pinot's error for a pattern that is not in this order."""
    return (
        f"SIMPLE_DATE_FORMAT pattern {pattern} has to be sorted by both lexicographical and datetime order, "
        "so write years first, then months, days, hours, minutes and seconds"
    )
