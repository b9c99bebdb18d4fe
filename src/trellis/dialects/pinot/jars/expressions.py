"""Expressions that Pinot's own evaluator computes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from trellis.dialects.pinot.functions.registry import FunctionError
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.jars.gateway import PinotClasses, PinotError, pinot_classes


@dataclass(frozen=True)
class PinotExpression:
    """A compiled expression, for a row of values. The call raises FunctionError where Pinot fails the row."""

    text: str

    def __call__(self, row: Mapping[str, Any]) -> Any:
        return _evaluator(os.getpid(), self.text).evaluate(row)


def pinot_expression(text: str) -> PinotExpression:
    """Raises ExpressionError where Pinot cannot parse the text, UsageError without jars."""
    try:
        _evaluator(os.getpid(), text)
    except PinotError as error:
        raise ExpressionError(str(error)) from None
    return PinotExpression(text)


@lru_cache(maxsize=256)
def _evaluator(process: int, text: str) -> _Evaluator:
    return _Evaluator(pinot_classes(), text)


class _Evaluator:
    """Pinot's evaluator of one expression. Its row in Java is used again: one call for each argument."""

    def __init__(self, classes: PinotClasses, text: str) -> None:
        self._classes = classes
        with classes.calls() as pinot:
            factory = pinot.segment.local.function.FunctionEvaluatorFactory
            self._evaluator = factory.getExpressionEvaluator(text)
            self._arguments = [*map(str, self._evaluator.getArguments())]
            self._row = pinot.spi.data.readers.GenericRow()

    def evaluate(self, row: Mapping[str, Any]) -> Any:
        try:
            with self._classes.calls():
                for name in self._arguments:
                    self._row.putValue(name, self._classes.to_java(row.get(name)))
                return self._classes.from_java(self._evaluator.evaluate(self._row))
        except PinotError as error:
            raise FunctionError(str(error)) from None
