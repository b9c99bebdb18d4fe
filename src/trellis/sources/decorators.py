"""The decorators `resource`, `transformer` and `source`."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, overload

from trellis.errors import SchemaError, UsageError, nearest
from trellis.schema.model import Schema
from trellis.schema.naming import get_naming
from trellis.sources import current
from trellis.sources.hints.hints import ResourceHints
from trellis.sources.resources import Resource, make
from trellis.sources.schema_editor import SchemaEditor
from trellis.sources.schema_files import schema_at, schema_beside
from trellis.sources.sources import Source, flat

if TYPE_CHECKING:
    from typing_extensions import Unpack

Decorator = Callable[[Callable[..., Any]], Resource]
AsyncFunction = Callable[..., Coroutine[Any, Any, Any]]


class TransformerOptions(ResourceHints, total=False):
    """The hints of a transformer, and what is said of its rows."""

    data_from: Any
    """The resource whose items the function gets."""
    parallelized: bool
    """Whether the function runs in a thread."""


class ResourceOptions(TransformerOptions, total=False):
    """The hints of a resource, and what is said of its rows."""

    selected: bool
    """Whether it is loaded with its source, default True."""


@overload
def resource(
    data: None = None, /, name: str | None = None, **options: Unpack[ResourceOptions]
) -> Decorator: ...


@overload
def resource(data: Any, /, name: str | None = None, **options: Unpack[ResourceOptions]) -> Resource: ...


def resource(data: Any = None, /, name: str | None = None, **options: Any) -> Any:
    """Make a resource of a function (as a decorator), or of rows: a list, an iterator, a table, files.

    Raises UsageError and SchemaError.
    """
    selected, parallelized = options.pop("selected", True), options.pop("parallelized", False)
    data_from = options.pop("data_from", None)

    def decorate(data: Any) -> Resource:
        new_resource = make(data, name, options, selected)
        if parallelized:
            new_resource.parallelize()
        return new_resource if data_from is None else _transforming(new_resource, data_from)

    return decorate if data is None else decorate(data)


@overload
def transformer(
    function: None = None, /, name: str | None = None, **options: Unpack[TransformerOptions]
) -> Decorator: ...


@overload
def transformer(
    function: Callable[..., Any], /, name: str | None = None, **options: Unpack[TransformerOptions]
) -> Resource: ...


def transformer(function: Any = None, /, name: str | None = None, **options: Any) -> Any:
    """Make a resource of a function that gets what another resource yields: `data_from`, or `a | b`.

    Raises UsageError and SchemaError.
    """
    parent, parallelized = options.pop("data_from", None), options.pop("parallelized", False)

    def decorate(function: Callable[..., Any]) -> Resource:
        if not callable(function):
            raise UsageError("transformer: give a function of an item")
        new_resource = make(function, name, options)
        if parallelized:
            new_resource.parallelize()
        return _transforming(new_resource, parent)

    return decorate if function is None else decorate(function)


def _transforming(transformer: Resource, data_from: Any) -> Resource:
    transformer.transforms = True
    if data_from is not None and not isinstance(data_from, Resource):
        raise UsageError(
            f"transformer {transformer.name}: data_from= is no resource; make it with trellis.resource"
        )
    transformer.parent = data_from
    return transformer


class SourceMaker:
    """A function whose resources make a source, with what is said of it."""

    def __init__(self, function: Callable[..., Any], name: str, schema: Any, **options: Any) -> None:
        self.name = name
        self._function = function
        self._schema = schema
        self._options = options

    def _make_source(self, resources: Any, editor: SchemaEditor) -> Source:
        return Source(self.name, list(flat(resources, self.name)), editor, **self._options)

    def _first_schema(self) -> Schema:
        if isinstance(self._schema, Schema):
            return self._schema
        return schema_beside(self._function, self.name) or Schema(self.name)


class SourceFunction(SourceMaker):
    """Makes a source when it is called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Source:
        """Run the body; in it `current.source_schema()` is the schema of the source."""
        editor = SchemaEditor(self._first_schema())
        with current.running(current.Running(editor)):
            return self._make_source(self._function(*args, **kwargs), editor)


class AsyncSourceFunction(SourceMaker):
    """Makes a source when it is called and awaited."""

    async def __call__(self, *args: Any, **kwargs: Any) -> Source:
        editor = SchemaEditor(self._first_schema())
        with current.running(current.Running(editor)):
            return self._make_source(await self._function(*args, **kwargs), editor)


class SourceDecorator(Protocol):
    @overload
    def __call__(self, function: AsyncFunction, /) -> AsyncSourceFunction: ...

    @overload
    def __call__(self, function: Callable[..., Any], /) -> SourceFunction: ...


class SourceOptions(TypedDict, total=False):
    """What is said of a source."""

    schema: Schema | SchemaEditor | str | os.PathLike[str] | None
    """A Schema or the path of a document, default NAME.schema.yaml or NAME.schema.json beside the function's
    module, else an empty schema of the source's name."""
    schema_contract: str | Mapping[str, str] | None
    """What may change in its tables: a mode, or one for each of `tables`, `columns` and `data_type`."""
    max_table_nesting: int | None
    """How many levels of nesting become columns and tables."""
    root_key: bool | None
    """Whether nested tables get the id of their root row."""
    section: str | None
    """Not used."""
    parallelized: bool
    """Whether the functions of its resources run in threads."""


@overload
def source(function: AsyncFunction, /) -> AsyncSourceFunction: ...


@overload
def source(function: Callable[..., Any], /) -> SourceFunction: ...


@overload
def source(
    function: None = None, /, name: str | None = None, **options: Unpack[SourceOptions]
) -> SourceDecorator: ...


def source(function: Callable[..., Any] | None = None, /, name: str | None = None, **options: Any) -> Any:
    """Make a source of a function that returns or yields resources; call it to get the `Source`.

    The function may be a coroutine function; then the call is to be awaited. Raises UsageError, SchemaError.
    """
    for key in options:
        if key not in SourceOptions.__annotations__:
            raise UsageError(
                f"source: there is no option {key!r}{nearest(key, SourceOptions.__annotations__)}"
            )
    options.pop("section", None)
    declared_schema = _read_schema(options.pop("schema", None))

    def decorate(function: Callable[..., Any]) -> SourceFunction | AsyncSourceFunction:
        declared_name = None if declared_schema is None else declared_schema.name
        source_name = name or declared_name or get_naming().identifier(function.__name__)
        if declared_name not in (None, source_name):
            raise SchemaError(
                f"source {source_name}: its schema is called {declared_name!r}; give both one name"
            )
        kind: type[SourceFunction] | type[AsyncSourceFunction] = SourceFunction
        if inspect.iscoroutinefunction(function):
            kind = AsyncSourceFunction
        maker = kind(function, source_name, declared_schema, **options)
        functools.update_wrapper(maker, function)
        return maker

    return decorate if function is None else decorate(function)


def _read_schema(schema: Any) -> Schema | None:
    if isinstance(schema, SchemaEditor):
        return schema.schema
    return schema_at(Path(schema)) if isinstance(schema, (str, os.PathLike)) else schema
