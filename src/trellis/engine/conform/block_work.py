"""A block on its way: the lines that are to be conformed, and their outcome so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from trellis.engine.columnar.strict import Indexes, Mask, bounds_of
from trellis.engine.conform.outcome import Conformed, Line
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import digits_as_zeros


@dataclass
class BlockWork:
    """The lines of a block, their numbers in the split, and their outcome so far.

    `first` is the number of the block's first line, `waiting` the numbers of lines with something new.
    """

    split: Split
    lines: pa.BinaryArray
    numbers: Indexes
    first: int
    seed: bytes
    outcome: Conformed = field(default_factory=Conformed)
    waiting: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, split: Split, block: Block, seed: bytes, only: Sequence[int] | None) -> BlockWork:
        """The lines of a block, or `only` those of these numbers; row ids grow from the seed."""
        lines = block.line_array
        numbers = np.array(block.numbers or range(block.line, block.line + len(lines)), np.int64)
        if only is not None:
            selected = np.isin(numbers, np.array(only, np.int64))
            lines, numbers = lines.filter(pa.array(selected)), numbers[selected]
        return cls(split, lines, numbers, block.line, seed)

    def have_long_number(self, digits: int) -> Mask:
        """Which lines have so many digits in a row."""
        bounds, content = bounds_of(self.lines)
        have: Mask = np.zeros(len(self.lines), np.bool_)
        text, number, end = digits_as_zeros(content.to_pybytes()), b"0" * digits, int(bounds[-1])
        place = text.find(number, int(bounds[0]), end)
        while place >= 0:
            line = int(np.searchsorted(bounds, place, side="right")) - 1
            have[line] = True
            place = text.find(number, int(bounds[line + 1]), end)
        return have

    def texts(self, indexes: Indexes) -> list[bytes]:
        """The lines with these indexes, each with its newline."""
        takes_all = len(indexes) == len(self.lines)
        lines = self.lines if takes_all else self.lines.take(pa.array(indexes))
        texts: list[bytes] = lines.to_pylist()
        return texts

    def numbered_lines(self, indexes: Indexes) -> list[Line]:
        """The lines with these indexes, each with its number."""
        texts = (text[:-1] for text in self.texts(indexes))
        return list(zip(self.numbers[indexes].tolist(), texts, strict=True))
