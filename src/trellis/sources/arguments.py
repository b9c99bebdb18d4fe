"""The arguments of the function of a resource, among them its cursor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trellis.errors import UsageError
from trellis.sources.cursors.cursor import Incremental


@dataclass(frozen=True)
class Arguments:
    """What a resource function was called with."""

    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] | None = None

    @staticmethod
    def of(
        function: Callable[..., Any],
        resource: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        transforms: bool,
    ) -> Arguments:
        """Checked against the signature; a transformer gets the item in front."""
        try:
            inspect.signature(function).bind(*((None,) if transforms else ()), *args, **kwargs)
        except TypeError as why:
            raise UsageError(f"resource {resource}: {why}") from None
        return Arguments(args, dict(kwargs))


def shown(data: Any) -> str:
    """A short word for what a resource is made of."""
    if inspect.isfunction(data):
        return f"function {data.__name__}"
    return f"a {type(data).__name__}"


def cursor_parameter(function: Any) -> inspect.Parameter | None:
    """The parameter that takes the cursor: by its default or its annotation."""
    if not callable(function):
        return None
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    for parameter in parameters:
        if isinstance(parameter.default, Incremental) or _says_cursor(parameter.annotation):
            return parameter
    return None


def _says_cursor(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return "ncremental" in annotation.rpartition(".")[2]
    return annotation is Incremental


def effective_cursor(function: Any, arguments: Arguments | None, items: int = 0) -> Incremental | None:
    """The cursor that the function gets: its default with what the caller passed over it.

    `items` is how many arguments in front are not the caller's: one in a transformer.
    """
    parameter = cursor_parameter(function)
    if parameter is None:
        return None
    default = parameter.default if isinstance(parameter.default, Incremental) else None
    caller = arguments or Arguments()
    bound = inspect.signature(function).bind_partial(
        *(None,) * items, *caller.positional, **(caller.named or {})
    )
    if parameter.name not in bound.arguments:
        return default
    value = bound.arguments[parameter.name]
    if isinstance(value, Incremental):
        return default.merged(value) if default is not None else value
    return default.starting(value) if default is not None and value is not None else None


def call(
    function: Callable[..., Any], resource: str, arguments: Arguments | None, cursor: Any, *item: Any
) -> Any:
    """Call the function of a resource, with the cursor in its place."""
    parameter = cursor_parameter(function)
    signature = inspect.signature(function)
    caller = arguments or Arguments()
    bound = signature.bind_partial(*item, *caller.positional, **(caller.named or {}))
    if parameter is not None:
        bound.arguments[parameter.name] = cursor
    try:
        signature.bind(*bound.args, **bound.kwargs)
    except TypeError as why:
        raise UsageError(f"resource {resource}: {why}; call the resource with its arguments") from None
    return function(*bound.args, **bound.kwargs)
