"""A Pinot schema from the files of a source, or from the schema that Trellis learned from them.

import trellis.dialects.pinot.cluster.schema_inference
print(trellis.dialects.pinot.cluster.schema_inference.infer(["rides.jsonl"]).document)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from trellis.dialects.pinot.date_time.units import FormatError
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.observations import PathEvidence, ScalarStatistics
from trellis.dialects.pinot.infer.proposal import Choices, Proposal
from trellis.dialects.pinot.infer.proposer import propose
from trellis.dialects.pinot.infer.texts import TIME_SHAPES, parse_shape
from trellis.dialects.pinot.stored_schema import METADATA, Authored, with_authored
from trellis.dialects.pinot.table.config import table_config
from trellis.engine.spark.storage import current_storage
from trellis.engine.survey.paths import Kind, Node
from trellis.engine.survey.survey import Survey
from trellis.errors import UsageError
from trellis.evolution.dialect.own_metadata import new_schema
from trellis.pipelines.inspect import ProgressCallback, survey_files
from trellis.schema.model import Schema


class ValueSurvey(Survey):
    """A survey of the values too: ranges, lengths, distinct values, times.

    `formats` are detected in texts as well. Raises FormatError for an invalid one.
    """

    def __init__(self, formats: Iterable[str] = ()) -> None:
        super().__init__()
        self._shapes = (*TIME_SHAPES, *map(parse_shape, formats))
        self._values: dict[int, ScalarStatistics] = {}

    def _saw(self, node: Node, kind: Kind, values: Sequence[Any], numbers: Sequence[int]) -> None:
        super()._saw(node, kind, values, numbers)
        statistics = self._values.get(id(node))
        if statistics is None:
            statistics = self._values[id(node)] = ScalarStatistics(self._shapes)
        statistics.add(kind, values)

    @property
    def evidence(self) -> PathEvidence:
        """The evidence as a tree."""
        root = PathEvidence()
        stack = [(self.root, root)]
        while stack:
            node, evidence = stack.pop()
            evidence.values = self._values.get(id(node), evidence.values)
            evidence.objects, evidence.times = node.objects, node.timestamps
            if len(node.kinds) > 1:
                evidence.places = {
                    kind: f"{seen.first.file}:{seen.first.line}" for kind, seen in node.kinds.items()
                }
            for key, inner in node.keys.items():
                evidence.keys[key] = PathEvidence()
                stack.append((inner, evidence.keys[key]))
            if node.items is not None:
                evidence.items = PathEvidence()
                stack.append((node.items, evidence.items))
        return root


def infer(
    sources: Sequence[str | Path], choices: Choices | None = None, tell: ProgressCallback | None = None
) -> Proposal:
    """The proposal for all rows of some files (paths, folders, patterns).

    The table is named after the first file unless `choices` names it. Raises UsageError for a source that
    cannot be read or has no records.
    """
    choices = choices or Choices("")
    survey = value_survey(choices)
    files = survey_files(survey, sources, tell)
    if not choices.name:
        choices = replace(choices, name=name_for(sources, files))
    if not survey.records:
        raise UsageError(f"{', '.join(map(str, sources))}: no records to infer a schema from")
    evidence = survey.evidence
    _declare(evidence, files)
    return propose(evidence, survey.records, choices)


def value_survey(choices: Choices) -> ValueSurvey:
    """A survey for some choices. Raises UsageError for an invalid format."""
    try:
        return ValueSurvey(
            declared_formats for declared_formats in choices.times.values() if declared_formats is not None
        )
    except FormatError as error:
        declared_formats = ", ".join(
            f"{column}={form}" for column, form in choices.times.items() if form is not None
        )
        raise UsageError(f"--time {declared_formats}: {error}") from None


def _declare(evidence: PathEvidence, files: Sequence[str]) -> None:
    """Set the declared types of numbers and maps in Parquet files, where these agree."""
    stack: list[tuple[PathEvidence, list[Any]]] = [(evidence, [*_parquet_schemas(files)])]
    while stack:
        node, fields = stack.pop()
        for key, inner in node.keys.items() if fields else ():
            types = [schema.field(key).type for schema in fields if schema.get_field_index(key) >= 0]
            declared = {_declared(str(arrow_type)) for arrow_type in types}
            inner.declared = declared.pop() if len(declared) == 1 else None
            stack.append(
                (inner, [arrow_type for arrow_type in types if str(arrow_type).startswith("struct<")])
            )


def _parquet_schemas(files: Sequence[str]) -> Iterator[Any]:
    storage = current_storage()
    for file in files:
        with storage.open_input(file) as stream:
            if stream.read(4) != b"PAR1":
                return
            from pyarrow.parquet import read_schema

            yield read_schema(stream)


def _declared(arrow_type: str) -> PinotType | None:
    return PinotType.MAP if arrow_type.startswith("map<") else _BITS.get(arrow_type)


_BITS: Final = {"int64": PinotType.LONG, "float": PinotType.FLOAT}


def authored_for(sources: Sequence[str | Path]) -> Schema:
    """The proposed schema and table config for some files, as the schema of a pipeline."""
    proposal = infer(sources, Choices(""))
    authored = Authored(proposal.schema, table_config(proposal.table))
    return with_authored(new_schema("proposed", METADATA), authored)


def name_for(sources: Sequence[str | Path], files: Sequence[str]) -> str:
    """The name of the first source, or of the first file of a pattern, without its endings."""
    source = str(sources[0]).removeprefix("file://")
    if Path(source).is_dir():
        return Path(source).name
    named = files[0] if any(sign in source for sign in "*?[") else source.rstrip("/")
    return named.rpartition("/")[2].partition(".")[0]


def write(proposal: Proposal, folder: str | Path) -> tuple[Path, Path]:
    """Write NAME-schema.json and NAME-table.json into a folder, which is created; returns the two paths."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    name = proposal.schema.name
    schema, table = into / f"{name}-schema.json", into / f"{name}-table.json"
    schema.write_text(f"{proposal.document}\n", encoding="utf-8")
    table.write_text(json.dumps(proposal.table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return schema, table
