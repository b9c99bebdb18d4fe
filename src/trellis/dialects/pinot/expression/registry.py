"""What a function is: its names, what it takes, what null does to it (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trellis.dialects.pinot.expression.take import as_object
from trellis.dialects.pinot.expression.tree import canonical

Taken = Callable[[Any], Any]
"""Makes an argument of the kind that a parameter takes."""


@dataclass(frozen=True)
class Function:
    """One function.

    `takes` has an entry per parameter, of which the last `optional` may be left out; `rest` is what any
    further argument is taken as. Unless it is `nullable`, a null argument makes the result null unasked.
    """

    names: tuple[str, ...]
    call: Callable[..., Any]
    takes: tuple[Taken, ...]
    optional: int = 0
    rest: Taken | None = None
    gives: Taken = as_object
    nullable: bool = False

    @property
    def least(self) -> int:
        return len(self.takes) - self.optional

    @property
    def most(self) -> int | None:
        """How many arguments it takes at most; None: any number."""
        return None if self.rest else len(self.takes)

    @property
    def document(self) -> str:
        return self.call.__doc__ or ""

    def fits(self, count: int) -> bool:
        """Whether it may be given so many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


class Theme:
    """The functions of one module by canonical name; several under one name differ in what they take."""

    def __init__(self) -> None:
        self.functions: Final[dict[str, list[Function]]] = {}

    def function(
        self,
        names: str,
        *takes: Taken,
        optional: int = 0,
        rest: Taken | None = None,
        gives: Taken = as_object,
        nullable: bool = False,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a Python function as one of Pinot's. Blanks separate `names`; the first is its own."""

        def declared(call: Callable[..., Any]) -> Callable[..., Any]:
            made = Function(tuple(names.split()), call, takes, optional, rest, gives, nullable)
            for each in made.names:
                self.functions.setdefault(canonical(each), []).append(made)
            return call

        return declared


def joined(*themes: Theme) -> Mapping[str, tuple[Function, ...]]:
    """The functions of all themes by canonical name. A name belongs to one theme."""
    made: dict[str, tuple[Function, ...]] = {}
    for theme in themes:
        for name, functions in theme.functions.items():
            assert name not in made, f"{name} is declared in two themes"
            made[name] = tuple(functions)
    return made
