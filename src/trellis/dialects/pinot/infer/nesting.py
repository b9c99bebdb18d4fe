"""Which objects become columns, which a MAP or JSON, and the names of the columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.infer.observations import PathEvidence, ScalarStatistics
from trellis.dialects.pinot.infer.value_types import scalar
from trellis.dialects.pinot.validation.lints import VALUE_TYPES
from trellis.errors import UsageError, nearest

DELIMITERS: Final = (".", "__", "/", ":", "~", "|")
FEW_KEYS: Final = 8
"""Objects with fewer keys have fixed keys, unless the keys are data."""
VARYING_SHARE: Final = 4
"""Keys vary where an object has on average at most one of this many."""
_DATA_KEY: Final = re.compile(
    r"[0-9]+|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[^@\s]+@[^@\s]+"
)


@dataclass(frozen=True)
class Leaf:
    """A path that becomes a column.

    Its name, the last key, the evidence, and the number of values that make it complete. `map_of` is the type
    of the values of a MAP; `kept_because` is the reason why objects are kept whole.
    """

    name: str
    key: str
    evidence: PathEvidence
    rows: int
    map_of: PinotType | None = None
    kept_because: str | None = None


@dataclass
class Nesting:
    """The walk over all paths. `unnest` are the lists whose elements become rows."""

    root: PathEvidence
    rows: int
    unnest: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.flat = False
        self.lists: list[str] = []
        self.lists_unnested: set[str] = set()
        self.delimiter = self._delimiter()

    def leaves(self) -> list[Leaf]:
        """All columns in the order of the data. Raises UsageError for an unknown list to unnest."""
        leaves = [*self._leaves_below(self.root, "", self.rows)]
        for field in self.unnest:
            if field not in self.lists_unnested:
                raise UsageError(f"--unnest {field}: no such list{nearest(field, self.lists)}")
        return leaves

    def _leaves_below(self, within: PathEvidence, prefix: str, rows: int) -> Iterator[Leaf]:
        stack = [(prefix, rows, iter(within.keys.items()))]
        while stack:
            prefix, rows, keys = stack[-1]
            item = next(keys, None)
            if item is None:
                stack.pop()
                continue
            name, inner = prefix + item[0], item[1]
            if "array" in inner.kinds:
                self.lists.append(name)
                if name in self.unnest:
                    leaf, inner, rows = self._unnested(name, inner, rows)
                    if leaf is not None:
                        yield leaf
                    stack.append((name + self.delimiter, rows, iter(inner.keys.items())))
                    continue
            kept = reason_to_keep_whole(inner)
            if inner.kinds == {"object"} and not inner.keys:
                yield Leaf(name, item[0], inner, rows)
            elif inner.kinds == {"object"} and kept is None:
                self.flat = True
                stack.append((name + self.delimiter, rows, iter(inner.keys.items())))
            elif inner.kinds == {"object"}:
                yield Leaf(name, item[0], inner, rows, map_type(inner), kept)
            else:
                yield Leaf(name, item[0], inner, rows)

    def _unnested(
        self, name: str, evidence: PathEvidence, rows: int
    ) -> tuple[Leaf | None, PathEvidence, int]:
        """The column of the elements that are not objects, and the evidence of the objects."""
        if evidence.kinds != {"array"}:
            raise UsageError(f"--unnest {name}: it is not always a list")
        self.lists_unnested.add(name)
        items = evidence.items or PathEvidence()
        complete = evidence.values.kinds["array"] == rows and not evidence.values.empty_lists
        rows = sum(items.values.kinds.values()) if complete else -1
        others = items.kinds - {"object"}
        key = name.rpartition(self.delimiter)[2]
        return (Leaf(name, key, items, rows) if others else None), items, rows

    def _delimiter(self) -> str:
        """A delimiter that no key contains, so that names stay unambiguous."""
        keys = "\n".join(self._keys())
        return next((delimiter for delimiter in DELIMITERS if delimiter not in keys), DELIMITERS[0])

    def _keys(self) -> Iterator[str]:
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield from node.keys
            inside = [
                child for child in node.keys.values() if child.keys and reason_to_keep_whole(child) is None
            ]
            inside += [child.items for child in node.keys.values() if child.items is not None and self.unnest]
            stack += inside


def reason_to_keep_whole(evidence: PathEvidence) -> str | None:
    """The reason why objects do not become columns; None where they do."""
    keys = evidence.keys
    if evidence.declared is PinotType.MAP:
        return "a map in the source"
    if len(keys) > 1 and all(map(_DATA_KEY.fullmatch, keys)):
        return f"the keys are data, {len(keys):,} of them"
    occurrences = sum(sum(child.values.kinds.values()) for child in keys.values())
    if len(keys) >= FEW_KEYS and occurrences * VARYING_SHARE <= len(keys) * evidence.objects:
        return f"the keys vary, {len(keys):,} of them"
    return None


def map_type(evidence: PathEvidence) -> PinotType | None:
    """The type of all values, where a MAP can hold it; None means JSON."""
    values = ScalarStatistics()
    for child in evidence.keys.values():
        values.merge(child.values)
    if not values.kinds or values.kinds["array"] or values.kinds["object"]:
        return None
    kinds = {kind for kind, count in values.kinds.items() if count and kind != "null"}
    if len(kinds) != 1:
        return None
    data_type = PinotType.STRING if kinds == {"string"} else scalar(values).data_type
    if data_type is PinotType.INT:
        return PinotType.LONG
    return data_type if data_type in VALUE_TYPES else None
