"""All rules of a table config that do not concern its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.validation.table_config import (
    indexes,
    placement,
    streams,
    structure,
    upserts,
)
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule

RULES: Final[tuple[Rule, ...]] = (
    *structure.RULES,
    *streams.RULES,
    *indexes.RULES,
    *upserts.RULES,
    *placement.RULES,
)


def cluster_faults(schema: PinotSchema, document: Mapping[str, Any]) -> Iterator[Fault]:
    """The reasons for a cluster to refuse a table that concern its indexes, streams and segments.

    A load, which only makes rows, does not need them to hold.
    """
    table = CheckedTable(schema, document)
    unreadable = structure.kind_faults(table)
    yield from unreadable
    for rule in () if unreadable else RULES:
        yield from rule(table)
