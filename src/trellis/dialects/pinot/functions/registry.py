"""The declaration of a function: names, parameters, result, handling of null."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.functions.arguments import as_object
from trellis.dialects.pinot.grammar.tree import canonical

Converter = Callable[[Any], Any]
"""Converts a value to the kind that a parameter or a result has."""


@dataclass(frozen=True)
class Function:
    """One function of Pinot.

    The last `optional` of the parameters may be left out; `variadic` converts any further argument. Unless it
    is `nullable`, a null argument makes the result null without a call.
    """

    names: tuple[str, ...]
    call: Callable[..., Any]
    parameters: tuple[Converter, ...]
    optional: int = 0
    variadic: Converter | None = None
    result: Converter = as_object
    nullable: bool = False
    package: str = ""
    """The optional package that it needs."""

    @property
    def min_arguments(self) -> int:
        return len(self.parameters) - self.optional

    @property
    def max_arguments(self) -> int | None:
        """None: any number."""
        return None if self.variadic else len(self.parameters)

    def accepts(self, count: int) -> bool:
        """Whether it takes so many arguments."""
        return self.min_arguments <= count and (self.max_arguments is None or count <= self.max_arguments)


class Theme:
    """The functions of one module by canonical name; several of one name differ in their parameters."""

    def __init__(self) -> None:
        self.functions: Final[dict[str, list[Function]]] = {}

    def function(
        self,
        names: str,
        *parameters: Converter,
        optional: int = 0,
        variadic: Converter | None = None,
        result: Converter = as_object,
        nullable: bool = False,
        package: str = "",
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a Python function as one of Pinot's. Blanks separate `names`, the usual one first."""

        def declare(call: Callable[..., Any]) -> Callable[..., Any]:
            function = Function(
                tuple(names.split()), call, parameters, optional, variadic, result, nullable, package
            )
            for name in function.names:
                self.functions.setdefault(canonical(name), []).append(function)
            return call

        return declare


def merged(*themes: Theme) -> Mapping[str, tuple[Function, ...]]:
    """The functions of all themes by canonical name. A name belongs to one theme."""
    functions: dict[str, tuple[Function, ...]] = {}
    for theme in themes:
        for name, overloads in theme.functions.items():
            assert name not in functions, f"{name} is declared in two themes"
            functions[name] = tuple(overloads)
    return functions
