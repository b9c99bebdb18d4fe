"""What is really in the rows of a frame, looked at where its partitions are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow.compute as pc

from trellis.engine.input.blocks import BLOCK, Block
from trellis.engine.input.parquet import RowBatch, rows_of
from trellis.engine.input.places import POSITION
from trellis.engine.spark.frame_tasks import Batches, Content, FrameLayout, frame_splits
from trellis.engine.spark.frames import FrameRecords
from trellis.engine.survey.splits import SplitSurvey, flat_survey, merged
from trellis.engine.survey.survey import Survey


def survey_frame(records: FrameRecords) -> Survey:
    """A look at every record of a frame. Raises UsageError, SparkError."""
    return merged(records.map_partitions(_SurveyPartition(records.layout)))


@dataclass(frozen=True)
class _SurveyPartition:
    layout: FrameLayout

    def __call__(self, batches: Batches) -> Iterator[SplitSurvey]:
        for split, run in frame_splits(batches, self.layout):
            survey, lines = Survey(), 0
            for content in self.layout.read(split, run, BLOCK):
                lines = _scan(survey, split.path, content)
            yield flat_survey(survey, split, lines)


def _scan(survey: Survey, file: str, content: Content) -> int:
    """Let a survey look at some records; how many of the split there are up to the last of them."""
    if isinstance(content, Block):
        survey.block(file, content)
        return content.line + len(content.lines)
    survey.file = file
    if isinstance(content, RowBatch):
        numbers = range(content.first + 1, content.first + 1 + content.batch.num_rows)
        places = content.places
        counted = pc.add(places.table.column(POSITION), 1).to_pylist() if places is not None else numbers
        survey.objects(rows_of(content.batch), counted)
        return counted[-1] if counted else content.first
    reason = content.reason.partition(":")[0]
    for at, text in zip(content.indexes, content.texts, strict=True):
        survey.reject(reason, content.first + at + 1, text)
    return content.end
