"""A Pinot schema from the files of a source, or from what Trellis has learned of them (section 14.7).

import trellis.dialects.pinot.cluster.infer
print(trellis.dialects.pinot.cluster.infer.infer(["rides.jsonl"]).document)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.evidence import Evidence, Scalars
from trellis.dialects.pinot.infer.proposal import Asked, Proposal
from trellis.dialects.pinot.infer.propose import propose
from trellis.dialects.pinot.infer.shapes import SHAPES, asked_shape
from trellis.dialects.pinot.moment.errors import FormatError
from trellis.dialects.pinot.system import METADATA, Authored, with_authored
from trellis.dialects.pinot.table.config import table_config
from trellis.engine.survey.paths import Kind, Node
from trellis.engine.survey.survey import Survey
from trellis.errors import UsageError
from trellis.evolution.dialect.own_metadata import new_schema
from trellis.pipelines.inspect import ProgressCallback, survey_files
from trellis.schema.model import Schema


class Witness(Survey):
    """A survey that also looks at the values: ranges, lengths, how many differ, which are times.

    `formats` are looked for in texts, too. Raises FormatError for one that is none.
    """

    def __init__(self, formats: Iterable[str] = ()) -> None:
        super().__init__()
        self._shapes = (*SHAPES, *map(asked_shape, formats))
        self._values: dict[int, Scalars] = {}

    def _saw(self, node: Node, kind: Kind, values: Sequence[Any], numbers: Sequence[int]) -> None:
        super()._saw(node, kind, values, numbers)
        found = self._values.get(id(node))
        if found is None:
            found = self._values[id(node)] = Scalars(self._shapes)
        found.add(kind, values)

    @property
    def evidence(self) -> Evidence:
        """What was seen, as a tree of its own."""
        root = Evidence()
        stack = [(self.root, root)]
        while stack:
            node, made = stack.pop()
            made.values = self._values.get(id(node), made.values)
            made.objects, made.times = node.objects, node.timestamps
            if len(node.kinds) > 1:
                made.places = {
                    kind: f"{seen.first.file}:{seen.first.line}" for kind, seen in node.kinds.items()
                }
            for key, inner in node.keys.items():
                made.keys[key] = Evidence()
                stack.append((inner, made.keys[key]))
            if node.items is not None:
                made.items = Evidence()
                stack.append((node.items, made.items))
        return root


def infer(
    sources: Sequence[str | Path], asked: Asked | None = None, tell: ProgressCallback | None = None
) -> Proposal:
    """The proposal for all rows of some files (paths, folders, patterns).

    The table is named after the first file unless `asked` names it. Raises UsageError for what cannot be
    read, and for a source without one record.
    """
    asked = asked or Asked("")
    witness = _witness(asked)
    files = survey_files(witness, sources, tell)
    if not asked.name:
        asked = replace(asked, name=name_for(sources, files))
    if not witness.records:
        raise UsageError(
            f"{', '.join(map(str, sources))}: there is no record in it, so there is nothing to infer from"
        )
    evidence = witness.evidence
    _declare(evidence, files)
    return propose(evidence, witness.records, asked)


def infer_records(records: Iterable[Mapping[str, Any]], asked: Asked | None = None) -> Proposal:
    """The proposal for records in memory."""
    asked = asked or Asked()
    witness = _witness(asked)
    witness.items("records", [*records])
    return propose(witness.evidence, witness.records, asked)


def _witness(asked: Asked) -> Witness:
    try:
        return Witness(said for said in asked.times.values() if said is not None)
    except FormatError as bad:
        said = ", ".join(f"{column}={form}" for column, form in asked.times.items() if form is not None)
        raise UsageError(f"--time {said}: {bad}") from None


def _declare(evidence: Evidence, files: Sequence[str]) -> None:
    """Note what Parquet files say of numbers and maps, as long as they agree."""
    stack: list[tuple[Evidence, list[Any]]] = [(evidence, [*_parquet_schemas(files)])]
    while stack:
        node, fields = stack.pop()
        for key, inner in node.keys.items() if fields else ():
            types = [found.field(key).type for found in fields if found.get_field_index(key) >= 0]
            said = {_declared(str(each)) for each in types}
            inner.declared = said.pop() if len(said) == 1 else None
            stack.append((inner, [each for each in types if str(each).startswith("struct<")]))


def _parquet_schemas(files: Sequence[str]) -> Iterator[Any]:
    for file in files:
        with open(file, "rb") as stream:
            if stream.read(4) != b"PAR1":
                return
        from pyarrow.parquet import read_schema

        yield read_schema(file)


def _declared(said: str) -> PinotType | None:
    return PinotType.MAP if said.startswith("map<") else _BITS.get(said)


_BITS: Final = {"int64": PinotType.LONG, "float": PinotType.FLOAT}


def schema_for(sources: Sequence[str | Path], name: str | None = None) -> str:
    """A schema document for some files that does without a table config: objects are JSON, not columns.

    `name` is that of the table. Where a table config can be given too, `infer` gives both.
    """
    return infer(sources, Asked(name or "", alone=True)).document


def authored_for(sources: Sequence[str | Path]) -> Schema:
    """The proposed schema and table config for some files, as a pipeline takes them."""
    found = infer(sources, Asked(""))
    authored = Authored(found.schema, table_config(found.table))
    return with_authored(new_schema("proposed", METADATA), authored)


def name_for(sources: Sequence[str | Path], files: Sequence[str]) -> str:
    """The name of the first source, without its endings."""
    first = Path(str(sources[0]).removeprefix("file://"))
    named = first if first.exists() else Path(files[0])
    return named.name.partition(".")[0] if named.is_file() else named.name


def write(proposal: Proposal, folder: str | Path) -> tuple[Path, Path]:
    """Write NAME-schema.json and NAME-table.json into a folder, which is made; gives the two paths."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    name = proposal.schema.name
    schema, table = into / f"{name}-schema.json", into / f"{name}-table.json"
    schema.write_text(f"{proposal.document}\n", encoding="utf-8")
    table.write_text(json.dumps(proposal.table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return schema, table
