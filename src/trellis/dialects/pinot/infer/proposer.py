"""A proposal from all rows: types that hold every value, roles, times, nested values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from trellis.dialects.pinot.infer.columns.nesting import Nesting
from trellis.dialects.pinot.infer.columns.proposer import Columns
from trellis.dialects.pinot.infer.evidence.name_words import main_rank
from trellis.dialects.pinot.infer.evidence.observations import PathEvidence
from trellis.dialects.pinot.infer.proposal import (
    Choices,
    Lint,
    Proposal,
    ProposedColumn,
    schema_of,
    table_document,
    table_name,
    transforms,
)
from trellis.errors import UsageError, nearest


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


def propose(root: PathEvidence, rows: int, choices: Choices | None = None) -> Proposal:
    """The schema that holds all rows, and its table config.

    `root` is the evidence of all rows, `rows` their number. Raises UsageError for an impossible choice.

    >>> evidence = PathEvidence()
    >>> evidence.keys["n"] = PathEvidence()
    >>> evidence.keys["n"].values.add("int", [1, 2])
    >>> [(column.type_said, column.why) for column in propose(evidence, 2).columns]
    [('INT', 'whole numbers 1 to 2; only 2 different values')]
    """
    choices = choices or Choices()
    nesting = Nesting(root, rows, choices.unnest)
    leaves = nesting.leaves()
    _refuse_unknown(choices, [leaf.name for leaf in leaves])
    columns = Columns(choices)
    for leaf in leaves:
        columns.add(leaf)
    main = main_time(columns, choices, nesting.delimiter)
    proposed_columns = columns.proposed
    if not columns.nulls:
        proposed_columns = [
            replace(column, spec=replace(column.spec, not_null=False)) for column in proposed_columns
        ]
    name = table_name(choices.name)
    lints = [*columns.lints]
    if main is None and proposed_columns:
        lints.append(Lint(name, "no main time column; choose one with --time"))
    return Proposal(
        schema_of(name, [column.spec for column in proposed_columns], columns.nulls),
        table_document(name, main, _ingestion(proposed_columns, nesting)),
        tuple(proposed_columns),
        tuple(lints),
        rows,
    )


def _ingestion(columns: Sequence[ProposedColumn], nesting: Nesting) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if reads := transforms(columns):
        config["transformConfigs"] = reads
    if nesting.flat or nesting.unnest:
        config["complexTypeConfig"] = {
            "delimiter": nesting.delimiter,
            "fieldsToUnnest": sorted(nesting.unnest),
            "collectionNotUnnestedToJson": "NON_PRIMITIVE",
        }
    return config


def _refuse_unknown(choices: Choices, names: Sequence[str]) -> None:
    known = set(names)
    options = (
        ("--dimension", choices.dimensions),
        ("--metric", choices.metrics),
        ("--time", tuple(choices.times)),
    )
    for option, names_chosen in options:
        for name in names_chosen:
            if name not in known:
                close = get_close_matches(name, names, 1) or names[:12]
                raise UsageError(f"{option} {name}: no such column{nearest(name, close)}")
    both = [*choices.dimensions, *choices.metrics, *choices.times]
    if twice := next((name for name in both if both.count(name) > 1), None):
        raise UsageError(f"column {twice} has two roles; choose one")
