"""Proposals as tests look at them, and the rows that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Final

from trellis.dialects.pinot.cluster.record_paths import ValueSurvey
from trellis.dialects.pinot.cluster.schema_inference import Choices, propose
from trellis.dialects.pinot.conversion.settings import Settings
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.infer.proposal import Proposal
from trellis.dialects.pinot.row.pipeline import Pipeline
from trellis.dialects.pinot.row.row import Row
from trellis.dialects.pinot.table.config import table_config
from trellis.dialects.pinot.validation.schema_rules import faults_of

NOW: Final = datetime(2026, 1, 1, tzinfo=timezone.utc)
Records = Sequence[Mapping[str, Any]]


def proposed(records: Records, **choices: Any) -> Proposal:
    """The proposal of some records, which Pinot would take."""
    chosen = Choices(**{"name": "t", **choices})
    survey = ValueSurvey()
    survey.items("records", records)
    proposal = propose(survey, chosen)
    assert [*map(str, faults_of(proposal.schema, table_config=proposal.table))] == []
    return proposal


def said(proposal: Proposal) -> dict[str, str]:
    """Each column as `"LONG date-time EPOCH|MILLISECONDS"`."""
    return {
        proposed_column.spec.name: " ".join(
            filter(
                None,
                (
                    proposed_column.type_name,
                    proposed_column.spec.field_type.value.lower().replace("_", "-"),
                    proposed_column.spec.format,
                ),
            )
        )
        for proposed_column in proposal.columns
    }


def column(values: Sequence[Any], name: str = "c", **choices: Any) -> tuple[str, str]:
    """What is proposed for one column of these values, and why."""
    proposal = proposed([{name: value} for value in values], **choices)
    return said(proposal)[name], proposal.columns[0].why


def notes(proposal: Proposal) -> list[tuple[str, str]]:
    """What there is to look at, but for the missing main time."""
    return [(note.column, note.message) for note in proposal.notes if note.message != "no main time column"]


def rows(records: Records, proposal: Proposal) -> list[Row]:
    """The rows as Pinot stores them. Nothing may be damaged, refused or cut on the way."""
    schema = read_schema(proposal.document)
    pipeline = Pipeline(schema, table_config(proposal.table), Settings(strict=True), NOW)
    rows_stored = [row for record in records for row in pipeline.rows(record).rows]
    kept = {
        proposed_column.spec.name for proposed_column in proposal.columns if proposed_column.spec.not_null
    }
    for row in rows_stored:
        assert not row.faults
        assert not row.incomplete
        assert not row.nulls & kept
    return rows_stored
