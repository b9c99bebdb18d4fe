"""A Pinot schema from the records of some files.

import trellis.dialects.pinot.cluster.schema_inference
print(trellis.dialects.pinot.cluster.schema_inference.infer(["rides.jsonl"]).document)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from trellis.dialects.pinot.cluster.record_paths import RecordPath, RecordPaths, ValueSurvey, kinds_of
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.fields import arrow_field
from trellis.dialects.pinot.infer.path_values import (
    DATE,
    NUMBERS,
    TIMESTAMP,
    TimeFormat,
    listed,
    names_time,
    type_of,
)
from trellis.dialects.pinot.infer.proposal import Note, Proposal, ProposedColumn
from trellis.dialects.pinot.stored_schema import METADATA, Authored, with_authored
from trellis.dialects.pinot.table.config import pinot_table_name, table_config
from trellis.dialects.pinot.table.generated_config import required_config
from trellis.engine.spark.storage import current_storage
from trellis.errors import UsageError, nearest
from trellis.evolution.dialect.own_metadata import new_schema
from trellis.pipelines.inspect import ProgressCallback, survey_files
from trellis.schema.model import Schema

_CONTAINERS: Final = frozenset(("array", "object"))
_FRACTIONS: Final = (PinotType.FLOAT, PinotType.DOUBLE, PinotType.BIG_DECIMAL)


@dataclass(frozen=True)
class Choices:
    """The choices of the user. `times` are columns of times; the first is the main time."""

    name: str = ""
    dimensions: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    unnest: tuple[str, ...] = ()

    def check(self, columns: Sequence[str]) -> None:
        """Raises UsageError for a column that does not exist, or has two roles."""
        options = {"--dimension": self.dimensions, "--metric": self.metrics, "--time": self.times}
        chosen: set[str] = set()
        for option, names in options.items():
            for name in names:
                if name not in columns:
                    raise UsageError(f"{option} {name}: no such column{nearest(name, columns)}")
                if name in chosen:
                    raise UsageError(f"column {name} has two roles; choose one")
                chosen.add(name)


def infer(
    sources: Sequence[str | Path], choices: Choices | None = None, tell: ProgressCallback | None = None
) -> Proposal:
    """The proposal for all rows of some files (paths, folders, patterns).

    The table is named after the first file unless `choices` names it. Raises UsageError for a source that
    cannot be read or has no records, or for an impossible choice.
    """
    choices, survey = choices or Choices(), ValueSurvey()
    files = survey_files(survey, sources, tell)
    if not survey.records:
        raise UsageError(f"{', '.join(map(str, sources))}: no records to infer a schema from")
    choices = replace(choices, name=choices.name or name_for(sources, files))
    return propose(survey, choices, parquet_types(files))


def propose(survey: ValueSurvey, choices: Choices, arrow_types: Mapping[str, str] | None = None) -> Proposal:
    """The schema that holds all records of a survey; `arrow_types` are the types of a source that has them.

    The main time is the first that was chosen, else the first that is never null. Raises UsageError for an
    impossible choice.
    """
    fields = {name: arrow_field(name, text) for name, text in (arrow_types or {}).items()}
    declared = {
        name: spec for name, spec in fields.items() if spec and spec.data_type is not PinotType.STRING
    }
    maps = [name for name, spec in declared.items() if spec.data_type is PinotType.MAP]
    paths = RecordPaths(survey, choices.unnest, maps)
    columns = paths.columns()
    choices.check([path.name for path in columns])
    proposer = _Proposer(survey, choices, declared)
    for path in columns:
        proposer.add(path)
    return proposer.proposal(paths.complex_type_config())


class _Proposer:
    """Decides on the columns of paths: their types, roles, times and names."""

    def __init__(self, survey: ValueSurvey, choices: Choices, declared: Mapping[str, FieldSpec]) -> None:
        self.survey, self.choices, self.declared = survey, choices, declared
        self.columns: dict[str, ProposedColumn] = {}
        self.notes: list[Note] = []
        self._lower_names: set[str] = set()

    def add(self, path: RecordPath) -> None:
        """Add the column of a path."""
        if path.name in self.columns:
            self._note(path.name, "another path has this name too: only the first is a column")
            return
        field_with_reason = self._field(path)
        if field_with_reason is None:
            return
        spec, why = field_with_reason
        time_format = self._time_format(path, why)
        if time_format is None:
            spec, why = self._with_role(path, spec, why)
        else:
            spec = replace(
                spec,
                data_type=time_format.data_type,
                field_type=FieldType.DATE_TIME,
                format=time_format.format,
                granularity=time_format.granularity,
            )
        name, reads = self._unused_name(path.name), None
        if name != path.name:
            quoted = path.name.replace('"', '""')
            reads = f'"{quoted}"'
            reason = "names hold no blanks and differ by more than case"
            self._note(path.name, f"the column is named {name}: {reason}")
        self.columns[path.name] = ProposedColumn(replace(spec, name=name), why, reads)

    def proposal(self, complex_types: Mapping[str, Any]) -> Proposal:
        """The proposal of the columns, flattened as `complex_types` says."""
        name, main = pinot_table_name(self.choices.name), self._main_time()
        has_nulls = any(not column.spec.not_null for column in self.columns.values())
        if not has_nulls:
            for path, column in self.columns.items():
                self.columns[path] = replace(column, spec=replace(column.spec, not_null=False))
        columns = tuple(self.columns.values())
        table = required_config(name, "OFFLINE", main)
        if main is None:
            table["segmentsConfig"]["segmentPushType"] = "REFRESH"
        transforms = [
            {"columnName": column.spec.name, "transformFunction": column.reads}
            for column in columns
            if column.reads is not None
        ]
        ingestion = {**({"transformConfigs": transforms} if transforms else {}), **complex_types}
        if ingestion:
            table["ingestionConfig"] = ingestion
        schema = PinotSchema(name, column_nulls=has_nulls).with_fields(column.spec for column in columns)
        return Proposal(schema, table, columns, tuple(self.notes), self.survey.records)

    def _note(self, column: str, message: str) -> None:
        self.notes.append(Note(column, message))

    def _main_time(self) -> str | None:
        """The name of the main time, or None; with a note where it may be null, or is none."""
        complete = (
            path
            for path, column in self.columns.items()
            if column.spec.field_type is FieldType.DATE_TIME and column.spec.not_null
        )
        path = next((path for path in (*self.choices.times[:1], *complete) if path in self.columns), None)
        if path is None:
            if self.columns:
                self._note(pinot_table_name(self.choices.name), "no main time column")
            return None
        column = self.columns[path]
        if not column.spec.not_null:
            self._note(path, "the main time may be null: the time of the load is stored then")
        self.columns[path] = replace(column, why=f"{column.why}; main time")
        return column.spec.name

    def _field(self, path: RecordPath) -> tuple[FieldSpec, str] | None:
        """The field that holds every value of a path, and what they are; None where there is none."""
        kinds, inner = path.kinds, kinds_of(path.node.items)
        if not path.name:
            self._note('""', "a key without a name cannot be a column")
            return None
        if path.name in self.declared:
            return replace(self.declared[path.name], not_null=path.is_complete), "as the source declares it"
        if kinds <= _CONTAINERS and not path.node.keys and not inner:
            self._note(path.name, "no column: it has no values")
            return None
        if len(kinds) > 1 and not kinds <= NUMBERS:
            self._note_mixture(path)
        if "object" in kinds or inner & _CONTAINERS:
            why = f"lists of {listed(inner)}" if kinds == {"array"} else listed(kinds)
            return FieldSpec(path.name, PinotType.JSON, not_null=path.is_complete), why
        nodes = (path.node, path.node.items)
        values = [self.survey.values(node) for node in nodes if node is not None]
        typed = type_of((kinds | inner) - {"array"}, values)
        if typed is None:
            self._note(path.name, "no column: Pinot has no times of day; convert them to text")
            return None
        data_type, why = typed
        longest = max(statistics.longest for statistics in values) if data_type is PinotType.STRING else 0
        spec = FieldSpec(
            path.name,
            data_type,
            single_value="array" not in kinds,
            not_null=path.is_complete,
            max_length=1 << (longest - 1).bit_length() if longest > MAX_LENGTH else None,
        )
        return spec, why if spec.single_value else f"lists of {why}"

    def _note_mixture(self, path: RecordPath) -> None:
        rarest = min(sorted(path.kinds), key=lambda kind: path.node.kinds[kind].count)
        place = path.node.kinds[rarest].first
        message = f"{listed(path.kinds)} are mixed; {listed([rarest])} first at {place.file}:{place.line}"
        self._note(path.name, message)

    def _time_format(self, path: RecordPath, why: str) -> TimeFormat | None:
        """The format of times, None for other values. Raises UsageError where a chosen time has none."""
        name, kinds, values = path.name, path.kinds, self.survey.values(path.node)
        is_chosen, form = name in self.choices.times, None
        if name in self.choices.dimensions or name in self.choices.metrics:
            return None
        if kinds == {"timestamp"} or kinds == {"date"}:
            form = TIMESTAMP if kinds == {"timestamp"} else DATE
        elif kinds == {"string"}:
            form = next(iter(values.formats), None)
        elif kinds == {"int"} and (is_chosen or names_time(name)):
            form = values.epoch()
        if form is None and is_chosen:
            raise UsageError(
                f"--time {name}: its values are {why}, not times: texts by ISO 8601, or whole numbers that "
                "count seconds or milliseconds; for another format edit the proposed schema"
            )
        return form

    def _with_role(self, path: RecordPath, spec: FieldSpec, why: str) -> tuple[FieldSpec, str]:
        """Fractions are metrics. Raises UsageError for a metric that is no number."""
        is_number = spec.single_value and (spec.data_type.numeric or spec.data_type is PinotType.BYTES)
        if path.name in self.choices.metrics:
            if not is_number:
                raise UsageError(
                    f"--metric {path.name}: a metric is one number a row, and its values are {why}"
                )
            return replace(spec, field_type=FieldType.METRIC), f"{why}; as chosen"
        if path.name in self.choices.dimensions:
            why = f"{why}; as chosen"
        elif is_number and spec.data_type in _FRACTIONS and "integer beyond 64 bits" not in path.kinds:
            return replace(spec, field_type=FieldType.METRIC), why
        if spec.field_type is FieldType.DIMENSION and spec.data_type is PinotType.BIG_DECIMAL:
            return replace(spec, data_type=PinotType.STRING), f"{why}, as text"
        return spec, why

    def _unused_name(self, path: str) -> str:
        base = re.sub(r"\s", "_", path)
        name, number = base, 1
        while name.lower() in self._lower_names:
            number += 1
            name = f"{base}_{number}"
        self._lower_names.add(name.lower())
        return name


def parquet_types(files: Sequence[str]) -> dict[str, str]:
    """The types of the columns of Parquet files by path, where these agree; none of other files."""
    storage, types = current_storage(), list[set[tuple[str, str]]]()
    for file in files:
        with storage.open_input(file) as stream:
            if stream.read(4) != b"PAR1":
                return {}
            from pyarrow.parquet import read_schema

            types.append({*_types(read_schema(stream))})
    return dict(set.intersection(*types))


def _types(fields: Any, start: str = "") -> Iterator[tuple[str, str]]:
    for column in fields:
        yield start + column.name, str(column.type)
        if str(column.type).startswith("struct<"):
            yield from _types(column.type, f"{start}{column.name}.")


def authored_for(sources: Sequence[str | Path]) -> Schema:
    """The proposed schema and table config for some files, as the schema of a pipeline."""
    proposal = infer(sources)
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
