"""Groups of arguments that several commands take: written once, as a NamedTuple."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of each parameter that is a NamedTuple as parameters, for Typer to read.

    A field may be a group itself.
    """
    parameters = signature(command, eval_str=True).parameters

    @wraps(command)
    def expanded(**values: Any) -> None:
        command(**{name: _value(name, parameter, values) for name, parameter in parameters.items()})

    leaves = [leaf for parameter in parameters.values() for leaf in _leaves(parameter)]
    expanded.__annotations__ = {leaf.name: leaf.annotation for leaf in leaves}
    expanded.__signature__ = Signature(leaves)  # type: ignore[attr-defined]
    return expanded


def _fields(group: Any) -> Mapping[str, Parameter]:
    """The fields of a NamedTuple as parameters, none of any other annotation."""
    if not hasattr(group, "_field_defaults"):
        return {}
    hints = typing.get_type_hints(group, include_extras=True)
    return {
        name: Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=group._field_defaults.get(name, Parameter.empty),
            annotation=hints[name],
        )
        for name in group._fields
    }


def _leaves(parameter: Parameter) -> list[Parameter]:
    fields = _fields(parameter.annotation)
    if not fields:
        return [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    return [leaf for field in fields.values() for leaf in _leaves(field)]


def _value(name: str, parameter: Parameter, values: Mapping[str, Any]) -> Any:
    fields = _fields(parameter.annotation)
    if not fields:
        return values[name]
    return parameter.annotation(**{name: _value(name, field, values) for name, field in fields.items()})
