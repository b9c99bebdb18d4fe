"""Records cast to the schema of their table, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.loads.columnar import columnar_transform_of
from trellis.dialects.ytsaurus.loads.options import LoadOptions
from trellis.dialects.ytsaurus.loads.target import TargetTable, current_target, row_stager
from trellis.dialects.ytsaurus.values.rows import RowValidator
from trellis.evolution.columnar_transform import ColumnarTransform
from trellis.evolution.dialect.transforms import Author, Flatten, RecordTransform
from trellis.evolution.record_outcome import Rejected, Stopped
from trellis.evolution.row_transform import TransformResult
from trellis.schema.model import Schema
from trellis.schema.naming import Naming

_NO_KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {}


class TypedRows:
    """Makes one row of each record, or says why its table does not take it."""

    kinds = _NO_KINDS

    def __init__(self, target: TargetTable, options: LoadOptions) -> None:
        self.table = target.name
        self._target = target
        self._validator = RowValidator(target.schema, options.forms)
        self._stage = row_stager(target.schema)
        self.columnar: ColumnarTransform | None = columnar_transform_of(target, self._validator)

    def __call__(self, record: Mapping[str, Any], /) -> TransformResult:
        try:
            staged = self._stage(self._validator.validate_row(record))
        except YtError as error:
            if self._target.on_error == "reject":
                raise Rejected(error.message, _kind(error)) from None
            raise Stopped(
                f"{error.message}; fix the record, or reject such records: --contract data_type=discard_row"
            ) from None
        return TransformResult([staged])

    def take_warnings(self) -> Counter[str]:
        return Counter()


class TypedRouting:
    """The schema of the table is that of the user, and all records are for it."""

    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        target = current_target(schema)
        return Flatten() if target is None else Author(TypedRows(target, LoadOptions.of(schema)))


def _kind(error: YtError) -> str:
    """The reason without the value."""
    column, expected = error.attributes.get("column"), error.attributes.get("expected")
    if column is None:
        return error.message.partition(":")[0]
    return f'column "{column}": {f"expected {expected}" if expected else "a value that does not fit"}'
