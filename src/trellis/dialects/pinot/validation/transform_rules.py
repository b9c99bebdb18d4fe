"""The rules of transform functions in a schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trellis.dialects.pinot.document.columns import PlacedField
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.expression.compiler import compile_expression
from trellis.dialects.pinot.functions.catalog import UnsupportedFunction, returns_primitive_array
from trellis.dialects.pinot.grammar.parser import parse
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Expression, Script, arguments


def transform_faults(fields: Iterable[PlacedField]) -> Iterator[Fault]:
    """The faults of the `transformFunction` of each field, and of one that reads another."""
    read: dict[str, frozenset[str]] = {}
    transformed = [field for field in fields if field.spec.transform is not None]
    for field in transformed:
        text, name = field.spec.transform or "", field.spec.name
        try:
            expression = parse(text)
            read[name] = arguments(expression)
            if not isinstance(expression, Script):
                compile_expression(expression)
        except UnsupportedFunction as unsupported:
            array = array_sentence(expression, field.spec.data_type)
            fault = field.fault(f"transform function '{text}': {array or unsupported}", "transformFunction")
            yield replace(fault, unchecked=not array)
        except ExpressionError as error:
            yield field.fault(
                f"Exception in getting arguments for transform function '{text}' for column"
                f" '{name}': {error}",
                "transformFunction",
            )
            continue
        if name in read[name]:
            yield field.fault(
                f"The arguments of transform function {text} should not contain the destination column"
                f" {name}",
                "transformFunction",
            )
    names = {field.spec.name for field in transformed}
    for field in transformed:
        used = sorted(read.get(field.spec.name, frozenset()) & names - {field.spec.name})
        if used:
            yield field.fault(
                f"Columns: [{', '.join(used)}] are a result of transformations, and cannot be used as"
                " arguments to other transform functions",
                "transformFunction",
            )


def array_sentence(expression: Expression, data_type: PinotType) -> str:
    """Why a column of the type cannot hold the value of the expression; empty where it can."""
    function = returns_primitive_array(expression)
    if function is None or data_type is PinotType.JSON:
        return ""
    effect = "the row fails, or the value is null with continueOnError"
    if data_type is PinotType.STRING:
        effect = "the text becomes that of a Java object, such as [I@1f2e3d"
    return (
        f"{function} returns a primitive array, which Pinot cannot store in a column of {data_type.value}:"
        f" {effect}. Compute the column before the load"
    )
