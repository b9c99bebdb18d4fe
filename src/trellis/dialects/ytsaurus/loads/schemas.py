"""The schema of the table of a load: the user's, that of earlier loads, or one without columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from trellis.dialects.ytsaurus.alter.changes import check_alter
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.inference.shapes import sort_schema
from trellis.dialects.ytsaurus.loads.options import LoadOptions, with_options
from trellis.dialects.ytsaurus.loads.target import OnError, TargetTable, find_target, path_of, with_target
from trellis.dialects.ytsaurus.paths.node_path import NodePath
from trellis.dialects.ytsaurus.schema.document import parse_schema, schema_document
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema, weak_schema
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import SchemaError, UsageError
from trellis.evolution.contract import expand
from trellis.evolution.dialect.defaults import DefaultSchemas
from trellis.evolution.dialect.own_metadata import new_schema, own_tables
from trellis.evolution.dialect.schemas import TableRequest
from trellis.schema.model import Schema
from trellis.schema.naming import Naming
from trellis.schema.system import OURS

METADATA: Final = own_tables(f"{OURS}_yt")
_DOCUMENT: Final = "x-yt-document"
"""The key of a schema that a user brings: the document, which gets its table from the request."""


class TypedSchemas(DefaultSchemas):
    metadata = METADATA

    def parse_document(self, text: str, where: str) -> Schema | None:
        try:
            document = json.loads(text) if _is_json(text) else loads(text)
            return brought_schema(parse_schema(document))
        except YtError as error:
            raise YtError(f"{where}: {error.message}", error.code, inner_errors=error.inner_errors) from None

    def configure(self, schema: Schema, settings: Mapping[str, Any], family: str) -> Schema:
        return with_options(schema, settings)

    def merge_user_schema(
        self, schema: Schema, user_schema: Schema, naming_of: Callable[[Schema], Naming]
    ) -> Schema:
        document = user_schema.extra.get(_DOCUMENT)
        if document is None:
            raise SchemaError(
                f"schema {user_schema.name} is no schema of YTsaurus; expected YSON such as "
                "[{name=k; type=int64}]"
            )
        return _with_document(schema, document)

    def apply_request(self, schema: Schema, request: TableRequest, naming: Naming) -> Schema:
        _refuse_hints(request)
        _check_name(request.table)
        document = schema.extra.get(_DOCUMENT)
        brought = None if document is None else parse_schema(loads(document))
        known = find_target(schema, request.table)
        target = _choose_target(request, known, brought, LoadOptions.of(schema))
        return with_target(_with_document(schema, None), target)


def brought_schema(schema: TableSchema) -> Schema:
    """A schema of YTsaurus as one that came with a load."""
    document = dumps(schema_document(schema)).decode()
    return _with_document(new_schema("brought", METADATA), document)


def _choose_target(
    request: TableRequest, known: TargetTable | None, brought: TableSchema | None, options: LoadOptions
) -> TargetTable:
    name, path = request.table, path_of(request.table)
    keys = tuple(map(SortColumn, request.keys))
    on_error = _on_error(request, known)
    if brought is not None:
        schema = sort_schema(brought, keys) if keys else brought
        if known is not None and request.mode != "replace":
            check_alter(known.schema, schema, is_empty=False, path=path).check()
        return TargetTable(name, schema, "strong", on_error)
    if known is not None:
        if keys and keys != known.schema.keys:
            names = ", ".join(map(str, known.schema.keys)) or "nothing"
            raise UsageError(f"{path} is sorted by {names}; leave --key out, or sort it: trellis table sort")
        return replace(known, on_error=on_error)
    if options.schema_mode == "strong":
        raise UsageError(
            f"{path} has no schema yet, and none can be learned from these records; give one with --schema "
            "FILE, such as `trellis table infer` prints"
        )
    return TargetTable(name, weak_schema(keys), "weak", on_error)


def _refuse_hints(request: TableRequest) -> None:
    hints = replace(request, keys=()).hints_in_words()
    if not hints and isinstance(request.contract, Mapping) and "values" in request.contract:
        hints = "contract values"
    if hints:
        raise UsageError(f"{hints}: a table of YTsaurus has its own from its schema; leave it out")
    if request.mode == "merge":
        raise UsageError("mode merge: rows of YTsaurus's static tables are appended or replaced")


def _check_name(name: str) -> None:
    place = NodePath.parse(path_of(name))
    if not place.names or place.attribute is not None:
        raise UsageError(f"--table {name!r} is no path of a table; expected one such as //home/events")


def _on_error(request: TableRequest, known: TargetTable | None) -> OnError:
    """What the contract says of rows that do not fit; it applies until it is changed."""
    if request.contract is None:
        return "refuse" if known is None else known.on_error
    mode = expand(request.contract).data_type
    if mode == "discard_value":
        raise UsageError(
            "contract data_type=discard_value: a row of YTsaurus fits as a whole; expected freeze or "
            "discard_row"
        )
    return "reject" if mode == "discard_row" else "refuse"


def _with_document(schema: Schema, document: str | None) -> Schema:
    extra = {name: value for name, value in schema.extra.items() if name != _DOCUMENT}
    if document is not None:
        extra[_DOCUMENT] = document
    return replace(schema, extra=MappingProxyType(extra))


def _is_json(text: str) -> bool:
    """Whether a document is JSON: that of YSON has no colons behind names."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
