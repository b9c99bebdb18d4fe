"""Tables as HTML, for notebooks. Whatever is in a cell is text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """
    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{_cells('th', headers)}</tr></thead><tbody>{body}</tbody></table>"


def html_paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _cells(tag: str, values: Sequence[object]) -> str:
    return "".join(f"<{tag}>{escape(str(value))}</{tag}>" for value in values)
