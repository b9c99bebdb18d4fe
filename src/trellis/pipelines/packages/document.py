"""A pending load as a JSON document: `{"format": "trellis-package", "version": 1, ...}`.

    {
      "format": "trellis-package", "version": 1, "pipeline": "shop",
      "commit": {"load_id": ..., "schema": <schema document>, "files": {...}, ...},
      "report": {...}
    }

Staged files are named by their paths inside the folder of the load, so a document never leads out of it.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath
from typing import Any, get_args

import pyarrow as pa

from trellis.destinations.base import Commit
from trellis.evolution.table_writes import OnMatch
from trellis.pipelines.packages.codec import DataclassCodec, Malformed, TypeCodec, renamed_choices
from trellis.pipelines.report import Report
from trellis.schema.compare import (
    AddColumn,
    AddTable,
    ChangeColumn,
    ChangeTable,
    DropColumn,
    DropTable,
    RenameColumn,
    RenameTable,
)
from trellis.schema.dict_form import column_keys, column_of, schema_of, table_dict, table_of, to_dict
from trellis.schema.documents.migrate import ENGINE
from trellis.schema.documents.validate import COLUMN, TABLE, faults
from trellis.schema.documents.value_checks import Fault
from trellis.schema.model import Column, Schema, Table

FORMAT = "trellis-package"
VERSION = 1
"""One more where a document of this version would be refused or misread.

The fields of Commit, of Report and of what they hold are keys of the document: one that goes or means
something else asks for a new version, one that is renamed keeps its key in `_KEYS`, and a new one needs a
default.
"""


class NewerVersion(Exception):
    """The document has a version of the format that is not known here."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


@dataclass(frozen=True)
class Package:
    """A commit with its staged files, and the report of the load."""

    commit: Commit
    report: Report


@dataclass(frozen=True)
class _Document:
    format: str
    version: int
    pipeline: str
    commit: Commit
    report: Report


def to_document(package: Package, pipeline: str, staging: PurePath) -> str:
    """The text of a package of a pipeline whose staged files are in this folder."""

    def inside(path: str) -> str:
        return PurePath(path).relative_to(staging).as_posix()

    commit = _with_paths(package.commit, inside)
    document = _CODEC.encode(_Document, _Document(FORMAT, VERSION, pipeline, commit, package.report))
    return json.dumps(document, indent=1, allow_nan=False)


def pipeline_of(content: bytes) -> str | None:
    """The pipeline that a document says it is of; None where it says none."""
    try:
        pipeline = _read_object(content).get("pipeline")
    except Malformed:
        return None
    return pipeline if isinstance(pipeline, str) else None


def from_document(content: bytes, staging: Callable[[str], PurePath]) -> Package:
    """The package of a document; `staging` gives the folder of the staged files of a load.

    Raises Malformed and NewerVersion.
    """
    document = _read_object(content)
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise Malformed(f"version: expected a whole number from 1 on, found {version!r:.80}")
    if version > VERSION:
        raise NewerVersion(version)
    try:
        contents: _Document = _CODEC.decode(_Document, document, "package")
    except RecursionError:
        raise Malformed("package: nested too deeply") from None
    folder = staging(contents.commit.load_id)

    def outside(path: str) -> str:
        parts = PurePosixPath(path).parts
        if PurePosixPath(path).is_absolute() or ".." in parts:
            raise Malformed(
                f"package.commit.files: expected a path inside the folder of the load, found {path!r}"
            )
        return str(folder.joinpath(*parts))

    return Package(_with_paths(contents.commit, outside), contents.report)


def _with_paths(commit: Commit, path: Callable[[str], str]) -> Commit:
    """The commit with other paths of its staged files."""
    files = {
        name: [replace(file, path=path(file.path)) for file in files] for name, files in commit.files.items()
    }
    return replace(commit, files=files)


def _read_object(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as bad:
        raise Malformed(f"it is not JSON: {bad}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Malformed(f'it is not an object with "format": "{FORMAT}"')
    return document


def _refuse(problems: Iterable[Fault], where: str) -> None:
    for fault in problems:
        raise Malformed(f"{where}.{fault}" if fault.at else f"{where}: {fault}")


def _require(document: Any, keys: Iterable[str], where: str) -> None:
    for key in keys:
        if document.get(key) is None:
            raise Malformed(f"{where}: the key {key!r} is missing")


def _schema(document: Any, where: str) -> Schema:
    _refuse(faults(document), where)
    _require(document, ("name", "tables", "settings"), where)
    if document.get("engine_version") != ENGINE:
        raise Malformed(
            f"{where}.engine_version: expected {ENGINE}, found {document.get('engine_version')!r}"
        )
    for name, table in document["tables"].items():
        _require(table, ("name", "columns"), f"{where}.tables.{name}")
    for hint, rules in (document["settings"].get("default_hints") or {}).items():
        if rules is None:
            raise Malformed(f"{where}.settings.default_hints.{hint}: expected a list, found null")
    return schema_of(document)


def _table(document: Any, where: str) -> Table:
    _refuse(TABLE((), document), where)
    _require(document, ("name", "columns"), where)
    columns = {name: column_of(name, keys) for name, keys in document["columns"].items()}
    return table_of(document["name"], document, columns)


def _column(document: Any, where: str) -> Column:
    _refuse(COLUMN((), document), where)
    _require(document, ("name",), where)
    return column_of(document["name"], document)


def _scalar_text(value: pa.Scalar) -> str:
    """A cell with its Arrow type: an Arrow stream of one column and one row, in base64."""
    batch = pa.RecordBatch.from_arrays([pa.array([value], value.type)], ["value"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return b64encode(sink.getvalue()).decode("ascii")


def _scalar(document: Any, where: str) -> pa.Scalar:
    try:
        with pa.ipc.open_stream(b64decode(document, validate=True)) as reader:
            table = reader.read_all()
        table.validate(full=True)
        (column,) = table.columns
        (value,) = column
    except (pa.ArrowException, OSError, TypeError, ValueError):
        raise Malformed(f"{where}: expected an Arrow cell in base64, found {document!r:.80}") from None
    return value


_KEYS: Mapping[type, Mapping[str, str]] = {Commit: {"metadata": "journal", "base_state": "recalled"}}
"""Fields that have another name than in the packages that are stored, and below the words that have one."""
_ON_MATCH: Mapping[str, str] = {word: word for word in get_args(OnMatch)} | {
    "coalesce_latest": "fill",
    "coalesce_matched_only": "amend",
}
_CODEC = DataclassCodec(
    {
        OnMatch: renamed_choices(_ON_MATCH),
        Schema: TypeCodec(to_dict, _schema),
        Table: TypeCodec(table_dict, _table),
        Column: TypeCodec(lambda column: {"name": column.name, **column_keys(column)}, _column),
        pa.Scalar: TypeCodec(_scalar_text, _scalar),
    },
    {
        AddTable: "add_table",
        DropTable: "drop_table",
        RenameTable: "rename_table",
        AddColumn: "add_column",
        DropColumn: "drop_column",
        RenameColumn: "rename_column",
        ChangeColumn: "change_column",
        ChangeTable: "change_table",
    },
    _KEYS,
)
