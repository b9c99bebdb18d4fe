"""One path -> the column, or the columns, that are proposed for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import MAX_LENGTH, FieldType, PinotType
from trellis.dialects.pinot.infer.columns.field_roles import part_of
from trellis.dialects.pinot.infer.columns.naming import Names, quoted
from trellis.dialects.pinot.infer.columns.nesting import Leaf
from trellis.dialects.pinot.infer.columns.time_formats import Instant, asked_instant, instant_of
from trellis.dialects.pinot.infer.columns.value_types import NUMBERS, SAID, Held, counted, held
from trellis.dialects.pinot.infer.evidence.name_words import says_amount
from trellis.dialects.pinot.infer.proposal import Asked, Lint, Proposed
from trellis.errors import UsageError


@dataclass
class Columns:
    """Makes the columns one by one. `times` are the instants by name; `nulls`: a column may be null."""

    asked: Asked
    made: list[Proposed] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    times: dict[str, Instant] = field(default_factory=dict)
    nulls: bool = False
    names: Names = field(default_factory=Names)

    def add(self, leaf: Leaf) -> None:
        """Take a path. Raises UsageError where the user asks for what it cannot be."""
        if not leaf.name:
            self.lints.append(Lint('""', "a key without a name cannot be a column"))
            return
        found = _kept(leaf)
        decided = leaf.name in (*self.asked.metrics, *self.asked.dimensions)
        self.lints += [Lint(leaf.name, said) for said in (*found.lints, *_notes(leaf, found, decided))]
        if found.data_type is None:
            self.lints.append(Lint(leaf.name, f"no column: {found.why}"))
            self._refuse_empty(leaf.name, found)
            return
        name, reads = self._name(leaf.name, found.quotes)
        for each in self._columns(leaf, name, found):
            self.made.append(each if each.reads is not None else replace(each, reads=reads))

    def _name(self, path: str, quotes: bool) -> tuple[str, str | None]:
        """What the column is called, and the function that fills it where that is not its field's name."""
        if quotes:
            name = self.names.take(f"{path}_json")
            said = f"some texts look like JSON, so the column {name} quotes them"
            self.lints.append(Lint(path, said))
            return name, f"jsonFormat({quoted(path)})"
        name = self.names.take(path)
        if name == path:
            return name, None
        reason = "names have no blanks" if any(map(str.isspace, path)) else "names differ by more than case"
        self.lints.append(Lint(path, f"the column is called {name}: {reason}"))
        return name, quoted(path)

    def _columns(self, leaf: Leaf, name: str, found: Held) -> Iterator[Proposed]:
        complete = _complete(leaf, found)
        self.nulls |= not complete
        if leaf.map_of is not None:
            yield _map(name, leaf.map_of, f"{leaf.whole}, with values of one kind", complete)
            return
        instant = self._instant(leaf, found)
        if instant is not None:
            self.lints += [Lint(leaf.name, said) for said in instant.lints]
            if instant.read_by is None and not instant.lints:
                self.times[name] = instant
                yield Proposed(_time_spec(name, instant, complete), instant.why)
                return
        yield self._plain(leaf, name, found, complete)
        if instant is not None and instant.read_by is not None:
            other = self.names.take(f"{name}_millis")
            self.times[other] = instant
            why = f"{leaf.name} by {instant.read_by}, which does not sort"
            pattern = instant.read_by.replace("'", "''")
            reads = f"fromDateTime({quoted(leaf.name)}, '{pattern}')"
            yield Proposed(_time_spec(other, instant, complete), why, reads)

    def _plain(self, leaf: Leaf, name: str, found: Held, complete: bool) -> Proposed:
        path = leaf.name
        asked = FieldType.METRIC if path in self.asked.metrics else None
        asked = FieldType.DIMENSION if path in self.asked.dimensions else asked
        data_type, role, why = part_of(path, leaf.key, found, asked)
        spec = FieldSpec(name, data_type, role, found.single, not_null=complete)
        texts = found.values.texts
        longest = texts.longest if texts is not None and data_type is PinotType.STRING else 0
        if longest > MAX_LENGTH:
            spec = replace(spec, max_length=1 << (longest - 1).bit_length())
        return Proposed(spec, why)

    def _instant(self, leaf: Leaf, found: Held) -> Instant | None:
        path = leaf.name
        if path in self.asked.dimensions or path in self.asked.metrics:
            return None
        if path not in self.asked.times:
            return instant_of(leaf.key, found)
        said = self.asked.times[path]
        if said is not None:
            return asked_instant(path, found, said)
        instant = instant_of(leaf.key, found, asked=True)
        if instant is None:
            raise UsageError(
                f"--time {path}: no format of times fits every value ({found.why}); "
                f"give one, as in --time {path}=EPOCH|SECONDS or --time '{path}=yyyy-MM-dd HH:mm'"
            )
        return instant

    def _refuse_empty(self, path: str, found: Held) -> None:
        if path in (*self.asked.metrics, *self.asked.dimensions, *self.asked.times):
            raise UsageError(f"column {path}: it holds nothing that a column could ({found.why})")


def _kept(leaf: Leaf) -> Held:
    found = held(leaf.evidence)
    if leaf.whole is None:
        return found
    if leaf.map_of is not None:
        return replace(found, data_type=PinotType.MAP, why=leaf.whole, lints=())
    return replace(found, why=f"objects: {leaf.whole}", lints=())


def _notes(leaf: Leaf, found: Held, decided: bool) -> Iterator[str]:
    """Where mixed values are, and what texts nearly are, unless the user `decided` their part."""
    evidence = leaf.evidence
    if not evidence.kinds <= NUMBERS and len(evidence.kinds) > 1 and evidence.places:
        rarest = min(sorted(evidence.kinds), key=lambda kind: evidence.values.kinds[kind])
        count = counted(evidence.values.kinds[rarest], "value is", "values are")
        yield f"{count} {SAID.get(rarest, rarest)}, first at {evidence.places[rarest]}"
    texts, count_of_texts = found.values.texts, evidence.values.kinds["string"]
    if found.data_type is not PinotType.STRING or texts is None or evidence.kinds != {"string"}:
        return
    if 0 < evidence.times < count_of_texts:
        yield f"{evidence.times:,} of {count_of_texts:,} texts are times: the others keep the column text"
    if texts.numbers and says_amount(leaf.key) and not decided:
        yield f"every text is a number: --metric {leaf.name} makes it one"


def _complete(leaf: Leaf, found: Held) -> bool:
    """Whether every row has a value that is stored as such."""
    values = leaf.evidence.values
    return (
        leaf.evidence.filled == leaf.rows
        and not values.not_finite
        and (found.single or not values.empty_lists)
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


def _map(name: str, value: PinotType, why: str, complete: bool) -> Proposed:
    children = {
        "key": FieldSpec("key", PinotType.STRING),
        "value": FieldSpec("value", value, FieldType.METRIC if value.numeric else FieldType.DIMENSION),
    }
    spec = FieldSpec(
        name, PinotType.MAP, FieldType.COMPLEX, not_null=complete, children=MappingProxyType(children)
    )
    return Proposed(spec, why)
