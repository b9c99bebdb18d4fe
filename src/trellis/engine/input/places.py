"""Where records came from, where their numbers in the split do not say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NUMBER: Final = "number"
POSITION: Final = "__trellis_position"
FILE: Final = "__trellis_file"


@dataclass(frozen=True)
class Places:
    """The positions of some records, counted from 0, and their files where these are not that of the split.

    `table` has the columns `number` (of the record in its split, ascending), `POSITION` and perhaps `FILE`.
    Positions count from the start of the split or, with files, from that of the file.
    """

    table: pa.Table

    @staticmethod
    def of(first: int, positions: pa.Array | pa.ChunkedArray, files: pa.Array | None = None) -> Places:
        """The places of consecutive records; `first` is the number of the first of them."""
        numbers = pa.array(np.arange(first, first + len(positions)))
        columns = {NUMBER: numbers, POSITION: positions}
        return Places(pa.table(columns if files is None else {**columns, FILE: files}))

    @property
    def has_files(self) -> bool:
        """Whether positions are those of a file already, however many splits there are."""
        return FILE in self.table.schema.names

    def place(self, number: int) -> tuple[str | None, int]:
        """The file and the position of the record with that number."""
        at = int(np.searchsorted(self.table.column(NUMBER).to_numpy(), number))
        (row,) = self.table.slice(at, 1).to_pylist()
        return row.get(FILE), row[POSITION]

    def select(self, numbers: pa.Array) -> pa.Table:
        """Positions and files of the records with these numbers, in their order."""
        chosen = pc.index_in(numbers, value_set=self.table.column(NUMBER))
        return self.table.drop_columns([NUMBER]).take(chosen)
