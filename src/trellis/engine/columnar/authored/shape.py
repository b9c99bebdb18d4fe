"""What stands under the keys of some records, and how Arrow is to read it.

Of several kinds of values under one key Arrow reads the most frequent one; patterns find the lines with the
others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from trellis.engine.columnar.misfits import NOT_NULL, misfit_pattern, value_starts

MAX_KEYS: Final = 64
"""An object with more keys is a map: each record may bring keys of its own."""

MAX_FLOAT_SHARE: Final = 0.1
"""Where at most so many numbers are no integers, integers are read and the lines with others set aside."""

_NUMBERS: Final = (int, float)


@dataclass
class Shape:
    """The values met at one place: how many of each class, and what objects and lists hold."""

    classes: Counter[type] = field(default_factory=Counter)
    members: dict[str, Shape] = field(default_factory=dict)
    elements: Shape | None = None

    def add(self, value: Any) -> None:
        if value is None:
            return
        class_ = type(value)
        self.classes[class_] += 1
        if class_ is dict:
            for key, member in value.items():
                self.members.setdefault(key, Shape()).add(member)
        elif class_ is list:
            self.elements = self.elements or Shape()
            for element in value:
                self.elements.add(element)

    @property
    def has_map(self) -> bool:
        """Whether an object in it has more keys than a type should list."""
        inner = [*self.members.values(), *filter(None, [self.elements])]
        return len(self.members) > MAX_KEYS or any(shape.has_map for shape in inner)

    @property
    def accepted(self) -> Collection[type]:
        """The classes that Arrow reads: those of the most frequent kind."""
        numbers = sum(self.classes[class_] for class_ in _NUMBERS)
        others = max(
            (class_ for class_ in self.classes if class_ not in _NUMBERS),
            key=self.classes.__getitem__,
            default=None,
        )
        if numbers and (others is None or numbers >= self.classes[others]):
            return _NUMBERS if self.classes[float] > MAX_FLOAT_SHARE * numbers else (int,)
        return () if others is None else (others,)

    @property
    def type(self) -> pa.DataType:
        accepted = self.accepted
        if dict in accepted:
            return pa.struct([pa.field(key, shape.type) for key, shape in self.members.items()])
        if list in accepted:
            return pa.list_(self.elements.type if self.elements else pa.null())
        if float in accepted:
            return pa.float64()
        return next((_TYPES[class_] for class_ in accepted), pa.null())

    def misfits(self, key: str, outer: str | None = None) -> Iterator[str]:
        """The patterns of lines with values that are not read, under this key or below it."""
        accepted = self.accepted
        if not accepted:
            yield misfit_pattern(key, outer, NOT_NULL)
        others = [class_ for class_ in self.classes if class_ not in accepted]
        for value_start in value_starts(others, accepted):
            yield misfit_pattern(key, outer, value_start)
        if dict in accepted:
            for inner_key, shape in self.members.items():
                yield from shape.misfits(inner_key, key)


_TYPES: Final = {bool: pa.bool_(), int: pa.int64(), str: pa.string()}
