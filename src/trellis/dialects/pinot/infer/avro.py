"""The schema that Pinot infers from Avro or Parquet (`AvroUtils.getPinotSchemaFromAvroSchema`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.types import BASE, PinotType, Profile
from trellis.dialects.pinot.infer.roles import InferredColumns, Roles
from trellis.dialects.pinot.table.config import ComplexTypeConfig
from trellis.errors import SchemaError

Avro = Any
"""An Avro schema as JSON: the name of a type, an object with `type`, or a list of the types of a union."""


def from_avro(
    document: Avro,
    roles: Roles | None = None,
    complex: ComplexTypeConfig | None = None,
    name: str | None = None,
    profile: Profile = BASE,
) -> PinotSchema:
    """The columns of an Avro record. Raises SchemaError for what Pinot refuses.

    Logical types are ignored, except `uuid` in the profile `extended`. Without `complex` a nested record must
    have one field, which replaces it; with it records are flattened, and lists unnested or turned into JSON.

    >>> fields = [{"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}]
    >>> [column.data_type.value for column in from_avro({"type": "record", "fields": fields}).specs()]
    ['LONG']
    """
    if not isinstance(document, Mapping) or document.get("type") != "record":
        raise SchemaError("an Avro schema of a table is a record: an object with type record and its fields")
    walk = _Walk(InferredColumns(roles or Roles()), complex, profile)
    for field in document["fields"]:
        walk.field(field["name"], field["type"])
    return walk.columns.schema(name)


class _Walk:
    def __init__(self, columns: InferredColumns, complex: ComplexTypeConfig | None, profile: Profile) -> None:
        self.columns, self.complex, self.profile = columns, complex, profile
        self.named: dict[str, Avro] = {}

    def field(self, path: str, schema: Avro) -> None:
        if self.complex is not None:
            self._nested(path, schema, self.complex)
            return
        plain = self._plain(path, schema)
        if kind(plain) == "array":
            self.columns.add(path, self._type(path, self._plain(path, plain["items"])), single=False)
        else:
            self.columns.add(path, self._type(path, plain))

    def _plain(self, path: str, schema: Avro) -> Avro:
        """The type inside a union of one type and null, or a record of one field."""
        schema = self._resolved(schema)
        if isinstance(schema, list):
            return self._plain(path, self._only_branch(path, schema))
        if kind(schema) == "record":
            fields = schema["fields"]
            if len(fields) != 1:
                raise SchemaError(
                    f"field {path}: Not one field in the RECORD schema ({len(fields)} fields); "
                    "pass a complexTypeConfig to flatten it"
                )
            return self._plain(path, fields[0]["type"])
        return schema

    def _nested(self, path: str, schema: Avro, complex: ComplexTypeConfig) -> None:
        schema = self._resolved(schema)
        if isinstance(schema, list):
            self._nested(path, self._only_branch(path, schema), complex)
        elif kind(schema) == "record":
            for field in schema["fields"]:
                self._nested(f"{path}{complex.delimiter}{field['name']}", field["type"], complex)
        elif kind(schema) == "array":
            self._list(path, self._resolved(schema["items"]), complex)
        else:
            self.columns.add(path, self._type(path, schema))

    def _list(self, path: str, items: Avro, complex: ComplexTypeConfig) -> None:
        scalar = kind(items) in SCALARS
        if path in complex.unnest:
            self._nested(path, items, complex)
        elif complex.to_json == "NON_PRIMITIVE" and scalar:
            self.columns.add(path, self._type(path, items), single=False)
        elif complex.to_json == "ALL" or (complex.to_json == "NON_PRIMITIVE" and not scalar):
            self.columns.add(path, PinotType.STRING)

    def _only_branch(self, path: str, union: list[Avro]) -> Avro:
        others = [branch for branch in union if kind(branch) != "null"]
        if len(others) != 1:
            what = "More than one" if others else "Cannot find"
            raise SchemaError(
                f"field {path}: {what} non-null schema in UNION schema; Pinot takes one type and null"
            )
        return others[0]

    def _resolved(self, schema: Avro) -> Avro:
        """The schema itself; for a name, the schema declared before under it."""
        if isinstance(schema, Mapping):
            if isinstance(schema.get("type"), Mapping | list):
                return self._resolved(schema["type"])
            if "name" in schema:
                self.named[schema["name"]] = schema
        return self.named.get(schema, schema) if isinstance(schema, str) else schema

    def _type(self, path: str, schema: Avro) -> PinotType:
        if self.profile.extended and isinstance(schema, Mapping) and schema.get("logicalType") == "uuid":
            return PinotType.UUID
        data_type = TYPES.get(kind(schema))
        if data_type is None:
            raise SchemaError(f"field {path}: Unsupported Avro type: {kind(schema)}")
        return data_type


def kind(schema: Avro) -> str:
    """The name of an Avro type.

    >>> kind("int"), kind({"type": "enum", "symbols": []}), kind(["null", "int"])
    ('int', 'enum', 'union')
    """
    if isinstance(schema, list):
        return "union"
    return str(schema["type"]) if isinstance(schema, Mapping) else str(schema)


TYPES: Final[Mapping[str, PinotType]] = {
    "int": PinotType.INT,
    "long": PinotType.LONG,
    "float": PinotType.FLOAT,
    "double": PinotType.DOUBLE,
    "boolean": PinotType.BOOLEAN,
    "string": PinotType.STRING,
    "enum": PinotType.STRING,
    "bytes": PinotType.BYTES,
    "fixed": PinotType.BYTES,
    "map": PinotType.JSON,
    "array": PinotType.JSON,
    "record": PinotType.JSON,
    "union": PinotType.JSON,
}
SCALARS: Final = frozenset(("int", "long", "float", "double", "boolean", "string", "enum"))
