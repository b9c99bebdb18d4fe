"""The checks of transform functions that stand in a schema (spec pinot.md, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trellis.dialects.pinot.document.columns import Placed
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.expression.grammar import ExpressionError, arguments, parse
from trellis.dialects.pinot.expression.program import compiled
from trellis.dialects.pinot.expression.tree import Script


def transform_faults(fields: Iterable[Placed]) -> Iterator[Fault]:
    """What is wrong with the `transformFunction` of each field, and with one of them reading another."""
    read: dict[str, frozenset[str]] = {}
    transformed = [each for each in fields if each.spec.transform is not None]
    for each in transformed:
        text, name = each.spec.transform or "", each.spec.name
        try:
            expression = parse(text)
            if not isinstance(expression, Script):
                compiled(expression)
            read[name] = arguments(expression)
        except ExpressionError as wrong:
            yield each.fault(
                f"Exception in getting arguments for transform function '{text}' for column"
                f" '{name}': {wrong}",
                "transformFunction",
            )
            continue
        if name in read[name]:
            yield each.fault(
                f"The arguments of transform function {text} should not contain the destination column"
                f" {name}",
                "transformFunction",
            )
    made = {each.spec.name for each in transformed}
    for each in transformed:
        used = sorted(read.get(each.spec.name, frozenset()) & made - {each.spec.name})
        if used:
            yield each.fault(
                f"Columns: [{', '.join(used)}] are a result of transformations, and cannot be used as"
                " arguments to other transform functions",
                "transformFunction",
            )
