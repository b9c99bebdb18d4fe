"""Whether Pinot and Trellis can compute an expression of a schema or a table config."""

from __future__ import annotations

from typing import NamedTuple

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.functions.catalog import UnsupportedFunction, array_sentence
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import arguments


class CheckedExpression(NamedTuple):
    """The fields that it reads, as far as it can be read, and what is wrong with it, if anything is."""

    arguments: frozenset[str] = frozenset()
    problem: str = ""
    unchecked: bool = False
    """The problem is that Trellis does not implement it: Pinot may."""


def check_expression(text: str, noun: str, data_type: PinotType | None = None) -> CheckedExpression:
    """The check of an expression whose value goes into a column of the type; `noun` names it in sentences."""
    fields: frozenset[str] = frozenset()
    try:
        expression = parse(text)
        fields = arguments(expression)
        compile_expression(expression)
    except UnsupportedFunction as unsupported:
        array = array_sentence(expression, data_type) if data_type else ""
        return CheckedExpression(fields, f"{noun} '{text}': {array or unsupported}", not array)
    except ExpressionError as error:
        return CheckedExpression(fields, f"Invalid {noun} '{text}': {error}")
    return CheckedExpression(fields)
