"""Sources: resources that share a schema and a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from trellis.errors import SchemaError, UsageError, nearest
from trellis.schema.documents.validate import name_fault
from trellis.schema.model import Schema
from trellis.sources.arguments import shown
from trellis.sources.resources import Resource
from trellis.sources.schema_editor import SchemaEditor


class Resources(MutableMapping[str, Resource]):
    """The resources of a source by name, in their order."""

    def __init__(self, source: str, resources: Iterable[Resource]) -> None:
        self._source = source
        self._all: dict[str, Resource] = {}
        self._copies: dict[Resource, Resource] = {}
        self.add(*resources)

    def __getitem__(self, name: str) -> Resource:
        if name not in self._all:
            raise UsageError(f"source {self._source} has no resource {name!r}{nearest(name, self._all)}")
        return self._all[name]

    def __setitem__(self, name: str, resource: Resource) -> None:
        if name != resource.name:
            raise UsageError(
                f"source {self._source}: resource {resource.name!r} cannot be its resource {name!r}; rename"
                " it with with_name"
            )
        self._all[name] = copies([resource], self._copies)[0]

    def __delitem__(self, name: str) -> None:
        del self._all[self[name].name]

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"Resources({', '.join(self._all)})"

    def add(self, *resources: Resource) -> None:
        """Add resources. Raises UsageError where there is one of the name."""
        for resource in resources:
            if resource.name in self._all:
                raise UsageError(
                    f"source {self._source} has two resources {resource.name!r}; give one of them another"
                    " name="
                )
            self[resource.name] = resource

    @property
    def selected(self) -> dict[str, Resource]:
        """Those that are loaded."""
        return {name: resource for name, resource in self._all.items() if resource.selected}

    @property
    def read(self) -> list[Resource]:
        """Those that are loaded, and those whose rows they are made of."""
        resources: dict[Resource, None] = {}
        for selected in self.selected.values():
            resource: Resource | None = selected
            while resource is not None:
                resources[resource] = None
                resource = resource.parent
        return [*resources]

    def select(self, *names: str) -> None:
        """Load these and no others."""
        chosen = [self[name].name for name in names]
        for resource in self._all.values():
            resource.selected = resource.name in chosen


class Source:
    """Resources that are loaded together, under one schema.

    Its resources are its own: what is changed in them stays in this source.
    """

    def __init__(
        self,
        name: str,
        resources: Iterable[Resource] = (),
        schema: Schema | SchemaEditor | None = None,
        schema_contract: Any = None,
        max_table_nesting: int | None = None,
        root_key: bool | None = None,
        parallelized: bool = False,
    ) -> None:
        if fault := name_fault(name):
            raise SchemaError(f"source {name}: {fault}")
        self.name = name
        self.schema = schema if isinstance(schema, SchemaEditor) else SchemaEditor(schema or Schema(name))
        self.resources = Resources(name, resources)
        self.max_table_nesting = max_table_nesting
        self.root_key = root_key
        if schema_contract is not None:
            self.schema_contract = schema_contract
        if parallelized:
            self.parallelize()

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {', '.join(self.resources)})"

    def __getattr__(self, name: str) -> Resource:
        if not name.startswith("_") and name in (resources := self.__dict__.get("resources", {})):
            resource: Resource = resources[name]
            return resource
        raise AttributeError(f"source {self.__dict__.get('name')} has no resource and no attribute {name!r}")

    @property
    def schema_contract(self) -> Any:
        """The contract of all tables without one of their own."""
        return self.schema.declared.settings.schema_contract

    @schema_contract.setter
    def schema_contract(self, contract: Any) -> None:
        self.schema.set_schema_contract(contract)

    @property
    def selected_resources(self) -> dict[str, Resource]:
        return self.resources.selected

    def with_resources(self, *names: str) -> Source:
        """The source, of which only these resources are loaded."""
        copied = Source(
            self.name,
            self.resources.values(),
            self.schema.copy(),
            max_table_nesting=self.max_table_nesting,
            root_key=self.root_key,
        )
        copied.resources.select(*names)
        return copied

    def parallelize(self) -> Source:
        """Run the functions of the resources in threads."""
        for resource in self.resources.values():
            if resource.has_code:
                resource.parallelize()
        return self

    def add_limit(
        self, max_items: int | None = None, count_rows: bool = False, max_time: float | None = None
    ) -> Source:
        """Limit every resource but the transformers."""
        for resource in self.resources.values():
            if not resource.transforms:
                resource.add_limit(max_items, count_rows, max_time)
        return self


def copies(resources: Iterable[Resource], known: dict[Resource, Resource] | None = None) -> list[Resource]:
    """Copies that are linked to one another as the resources are: a transformer to the copy of its parent.

    `known` holds copies that were made before, and gets the new ones.
    """
    known = {} if known is None else known

    def copied(resource: Resource) -> Resource:
        if resource not in known:
            copy = known[resource] = resource.copy()
            known[copy] = copy
            if resource.parent is not None:
                copy.parent = copied(resource.parent)
        return known[resource]

    return [copied(resource) for resource in list(resources)]


def flat(result: Any, source: str) -> Iterator[Resource]:
    """The resources that the function of a source returned or yielded."""
    if isinstance(result, Resource):
        yield result
    elif isinstance(result, Iterable) and not isinstance(result, (str, bytes, Mapping)):
        for item in result:
            yield from flat(item, source)
    else:
        what = "nothing" if result is None else shown(result)
        raise UsageError(
            f"source {source} gave {what}; return or yield resources, made with trellis.resource"
        )
