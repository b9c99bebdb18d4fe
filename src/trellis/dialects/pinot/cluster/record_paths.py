"""The paths of records that become columns, with what the survey of all records knows of their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trellis.dialects.pinot.infer.path_values import PathValues
from trellis.engine.survey.paths import Kind, Node
from trellis.engine.survey.survey import Survey
from trellis.errors import UsageError, nearest

MOST_KEYS: Final = 100
"""Objects with more different keys become JSON, not columns."""


class ValueSurvey(Survey):
    """A survey of the values too."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[int, PathValues] = {}

    def values(self, node: Node) -> PathValues:
        return self._values.setdefault(id(node), PathValues())

    def _saw(self, node: Node, kind: Kind, values: Sequence[Any], numbers: Sequence[int]) -> None:
        super()._saw(node, kind, values, numbers)
        self.values(node).add(kind, values)


@dataclass(frozen=True)
class RecordPath:
    """A path; with values in so many `rows` it is complete."""

    name: str
    node: Node
    rows: int

    @property
    def kinds(self) -> frozenset[Kind]:
        return kinds_of(self.node)

    @property
    def is_complete(self) -> bool:
        """Whether every row has a value. A list may be empty, which is null in Pinot."""
        filled = sum(seen.count for kind, seen in self.node.kinds.items() if kind != "null")
        return filled == self.rows and "array" not in self.kinds


@dataclass
class RecordPaths:
    """The walk over all paths. `unnest` are the lists whose elements become rows, `whole` what is no column
    for each of its keys.
    """

    survey: Survey
    unnest: tuple[str, ...] = ()
    whole: Collection[str] = ()
    lists: list[str] = field(default_factory=list)
    flattens: bool = False

    def columns(self) -> list[RecordPath]:
        """The paths that become columns, in their order. Raises UsageError for an unknown list."""
        columns = [*self._below(RecordPath("", self.survey.root, self.survey.records))]
        for name in self.unnest:
            if name not in self.lists:
                raise UsageError(f"--unnest {name}: no such list{nearest(name, self.lists)}")
        return columns

    def complex_type_config(self) -> Mapping[str, Any]:
        """The part of `ingestionConfig` that makes these columns."""
        if not (self.flattens or self.unnest):
            return {}
        return {
            "complexTypeConfig": {
                "delimiter": ".",
                "fieldsToUnnest": sorted(self.unnest),
                "collectionNotUnnestedToJson": "NON_PRIMITIVE",
            }
        }

    def _below(self, root: RecordPath) -> Iterator[RecordPath]:
        stack = self._children(root)
        while stack:
            path = stack.pop()
            if "array" in path.kinds:
                self.lists.append(path.name)
            if path.name in self.unnest:
                elements = self._elements(path)
                if elements.kinds - {"object"}:
                    yield elements
                stack += self._children(elements)
            elif self._is_flattened(path):
                self.flattens = True
                stack += self._children(path)
            else:
                yield path

    def _children(self, path: RecordPath) -> list[RecordPath]:
        """The paths below, the last first."""
        start = f"{path.name}." if path.name else ""
        return [RecordPath(start + key, node, path.rows) for key, node in [*path.node.keys.items()][::-1]]

    def _is_flattened(self, path: RecordPath) -> bool:
        return (
            path.kinds == {"object"} and 0 < len(path.node.keys) <= MOST_KEYS and path.name not in self.whole
        )

    def _elements(self, path: RecordPath) -> RecordPath:
        """The elements of a list as rows of their own. None is complete: a list may be empty."""
        if path.kinds != {"array"}:
            raise UsageError(f"--unnest {path.name}: it is not always a list")
        return RecordPath(path.name, path.node.items or Node(path.name), -1)


def kinds_of(node: Node | None) -> frozenset[Kind]:
    """The kinds of the values at a path, without null."""
    return frozenset() if node is None else frozenset(node.kinds) - {"null"}
