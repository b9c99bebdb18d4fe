"""Schema documents as values: as lenient as `Schema.fromString`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.pinot.document import known_keys
from trellis.dialects.pinot.document.defaults import literal_text, parse_default, type_default
from trellis.dialects.pinot.document.faults import SchemaFaults, pointer
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.json_object import (
    JsonObject,
    ReadReport,
    shown,
)
from trellis.dialects.pinot.document.known_keys import is_table_config
from trellis.dialects.pinot.document.legacy_time import read_time
from trellis.dialects.pinot.document.types import (
    ExceedStrategy,
    FieldType,
    PinotType,
    Value,
)
from trellis.dialects.pinot.value.source_kinds import CannotConvert
from trellis.errors import SchemaError

_ONE_VALUE: Final = {FieldType.METRIC: "metric", FieldType.DATE_TIME: "date time"}


def examine(
    document: str | bytes | Mapping[str, Any], where: str = "schema"
) -> tuple[PinotSchema, ReadReport]:
    """The schema, with the report of reading it; where that has faults, without the fields that have them.

    Raises SchemaError where the document is not JSON, or a table config.
    """
    parsed, report = parse(document, where), ReadReport()
    if is_table_config(parsed):
        raise SchemaError(
            f"{where}: this is a table config, not a schema: pass the document that has schemaName"
        )
    return _Reader(report).schema(parsed), report


def read_schema(document: str | bytes | Mapping[str, Any], where: str = "schema") -> PinotSchema:
    """The schema of a document, JSON text or its object.

    Raises SchemaFaults for a document that Pinot does not load, SchemaError where the text is not JSON.
    `schema_rules.faults_of` finds the faults of a schema that loads.

    >>> read_schema('{"schemaName": "s"}').name
    's'
    """
    schema, report = examine(document, where)
    if report.faults:
        raise SchemaFaults(where, dict.fromkeys(report.faults))
    return schema


def parse(
    document: str | bytes | Mapping[str, Any], where: str, kind: str = "schema document"
) -> Mapping[str, Any]:
    """The JSON object of a document. Raises SchemaError with line and column for invalid JSON."""
    if isinstance(document, Mapping):
        return document
    try:
        text = document if isinstance(document, str) else document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SchemaError(f"{where}: byte {error.start} is not UTF-8: save the document as UTF-8") from error
    try:
        parsed = json.loads(text.removeprefix("\ufeff"), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SchemaError(f"{where}, {place}: not JSON: {error.msg}") from error
    except ValueError as error:
        raise SchemaError(f"{where}: {error}") from error
    except RecursionError as error:
        raise SchemaError(f"{where}: the document is nested too deeply to be read") from error
    if not isinstance(parsed, Mapping):
        raise SchemaError(f"{where}: a {kind} is a JSON object, not {literal_text(parsed)[:60]}")
    return parsed


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON: write it as text, {json.dumps(word)}")


class _Reader:
    def __init__(self, report: ReadReport) -> None:
        self._report = report
        self._names: set[str] = set()

    def schema(self, document: Mapping[str, Any]) -> PinotSchema:
        top = JsonObject(document, "", self._report, known_keys.SCHEMA)
        specs = [spec for key, kind in known_keys.LISTS.items() for spec in self._list(top, key, kind)]
        time = self._time(top)
        return PinotSchema(
            top.text("schemaName"),
            primary_key=top.text_list("primaryKeyColumns"),
            column_nulls=top.flag("enableColumnBasedNullHandling"),
            description=top.text("description"),
            tags=top.text_list("tags"),
            legacy_time=None if time is None else time.name,
        ).with_fields(specs if time is None else [*specs, time])

    def _list(self, top: JsonObject, key: str, kind: FieldType) -> tuple[FieldSpec, ...]:
        if key not in top.document:
            return ()
        value = top.raw_value(key)
        if not isinstance(value, list):
            top.fault(f"{key} is a list of field specs, not {shown(value)}", key)
            return ()
        specs: list[FieldSpec] = []
        for index, field in enumerate(value):
            if not isinstance(field, Mapping):
                top.fault(f"a field spec is an object, not {shown(field)}", key, index)
                continue
            node = self._node(field, pointer(key, index), kind)
            field_type = node.raw_value("fieldType")
            if field_type is not None and field_type != kind.value:
                node.fault(
                    f"a field of {key} has fieldType {kind.value}, not {shown(field_type)}", "fieldType"
                )
            if node.column is not None:
                self._claim(node, node.column, "name")
            spec = self._field(node, kind)
            if spec is not None:
                specs.append(spec)
        return tuple(specs)

    def _node(self, document: Mapping[str, Any], place: str, kind: FieldType) -> JsonObject:
        node = JsonObject(document, place, self._report, known_keys.FIELD[kind])
        node.column = node.text("name")
        return node

    def _claim(self, node: JsonObject, name: str, *steps: str) -> None:
        if name in self._names:
            node.fault(f"Field spec already exists for column: {name}", *steps)
        self._names.add(name)

    def _field(self, node: JsonObject, kind: FieldType) -> FieldSpec | None:
        if node.raw_value("name") is None:
            node.fault("a field spec needs a name")
        data_type = self._type(node)
        single = node.flag("singleValueField", default=True)
        if not single and kind in _ONE_VALUE:
            node.fault(f"Unsupported multi-value for {_ONE_VALUE[kind]} field.", "singleValueField")
        values: dict[str, Any] = {
            "max_length": node.integer("maxLength"),
            "exceed_strategy": node.enum_member("maxLengthExceedStrategy", ExceedStrategy),
            "not_null": node.flag("notNull"),
            "trailing_zeros": node.flag("allowTrailingZeros"),
            "transform": node.text("transformFunction"),
            "virtual_provider": node.text("virtualColumnProvider"),
            "description": node.text("description"),
            "tags": node.text_list("tags"),
        }
        if kind is FieldType.DATE_TIME:
            values["format"] = node.text("format")
            values["granularity"] = node.text("granularity")
            values["sample"] = node.text("sampleValue")
            if data_type is PinotType.TIMESTAMP:
                values["format"] = "TIMESTAMP"
        if kind is FieldType.COMPLEX:
            values["children"] = self._children(node)
        if node.column is None or data_type is None:
            return None
        values["default"] = default_value(node, kind, data_type)
        return FieldSpec(node.column, data_type, kind, single, **values)

    def _type(self, node: JsonObject) -> PinotType | None:
        if node.raw_value("dataType") is None:
            node.fault("a field spec needs a dataType")
            return None
        return node.enum_member("dataType", PinotType)

    def _children(self, node: JsonObject) -> Mapping[str, FieldSpec]:
        children: dict[str, FieldSpec] = {}
        for name, document in (node.json_object("childFieldSpecs") or {}).items():
            if not isinstance(document, Mapping):
                node.fault(f"a field spec is an object, not {shown(document)}", "childFieldSpecs", name)
                continue
            place = node.pointer_to("childFieldSpecs", name)
            header = JsonObject(document, place, self._report, frozenset(document))
            header.column = node.column
            kind = header.enum_member("fieldType", FieldType)
            if header.raw_value("fieldType") is None:
                header.fault(f"child {name!r} needs a fieldType")
            child = self._field(self._node(document, place, kind), kind) if kind else None
            if child is not None:
                children[name] = child
        return children

    def _time(self, top: JsonObject) -> FieldSpec | None:
        value = top.json_object("timeFieldSpec")
        if value is None:
            return None
        node = JsonObject(value, pointer("timeFieldSpec"), self._report, known_keys.TIME)
        time = read_time(node, self._report)
        if time is None:
            return None
        self._claim(node, time.name)
        return replace(time, default=default_value(node, FieldType.DATE_TIME, time.data_type))


def default_value(node: JsonObject, kind: FieldType, data_type: PinotType) -> Value:
    """The `defaultNullValue` of a field; None where the default of its type applies.

    A type without a default does not load, whatever the document declares.
    """
    literal, at_fault = node.raw_value("defaultNullValue"), "dataType"
    try:
        type_default(kind, data_type)
        at_fault = "defaultNullValue"
        return None if literal is None else parse_default(data_type, literal)
    except CannotConvert as error:
        node.fault(str(error), at_fault)
        return None
