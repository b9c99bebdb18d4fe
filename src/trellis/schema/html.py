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


def html_details(summary: str, text: str) -> str:
    """Lines of code that are folded away.

    >>> html_details("SQL", "a < b")
    '<details><summary>SQL</summary><pre style="white-space: pre-wrap">a &lt; b</pre></details>'
    """
    code = f'<pre style="white-space: pre-wrap">{escape(text)}</pre>'
    return f"<details><summary>{escape(summary)}</summary>{code}</details>"


def html_paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _cells(tag: str, values: Sequence[object]) -> str:
    return "".join(f"<{tag}>{escape(str(value))}</{tag}>" for value in values)
