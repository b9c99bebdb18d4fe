"""Resources: rows of one root table, or of several, and what is said of them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from trellis.errors import UsageError
from trellis.sources.arguments import Arguments, effective_cursor, shown
from trellis.sources.cursors.cursor import Incremental
from trellis.sources.cursors.frames import library_of
from trellis.sources.files import Files
from trellis.sources.hints.hint_set import HintSet
from trellis.sources.hints.hints import Hints, hints_of
from trellis.sources.steps import Filter, Limit, Map, Step, YieldMap


class Resource:
    """Rows with what is said of their tables. Made with `trellis.resource` or `trellis.transformer`.

    `data` is a function that yields rows, or the rows: a list, an iterator, a table, files. A transformer has
    a `parent`, and its function gets what that one yields.
    """

    reader: ClassVar[Callable[[Resource], Iterator[Any]]]
    """What iterates over a resource; `extract`, which stands above this module, provides it."""

    def __init__(self, data: Any, name: str, hints: Hints | None = None, selected: bool = True) -> None:
        self.data = data
        self.name = name
        self.hints = HintSet(hints or Hints())
        self.selected = selected
        self.steps: tuple[Step, ...] = ()
        self.parent_steps: tuple[Step, ...] = ()
        self.limit: Limit | None = None
        self.parent: Resource | None = None
        self.transforms = False
        self.parallelized = False
        self.arguments: Arguments | None = None
        self.__name__ = name

    def __repr__(self) -> str:
        return f"Resource({self.name!r}, {shown(self.data)})"

    def __call__(self, *args: Any, **kwargs: Any) -> Resource:
        """The resource with the arguments that its function is called with when it is read."""
        if not callable(self.data):
            raise UsageError(f"resource {self.name} is not made of a function, so it takes no arguments")
        if self.arguments is not None:
            raise UsageError(f"resource {self.name} has its arguments already; call it once")
        copied = self.copy()
        copied.arguments = Arguments.of(self.data, self.name, args, kwargs, self.transforms)
        return copied

    def __or__(self, other: Resource | Callable[[Any], Any]) -> Resource:
        """Into a transformer, which is returned; or into a function of an item."""
        if isinstance(other, Resource):
            if not other.transforms:
                raise UsageError(f"resource {other.name} is no transformer; make it with trellis.transformer")
            transformer = other.copy()
            transformer.parent = self
            return transformer
        several = inspect.isgeneratorfunction(other) or inspect.isasyncgenfunction(other)
        return self.add_yield_map(other) if several else self.add_map(other)

    def __iter__(self) -> Iterator[Any]:
        """The rows, read with an empty state: to look at them, not to load them."""
        return Resource.reader(self)

    def copy(self) -> Resource:
        return copy.copy(self)

    def with_name(self, name: str) -> Resource:
        """The resource under another name, and so with another table and another state."""
        copied = self.copy()
        copied.name = copied.__name__ = name
        return copied

    @property
    def table_name(self) -> Any:
        """The name of the table, or the function that tells it from an item."""
        return self.hints.common.table_name or self.name

    @table_name.setter
    def table_name(self, name: Any) -> None:
        self.apply_hints(table_name=name)

    @property
    def columns(self) -> Any:
        """The declared columns by name, or the function that tells them from an item."""
        columns = self.hints.common.columns
        return columns if callable(columns) else dict(columns or {})

    @property
    def write_disposition(self) -> Any:
        return self.hints.common.write_disposition or "append"

    @write_disposition.setter
    def write_disposition(self, disposition: Any) -> None:
        self.apply_hints(write_disposition=disposition)

    @property
    def begins_anew(self) -> bool:
        """Whether it replaces its table, and so forgets its state and its cursor first."""
        declared = self.write_disposition
        if isinstance(declared, Mapping):
            declared = declared.get("disposition")
        return bool(declared == "replace")

    @property
    def schema_contract(self) -> Any:
        return self.hints.common.contract

    @schema_contract.setter
    def schema_contract(self, contract: Any) -> None:
        self.apply_hints(schema_contract=contract)

    @property
    def max_table_nesting(self) -> int | None:
        return self.hints.common.max_table_nesting

    @max_table_nesting.setter
    def max_table_nesting(self, levels: int | None) -> None:
        self.apply_hints(max_table_nesting=levels)

    @property
    def incremental(self) -> Incremental[Any] | None:
        """The cursor, from `incremental=` or else from the argument of the function."""
        if self.hints.common.incremental is not None:
            return self.hints.common.incremental
        return effective_cursor(self.data, self.arguments, int(self.transforms))

    def apply_hints(self, *, create_table_variant: bool = False, **hints: Any) -> Resource:
        """Change what is said of the tables, in place: None keeps, an empty value removes.

        Takes what `trellis.resource` takes. `columns=` is merged column by column. With
        `create_table_variant` the hints are those of the table that `table_name=` names.
        """
        self.hints = self.hints.changed(self.name, hints, create_table_variant)
        return self

    def add_map(self, function: Callable[[Any], Any], insert_at: int | None = None) -> Resource:
        """Put every item through the function.

        `insert_at` is the place among the steps, where 0 is what gives the rows; None is behind all others.
        A step that a transformer has before its function gets the items of the parent.
        """
        return self._with_step(Map(function), insert_at)

    def add_filter(self, function: Callable[[Any], Any], insert_at: int | None = None) -> Resource:
        """Keep the items for which the function says True; `insert_at` as in `add_map`."""
        return self._with_step(Filter(function), insert_at)

    def add_yield_map(
        self,
        function: Callable[[Any], Iterable[Any] | AsyncIterable[Any]],
        insert_at: int | None = None,
    ) -> Resource:
        """Put what the function yields in the place of every item; `insert_at` as in `add_map`."""
        return self._with_step(YieldMap(function), insert_at)

    def add_limit(
        self, max_items: int | None = None, count_rows: bool = False, max_time: float | None = None
    ) -> Resource:
        """Stop after so many yields, or so many rows, or seconds; what is yielded together stays together.

        None, and a number below 0, is no limit.
        """
        no_items = max_items is None or max_items < 0
        self.limit = Limit(None if no_items else max_items, count_rows, max_time)
        return self

    @property
    def has_code(self) -> bool:
        """Whether it is made of a function or of an iterator."""
        return callable(self.data) or isinstance(self.data, Iterator)

    def parallelize(self) -> Resource:
        """Run the function in a thread: a page ahead, or for a transformer several calls at a time."""
        if not self.has_code:
            raise UsageError(
                f"resource {self.name} is made of {shown(self.data)}, so there is nothing to run in a thread;"
                " leave parallelized= out"
            )
        self.parallelized = True
        return self

    def _with_step(self, step: Step, insert_at: int | None) -> Resource:
        rows = object()
        steps: list[Any] = [*self.parent_steps, rows, *self.steps]
        steps.insert(len(steps) if insert_at is None else insert_at, step)
        place = steps.index(rows)
        if place and self.parent is None:
            raise UsageError(
                f"resource {self.name}: insert_at={insert_at} is before what gives the rows; the first place"
                " for a step is 1"
            )
        self.parent_steps, self.steps = tuple(steps[:place]), tuple(steps[place + 1 :])
        return self


def make(data: Any, name: str | None, hints: Mapping[str, Any], selected: bool = True) -> Resource:
    """A resource of a function or of rows. Raises UsageError."""
    if isinstance(data, Resource):
        raise UsageError(f"{data.name} is a resource already; change it with apply_hints or with_name")
    resource_name = name or _name(data)
    if resource_name is None:
        raise UsageError(f"the resource made of {shown(data)} has no name; give name=")
    rows = callable(data) or isinstance(data, Files) or library_of(data)
    several = isinstance(data, (Iterable, AsyncIterable)) and not isinstance(data, (str, bytes, Mapping))
    if not rows and not several:
        raise UsageError(
            f"resource {resource_name}: rows cannot be read from {shown(data)}; give a function that yields"
            " rows, a list of dicts, a table, or trellis.files('...') for paths"
        )
    return Resource(data, resource_name, hints_of(resource_name, hints), selected)


def _name(data: Any) -> str | None:
    if isinstance(data, Files):
        return data.name
    function_name = getattr(data, "__name__", None)
    return function_name if isinstance(function_name, str) and function_name.isidentifier() else None
