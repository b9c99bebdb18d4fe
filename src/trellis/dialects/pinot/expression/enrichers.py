"""Fields that are computed before all else: enrichers of the type `generateColumn`."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any

from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.expression.transforms import evaluate
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import arguments
from trellis.dialects.pinot.table.config import EnricherConfig
from trellis.errors import SchemaError


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
