"""A proposal from all rows: types that hold every value, roles, times, nested values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from trellis.dialects.pinot.infer.columns.main_time import main_time
from trellis.dialects.pinot.infer.columns.naming import table_name
from trellis.dialects.pinot.infer.columns.nesting import Nesting
from trellis.dialects.pinot.infer.columns.proposer import Columns
from trellis.dialects.pinot.infer.evidence.observations import PathEvidence
from trellis.dialects.pinot.infer.proposal import (
    Choices,
    Lint,
    Proposal,
    ProposedColumn,
    schema_of,
    table_document,
    transforms,
)
from trellis.errors import UsageError, nearest


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
    proposed_columns = (
        columns.proposed if columns.nulls else [_without_not_null(column) for column in columns.proposed]
    )
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


def _without_not_null(column: ProposedColumn) -> ProposedColumn:
    return replace(column, spec=replace(column.spec, not_null=False))


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
