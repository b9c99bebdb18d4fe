"""Schema documents as values: as lenient as `Schema.fromString`, with every fault at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from trellis.dialects.pinot.document import known_keys
from trellis.dialects.pinot.document.defaults import parse_default, type_default
from trellis.dialects.pinot.document.faults import SchemaFaults, pointer
from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema, TimeField
from trellis.dialects.pinot.document.json_object import NOTHING, TWICE, Ledger, Node, Unknown, shown
from trellis.dialects.pinot.document.legacy_time import read_time
from trellis.dialects.pinot.document.literals import literal_text
from trellis.dialects.pinot.document.recognition import is_table_config
from trellis.dialects.pinot.document.types import (
    BASE,
    EXTENDED,
    ExceedStrategy,
    FieldType,
    PinotType,
    Profile,
    Value,
)
from trellis.dialects.pinot.document.validation.all_rules import schema_faults
from trellis.dialects.pinot.value.source_kinds import CannotConvert
from trellis.errors import SchemaError, nearest

NO_CHILDREN: Final[Mapping[str, FieldSpec]] = MappingProxyType({})
_STAND_INS: Final = {FieldType.METRIC: PinotType.DOUBLE, FieldType.COMPLEX: PinotType.MAP}
_ONE_VALUE: Final = {FieldType.METRIC: "metric", FieldType.DATE_TIME: "date time"}


@dataclass(frozen=True)
class ReadSchema:
    """A schema, and the keys of its document that Pinot ignores."""

    schema: PinotSchema
    unknown: tuple[Unknown, ...] = ()


def read_schema(
    document: str | bytes | Mapping[str, Any], profile: Profile = BASE, where: str = "schema"
) -> ReadSchema:
    """The schema that a document says, as JSON text or as the object of it.

    Raises SchemaFaults if something keeps Pinot from loading it, with all that makes it invalid besides;
    SchemaError where the text is not JSON. Whether a schema that loads is valid is told by
    `validate.faults_of`.

    >>> result = read_schema('{"schemaName": "s", "metricFieldSpec": []}')
    >>> result.schema.name, [str(unknown) for unknown in result.unknown]
    ('s', ["/metricFieldSpec is ignored: did you mean 'metricFieldSpecs'?"])
    """
    schema, ledger = examine(document, profile, where)
    if ledger.faults:
        followed = (profile, BASE) if profile.extended else (profile,)
        raise SchemaFaults(where, schema_faults(schema, ledger, *followed))
    return ReadSchema(schema, tuple(ledger.unknown))


def examine(
    document: str | bytes | Mapping[str, Any], profile: Profile = BASE, where: str = "schema"
) -> tuple[PinotSchema, Ledger]:
    """The schema as far as it can be read, with all that came up.

    A field whose type or format cannot be read has one that raises no further fault. Raises SchemaError
    where the document is not JSON, or a table config.
    """
    parsed, ledger = parse(document, where), Ledger()
    if is_table_config(parsed):
        raise SchemaError(
            f"{where}: this is a table config, not a schema: give the document that has schemaName"
        )
    return _Reader(profile, ledger).schema(parsed), ledger


def parse(document: str | bytes | Mapping[str, Any], where: str = "schema") -> Mapping[str, Any]:
    """The JSON object of a document. Raises SchemaError with line and column where it is none."""
    if isinstance(document, Mapping):
        return document
    try:
        text = document if isinstance(document, str) else document.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise SchemaError(f"{where}: byte {wrong.start} is not UTF-8: save the document as UTF-8") from wrong
    try:
        parsed = json.loads(text.removeprefix("\ufeff"), parse_constant=_no_constant)
    except json.JSONDecodeError as wrong:
        place = f"line {wrong.lineno}, column {wrong.colno}"
        raise SchemaError(f"{where}, {place}: not JSON: {wrong.msg}") from wrong
    except ValueError as wrong:
        raise SchemaError(f"{where}: {wrong}") from wrong
    except RecursionError as wrong:
        raise SchemaError(f"{where}: the document is nested too deeply to be read") from wrong
    if not isinstance(parsed, Mapping):
        raise SchemaError(f"{where}: a schema document is a JSON object, not {literal_text(parsed)[:60]}")
    return parsed


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON: write it as text, {json.dumps(word)}")


class _Reader:
    def __init__(self, profile: Profile, ledger: Ledger) -> None:
        self._profile, self._ledger = profile, ledger
        self._names: set[str] = set()
        more = known_keys.FIELD_EXTENDED if profile.extended else NOTHING
        self._keys = {kind: known | more for kind, known in known_keys.FIELD.items()}

    def schema(self, document: Mapping[str, Any]) -> PinotSchema:
        extended = self._profile.extended
        known = known_keys.SCHEMA | known_keys.SCHEMA_EXTENDED if extended else known_keys.SCHEMA
        top = Node(document, "", self._ledger, known, known_keys.SCHEMA_EXTENDED)
        lists = {kind: self._list(top, key, kind) for key, kind in known_keys.LISTS.items()}
        return PinotSchema(
            top.text("schemaName"),
            lists[FieldType.DIMENSION],
            lists[FieldType.METRIC],
            lists[FieldType.DATE_TIME],
            lists[FieldType.COMPLEX],
            self._time(top),
            top.texts("primaryKeyColumns"),
            top.flag("enableColumnBasedNullHandling"),
            top.text("description") if extended else None,
            top.texts("tags") if extended else (),
        )

    def _list(self, top: Node, key: str, kind: FieldType) -> tuple[FieldSpec, ...]:
        if key not in top.document:
            return ()
        value = top.said(key)
        if not isinstance(value, list):
            top.fault(f"{key} is a list of field specs, not {shown(value)}", key)
            self._ledger.gaps = value is not None or self._ledger.gaps
            return ()
        made: list[FieldSpec] = []
        for at, each in enumerate(value):
            if not isinstance(each, Mapping):
                top.fault(f"a field spec is an object, not {shown(each)}", key, at)
                self._ledger.gaps = True
                continue
            node = self._node(each, pointer(key, at), kind)
            said = node.said("fieldType")
            if said is not None and said != kind.value:
                node.fault(f"a field of {key} has fieldType {kind.value}, not {shown(said)}", "fieldType")
            if node.column is not None:
                self._claim(node, node.column, "name")
            spec = self._field(node, kind)
            if spec is None:
                self._ledger.gaps = True
                continue
            self._ledger.places[pointer(key, len(made))] = node.place
            made.append(spec)
        return tuple(made)

    def _node(self, document: Mapping[str, Any], place: str, kind: FieldType) -> Node:
        node = Node(document, place, self._ledger, self._keys[kind], known_keys.FIELD_EXTENDED)
        node.column = node.text("name")
        return node

    def _claim(self, node: Node, name: str, *steps: str) -> None:
        if name in self._names:
            node.fault(f"{TWICE} for column: {name}", *steps)
        self._names.add(name)

    def _field(self, node: Node, kind: FieldType) -> FieldSpec | None:
        if node.said("name") is None:
            node.fault("a field spec needs a name")
        data_type = self._type(node)
        single = node.flag("singleValueField", default=True)
        if not single and kind in _ONE_VALUE:
            node.fault(f"Unsupported multi-value for {_ONE_VALUE[kind]} field.", "singleValueField")
        length, exceed = node.integer("maxLength"), node.word("maxLengthExceedStrategy", ExceedStrategy)
        not_null, zeros = node.flag("notNull"), node.flag("allowTrailingZeros")
        transform, provider = node.text("transformFunction"), node.text("virtualColumnProvider")
        of_time = kind is FieldType.DATE_TIME
        form = _text_or(node, "format", "TIMESTAMP") if of_time else None
        granularity = _text_or(node, "granularity", "1:DAYS") if of_time else None
        sample = node.text("sampleValue") if of_time else None
        children = self._children(node) if kind is FieldType.COMPLEX else NO_CHILDREN
        extended = self._extended(node) if self._profile.extended else {}
        if node.column is None:
            return None
        default = None if data_type is None else default_value(node, kind, data_type)
        data_type = data_type or _STAND_INS.get(kind, PinotType.STRING)
        if of_time and data_type is PinotType.TIMESTAMP:
            form = "TIMESTAMP"
        return FieldSpec(
            node.column,
            data_type,
            kind,
            single,
            not_null,
            length,
            exceed,
            zeros,
            default,
            transform,
            provider,
            form,
            granularity,
            sample,
            children,
            **extended,
        )

    def _type(self, node: Node) -> PinotType | None:
        if node.said("dataType") is None:
            node.fault("a field spec needs a dataType")
            return None
        found = node.word("dataType", PinotType)
        if found in EXTENDED and not self._profile.extended:
            node.fault(f"dataType {found.value} needs the profile 'extended'", "dataType")
            return None
        return found

    def _extended(self, node: Node) -> dict[str, Any]:
        return {
            "description": node.text("description"),
            "tags": node.texts("tags"),
            "field_id": node.integer("fieldId"),
            "aliases": node.texts("aliases"),
            "metadata": MappingProxyType(_metadata(node)),
        }

    def _children(self, node: Node) -> Mapping[str, FieldSpec]:
        children: dict[str, FieldSpec] = {}
        for name, each in (node.objects("childFieldSpecs") or {}).items():
            if not isinstance(each, Mapping):
                node.fault(f"a field spec is an object, not {shown(each)}", "childFieldSpecs", name)
                continue
            place = node.at("childFieldSpecs", name)
            kind = self._child_kind(node, name, each)
            child = self._field(self._node(each, place, kind), kind) if kind else None
            if child is not None:
                children[name] = child
        return MappingProxyType(children)

    def _child_kind(self, node: Node, name: str, child: Mapping[str, Any]) -> FieldType | None:
        said = child.get("fieldType")
        found = next((kind for kind in known_keys.FIELD if kind.value == said), None)
        if found is None and said is None:
            node.fault(f"child {name!r} needs a fieldType", "childFieldSpecs", name)
        elif found is None:
            close = nearest(str(said).upper(), (each.value for each in known_keys.FIELD))
            node.fault(f"unknown fieldType {shown(said)}{close}", "childFieldSpecs", name, "fieldType")
        return found

    def _time(self, top: Node) -> TimeField | None:
        value = top.objects("timeFieldSpec")
        if value is None:
            self._ledger.gaps = top.said("timeFieldSpec") is not None or self._ledger.gaps
            return None
        node = Node(value, pointer("timeFieldSpec"), self._ledger, known_keys.TIME)
        time = read_time(node, self._ledger)
        if time is None:
            self._ledger.gaps = True
            return None
        self._claim(
            node, time.column.name, "outgoingGranularitySpec" if time.outgoing else "incomingGranularitySpec"
        )
        return replace(time, default=default_value(node, FieldType.TIME, time.column.data_type))


def default_value(node: Node, kind: FieldType, data_type: PinotType) -> Value:
    """The `defaultNullValue` of a field; None where the default of its type stands.

    A type without a default of its own does not load, whatever default the document gives.
    """
    literal, at_fault = node.said("defaultNullValue"), "dataType"
    try:
        type_default(kind, data_type)
        at_fault = "defaultNullValue"
        return None if literal is None else parse_default(data_type, literal)
    except CannotConvert as wrong:
        node.fault(str(wrong), at_fault)
        return None


def _text_or(node: Node, key: str, instead: str) -> str | None:
    """A text; where something else is said, which is a fault, what stands for it."""
    said = node.text(key)
    return instead if said is None and node.said(key) is not None else said


def _metadata(node: Node) -> dict[str, str]:
    said = node.objects("metadata") or {}
    for key, each in said.items():
        if each is None or isinstance(each, Mapping | list):
            node.fault(f"metadata {key!r} is text, not {shown(each)}", "metadata", key)
            return {}
    return {key: literal_text(each) for key, each in said.items()}
