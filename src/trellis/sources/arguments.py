"""The arguments of the function of a resource, among them its cursor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from trellis.errors import UsageError
from trellis.sources.cursors.cursor import Incremental
from trellis.sources.hints.models import UNIONS


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
    if get_origin(annotation) in UNIONS:
        return any(map(_says_cursor, get_args(annotation)))
    return annotation is Incremental or get_origin(annotation) is Incremental


def _may_be_none(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return "Optional" in annotation or "None" in annotation
    return get_origin(annotation) in UNIONS and type(None) in get_args(annotation)


def effective_cursor(function: Any, arguments: Arguments | None, items: int = 0) -> Incremental[Any] | None:
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
    if default is not None and value is not None:
        return default.starting(value)
    if value is None and (default is None or _may_be_none(parameter.annotation)):
        return None
    raise UsageError(
        f"{shown(function)}: its cursor {parameter.name}= is {value!r:.80}; pass a cursor, made with"
        " trellis.incremental, or leave the argument out"
    )


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
