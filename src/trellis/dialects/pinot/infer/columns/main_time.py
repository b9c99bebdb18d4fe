"""The main time column of a table (`timeColumnName`)."""

from __future__ import annotations

from dataclasses import replace

from trellis.dialects.pinot.infer.columns.proposer import Columns
from trellis.dialects.pinot.infer.evidence.name_words import main_rank
from trellis.dialects.pinot.infer.proposal import Choices, Lint


def main_time(columns: Columns, choices: Choices, delimiter: str) -> str | None:
    """The column that the user chose, or the best one that is never null and between 1971 and 2071.

    It is noted in the reason of the column; problems of a chosen one become lints.
    """
    present = {column.spec.name: column for column in columns.proposed if column.spec.name in columns.times}
    if choices.times:
        chosen = next(iter(choices.times))
        name = next((name for name in present if name in (chosen, f"{chosen}_millis")), None)
        name = name or next(
            (column.spec.name for column in present.values() if column.reads and chosen in column.reads), None
        )
        if name is not None:
            _warn(columns, name, present[name].spec.not_null)
            _add_reason(columns, name, "main time as chosen")
        return name
    ranked = [
        (rank + 2 * name.count(delimiter), index, name)
        for index, name in enumerate(present)
        if (rank := main_rank(name.rpartition(delimiter)[2])) is not None
        and present[name].spec.not_null
        and columns.times[name].in_range
    ]
    if not ranked:
        return None
    best = min(ranked)[2]
    _add_reason(columns, best, "main time, never null")
    return best


def _warn(columns: Columns, name: str, complete: bool) -> None:
    instant = columns.times[name]
    if not complete:
        columns.lints.append(
            Lint(name, "the main time is null in some rows: the time of the load is stored then")
        )
    if instant.bounds is not None and not instant.in_range:
        columns.lints.append(
            Lint(name, "the main time is not always between 1971 and 2071: Pinot refuses such segments")
        )


def _add_reason(columns: Columns, name: str, reason: str) -> None:
    columns.proposed = [
        replace(column, why=f"{column.why}; {reason}") if column.spec.name == name else column
        for column in columns.proposed
    ]
