"""The faults of a schema document, each with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trellis.errors import SchemaError


@dataclass(frozen=True)
class Fault:
    """One fault: the JSON pointer of the place, one sentence, the column if it is in one.

    `unchecked`: it may be valid, but Trellis does not implement it and so cannot check it.

    >>> print(Fault("/complexFieldSpecs/0", "a field spec needs a dataType", "m"))
    /complexFieldSpecs/0: column m: a field spec needs a dataType
    """

    pointer: str
    message: str
    column: str | None = None
    unchecked: bool = False

    @property
    def is_unsupported_function(self) -> bool:
        """Whether Trellis does not implement a function of it, which Pinot's own classes do."""
        return self.unchecked and self.pointer.endswith(
            ("/transformFunction", "/filterFunction", "/enrichmentConfigs")
        )

    def __str__(self) -> str:
        sentence = self.message if self.column is None else f"column {self.column}: {self.message}"
        return f"{self.pointer}: {sentence}" if self.pointer else sentence


class SchemaFaults(SchemaError):
    """A document with all its `faults` at once."""

    def __init__(self, where: str, faults: Iterable[Fault]) -> None:
        self.where = where
        self.faults = tuple(faults)
        if len(self.faults) == 1:
            super().__init__(f"{where}: {self.faults[0]}")
        else:
            details = "".join(f"\n  {fault}" for fault in self.faults)
            super().__init__(f"{where}: {len(self.faults)} faults{details}")


def pointer(*steps: str | int) -> str:
    """The JSON pointer (RFC 6901) of a place.

    >>> pointer("dimensionFieldSpecs", 0, "a/b~c")
    '/dimensionFieldSpecs/0/a~1b~0c'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
