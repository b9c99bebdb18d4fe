"""The one column that is the time of a row (`timeColumnName`)."""

from __future__ import annotations

from dataclasses import replace

from trellis.dialects.pinot.infer.columns.proposer import Columns
from trellis.dialects.pinot.infer.evidence.name_words import main_rank
from trellis.dialects.pinot.infer.proposal import Asked, Lint


def main_time(columns: Columns, asked: Asked, delimiter: str) -> str | None:
    """The column that the user names, or the best that is always there and between 1971 and 2071.

    Its reason says so; what speaks against a named one becomes a lint.
    """
    present = {each.spec.name: each for each in columns.made if each.spec.name in columns.times}
    if asked.times:
        wanted = next(iter(asked.times))
        name = next((name for name in present if name in (wanted, f"{wanted}_millis")), None)
        name = name or next(
            (each.spec.name for each in present.values() if each.reads and wanted in each.reads), None
        )
        if name is not None:
            _warn(columns, name, present[name].spec.not_null)
            _say(columns, name, "main time as asked")
        return name
    ranked = [
        (rank + 2 * name.count(delimiter), at, name)
        for at, name in enumerate(present)
        if (rank := main_rank(name.rpartition(delimiter)[2])) is not None
        and present[name].spec.not_null
        and columns.times[name].in_range
    ]
    if not ranked:
        return None
    best = min(ranked)[2]
    _say(columns, best, "main time, always there")
    return best


def _warn(columns: Columns, name: str, complete: bool) -> None:
    instant = columns.times[name]
    if not complete:
        columns.lints.append(
            Lint(name, "the main time is null in some rows: the time of the load stands for it")
        )
    if instant.bounds is not None and not instant.in_range:
        columns.lints.append(
            Lint(name, "the main time is not always between 1971 and 2071: Pinot refuses such segments")
        )


def _say(columns: Columns, name: str, said: str) -> None:
    columns.made = [
        replace(each, why=f"{each.why}; {said}") if each.spec.name == name else each for each in columns.made
    ]
