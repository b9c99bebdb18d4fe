"""Files of a run as COPY of PostgreSQL reads them, some megabytes at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trellis.dialects.snowplow.runs.row_files import NULL, is_typed, read_blocks, read_typed
from trellis.dialects.snowplow.runs.warehouses.base import CopyColumn, CopyJob
from trellis.engine.columnar.strict import joined_bytes

if TYPE_CHECKING:
    import pyarrow as pa

_NULL_FIELD: Final = re.compile(rb"(?<![^\t\n])\\\\(\\\\)?N(?![^\t\n])")
"""The field for NULL, and the text that looks like it, once their backslashes are doubled."""
_ESCAPES: Final = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"), ("\0", " "))
"""How COPY reads what would end a value or a line. PostgreSQL has no NUL."""


class UnusualText(Exception):
    """A text is not of the form that COPY converts as a cast does, or it may be too long."""


def copy_blocks(path: Path, columns: Sequence[str], null: str) -> Iterator[bytes]:
    """The lines of a file, whatever their texts are."""
    if is_typed(path):
        for batch in read_typed(path, columns):
            yield _copy_lines(_as_texts(batch), null)
        return
    for block in read_blocks(path):
        yield copy_text(block, null)


def usual_blocks(job: CopyJob, usual: Mapping[str, str]) -> Iterator[tuple[bytes, int]]:
    """The lines of all files, with the time of the load behind if a column gets it, and how many they are.
    `usual` are patterns of the texts of each type.

    Raises UnusualText.
    """
    time = f"\t{job.now:%Y-%m-%d %H:%M:%S.%f}\n".encode()
    for path in job.files:
        for texts, lines in _texts_with_lines(path, job):
            _check_texts(texts, job.columns, usual)
            yield lines.replace(b"\n", time) if job.time_column else lines, texts.num_rows


def _texts_with_lines(path: Path, job: CopyJob) -> Iterator[tuple[pa.Table, bytes]]:
    import pyarrow as pa

    if is_typed(path):
        for batch in read_typed(path, job.sources):
            texts = _as_texts(batch)
            yield pa.Table.from_batches([texts]), _copy_lines(texts, job.null)
        return
    for block in read_blocks(path):
        texts = _read_texts(block, job.sources, job.null)
        nulls = sum(column.null_count for column in texts.columns) if job.null == NULL else 0
        is_plain = block.count(b"\\") == nulls and b"\0" not in block  # all backslashes are those of NULL
        yield texts, block if is_plain else copy_text(block, job.null)


def _read_texts(block: bytes, columns: Sequence[str], null: str) -> pa.Table:
    """The bytes of each text. Raises UnusualText for lines with other columns."""
    import pyarrow as pa
    from pyarrow import csv

    if b"\r" in block:  # it ends a line for Arrow
        raise UnusualText
    try:
        return csv.read_csv(
            pa.py_buffer(block),
            csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=[*columns]),
            csv.ParseOptions(delimiter="\t", quote_char=False, double_quote=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.binary()), null_values=[null], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        raise UnusualText from None


def _check_texts(texts: pa.Table, columns: Sequence[CopyColumn], usual: Mapping[str, str]) -> None:
    """Raises UnusualText."""
    import pyarrow.compute as pc

    for column, values in zip(columns, texts.columns, strict=True):
        if values.null_count == len(values):
            continue
        if not column.is_text:
            pattern = usual.get(column.type.partition(" ")[0])
            if pattern is None or not pc.all(pc.match_substring_regex(values, pattern)).as_py():
                raise UnusualText
        elif column.length is not None and pc.max(pc.binary_length(values)).as_py() > column.length:
            raise UnusualText


def copy_text(block: bytes, null: str = NULL) -> bytes:
    """Lines of a run as COPY reads them, for which a backslash begins an escape."""
    if null == NULL and _has_no_escapes(block):
        return block
    escaped = block.replace(b"\\", b"\\\\").replace(b"\r", rb"\r").replace(b"\0", b" ")
    if null != NULL:
        return escaped
    return _NULL_FIELD.sub(lambda match: rb"\\N" if match[1] else rb"\N", escaped)


def _has_no_escapes(block: bytes) -> bool:
    """Whether nothing is special to COPY but fields for NULL: all backslashes begin one."""
    ends = block.count(b"\\N\t") + block.count(b"\\N\n")
    begins = block.count(b"\t\\N") + block.count(b"\n\\N")
    return block.count(b"\\") == ends == begins and b"\r" not in block and b"\0" not in block


def _copy_lines(texts: pa.RecordBatch, null: str) -> bytes:
    import pyarrow.compute as pc

    columns = []
    for column in texts.columns:
        for sign, escape in _ESCAPES:
            column = pc.replace_substring(column, sign, escape)
        columns.append(pc.fill_null(column, null))
    lines = pc.binary_join_element_wise(*columns, "\t")
    return bytes(joined_bytes(pc.binary_join_element_wise(lines, "", "\n")))


def _as_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [
        pc.if_else(column, "1", "0") if pa.types.is_boolean(column.type) else column.cast(pa.string())
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(texts, batch.schema.names)
