"""Lists of rows in a temporary file without a name: nobody else opens it, and it goes with its process."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cached_property
from os import SEEK_END
from typing import IO, Any

from trellis.errors import UsageError
from trellis.evolution.scalars.tagged_json import dumps, loads


class ChunkFile:
    """Lists of any Python objects, each to be read back as often as needed.

    Rows are JSON with tags, tables and frames are Arrow streams, read back as Arrow tables. Objects of a
    class that neither has a form for, and rows nested very deeply, stay in memory as they are.

    >>> chunks = ChunkFile()
    >>> chunks.append([{"id": 1, "tags": ("a", b"b")}])
    >>> chunks.read(0), len(chunks)
    ([{'id': 1, 'tags': ('a', b'b')}], 1)
    """

    def __init__(self) -> None:
        self._places: list[tuple[int, int]] = []
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    @cached_property
    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(prefix="trellis-")

    def __len__(self) -> int:
        return len(self._places)

    def append(self, rows: Sequence[Any]) -> None:
        """Raises UsageError where the file cannot be written."""
        try:
            content = dumps(rows, self._write_object)
            start = self._file.seek(0, SEEK_END)
            self._file.write(content)
            self._file.flush()
        except OSError as bad:
            raise UsageError(
                f"{tempfile.gettempdir()}: rows cannot be kept in a temporary file ({bad.strerror or bad}); "
                "free some space there, or name another folder with TMPDIR"
            ) from bad
        self._places.append((start, start + len(content)))

    def read(self, number: int) -> list[Any]:
        start, end = self._places[number]
        self._file.seek(start)
        return loads(self._file.read(end - start), self._read_object)

    def _write_object(self, value: Any) -> Any:
        """What JSON has no form for, as the number or the place under which it is found again."""
        class_ = type(value).__module__.partition(".")[0], type(value).__name__
        if class_ in _TABLES:
            start = self._write_table(value)
            if start is not None:
                return {"table": start}
        if class_ == ("pandas", "Timestamp"):
            return {"timestamp": [value.isoformat(), value.unit]}
        if class_[0] == "numpy" and _is_scalar(value):
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return {"object": number}

    def _read_object(self, document: dict[str, Any]) -> Any:
        ((form, content),) = document.items()
        if form == "table":
            return self._read_table(content)
        if form == "timestamp":
            import pandas as pd

            text, unit = content
            return pd.Timestamp(text).as_unit(unit)
        if form == "scalar":
            import numpy as np

            dtype, digits = content
            return np.frombuffer(bytes.fromhex(digits), dtype)[0]
        return self._objects[content]

    def _write_table(self, value: Any) -> int | None:
        """Where the table starts; None if Arrow does not take it."""
        import pyarrow as pa

        start = self._file.seek(0, SEEK_END)
        try:
            pandas = type(value).__module__.startswith("pandas")
            table = pa.Table.from_pandas(value, preserve_index=False) if pandas else pa.table(value)
            with pa.ipc.new_stream(self._file, table.schema) as writer:
                writer.write_table(table)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
        return start

    def _read_table(self, start: int) -> Any:
        import pyarrow as pa

        self._file.seek(start)
        with pa.ipc.open_stream(self._file) as reader:
            return reader.read_all()


_TABLES = frozenset(
    (("pyarrow", "Table"), ("pyarrow", "RecordBatch"), ("pandas", "DataFrame"), ("polars", "DataFrame"))
)


def _is_scalar(value: Any) -> bool:
    """Whether its type and its bytes are all that makes it."""
    import numpy as np

    return isinstance(value, np.generic) and value.dtype.kind in "biufcSUmM" and value.itemsize > 0
