"""Rows of a dataset in the types that Pinot reads from files."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.errors import DestinationError

_MILLIS: Final = pa.timestamp("ms", "UTC")
_TYPES: Final[Mapping[PinotType, pa.DataType]] = {
    PinotType.INT: pa.int32(),
    PinotType.LONG: pa.int64(),
    PinotType.FLOAT: pa.float32(),
    PinotType.DOUBLE: pa.float64(),
    PinotType.BIG_DECIMAL: pa.string(),
    PinotType.BOOLEAN: pa.bool_(),
    PinotType.TIMESTAMP: pa.int64(),
    PinotType.STRING: pa.string(),
    PinotType.JSON: pa.string(),
    PinotType.BYTES: pa.binary(),
    PinotType.UUID: pa.string(),
}


@dataclass(frozen=True)
class FileColumn:
    """A column of a data file. A map has values of the type `spec` says for them."""

    spec: FieldSpec

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def value(self) -> PinotType:
        """The type of single values: of a list its elements, of a map its values."""
        child = self.spec.children.get("value") if self.is_map else None
        return child.data_type if child is not None else self.spec.data_type

    @property
    def is_map(self) -> bool:
        return self.spec.data_type is PinotType.MAP

    @property
    def type(self) -> pa.DataType:
        """What Arrow and Parquet hold of it."""
        one = _TYPES.get(self.value, pa.string())
        if self.is_map:
            return pa.map_(pa.string(), one)
        return one if self.spec.single_value else pa.list_(one)

    def array(self, found: pa.Array) -> pa.Array:
        """The values in the type of the file. Raises DestinationError where one does not fit."""
        try:
            if found.type == self.type:
                return found
            if pa.types.is_nested(self.type) and not pa.types.is_nested(found.type):
                return pa.array(map(self._nested, found.to_pylist()), self.type)
            if self.value is PinotType.UUID:
                return pa.array(map(self._each(_uuid), found.to_pylist()), self.type)
            if _times(found.type):
                between = pa.list_(_MILLIS) if pa.types.is_nested(self.type) else _MILLIS
                return found.cast(between).cast(self.type)
            return found.cast(self.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, TypeError) as error:
            raise DestinationError(
                f"column {self.name}: its values of type {found.type} are no {self.spec.data_type.value} "
                f"({error}); was the table changed by hand?"
            ) from error

    def _nested(self, text: str | None) -> Any:
        """A list or map from the JSON text that a destination without nested types keeps of it."""
        if text is None:
            return None
        found = json.loads(text)
        one = _FROM_JSON.get(self.value, _same)
        return [*map(one, found)] if isinstance(found, list) else {k: one(v) for k, v in found.items()}

    def _each(self, one: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: [*map(one, value)] if isinstance(value, list) else one(value)


@dataclass(frozen=True)
class FileRows:
    """The columns of a table as its files hold them."""

    columns: tuple[FileColumn, ...]

    @staticmethod
    def of(specs: Iterable[FieldSpec]) -> FileRows:
        return FileRows(tuple(map(FileColumn, specs)))

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(each.name, each.type) for each in self.columns])

    def batches(self, found: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows, with nulls for columns that a batch lacks. Raises DestinationError."""
        for batch in found:
            arrays = [self._column(each, batch) for each in self.columns]
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _column(self, column: FileColumn, batch: pa.RecordBatch) -> pa.Array:
        at = batch.schema.get_field_index(column.name)
        return pa.nulls(batch.num_rows, column.type) if at < 0 else column.array(batch.column(at))


def _times(found: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(found.value_type if pa.types.is_list(found) else found))


def _same(value: Any) -> Any:
    return value


def _uuid(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(uuid.UUID(bytes=value))


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else bytes.fromhex(value)


def _float(value: Any) -> float | None:
    """A number; infinities are text in JSON."""
    return None if value is None else float(value)


_FROM_JSON: Final[Mapping[PinotType, Callable[[Any], Any]]] = {
    PinotType.BYTES: _bytes,
    PinotType.UUID: _uuid,
    PinotType.FLOAT: _float,
    PinotType.DOUBLE: _float,
}
