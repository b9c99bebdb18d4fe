"""The schema that Pinot infers from the first JSON object (`JsonUtils.getPinotSchemaFromJsonFile`)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.roles import InferredColumns, Roles
from trellis.dialects.pinot.table.config import ComplexTypeConfig
from trellis.dialects.pinot.value.source_kinds import SourceKind, kind_of

FLAT: Final = ComplexTypeConfig()


def first_object(
    record: Mapping[str, Any],
    roles: Roles | None = None,
    complex: ComplexTypeConfig = FLAT,
    name: str | None = None,
) -> PinotSchema:
    """The columns of one record. Raises SchemaError for a duplicate name or a metric with several values.

    >>> [column.name for column in first_object({"o": {"p": {"q": 1}}, "n": None}).specs()]
    ['o.p.q']
    """
    columns = InferredColumns(roles or Roles())
    walk = _Walk(columns, complex)
    for key, value in record.items():
        walk.take(key, value)
    return columns.schema(name)


class _Walk:
    def __init__(self, columns: InferredColumns, complex: ComplexTypeConfig) -> None:
        self.columns, self.complex = columns, complex

    def take(self, path: str, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, Mapping):
            for key, inner in value.items():
                self.take(f"{path}{self.complex.delimiter}{key}", inner)
        elif isinstance(value, list | tuple):
            self._list(path, value)
        else:
            self.columns.add(path, type_of(value))

    def _list(self, path: str, value: list[Any] | tuple[Any, ...]) -> None:
        if not value:
            return
        first, mode = value[0], self.complex.to_json
        scalar = not isinstance(first, Mapping | list | tuple)
        if path in self.complex.unnest:
            self.take(path, first)
        elif mode == "ALL" or (mode == "NON_PRIMITIVE" and not scalar):
            self.columns.add(path, PinotType.STRING)
        elif mode == "NON_PRIMITIVE":
            self.columns.add(path, type_of(first), single=False)


def type_of(value: Any) -> PinotType:
    """The type that Pinot gives to a scalar of JSON; null (in a list) is STRING.

    >>> [type_of(item).value for item in (1, 3000000000, 10**20, 1.5, True, "x", None)]
    ['INT', 'LONG', 'STRING', 'DOUBLE', 'BOOLEAN', 'STRING', 'STRING']
    """
    if isinstance(value, Decimal):
        return PinotType.DOUBLE
    return _TYPES.get(kind_of(value), PinotType.STRING)


_TYPES: Final[Mapping[SourceKind, PinotType]] = {
    SourceKind.INT: PinotType.INT,
    SourceKind.LONG: PinotType.LONG,
    SourceKind.FLOAT: PinotType.FLOAT,
    SourceKind.DOUBLE: PinotType.DOUBLE,
    SourceKind.BOOLEAN: PinotType.BOOLEAN,
    SourceKind.BYTES: PinotType.BYTES,
}
