"""A Pinot schema from the records of some files.

import trellis.dialects.pinot.cluster.schema_inference
print(trellis.dialects.pinot.cluster.schema_inference.infer(["rides.jsonl"]).document)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from trellis.dialects.pinot.cluster.record_paths import RecordPath, RecordPaths, ValueSurvey, kinds_of
from trellis.dialects.pinot.date_time.units import FormatError
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.fields import arrow_field
from trellis.dialects.pinot.infer.path_values import (
    DATE,
    DETECTED,
    NUMBERS,
    TIMESTAMP,
    TimeFormat,
    listed,
    type_of,
)
from trellis.dialects.pinot.infer.proposal import Proposal, ProposalBuilder
from trellis.dialects.pinot.infer.roles import names_time
from trellis.dialects.pinot.stored_schema import METADATA, Authored, with_authored
from trellis.dialects.pinot.table.config import table_config
from trellis.engine.spark.storage import current_storage
from trellis.errors import UsageError, nearest
from trellis.evolution.dialect.own_metadata import new_schema
from trellis.pipelines.inspect import ProgressCallback, survey_files
from trellis.schema.model import Schema

_CONTAINERS: Final = frozenset(("array", "object"))


@dataclass(frozen=True)
class Choices:
    """The choices of the user. `times` are columns with a format, or None; the first is the main time."""

    name: str = ""
    dimensions: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    times: Mapping[str, str | None] = field(default_factory=dict)
    unnest: tuple[str, ...] = ()

    def formats(self) -> dict[str, TimeFormat]:
        """The chosen formats by column. Raises UsageError for an invalid one."""
        formats: dict[str, TimeFormat] = {}
        for column, choice in self.times.items():
            try:
                formats |= {} if choice is None else {column: TimeFormat.of(choice)}
            except FormatError as error:
                raise UsageError(f"--time {column}={choice}: {error}") from None
        return formats

    def check(self, columns: Sequence[str]) -> None:
        """Raises UsageError for a column that does not exist, or has two roles."""
        options = {"--dimension": self.dimensions, "--metric": self.metrics, "--time": tuple(self.times)}
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
    choices = choices or Choices()
    survey = ValueSurvey(choices.formats().values())
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
    schema = PinotSchema(choices.name)
    proposal = proposer.builder.build(schema, proposer.main_time(), paths.complex_type_config())
    return replace(proposal, rows=survey.records)


class _Proposer:
    """Decides on the columns of paths. `times` are those of times."""

    def __init__(self, survey: ValueSurvey, choices: Choices, declared: Mapping[str, FieldSpec]) -> None:
        self.survey, self.choices, self.declared = survey, choices, declared
        self.formats = choices.formats()
        self.builder = ProposalBuilder()
        self.times: dict[str, FieldSpec] = {}

    def add(self, path: RecordPath) -> None:
        """Add the column of a path."""
        field_with_reason = self._field(path)
        if field_with_reason is None:
            return
        spec, why = field_with_reason
        if path.name in self.choices.times and not spec.single_value:
            raise UsageError(f"--time {path.name}: a time is one value a row, not {why}")
        time_format = self._time_format(path, why) if spec.single_value else None
        if time_format is None:
            self.builder.add(spec, why, self._role(path, spec, why))
            return
        keeps_type = time_format.data_type is PinotType.STRING and path.kinds == {"int"}
        spec = replace(
            spec,
            data_type=spec.data_type if keeps_type else time_format.data_type,
            field_type=FieldType.DATE_TIME,
            format=time_format.format,
            granularity=time_format.granularity,
        )
        self.builder.add(spec, why)
        self.times[path.name] = spec

    def main_time(self) -> str | None:
        chosen = self.times.get(next(iter(self.choices.times), ""))
        if chosen is None:
            return next((spec.name for spec in self.times.values() if spec.not_null), None)
        if not chosen.not_null:
            self.builder.note(chosen.name, "the main time may be null: the time of the load is stored then")
        return chosen.name

    def _field(self, path: RecordPath) -> tuple[FieldSpec, str] | None:
        """The field that holds every value of a path, and what they are; None where there is none."""
        kinds, inner = path.kinds, kinds_of(path.node.items)
        if not path.name:
            self.builder.note('""', "a key without a name cannot be a column")
            return None
        if path.name in self.declared:
            return replace(self.declared[path.name], not_null=path.is_complete), "as the source declares it"
        if kinds <= _CONTAINERS and not path.node.keys and not inner:
            self.builder.note(path.name, "no column: it has no values")
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
            self.builder.note(path.name, "no column: Pinot has no times of day; convert them to text")
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
        self.builder.note(path.name, message)

    def _time_format(self, path: RecordPath, why: str) -> TimeFormat | None:
        """The format of times, None for other values. Raises UsageError where a choice does not fit."""
        name, kinds, values = path.name, path.kinds, self.survey.values(path.node)
        if name in self.choices.dimensions or name in self.choices.metrics:
            return None
        form = self.formats.get(name)
        if form is not None:
            is_text = kinds == {"string"}
            numbers = (str(values.least), str(values.most))
            fits = form in values.formats if is_text else kinds == {"int"} and form.is_format_of(numbers)
            if fits:
                return form
            raise UsageError(
                f"--time {name}={self.choices.times[name]}: not every value follows this format "
                f"({why}); `trellis pinot format` tries it"
            )
        if kinds == {"timestamp"} or kinds == {"date"}:
            return TIMESTAMP if kinds == {"timestamp"} else DATE
        is_chosen = name in self.choices.times
        if kinds == {"string"}:
            form = next((known for known in values.formats if known in DETECTED), None)
        elif kinds == {"int"} and (is_chosen or names_time(name)):
            form = values.epoch()
        if form is None and is_chosen:
            raise UsageError(
                f"--time {name}: no time format matches every value ({why}); "
                f"give one, as in --time {name}=EPOCH|SECONDS or --time '{name}=yyyy-MM-dd HH:mm'"
            )
        return form

    def _role(self, path: RecordPath, spec: FieldSpec, why: str) -> tuple[FieldType, str] | None:
        """The role that does not follow from the name. Raises UsageError for a metric that is no number."""
        if spec.name in self.choices.dimensions:
            return FieldType.DIMENSION, "as chosen"
        if spec.name not in self.choices.metrics:
            is_long = "integer beyond 64 bits" in path.kinds
            return (FieldType.DIMENSION, "too long for an amount") if is_long else None
        if spec.single_value and (spec.data_type.numeric or spec.data_type is PinotType.BYTES):
            return FieldType.METRIC, "as chosen"
        raise UsageError(f"--metric {spec.name}: a metric is one number a row, and its values are {why}")


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
