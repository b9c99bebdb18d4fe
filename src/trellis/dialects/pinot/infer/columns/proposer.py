"""One path -> the proposed column or columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.columns.field_roles import role_of_column
from trellis.dialects.pinot.infer.columns.nesting import Leaf
from trellis.dialects.pinot.infer.columns.time_formats import Instant, instant_by_choice, instant_of
from trellis.dialects.pinot.infer.columns.value_types import (
    KIND_NAMES,
    NUMBERS,
    ValueType,
    counted,
    value_type_of,
)
from trellis.dialects.pinot.infer.evidence.name_words import names_amount
from trellis.dialects.pinot.infer.proposal import (
    Choices,
    ColumnNames,
    Lint,
    ProposedColumn,
    map_column,
    quoted,
)
from trellis.errors import UsageError


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
