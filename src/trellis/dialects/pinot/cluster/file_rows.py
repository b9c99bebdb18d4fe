"""Rows of a dataset in the types that Pinot reads from files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.source_kinds import LONG_MAX
from trellis.errors import DestinationError

_MILLIS: Final = pa.timestamp("ms", "UTC")
_TYPES: Final[Mapping[PinotType, pa.DataType]] = {
    PinotType.INT: pa.int32(),
    PinotType.LONG: pa.int64(),
    PinotType.FLOAT: pa.float32(),
    PinotType.DOUBLE: pa.float64(),
    PinotType.BOOLEAN: pa.bool_(),
    PinotType.TIMESTAMP: pa.int64(),
    PinotType.BYTES: pa.binary(),
}
"""The types of values; all others are text."""


@dataclass(frozen=True)
class FileColumn:
    """A column of a data file. The values of a map have the type in `spec`."""

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
        """The Arrow type of the column."""
        convert = _TYPES.get(self.value, pa.string())
        if self.is_map:
            return pa.map_(pa.string(), convert)
        return convert if self.spec.single_value else pa.list_(convert)

    def array(self, array: pa.Array) -> pa.Array:
        """The values in the type of the file. Raises DestinationError for an invalid value."""
        try:
            if array.type == self.type:
                return array
            if pa.types.is_nested(self.type) and not pa.types.is_nested(array.type):
                return pa.array(map(self._nested, array.to_pylist()), self.type)
            if pa.types.is_timestamp(array.type):
                return _millis(array)
            if _times(array.type):
                between = pa.list_(_MILLIS) if pa.types.is_nested(self.type) else _MILLIS
                return array.cast(between).cast(self.type)
            return array.cast(self.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, TypeError) as error:
            raise DestinationError(
                f"column {self.name}: its values of type {array.type} are no {self.spec.data_type.value} "
                f"({error}); the table was changed outside Trellis"
            ) from error

    def _nested(self, text: str | None) -> Any:
        """A list or map from its JSON text in a destination without nested types."""
        if text is None:
            return None
        value = json.loads(text)
        convert = _FROM_JSON.get(self.value)
        if convert is None:
            return value
        if isinstance(value, list):
            return [None if element is None else convert(element) for element in value]
        return {key: None if entry is None else convert(entry) for key, entry in value.items()}


@dataclass(frozen=True)
class FileRows:
    """The columns of a table in its files. `sources`: columns of the dataset that have other names there."""

    columns: tuple[FileColumn, ...]
    sources: Mapping[str, str]

    @staticmethod
    def of(specs: Iterable[FieldSpec], sources: Mapping[str, str] | None = None) -> FileRows:
        return FileRows(tuple(map(FileColumn, specs)), sources or {})

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows, with nulls for columns that a batch lacks. Raises DestinationError."""
        for batch in batches:
            arrays = [self._column(column, batch) for column in self.columns]
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _column(self, column: FileColumn, batch: pa.RecordBatch) -> pa.Array:
        at = batch.schema.get_field_index(column.name)
        if at < 0:
            at = batch.schema.get_field_index(self.sources.get(column.name, column.name))
        return pa.nulls(batch.num_rows, column.type) if at < 0 else column.array(batch.column(at))


def _millis(times: pa.Array) -> pa.Array:
    """Milliseconds. The greatest LONG is infinity in DuckDB: the greatest count of microseconds."""
    infinite = pc.equal(times.cast(pa.int64()), LONG_MAX)
    finite = pc.if_else(infinite, pa.scalar(None, times.type), times)
    return pc.if_else(infinite, LONG_MAX, finite.cast(_MILLIS).cast(pa.int64()))


def _times(arrow_type: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow_type.value_type if pa.types.is_list(arrow_type) else arrow_type))


_FROM_JSON: Final[Mapping[PinotType, Callable[[Any], Any]]] = {
    PinotType.BYTES: bytes.fromhex,
    PinotType.FLOAT: float,
    PinotType.DOUBLE: float,
}
"""Bytes are hexadecimal in JSON, and infinities are text."""
