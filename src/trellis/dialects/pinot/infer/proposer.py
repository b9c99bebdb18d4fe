"""A proposal from all rows: types that hold every value, roles, times, nested values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.nesting import Leaf, Nesting
from trellis.dialects.pinot.infer.observations import PathEvidence
from trellis.dialects.pinot.infer.proposal import (
    Choices,
    ColumnNames,
    Lint,
    Proposal,
    ProposedColumn,
    map_column,
    quoted,
    schema_of,
    table_document,
    table_name,
    transforms,
)
from trellis.dialects.pinot.infer.roles import main_rank, names_amount, role_of_column
from trellis.dialects.pinot.infer.time_formats import Instant, instant_by_choice, instant_of
from trellis.dialects.pinot.infer.value_types import (
    KIND_NAMES,
    NUMBERS,
    ValueType,
    counted,
    value_type_of,
)
from trellis.errors import UsageError, nearest


@dataclass
class Columns:
    """Collects the proposed columns. `times` are the instants by name; `nulls`: a column may be null."""

    choices: Choices
    proposed: list[ProposedColumn] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    times: dict[str, Instant] = field(default_factory=dict)
    nulls: bool = False
    names: ColumnNames = field(default_factory=ColumnNames)

    def add(self, leaf: Leaf) -> None:
        """Add a path. Raises UsageError for a choice that does not suit it."""
        if not leaf.name:
            self.lints.append(Lint('""', "a key without a name cannot be a column"))
            return
        value_type = _value_type(leaf)
        decided = leaf.name in (*self.choices.metrics, *self.choices.dimensions)
        self.lints += [
            Lint(leaf.name, message)
            for message in (*value_type.lints, *_value_lints(leaf, value_type, decided))
        ]
        if value_type.data_type is None:
            self.lints.append(Lint(leaf.name, f"no column: {value_type.why}"))
            self._refuse_empty(leaf.name, value_type)
            return
        name, reads = self._name(leaf.name, value_type.quotes)
        for proposed in self._columns(leaf, name, value_type):
            self.proposed.append(proposed if proposed.reads is not None else replace(proposed, reads=reads))

    def _name(self, path: str, quotes: bool) -> tuple[str, str | None]:
        """The name of the column, and the function that computes it unless its field has that name."""
        if quotes:
            name = self.names.claim(f"{path}_json")
            message = f"some texts look like JSON, so the column {name} quotes them"
            self.lints.append(Lint(path, message))
            return name, f"jsonFormat({quoted(path)})"
        name = self.names.claim(path)
        if name == path:
            return name, None
        reason = (
            "names must not contain blanks"
            if any(map(str.isspace, path))
            else "names must differ by more than case"
        )
        self.lints.append(Lint(path, f"the column is named {name}: {reason}"))
        return name, quoted(path)

    def _columns(self, leaf: Leaf, name: str, value_type: ValueType) -> Iterator[ProposedColumn]:
        complete = _is_complete(leaf, value_type)
        self.nulls |= not complete
        if leaf.map_of is not None:
            yield map_column(name, leaf.map_of, f"{leaf.kept_because}, with values of one kind", complete)
            return
        instant = self._instant(leaf, value_type)
        if instant is not None:
            self.lints += [Lint(leaf.name, message) for message in instant.lints]
            if instant.read_by is None and not instant.lints:
                self.times[name] = instant
                yield ProposedColumn(_time_spec(name, instant, complete), instant.why)
                return
        yield self._plain(leaf, name, value_type, complete)
        if instant is not None and instant.read_by is not None:
            other = self.names.claim(f"{name}_millis")
            self.times[other] = instant
            why = f"{leaf.name} by {instant.read_by}, which does not sort"
            pattern = instant.read_by.replace("'", "''")
            reads = f"fromDateTime({quoted(leaf.name)}, '{pattern}')"
            yield ProposedColumn(_time_spec(other, instant, complete), why, reads)

    def _plain(self, leaf: Leaf, name: str, value_type: ValueType, complete: bool) -> ProposedColumn:
        path = leaf.name
        role_chosen = FieldType.METRIC if path in self.choices.metrics else None
        role_chosen = FieldType.DIMENSION if path in self.choices.dimensions else role_chosen
        data_type, role, why = role_of_column(path, leaf.key, value_type, role_chosen)
        spec = FieldSpec(name, data_type, role, value_type.single, not_null=complete)
        texts = value_type.values.texts
        longest = texts.longest if texts is not None and data_type is PinotType.STRING else 0
        if longest > MAX_LENGTH:
            spec = replace(spec, max_length=1 << (longest - 1).bit_length())
        return ProposedColumn(spec, why)

    def _instant(self, leaf: Leaf, value_type: ValueType) -> Instant | None:
        path = leaf.name
        if path in self.choices.dimensions or path in self.choices.metrics:
            return None
        if path not in self.choices.times:
            return instant_of(leaf.key, value_type)
        chosen_format = self.choices.times[path]
        if chosen_format is not None:
            return instant_by_choice(path, value_type, chosen_format)
        instant = instant_of(leaf.key, value_type, chosen=True)
        if instant is None:
            raise UsageError(
                f"--time {path}: no time format matches every value ({value_type.why}); "
                f"give one, as in --time {path}=EPOCH|SECONDS or --time '{path}=yyyy-MM-dd HH:mm'"
            )
        return instant

    def _refuse_empty(self, path: str, value_type: ValueType) -> None:
        if path in (*self.choices.metrics, *self.choices.dimensions, *self.choices.times):
            raise UsageError(f"column {path}: no value can be stored in a column ({value_type.why})")


def _value_type(leaf: Leaf) -> ValueType:
    value_type = value_type_of(leaf.evidence)
    if leaf.kept_because is None:
        return value_type
    if leaf.map_of is not None:
        return replace(value_type, data_type=PinotType.MAP, why=leaf.kept_because, lints=())
    return replace(value_type, why=f"objects: {leaf.kept_because}", lints=())


def _value_lints(leaf: Leaf, value_type: ValueType, decided: bool) -> Iterator[str]:
    """Warnings about mixed values and texts of numbers, unless the user `decided` the role."""
    evidence = leaf.evidence
    if not evidence.kinds <= NUMBERS and len(evidence.kinds) > 1 and evidence.places:
        rarest = min(sorted(evidence.kinds), key=lambda kind: evidence.values.kinds[kind])
        count = counted(evidence.values.kinds[rarest], "value is", "values are")
        yield f"{count} {KIND_NAMES.get(rarest, rarest)}, first at {evidence.places[rarest]}"
    texts, count_of_texts = value_type.values.texts, evidence.values.kinds["string"]
    if value_type.data_type is not PinotType.STRING or texts is None or evidence.kinds != {"string"}:
        return
    if 0 < evidence.times < count_of_texts:
        yield f"{evidence.times:,} of {count_of_texts:,} texts are times: the others make the column text"
    if texts.numbers and names_amount(leaf.key) and not decided:
        yield f"every text is a number: --metric {leaf.name} makes it one"


def _is_complete(leaf: Leaf, value_type: ValueType) -> bool:
    """Whether every row has a value that is stored unchanged."""
    values = leaf.evidence.values
    return (
        leaf.evidence.filled == leaf.rows
        and not values.not_finite
        and (value_type.single or not values.empty_lists)
    )


def _time_spec(name: str, instant: Instant, complete: bool) -> FieldSpec:
    return FieldSpec(
        name,
        instant.data_type,
        FieldType.DATE_TIME,
        not_null=complete,
        format=instant.format,
        granularity=instant.granularity,
    )


def main_time(columns: Columns, choices: Choices, delimiter: str) -> str | None:
    """The column that the user chose, or the best one that is never null and between 1971 and 2071.

    It is noted in the reason of the column; problems of a chosen one become lints.
    """
    present = {column.spec.name: column for column in columns.proposed if column.spec.name in columns.times}
    if choices.times:
        chosen = next(iter(choices.times))
        name = next((name for name in present if name in (chosen, f"{chosen}_millis")), None)
        name = name or next(
            (column.spec.name for column in present.values() if column.reads and chosen in column.reads), None
        )
        if name is not None:
            _warn(columns, name, present[name].spec.not_null)
            _add_reason(columns, name, "main time as chosen")
        return name
    ranked = [
        (rank + 2 * name.count(delimiter), index, name)
        for index, name in enumerate(present)
        if (rank := main_rank(name.rpartition(delimiter)[2])) is not None
        and present[name].spec.not_null
        and columns.times[name].in_range
    ]
    if not ranked:
        return None
    best = min(ranked)[2]
    _add_reason(columns, best, "main time, never null")
    return best


def _warn(columns: Columns, name: str, complete: bool) -> None:
    instant = columns.times[name]
    if not complete:
        columns.lints.append(
            Lint(name, "the main time is null in some rows: the time of the load is stored then")
        )
    if instant.bounds is not None and not instant.in_range:
        columns.lints.append(
            Lint(name, "the main time is not always between 1971 and 2071: Pinot refuses such segments")
        )


def _add_reason(columns: Columns, name: str, reason: str) -> None:
    columns.proposed = [
        replace(column, why=f"{column.why}; {reason}") if column.spec.name == name else column
        for column in columns.proposed
    ]


def propose(root: PathEvidence, rows: int, choices: Choices | None = None) -> Proposal:
    """The schema that holds all rows, and its table config.

    `root` is the evidence of all rows, `rows` their number. Raises UsageError for an impossible choice.

    >>> evidence = PathEvidence()
    >>> evidence.keys["n"] = PathEvidence()
    >>> evidence.keys["n"].values.add("int", [1, 2])
    >>> [(column.type_said, column.why) for column in propose(evidence, 2).columns]
    [('INT', 'whole numbers 1 to 2; only 2 different values')]
    """
    choices = choices or Choices()
    nesting = Nesting(root, rows, choices.unnest)
    leaves = nesting.leaves()
    _refuse_unknown(choices, [leaf.name for leaf in leaves])
    columns = Columns(choices)
    for leaf in leaves:
        columns.add(leaf)
    main = main_time(columns, choices, nesting.delimiter)
    proposed_columns = columns.proposed
    if not columns.nulls:
        proposed_columns = [
            replace(column, spec=replace(column.spec, not_null=False)) for column in proposed_columns
        ]
    name = table_name(choices.name)
    lints = [*columns.lints]
    if main is None and proposed_columns:
        lints.append(Lint(name, "no main time column; choose one with --time"))
    return Proposal(
        schema_of(name, [column.spec for column in proposed_columns], columns.nulls),
        table_document(name, main, _ingestion(proposed_columns, nesting)),
        tuple(proposed_columns),
        tuple(lints),
        rows,
    )


def _ingestion(columns: Sequence[ProposedColumn], nesting: Nesting) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if reads := transforms(columns):
        config["transformConfigs"] = reads
    if nesting.flat or nesting.unnest:
        config["complexTypeConfig"] = {
            "delimiter": nesting.delimiter,
            "fieldsToUnnest": sorted(nesting.unnest),
            "collectionNotUnnestedToJson": "NON_PRIMITIVE",
        }
    return config


def _refuse_unknown(choices: Choices, names: Sequence[str]) -> None:
    known = set(names)
    options = (
        ("--dimension", choices.dimensions),
        ("--metric", choices.metrics),
        ("--time", tuple(choices.times)),
    )
    for option, names_chosen in options:
        for name in names_chosen:
            if name not in known:
                close = get_close_matches(name, names, 1) or names[:12]
                raise UsageError(f"{option} {name}: no such column{nearest(name, close)}")
    both = [*choices.dimensions, *choices.metrics, *choices.times]
    if twice := next((name for name in both if both.count(name) > 1), None):
        raise UsageError(f"column {twice} has two roles; choose one")
