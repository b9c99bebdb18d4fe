"""Which objects become columns, which are a MAP or JSON, and what the columns are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.document.validation.lints import VALUE_TYPES
from trellis.dialects.pinot.infer.columns.value_types import scalar
from trellis.dialects.pinot.infer.evidence.observations import Evidence, Scalars
from trellis.errors import UsageError, nearest

DELIMITERS: Final = (".", "__", "/", ":", "~", "|")
KEYS: Final = 8
"""Objects with fewer keys in all are fixed, unless the keys are data."""
PART: Final = 4
"""Keys vary where an object has on average at most one of this many."""
_DATA: Final = re.compile(
    r"[0-9]+|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[^@\s]+@[^@\s]+"
)


@dataclass(frozen=True)
class Leaf:
    """A path that becomes a column.

    Its name, its own key, what stands there, and how many values make it complete.
    `map_of` is the type of the values where it is a MAP; `whole` says why objects are kept whole.
    """

    name: str
    key: str
    evidence: Evidence
    rows: int
    map_of: PinotType | None = None
    whole: str | None = None


@dataclass
class Nesting:
    """The walk over all paths. `unnest` are the lists whose elements become rows.

    Without `flatten` objects stay whole.
    """

    root: Evidence
    rows: int
    unnest: tuple[str, ...] = ()
    flatten: bool = True

    def __post_init__(self) -> None:
        self.flat = False
        self.lists: list[str] = []
        self.met: set[str] = set()
        self.delimiter = self._delimiter()

    def leaves(self) -> list[Leaf]:
        """All columns in the order of the data. Raises UsageError where there is no list to unnest."""
        found = [*self._below(self.root, "", self.rows)]
        for field in self.unnest:
            if field not in self.met:
                raise UsageError(
                    f"--unnest {field}: there is no list of that name{nearest(field, self.lists)}"
                )
        return found

    def _below(self, within: Evidence, prefix: str, rows: int) -> Iterator[Leaf]:
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
            kept = kept_whole(inner)
            if inner.kinds == {"object"} and not inner.keys:
                yield Leaf(name, item[0], inner, rows)
            elif inner.kinds == {"object"} and kept is None and self.flatten:
                self.flat = True
                stack.append((name + self.delimiter, rows, iter(inner.keys.items())))
            elif inner.kinds == {"object"}:
                one = map_type(inner) if kept is not None else None
                yield Leaf(name, item[0], inner, rows, one, kept or "no table config flattens them")
            else:
                yield Leaf(name, item[0], inner, rows)

    def _unnested(self, name: str, evidence: Evidence, rows: int) -> tuple[Leaf | None, Evidence, int]:
        """The column of the elements that are no objects, and where the keys of the others are."""
        if evidence.kinds != {"array"}:
            raise UsageError(f"--unnest {name}: it is not always a list")
        self.met.add(name)
        items = evidence.items or Evidence()
        complete = evidence.values.kinds["array"] == rows and not evidence.values.empty_lists
        rows = sum(items.values.kinds.values()) if complete else -1
        others = items.kinds - {"object"}
        key = name.rpartition(self.delimiter)[2]
        return (Leaf(name, key, items, rows) if others else None), items, rows

    def _delimiter(self) -> str:
        """One that no key holds: a name has to tell where it stands."""
        keys = "\n".join(self._keys())
        return next((each for each in DELIMITERS if each not in keys), DELIMITERS[0])

    def _keys(self) -> Iterator[str]:
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield from node.keys
            inside = [each for each in node.keys.values() if each.keys and kept_whole(each) is None]
            inside += [each.items for each in node.keys.values() if each.items is not None and self.unnest]
            stack += inside


def kept_whole(evidence: Evidence) -> str | None:
    """Why objects do not become columns; None where they do."""
    keys = evidence.keys
    if evidence.declared is PinotType.MAP:
        return "a map in the source"
    if len(keys) > 1 and all(map(_DATA.fullmatch, keys)):
        return f"the keys are data, {len(keys):,} of them"
    held = sum(sum(each.values.kinds.values()) for each in keys.values())
    if len(keys) >= KEYS and held * PART <= len(keys) * evidence.objects:
        return f"the keys vary, {len(keys):,} of them"
    return None


def map_type(evidence: Evidence) -> PinotType | None:
    """The type of all values, where a MAP can hold it; None: JSON."""
    values = Scalars()
    for each in evidence.keys.values():
        values.merge(each.values)
    if not values.kinds or values.kinds["array"] or values.kinds["object"]:
        return None
    kinds = {kind for kind, count in values.kinds.items() if count and kind != "null"}
    if len(kinds) != 1:
        return None
    found = PinotType.STRING if kinds == {"string"} else scalar(values).data_type
    if found is PinotType.INT:
        return PinotType.LONG
    return found if found in VALUE_TYPES else None
