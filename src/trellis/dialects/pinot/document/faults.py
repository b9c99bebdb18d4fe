"""What is wrong with a schema document: every fault with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trellis.errors import SchemaError


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: the JSON pointer of the place, the column if it is in one, one sentence.

    With `unchecked` it is not known to be wrong: Trellis cannot carry it out, and so not check it.

    >>> print(Fault("/complexFieldSpecs/0", "m", "a field spec needs a dataType"))
    /complexFieldSpecs/0: column m: a field spec needs a dataType
    """

    pointer: str
    column: str | None
    message: str
    unchecked: bool = False

    def __str__(self) -> str:
        said = self.message if self.column is None else f"column {self.column}: {self.message}"
        return f"{self.pointer}: {said}" if self.pointer else said


class SchemaFaults(SchemaError):
    """A document with all its `faults` at once."""

    def __init__(self, where: str, faults: Iterable[Fault]) -> None:
        self.where = where
        self.faults = tuple(faults)
        if len(self.faults) == 1:
            super().__init__(f"{where}: {self.faults[0]}")
        else:
            said = "".join(f"\n  {each}" for each in self.faults)
            super().__init__(f"{where}: {len(self.faults)} faults{said}")


def pointer(*steps: str | int) -> str:
    """The JSON pointer (RFC 6901) of a place.

    >>> pointer("dimensionFieldSpecs", 0, "a/b~c")
    '/dimensionFieldSpecs/0/a~1b~0c'
    """
    return "".join(f"/{str(each).replace('~', '~0').replace('/', '~1')}" for each in steps)
