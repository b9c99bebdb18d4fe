"""Rows held against the schema of their table, and against the rows before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.dialects.ytsaurus.computed.expression import Expression, compile_expression, kind_of_type
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.types.model import ANY
from trellis.dialects.ytsaurus.values.order import encode_key, sort_key
from trellis.dialects.ytsaurus.values.primitives import shown
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms, value_validator
from trellis.dialects.ytsaurus.yson.values import Attributed, kind_of, to_bytes
from trellis.errors import nearest

MAX_VALUES: Final = 32_767
MAX_ROW_WEIGHT: Final = 128 * 2**20
MAX_KEY_WEIGHT: Final = 256 * 2**10

Row = Mapping[str, Any]


class RowValidator:
    """Rows of one table, one after the other. Errors name the row, from 0, and the column."""

    def __init__(self, schema: TableSchema, forms: ValueForms = DEFAULT_FORMS) -> None:
        self._schema = schema
        self._validators = {column.name: value_validator(column.type, forms) for column in schema.columns}
        self._validate_undeclared = value_validator(ANY, forms)
        self._any_keys = {column.name for column in schema.key_columns if column.type == ANY}
        self._keys = [column.name for column in schema.key_columns]
        self.expressions = _expressions(schema)
        """Those of computed columns, by their names."""
        self._required = [column.name for column in schema.columns if column.required]
        self.row_number = 0
        """Of the next row, for errors."""

    def validate(self, row: Row) -> dict[str, Any]:
        """The row as it is stored, without nulls. Raises YtError."""
        try:
            return self.validate_row(row)
        except YtError as error:
            raise error.at(row=self.row_number) from None
        finally:
            self.row_number += 1

    def validate_row(self, row: Row) -> dict[str, Any]:
        """As `validate`, without the number of the row in errors."""
        if not isinstance(row, Mapping):
            raise YtError(f"expected a map, not {shown(row)}", ErrorCode.SCHEMA_VIOLATION)
        values = {}
        for name, value in row.items():
            if name in self.expressions:
                continue
            value = self.validate_column(name, value)
            if value is not None:
                values[name] = value
        for name in self._required:
            if name not in values:
                self.validate_column(name, None)
        for name, expression in self.expressions.items():
            computed = expression.evaluate(values)
            if computed is not None:
                values[name] = self.validate_column(name, computed)
        self._check_size(values)
        return values

    def validate_column(self, name: str, value: Any) -> Any:
        """The value as it is stored. Raises YtError."""
        validate = self._validators.get(name)
        try:
            if validate is None:
                if self._schema.strict:
                    hint = nearest(name, self._validators)
                    raise YtError(f"the strict schema has no such column{hint}", ErrorCode.SCHEMA_VIOLATION)
                return self._validate_undeclared(value)
            value = validate(value)
            if name in self._any_keys:
                _check_order(value)
            return value
        except YtError as error:
            raise error.in_column(name) from None

    def _check_size(self, values: Row) -> None:
        if len(values) > MAX_VALUES:
            raise YtError(f"{len(values)} values; at most {MAX_VALUES} are allowed")
        weight = row_weight(values)
        if weight > MAX_ROW_WEIGHT:
            raise YtError(f"{weight} bytes of data; at most {MAX_ROW_WEIGHT} are allowed")
        key = sum(value_weight(values.get(name)) for name in self._keys)
        if key > MAX_KEY_WEIGHT:
            raise YtError(f"{key} bytes of key; at most {MAX_KEY_WEIGHT} are allowed")


class OrderValidator:
    """Whether rows come in the order of their table's keys, after those that it has.

    Errors number the rows from `first_row`; None is for rows whose numbers mean nothing.
    """

    def __init__(self, schema: TableSchema, last: bytes | None = None, first_row: int | None = 0) -> None:
        self._names = [key.name for key in schema.keys]
        self._orders = [key.sort_order for key in schema.keys]
        self._unique = schema.unique_keys
        self._last = last
        self._last_place = "the last row of the table"
        self._row_number = first_row

    def follows(self, key: bytes) -> bool:
        """Whether a row of this key may come next."""
        return self._last is None or self._last < key or (key == self._last and not self._unique)

    def advance(self, rows: int, last: bytes) -> None:
        """Take rows for checked, the last of which has this key."""
        self._last = last
        self._last_place = "the row before it"
        if self._row_number is not None:
            self._row_number += rows
            self._last_place = f"row {self._row_number - 1}"

    def check(self, row: Row) -> bytes:
        """The key of the row, encoded. Raises YtError with the codes 301 and 306."""
        values = [row.get(name) for name in self._names]
        key = encode_key(values, self._orders)
        self.check_key(values, key)
        self.advance(1, key)
        return key

    def check_key(self, values: Sequence[Any], key: bytes) -> None:
        """Raises YtError where a row of this key may not come next."""
        if self.follows(key):
            return
        place = "" if self._row_number is None else f"row {self._row_number}: "
        text = f"{place}the key {shown(values)}"
        if key == self._last:
            message = f"{text} is that of {self._last_place}, and keys of the table are unique"
            raise YtError(message, ErrorCode.DUPLICATE_KEY)
        message = (
            f"{text} is less than that of {self._last_place}; the table is sorted by {', '.join(self._names)}"
        )
        raise YtError(message, ErrorCode.SORT_ORDER_VIOLATION)


def value_weight(value: Any) -> int:
    """The bytes that a value counts for in `@data_weight`. Raises YsonError."""
    match value:
        case None:
            return 0
        case bool():
            return 1
        case int() | float():
            return 8
        case bytes() | str():
            return len(to_bytes(value))
        case Attributed():
            return value_weight(value.value) + value_weight(value.attributes)
        case Mapping():
            return sum(len(to_bytes(key)) + value_weight(item) for key, item in value.items())
        case list() | tuple():
            return sum(map(value_weight, value))
    kind_of(value)
    raise AssertionError(value)


def row_weight(values: Row) -> int:
    """Raises YtError with the column of a value that YSON does not have."""
    weight = 1
    for name, value in values.items():
        try:
            weight += value_weight(value)
        except YtError as error:
            raise error.in_column(name) from None
    return weight


def _check_order(value: Any) -> None:
    try:
        sort_key(value)
    except YtError as error:
        raise YtError(error.message, ErrorCode.SCHEMA_VIOLATION) from None


def _expressions(schema: TableSchema) -> dict[str, Expression]:
    kinds = {column.name: kind_of_type(column.type) for column in schema.columns}
    return {
        column.name: compile_expression(column.expression, kinds, (kinds[column.name],))
        for column in schema.columns
        if column.expression is not None
    }
