"""The schema of an operation's output, by `schema_inference_mode`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from trellis.dialects.ytsaurus.compatibility.schemas import schema_compatibility
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.inference.shapes import canonical, sort_schema, stripped
from trellis.dialects.ytsaurus.schema.model import SchemaMode, SortColumn, TableSchema, weak_schema
from trellis.dialects.ytsaurus.switches import DEFAULT_SWITCHES, Switches

Operation = Literal["ordered_merge", "unordered_merge", "sorted_merge", "sort", "erase", "remote_copy"]
InferenceMode = Literal["auto", "from_input", "from_output"]
INFERENCE_MODES: Final[tuple[InferenceMode, ...]] = ("auto", "from_input", "from_output")


@dataclass(frozen=True)
class InputTable:
    """A table that an operation reads, with the filter and the renames of its path."""

    schema: TableSchema
    mode: SchemaMode
    path: str = ""
    columns: frozenset[str] | None = None
    rename: Mapping[str, str] = field(default_factory=dict)

    @property
    def renamed(self) -> TableSchema:
        """The schema under the new names and without stable names, as operations see it."""
        columns = tuple(
            replace(column, name=self.rename.get(column.name, column.name), stable_name="")
            for column in self.schema.columns
        )
        return replace(self.schema, columns=columns, deleted_columns=())

    @property
    def filtered(self) -> TableSchema:
        return self.renamed if self.columns is None else self.renamed.select(self.columns)


@dataclass(frozen=True)
class OutputTable:
    """The table that an operation writes, after the attributes of its path."""

    schema: TableSchema
    mode: SchemaMode
    path: str = ""
    append: bool = False


@dataclass(frozen=True)
class OutputSchema:
    schema: TableSchema
    mode: SchemaMode
    validates_rows: bool
    """Whether rows are held against the schema as they are written."""


def output_schema(
    operation: Operation,
    inference: InferenceMode,
    inputs: Sequence[InputTable],
    output: OutputTable,
    keys: Sequence[SortColumn] = (),
    switches: Switches = DEFAULT_SWITCHES,
) -> OutputSchema:
    """The schema and mode of the output. `keys` are those of a sort or a sorted merge. Raises YtError."""
    _check_keys(operation, keys)
    output = replace(output, schema=output.schema.without_stable_names())
    plan = _Inference(operation, inputs, output, tuple(keys), switches)
    if inference == "from_input" or (inference == "auto" and output.mode == "weak"):
        result = plan.from_input()
    elif operation == "remote_copy":
        result = plan.equal_schemas()
    elif inference == "auto":
        result = plan.checked()
    else:
        result = plan.from_output()
    if output.append and output.mode == "weak" and result.mode == "strong":
        # A strong schema on rows that were never held against it would promise too much.
        return OutputSchema(weak_schema(result.schema.keys), "weak", False)
    return result


def merge_keys(inputs: Sequence[InputTable], merge_by: Sequence[SortColumn] | None) -> tuple[SortColumn, ...]:
    """The keys of a sorted merge: `merge_by`, or those that all inputs have. Raises YtError."""
    for table in inputs:
        if not table.renamed.is_sorted:
            raise YtError(f"{_name(table)} is not sorted; a sorted merge takes sorted tables")
    if merge_by is None:
        first, *others = inputs
        for table in others:
            if table.renamed.keys != first.renamed.keys:
                raise YtError(
                    f"{_name(first)} is sorted by {_shown(first.renamed.keys)}, {_name(table)} by "
                    f"{_shown(table.renamed.keys)}; name the columns to merge by: merge_by=[...]"
                )
        return first.renamed.keys
    for table in inputs:
        if tuple(merge_by) != table.renamed.keys[: len(merge_by)]:
            raise YtError(
                f"merge_by is {_shown(merge_by)}, and {_name(table)} is sorted by "
                f"{_shown(table.renamed.keys)}; "
                "merge_by must be a prefix of the keys of every input"
            )
    return tuple(merge_by)


@dataclass(frozen=True)
class _Inference:
    operation: Operation
    inputs: Sequence[InputTable]
    output: OutputTable
    keys: tuple[SortColumn, ...]
    switches: Switches

    def from_input(self) -> OutputSchema:
        ordered = self.operation in ("ordered_merge", "erase", "remote_copy")
        if ordered and len(self.inputs) == 1 and not self.output.append:
            (table,) = self.inputs
            return self._filtered(table.renamed, table.mode)
        modes = {table.mode for table in self.inputs}
        if len(modes) > 1:
            weak, strong = (
                next(table for table in self.inputs if table.mode == mode) for mode in ("weak", "strong")
            )
            raise YtError(
                f"the schema of {_name(weak)} is weak, that of {_name(strong)} strong; inputs have "
                "schemas of one mode",
                ErrorCode.INCOMPATIBLE_SCHEMAS,
            )
        if modes == {"weak"}:
            return OutputSchema(weak_schema(self.keys), "weak", False)
        first = self.inputs[0]
        for table in self.inputs[1:]:
            if canonical(stripped(table.renamed)) != canonical(stripped(first.renamed)):
                raise YtError(
                    f"the schemas of {_name(first)} and {_name(table)} differ: "
                    f"{canonical(stripped(first.renamed))} and "
                    f"{canonical(stripped(table.renamed))}",
                    ErrorCode.INCOMPATIBLE_SCHEMAS,
                )
        schema = sort_schema(first.renamed, self.keys)
        kept = tuple(replace(column.stripped(), sort_order=column.sort_order) for column in schema.columns)
        return self._filtered(canonical(replace(schema, columns=kept)), "strong")

    def from_output(self) -> OutputSchema:
        self._check_unordered()
        schema, mode = self.output.schema, self.output.mode
        if self.operation not in ("sort", "sorted_merge"):
            return OutputSchema(schema, mode, True)
        if mode == "weak":
            return OutputSchema(weak_schema(self.keys), "weak", True)
        return OutputSchema(self._keyed_output(), "strong", True)

    def checked(self) -> OutputSchema:
        """A strong output in the mode auto: types of strong inputs are checked, rows as far as needed."""
        schema = self.output.schema
        self._check_unordered()
        if self.operation == "ordered_merge" and len(self.inputs) > 1 and schema.is_sorted:
            raise YtError(
                f"{self.output.path or 'the output'} is sorted by {_shown(schema.keys)}; an ordered merge of "
                f"{len(self.inputs)} tables keeps no order. Merge with --mode sorted"
            )
        if self.operation in ("sort", "sorted_merge"):
            schema = self._keyed_output()
        ignore_sort = self.operation not in ("ordered_merge", "erase")
        validates = False
        for table in self.inputs:
            validates |= table.mode == "weak" or self._validates(table, schema, ignore_sort)
        return OutputSchema(schema, "strong", validates)

    def equal_schemas(self) -> OutputSchema:
        """A remote copy converts nothing."""
        for table in self.inputs:
            if self.output.mode == "strong" and canonical(table.renamed) != canonical(self.output.schema):
                raise YtError(
                    f"the schema of {_name(table)} is {table.renamed}, that of "
                    f"{self.output.path or 'the output'} "
                    f"{self.output.schema}; a remote copy needs equal ones",
                    ErrorCode.INCOMPATIBLE_SCHEMAS,
                )
        return OutputSchema(self.output.schema, self.output.mode, False)

    def _validates(self, table: InputTable, schema: TableSchema, ignore_sort: bool) -> bool:
        fit = schema_compatibility(table.filtered, schema, ignore_sort=ignore_sort, ignore_stable_names=True)
        if fit.level == "incompatible" or (self.operation == "erase" and fit.level != "full"):
            raise YtError(
                f"the schema of {_name(table)} does not fit that of {self.output.path or 'the output'}: "
                f"{fit.reason}",
                ErrorCode.INCOMPATIBLE_SCHEMAS,
            )
        return fit.level == "validate"

    def _keyed_output(self) -> TableSchema:
        schema = self.output.schema
        if self.operation == "sorted_merge" and schema.is_sorted:
            if schema.keys != self.keys:
                raise YtError(
                    f"{self.output.path or 'the output'} is sorted by {_shown(schema.keys)}, and the "
                    "merge is by "
                    f"{_shown(self.keys)}; both must be the same"
                )
            return schema
        if self.operation == "sorted_merge" and self.switches.sorted_merge == "literal":
            raise YtError(
                f"{self.output.path or 'the output'} is not sorted, and the merge is by "
                f"{_shown(self.keys)}; sort its "
                "schema first"
            )
        return sort_schema(schema, self.keys)

    def _check_unordered(self) -> None:
        if self.operation == "unordered_merge" and self.output.schema.is_sorted:
            raise YtError(
                f"{self.output.path or 'the output'} is sorted by {_shown(self.output.schema.keys)}; an "
                "unordered merge "
                "keeps no order. Merge with --mode sorted"
            )

    def _filtered(self, schema: TableSchema, mode: SchemaMode) -> OutputSchema:
        """The schema without the columns that no input's filter has."""
        filters = [table.columns for table in self.inputs]
        names: set[str] = set()
        for columns in filters:
            if columns is None:
                return OutputSchema(schema, mode, False)
            names |= columns
        self._check_filter(names)
        return OutputSchema(schema.select(names), mode, False)

    def _check_filter(self, names: Collection[str]) -> None:
        for key in self.keys:
            if key.name not in names:
                raise YtError(
                    f"the key column {key.name} is not among the columns of the inputs; add it to the filter"
                )


def _check_keys(operation: Operation, keys: Sequence[SortColumn]) -> None:
    names = [key.name for key in keys]
    what = "sort_by" if operation == "sort" else "merge_by"
    if operation in ("sort", "sorted_merge") and not names:
        raise YtError(f"{what} is empty; name at least one column")
    for name in names:
        if names.count(name) > 1:
            raise YtError(f"{what} has the column {name} {names.count(name)} times")


def _name(table: InputTable) -> str:
    return table.path or "an input"


def _shown(keys: Sequence[SortColumn]) -> str:
    return ", ".join(map(str, keys)) or "nothing"
