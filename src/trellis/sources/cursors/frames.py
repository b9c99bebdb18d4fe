"""Arrow tables, pandas and polars frames: told by their class, filtered by a cursor. Nothing heavy is
imported before such an object comes."""

from __future__ import annotations

from typing import Any

from trellis.errors import UsageError
from trellis.sources.cursors.progress import Progress

MARKS = {"pyarrow": "num_rows", "pandas": "columns", "polars": "columns", "pyspark": "columns"}
"""What a class of each library has if its objects are tables. Asked of the class: a frame may run a job."""


def library_of(value: Any) -> str | None:
    """The library of a table or frame; None for anything else.

    >>> library_of({"id": 1})
    """
    for class_ in type(value).__mro__:
        library = class_.__module__.partition(".")[0]
        if library in MARKS:
            return library if hasattr(type(value), MARKS[library]) else None
    return None


def rows_in(value: Any) -> int:
    """How many rows a table or frame has; 1 where only running a job would tell."""
    try:
        return len(value)
    except TypeError:
        return 1


def after_cursor(frame: Any, progress: Progress) -> Any:
    """The rows of the range that were not loaded before, as the same kind of object; None without any."""
    library = library_of(frame)
    if library == "pyspark":
        raise UsageError(
            f"{progress.where}: a Spark DataFrame is not read here, so it cannot be filtered by a cursor;"
            " filter it yourself, from .start_value on"
        )
    if library == "pandas":
        import pyarrow as pa

        left = _after(pa.Table.from_pandas(frame, preserve_index=False), progress)
        return None if left is None else frame.iloc[left]
    if library == "polars":
        left = _after(frame.to_arrow(), progress)
        return None if left is None else frame[left]
    left = _after(frame, progress)
    import pyarrow as pa

    return None if left is None else frame.take(pa.array(left, pa.int64()))


def _after(table: Any, progress: Progress) -> list[int] | None:
    """The numbers of the rows that go on, in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    cursor = progress.cursor
    path = cursor.cursor_path or ""
    if cursor.last_value_func not in (max, min):
        raise UsageError(f"{progress.where}: tables are filtered with last_value_func max or min only")
    if path not in table.column_names:
        raise UsageError(
            f"{progress.where}: the table has no column {path!r}; a cursor of tables is a column"
        )
    if not table.num_rows:
        return None
    column = table[path].combine_chunks()
    missing = column.null_count
    if missing and cursor.on_cursor_value_missing == "raise":
        raise UsageError(
            f"{progress.where}: {missing} rows have NULL as {path}; say on_cursor_value_missing='include' or"
            " 'exclude'"
        )
    newest = _python((pc.max if cursor.last_value_func is max else pc.min)(column))
    progress.adapt(newest)
    progress.locate_row()
    valid = pc.is_valid(column)
    until = _until_end(valid, column, progress)
    keep = _from_start(until, column, progress)
    within = pc.indices_nonzero(pc.fill_null(keep, False)).to_pylist()
    left = _not_loaded(within, table, column, progress)
    progress.left_out["end"] += _count(valid) - _count(until)
    progress.left_out["start"] += _count(until) - len(within)
    progress.left_out["loaded"] += len(within) - len(left)
    if cursor.on_cursor_value_missing == "exclude":
        progress.left_out["missing"] += missing
    if newest is not None:
        _advance(left, table, column, newest, progress)
    if missing and cursor.on_cursor_value_missing == "include":
        left = [*left, *pc.indices_nonzero(pc.is_null(column)).to_pylist()]
    progress.finish_page(bool(left))
    return left or None


def _count(mask: Any) -> int:
    import pyarrow.compute as pc

    return pc.sum(mask).as_py() or 0


def _until_end(keep: Any, column: Any, progress: Progress) -> Any:
    import pyarrow.compute as pc

    if progress.end is None:
        return keep
    within = _compare(column, progress.end, progress, progress.cursor.range_end == "closed", before=True)
    progress.locate_row(beyond_end=bool(pc.any(pc.invert(within)).as_py()))
    return pc.and_(keep, within)


def _from_start(keep: Any, column: Any, progress: Progress) -> Any:
    import pyarrow.compute as pc

    if progress.start is None:
        return keep
    within = _compare(column, progress.start, progress, progress.cursor.range_start == "closed", before=False)
    before_start = bool(pc.any(pc.invert(within)).as_py())
    progress.locate_row(before_start=before_start, beyond_end=progress.beyond_end)
    return pc.and_(keep, within)


def _compare(column: Any, value: Any, progress: Progress, equal: bool, before: bool) -> Any:
    import pyarrow.compute as pc

    less = before == (progress.cursor.last_value_func is max)
    names = ("less", "less_equal") if less else ("greater", "greater_equal")
    return getattr(pc, names[equal])(column, _scalar(value, column.type, progress))


def _scalar(value: Any, type_: Any, progress: Progress) -> Any:
    import pyarrow as pa

    try:
        return pa.scalar(value, type_)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as why:
        raise UsageError(
            f"{progress.where}: {value!r} cannot be compared with a column of type {type_} ({why}); give"
            " initial_value= and end_value= of that type"
        ) from why


def _python(scalar: Any) -> Any:
    """As Python holds it: times to the microsecond."""
    import pyarrow as pa

    if pa.types.is_timestamp(scalar.type) and scalar.is_valid:
        scalar = scalar.cast(pa.timestamp("us", tz=scalar.type.tz), safe=False)
    return scalar.as_py()


def _key_columns(table: Any, progress: Progress) -> list[str]:
    key = progress.key(table) if callable(progress.key) else progress.key
    names = [key] if isinstance(key, str) else list(key) if key else list(table.column_names)
    if lacking := [name for name in names if name not in table.column_names]:
        raise UsageError(
            f"{progress.where}: the table lacks {', '.join(lacking)} of the key by which rows at the edge of"
            " the cursor are told apart; correct primary_key="
        )
    return names


def _hashes(rows: list[int], table: Any, progress: Progress) -> list[str]:
    if not rows:
        return []
    keys = table.select(_key_columns(table, progress)).take(rows).to_pylist()
    return [progress.hash_of(row) for row in keys]


def _not_loaded(left: list[int], table: Any, column: Any, progress: Progress) -> list[int]:
    import pyarrow.compute as pc

    if progress.start is None or not progress.tells_apart or not progress.known or not left:
        return left
    equal = pc.fill_null(pc.equal(column, _scalar(progress.start, column.type, progress)), False).to_pylist()
    edge = [row for row in left if equal[row]]
    pairs = zip(edge, _hashes(edge, table, progress), strict=True)
    loaded = {row for row, row_hash in pairs if row_hash in progress.known}
    return [row for row in left if row not in loaded]


def _advance(left: list[int], table: Any, column: Any, newest: Any, progress: Progress) -> None:
    import pyarrow.compute as pc

    last = progress.last
    if last is None or (newest != last and progress.function((newest, last)) == newest):
        progress.beyond(newest)
    elif newest != last:
        return
    if progress.tells_apart and left:
        equal = pc.fill_null(pc.equal(column, _scalar(newest, column.type, progress)), False).to_pylist()
        progress.hashes.update(_hashes([row for row in left if equal[row]], table, progress))
