"""Enrichers, transforms and filters of a table on rows: the steps Enrichment, Expression and Filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, NamedTuple

from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.expression.compiler import FAILURES, CompiledExpression, compile_expression
from trellis.dialects.pinot.expression.evaluation_order import order_transforms
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import arguments
from trellis.dialects.pinot.table.config import EnricherConfig, TableConfig
from trellis.errors import SchemaError


class TransformError(ValueError):
    """A row that an expression cannot compute. `column` is empty for the filter."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"column {column}: {reason}" if column else reason)
        self.column, self.reason = column, reason


class Failure(NamedTuple):
    """A column that could not be computed, and why."""

    column: str
    reason: str


class Transforms:
    """The transforms of a table. Raises SchemaError for an invalid function, a cycle and a script.

    `arguments` are the fields of the record that they read, besides each other's columns.
    """

    def __init__(self, schema: PinotSchema, table: TableConfig, pinot_jars: bool = False) -> None:
        self.order = order_transforms(schema, table, pinot_jars)
        self.arguments = frozenset().union(*(transform.arguments for transform in self.order))

    def apply(self, values: MutableMapping[str, Any], nulls: set[str]) -> list[Failure]:
        """Compute the columns of a row in place; returns those that failed.

        A record may bring a column computed: a transform runs only where its column has no value, or has a
        list or map and the result is of another container. A column without a result is removed and marked
        null.
        """
        failures: list[Failure] = []
        for transform in self.order:
            column = transform.column
            present = values.get(column)
            if present is not None and not isinstance(present, Mapping | list | tuple):
                continue
            try:
                result = evaluate(transform.program, values, column)
            except TransformError as error:
                if present is None:
                    failures.append(Failure(column, error.reason))
                    _clear(values, nulls, column)
                continue
            if present is None and result is None:
                _clear(values, nulls, column)
            elif present is None or (result is not None and _container(result) is not _container(present)):
                values[column] = result
                nulls.discard(column)
        return failures


class Filter:
    """A filter function. Raises SchemaError where it cannot be read.

    >>> unusable = Filter("amount <= 0 OR country IS NULL")
    >>> unusable.drops({"amount": 5, "country": "de"}), unusable.drops({"amount": 0, "country": "de"})
    (False, True)
    """

    def __init__(self, text: str, pinot_jars: bool = False) -> None:
        try:
            expression = parse(text)
            self.program = compile_expression(expression, text, pinot_jars)
        except ExpressionError as error:
            raise SchemaError(f"filter function: {error}") from None
        self.arguments = arguments(expression)

    def drops(self, values: Mapping[str, Any]) -> bool:
        """Whether the row is dropped: the function is true. Null and false keep it. Raises TransformError."""
        return evaluate(self.program, values) is True


def evaluate(program: CompiledExpression, values: Mapping[str, Any], column: str = "") -> Any:
    """The value of an expression for a row. Raises TransformError only."""
    try:
        return program(values)
    except FAILURES as error:
        raise TransformError(column, str(error) or f"{error.__class__.__name__} in the expression") from None


def _clear(values: MutableMapping[str, Any], nulls: set[str], column: str) -> None:
    values.pop(column, None)
    nulls.add(column)


def _container(value: Any) -> type[Any]:
    if isinstance(value, Mapping):
        return dict
    return list if isinstance(value, list | tuple) else object


class Enrichers:
    """The functions of fields before or after flattening, in order. Raises SchemaError for an invalid one.

    >>> config = EnricherConfig((("b", "upper(a)"), ("c", "concat(a, b, '-')")))
    >>> enrichers = Enrichers([config], before_flattening=False)
    >>> enrichers.apply(record := {"a": "x", "b": "old"})
    >>> record
    {'a': 'x', 'b': 'X', 'c': 'x-X'}
    """

    def __init__(
        self, configs: Iterable[EnricherConfig], before_flattening: bool, pinot_jars: bool = False
    ) -> None:
        self.programs = []
        self.arguments: set[str] = set()
        chosen = [config for config in configs if config.before_flattening is before_flattening]
        for field, text in (pair for config in chosen for pair in config.functions):
            try:
                expression = parse(text)
                self.programs.append((field, compile_expression(expression, text, pinot_jars)))
            except ExpressionError as error:
                raise SchemaError(f"enrichment of {field} by '{text}': {error}") from None
            self.arguments |= arguments(expression)

    def apply(self, values: MutableMapping[str, Any]) -> None:
        """Compute the fields, over what the record has. Raises TransformError."""
        for field, program in self.programs:
            values[field] = evaluate(program, values, field)
