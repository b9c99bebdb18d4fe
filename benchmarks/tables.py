"""Tables of figures on the terminal."""

from __future__ import annotations

from rich.table import Table


def table(title: str, *columns: str, caption: str = "") -> Table:
    """The first column is words, and the last if it has no name; the others are figures."""
    made = Table(
        title=title, title_justify="left", title_style="bold", caption=caption or None, caption_justify="left"
    )
    for number, column in enumerate(columns):
        words = number == 0 or (not column and number == len(columns) - 1)
        made.add_column(column, justify="left" if words else "right", no_wrap=not words)
    return made


def seconds(value: float) -> str:
    return f"{value:.2f}"


def megabytes(size: int | None) -> str:
    return f"{size / 1e6:,.0f}" if size else ""


def times(one: float, other: float) -> str:
    return f"{one / other:.2f}" if other else ""
