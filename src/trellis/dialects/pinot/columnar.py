"""The pipeline of Pinot column by column, for records without special values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.pinot.conversion.settings import LossCounts
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, to_millis
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import ExceedStrategy, PinotType
from trellis.dialects.pinot.expression.compiler import FAILURES, CompiledExpression
from trellis.dialects.pinot.row.pipeline import Column, Pipeline
from trellis.dialects.pinot.row.time_validation import MainTime
from trellis.dialects.pinot.value.source_kinds import CannotConvert
from trellis.evolution.columnar_transform import Cell, ColumnarTransform, Derived, Special, Target
from trellis.evolution.projection import Path

_TARGETS: Final[Mapping[PinotType, Target]] = {
    PinotType.INT: "int32",
    PinotType.LONG: "int64",
    PinotType.FLOAT: "float32",
    PinotType.DOUBLE: "float64",
    PinotType.BOOLEAN: "bool",
    PinotType.TIMESTAMP: "millis",
    PinotType.STRING: "text",
    PinotType.JSON: "json",
    PinotType.BYTES: "binary",
}
"""The columnar type of each type; maps have none."""
KNOWN: Final = 10_000
"""How many converted texts are cached for each column."""


def columnar_transform_of(
    pipeline: Pipeline,
    nullable: Collection[str],
    out: Mapping[str, Callable[[Any], Any]],
    unused: Callable[[str], str],
    take_warnings: Callable[[], Counter[str]],
) -> ColumnarTransform | None:
    """The columnar form of a pipeline; None where a record may become several rows."""
    config, order = pipeline.table.complex, pipeline.transforms.order
    if pipeline.enriches or any(column.default.refused for column in pipeline.columns):
        return None
    if config is not None and (
        config.unnest or config.rename or not config.delimiter or config.to_json == "ALL"
    ):
        return None
    paths = {name: pipeline.path_of(name) for name in pipeline.needed}
    texts = (lambda value: False) if config is None else config.to_text
    derived = {
        transform.column: replace(
            _derived(transform.column, transform.program, transform.arguments, paths, texts),
            steps=transform.steps,
        )
        for transform in order
    }
    if any(transform.arguments & derived.keys() for transform in order):
        return None
    cells = tuple(
        _cell(
            column,
            derived.get(column.spec.name, paths[column.spec.name]),
            nullable,
            out[column.spec.name],
            pipeline.losses,
            texts,
        )
        for column in pipeline.columns
    )
    drops = None
    if pipeline.filter is not None:
        if pipeline.filter.arguments & derived.keys():
            return None
        drops = _derived("", pipeline.filter.program, pipeline.filter.arguments, paths, texts)
    joint = config.delimiter if config else None
    return ColumnarTransform(cells, pipeline.reads, unused, take_warnings, pipeline.zone, drops, joint)


def _derived(
    column: str,
    program: CompiledExpression,
    arguments: Collection[str],
    paths: Mapping[str, Path],
    texts: Callable[[list[Any]], bool],
) -> Derived:
    """An expression over the fields of a record; lists, maps and failures are special."""
    names = sorted(arguments)

    def compute(*values: Any) -> Any:
        if any(value.__class__ is list and texts(value) for value in values):
            raise Special
        try:
            return program(dict(zip(names, values, strict=True)))
        except FAILURES:
            raise Special from None

    return Derived(paths[column] if column else (), tuple(paths[name] for name in names), compute)


def _cell(
    column: Column,
    source: Path | Derived,
    nullable: Collection[str],
    out: Callable[[Any], Any],
    losses: LossCounts,
    texts: Callable[[list[Any]], bool],
) -> Cell:
    spec = column.spec
    default = None if spec.name in nullable else out(column.default.value)
    main = column.main_time or column.segment_time
    within, pattern, check = _times(main, spec.data_type) if main else (None, None, None)
    return Cell(
        spec.name,
        source,
        _target(spec),
        not spec.single_value,
        _each(column, out, losses, texts),
        default,
        None if spec.strategy is ExceedStrategy.NO_ACTION else spec.longest,
        within,
        pattern,
        check,
    )


def _target(spec: FieldSpec) -> Target:
    if spec.data_type is PinotType.BIG_DECIMAL:
        return "other" if spec.trailing_zeros else "digits"
    return _TARGETS.get(spec.data_type, "other")


def _each(
    column: Column, out: Callable[[Any], Any], losses: LossCounts, texts: Callable[[list[Any]], bool]
) -> Callable[[Any], Any]:
    """The conversion of one value; repeated texts that lose nothing are converted once.

    Lists for which `texts` is true become JSON text before they are converted: those are special.
    """
    known: dict[str, Any] = {}

    def each(value: Any) -> Any:
        if value.__class__ is str and value in known:
            return known[value]
        if value.__class__ is list and texts(value):
            raise Special
        before = losses.total
        try:
            converted = column.stored(value)
            stored = None if converted is None else out(column.cut(converted))
        except CannotConvert:
            raise Special from None
        if value.__class__ is str and len(known) < KNOWN and losses.total == before:
            known[value] = stored
        return stored

    return each


def _times(
    main: MainTime, data_type: PinotType
) -> tuple[tuple[int, int] | None, str | None, Callable[[Any], bool] | None]:
    """The check of a main time: bounds of its numbers, a pattern of its texts, or a function of a value."""
    time_format = main.format
    if time_format.kind == "SIMPLE_DATE_FORMAT":
        if data_type is PinotType.STRING and time_format.zone == "UTC" and time_format.pattern is not None:
            return (
                (VALID_MIN_MILLIS, VALID_MAX_MILLIS),
                time_format.pattern,
                lambda text: main.problem(text) is None,
            )
        return None, None, lambda value: main.problem(value) is None
    if time_format.kind == "TIMESTAMP" and data_type is not PinotType.STRING:
        return (VALID_MIN_MILLIS, VALID_MAX_MILLIS), None, None
    if time_format.kind == "EPOCH" and data_type in (PinotType.INT, PinotType.LONG):
        step = to_millis(1, time_format.unit) * time_format.size
        if step:
            return (-(-VALID_MIN_MILLIS // step), VALID_MAX_MILLIS // step), None, None
    return None, None, lambda value: main.problem(value) is None
