"""An ERD of parents and children: where the boxes stand and the lines go. A template draws it as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trellis.site.content import ColumnPage, TablePage

WIDTH, GAP = 236, 64
LINE, HEAD, SPACE = 20, 30, 20
MOST_COLUMNS = 7
NAME, TYPE = 18, 12
"""Letters of a name and of a type that fit into a box."""


@dataclass(frozen=True)
class Box:
    """A table. `more` counts the columns that have no line."""

    table: TablePage
    x: int
    y: int
    columns: tuple[ColumnPage, ...]
    more: int

    @property
    def height(self) -> int:
        return HEAD + LINE * (len(self.columns) + bool(self.more)) + 8

    def line(self, number: int) -> int:
        """The baseline of a line of text."""
        return self.y + HEAD + LINE * number + 15


@dataclass(frozen=True)
class Link:
    """A line from the right side of a parent to the left side of a child."""

    x1: int
    y1: int
    x2: int
    y2: int

    @property
    def path(self) -> str:
        middle = (self.x1 + self.x2) // 2
        return f"M{self.x1} {self.y1}C{middle} {self.y1} {middle} {self.y2} {self.x2} {self.y2}"


@dataclass(frozen=True)
class Diagram:
    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    width: int
    height: int


def draw_diagram(tables: Sequence[TablePage]) -> Diagram:
    """The boxes of tables, each root with those below it to its right."""
    by_name = {table.name: table for table in tables}
    boxes: dict[str, Box] = {}
    bottom = 0

    def place(table: TablePage, depth: int, top: int) -> int:
        """Place a table and those below it from `top` on; where they end."""
        columns = sorted(table.columns, key=lambda column: not column.marks)[:MOST_COLUMNS]
        shown = tuple(column for column in table.columns if column in columns)
        box = Box(table, 1 + depth * (WIDTH + GAP), top, shown, len(table.columns) - len(shown))
        boxes[table.name] = box
        end = top
        for child in table.children:
            if child in by_name:
                end = place(by_name[child], depth + 1, end)
        return max(end, top + box.height + SPACE)

    for table in tables:
        if table.parent not in by_name:
            bottom = place(table, 0, bottom or 1)
    links = [
        Link(parent.x + WIDTH, parent.y + HEAD // 2, box.x, box.y + HEAD // 2)
        for box in boxes.values()
        if (parent := boxes.get(box.table.parent or "")) is not None
    ]
    width = max((box.x + WIDTH + 1 for box in boxes.values()), default=0)
    return Diagram(tuple(boxes.values()), tuple(links), width, max(bottom - SPACE + 1, 0))


def shortened(text: str, most: int) -> str:
    """
    >>> shortened("orders__lines", 8), shortened("orders", 8)
    ('orders_…', 'orders')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
