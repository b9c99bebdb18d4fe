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
from trellis.dialects.pinot.infer.evidence.observations import Evidence
from trellis.dialects.pinot.infer.proposal import (
    Asked,
    Lint,
    Proposal,
    Proposed,
    table_document,
    transforms,
)
from trellis.dialects.pinot.infer.roles import schema_of
from trellis.errors import UsageError, nearest


def propose(root: Evidence, rows: int, asked: Asked | None = None) -> Proposal:
    """The schema that holds all rows, and the table config that goes with it.

    `root` is what stands in the rows, `rows` their number. Raises UsageError where
    what is asked for cannot be.

    >>> evidence = Evidence()
    >>> evidence.keys["n"] = Evidence()
    >>> evidence.keys["n"].values.add("int", [1, 2])
    >>> [(column.type_said, column.why) for column in propose(evidence, 2).columns]
    [('INT', 'whole numbers 1 to 2; only 2 different ones')]
    """
    asked = asked or Asked()
    nesting = Nesting(root, rows, asked.unnest, flatten=not asked.alone)
    leaves = nesting.leaves()
    _refuse_unknown(asked, [each.name for each in leaves])
    columns = Columns(asked)
    for leaf in leaves:
        columns.add(leaf)
    main = main_time(columns, asked, nesting.delimiter)
    made = columns.made if columns.nulls else [_without_not_null(each) for each in columns.made]
    if asked.alone:
        made = [replace(each, spec=replace(each.spec, transform=each.reads)) for each in made]
    name = table_name(asked.name)
    lints = [*columns.lints]
    if main is None and made:
        lints.append(Lint(name, "no column is the time of a row; name one with --time"))
    return Proposal(
        schema_of(name, [each.spec for each in made], columns.nulls),
        table_document(name, main, _ingestion(made, nesting)),
        tuple(made),
        tuple(lints),
        rows,
    )


def _ingestion(made: Sequence[Proposed], nesting: Nesting) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if reads := transforms(made):
        found["transformConfigs"] = reads
    if nesting.flat or nesting.unnest:
        found["complexTypeConfig"] = {
            "delimiter": nesting.delimiter,
            "fieldsToUnnest": sorted(nesting.unnest),
            "collectionNotUnnestedToJson": "NON_PRIMITIVE",
        }
    return found


def _without_not_null(column: Proposed) -> Proposed:
    return replace(column, spec=replace(column.spec, not_null=False))


def _refuse_unknown(asked: Asked, names: Sequence[str]) -> None:
    known = set(names)
    options = (("--dimension", asked.dimensions), ("--metric", asked.metrics), ("--time", tuple(asked.times)))
    for option, said in options:
        for name in said:
            if name not in known:
                close = get_close_matches(name, names, 1) or names[:12]
                raise UsageError(f"{option} {name}: there is no column of that name{nearest(name, close)}")
    both = [*asked.dimensions, *asked.metrics, *asked.times]
    if twice := next((name for name in both if both.count(name) > 1), None):
        raise UsageError(f"column {twice} is given two roles; choose one")
