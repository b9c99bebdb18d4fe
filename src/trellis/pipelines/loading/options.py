"""How one load of records into one root table is to be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, get_args

import orjson

from trellis.dialects import registration_of
from trellis.dialects.documents import from_json, from_yaml
from trellis.dialects.registration import ReferenceResolver
from trellis.engine.input.read_options import ReadOptions
from trellis.errors import SchemaError, UsageError, nearest
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.schemas import TableRequest
from trellis.evolution.table_writes import Mode, Strategy
from trellis.pipelines.config import read_text
from trellis.schema.documents.validate import VALUE_RULES
from trellis.schema.documents.value_checks import mapping
from trellis.schema.model import Column, Schema

SchemaInput = Schema | str | Path | Mapping[str, Any]
"""A schema, or its document: as an object, as text, or as the path of a file."""


def with_files(settings: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """The settings with the text of the files that these of them name. Raises UsageError."""
    read = {name: read_text(Path(settings[name])) for name in names if _is_path(settings.get(name))}
    return {**settings, **read}


def _is_path(value: Any) -> bool:
    return isinstance(value, Path) or (isinstance(value, str) and not value.lstrip().startswith("{"))


def registry_of(schema: SchemaInput | None, dialect: str) -> ReferenceResolver | None:
    """The registry that the user names; None where the dialect takes a document. Raises TrellisError."""
    open_registry = registration_of(dialect).open_registry
    if schema is None or open_registry is None:
        return None
    if not isinstance(schema, (str, Path)):
        raise UsageError(
            f"schema: the dialect {dialect} takes the URL, folder or file of a registry, "
            f"not a {type(schema).__name__}"
        )
    return open_registry(str(schema))


def read_schema(document: SchemaInput, dialect: Dialect) -> Schema:
    """The schema that a user hands over. Raises UsageError, SchemaError."""
    if isinstance(document, Schema):
        return document
    text, where = _document(document)
    schema = dialect.schemas.parse_document(text, where)
    if schema is not None:
        return schema
    read = from_json if text.lstrip().startswith("{") else from_yaml
    return read(text, where)


def _document(document: str | Path | Mapping[str, Any]) -> tuple[str, str]:
    """The text of a document, and how messages call it."""
    if isinstance(document, Mapping):
        try:
            return orjson.dumps(dict(document)).decode(), "schema"
        except orjson.JSONEncodeError as bad:
            raise UsageError(f"schema: an object that JSON can hold is expected ({bad})") from None
    if isinstance(document, Path) or (
        isinstance(document, str) and "{" not in document and "\n" not in document
    ):
        return read_text(Path(document)), str(document)
    if not isinstance(document, str):
        raise UsageError(
            f"schema: a document, its text or its path is expected, not {type(document).__name__}"
        )
    return document, "schema"


class LoadOptions(TypedDict, total=False):
    """What `Pipeline.load` and `Pipeline.plan` take by keyword, besides the source and its table."""

    mode: Mode | None
    """`append` (default), `replace` or `merge`; it applies to the table until it is changed."""
    strategy: Strategy | None
    """How to merge: `delete-insert` (default), `upsert`, `insert-only` or `scd2`."""
    keys: str | Sequence[str]
    """The columns of the primary key, or its one column."""
    merge_keys: str | Sequence[str]
    """The columns of the merge key: rows that share it are replaced together."""
    columns: Sequence[Column]
    """Columns that are declared before any record is read."""
    rules: Mapping[str, Mapping[str, Any]]
    """What values may be, by column, or by `table.column` for another table: `{"qty": {"minimum": 0}}`."""
    contract: str | Mapping[str, str] | None
    """What may change: a mode, or a mode for each of `tables`, `columns`, `data_type` and `values`."""
    schema: SchemaInput | None
    """A schema to merge into the stored one: a `Schema`, or its document as an object, text or path."""
    max_nesting: int | None
    """How many levels of nesting become columns and tables; deeper values stay JSON."""
    max_rejected: int | str | None
    """How many records may be rejected, as a number or a share such as `5%`; by default fewer than all."""
    load_id: str | None
    """The name of the load; a load that is already in the destination is not repeated."""
    new_only: bool
    """Load only the files that no load with this option brought into the table yet."""
    reload_changed: bool
    """With `new_only`: load files again that changed since they were loaded."""
    only_tables: tuple[str, ...]
    """Load the rows of these tables alone, such as those that failed in an earlier load of the records."""
    payload: str | None
    """The column of a DataFrame that holds the records as JSON: text, bytes or VARIANT."""
    format: str | None
    """The format of the source, such as csv, avro or jdbc, where its name does not say it."""
    read_options: Mapping[str, Any]
    """Options of Spark's reader for that format."""
    kafka_columns: str | Sequence[str]
    """What is loaded of a topic beside the values: topic, partition, offset, timestamp, key, headers."""


@dataclass(frozen=True)
class LoadSettings:
    """`LoadOptions` with the table and with defaults: None and empty follow from schema and destination."""

    table: str | None = None
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    contract: str | Mapping[str, str] | None = None
    schema: SchemaInput | None = None
    max_nesting: int | None = None
    max_rejected: int | str | None = None
    load_id: str | None = None
    new_only: bool = False
    reload_changed: bool = False
    only_tables: tuple[str, ...] = ()
    payload: str | None = None
    format: str | None = None
    read_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    kafka_columns: tuple[str, ...] = ()

    @staticmethod
    def of(table: str | None, options: Mapping[str, Any]) -> LoadSettings:
        """The settings that these options mean. Raises UsageError for what no load can follow."""
        for name in options:
            if name not in LoadOptions.__annotations__:
                raise UsageError(f"load takes no option {name!r}{nearest(name, LoadOptions.__annotations__)}")
        if (mode := options.get("mode")) in get_args(Strategy):
            raise UsageError(f"{mode} is a strategy, not a mode; choose mode merge with strategy {mode}")
        _check_choice("mode", options.get("mode"), get_args(Mode))
        _check_choice("strategy", options.get("strategy"), get_args(Strategy))
        if options.get("strategy") and options.get("mode") not in (None, "merge"):
            raise UsageError(
                f"strategy {options['strategy']} is for the mode merge, and the mode is {options['mode']}; "
                "leave the strategy out, or choose merge"
            )
        nesting = options.get("max_nesting")
        if nesting is not None and (type(nesting) is not int or nesting < 0):
            raise UsageError(f"max_nesting takes a whole number, 0 or more, not {nesting!r}")
        if options.get("reload_changed") and not options.get("new_only"):
            raise UsageError("reload_changed goes with new_only; add it, or leave reload_changed out")
        if options.get("new_only") and options.get("only_tables"):
            raise UsageError(
                "only_tables loads a part of each file, and new_only counts whole files; choose one"
            )
        load_id = options.get("load_id")
        if load_id is not None and not isinstance(load_id, str):
            raise UsageError(f"load_id takes text, not {load_id!r}")
        for column in options.get("columns", ()):
            if not isinstance(column, Column):
                raise UsageError(f"columns takes columns of trellis.schema.model, not {column!r}")
        if rule_faults := [*mapping(VALUE_RULES)(("rules",), options.get("rules") or {})]:
            raise SchemaError("; ".join(map(str, rule_faults)))
        names = ("keys", "merge_keys", "kafka_columns")
        sequences = {name: _names(name, options[name]) for name in names if name in options}
        if "columns" in options:
            sequences["columns"] = tuple(options["columns"])
        return LoadSettings(**{"table": table, **options, **sequences})

    @property
    def reading(self) -> ReadOptions:
        """How the source is read. Raises UsageError."""
        return ReadOptions.of(self.format, self.read_options, self.kafka_columns)

    def request(self, table: str) -> TableRequest:
        """What is asked of the root table."""
        return TableRequest(
            table=table,
            mode=self.mode,
            strategy=self.strategy,
            keys=self.keys,
            merge_keys=self.merge_keys,
            columns=self.columns,
            rules=self.rules,
            contract=self.contract,
            max_nesting=self.max_nesting,
        )


def _check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        raise UsageError(f"there is no {option} {value!r}{nearest(str(value), choices)}")


def _names(option: str, value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{option} takes the name of a column or a list of them, not {value!r}")
    return tuple(names)
