"""The decorators `resource`, `transformer` and `source`."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from trellis.errors import SchemaError, UsageError
from trellis.schema.model import Schema
from trellis.schema.naming import get_naming
from trellis.sources import current
from trellis.sources.resources import Resource, make
from trellis.sources.schema_editor import SchemaEditor
from trellis.sources.schema_files import schema_at, schema_beside
from trellis.sources.sources import Source, flat

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from trellis.sources.hints.hints import ResourceHints

Decorator = Callable[[Callable[..., Any]], Resource]
AsyncFunction = Callable[..., Coroutine[Any, Any, Any]]


@overload
def resource(
    data: None = None,
    /,
    name: str | None = None,
    *,
    selected: bool = True,
    data_from: Any = None,
    parallelized: bool = False,
    **hints: Unpack[ResourceHints],
) -> Decorator: ...


@overload
def resource(
    data: Any,
    /,
    name: str | None = None,
    *,
    selected: bool = True,
    data_from: Any = None,
    parallelized: bool = False,
    **hints: Unpack[ResourceHints],
) -> Resource: ...


def resource(
    data: Any = None,
    /,
    name: str | None = None,
    *,
    selected: bool = True,
    data_from: Any = None,
    parallelized: bool = False,
    **hints: Any,
) -> Any:
    """Make a resource of a function (as a decorator), or of rows: a list, an iterator, a table, files.

    `hints` describe its tables: see `ResourceHints`. With `parallelized` the function runs in a thread.
    Raises UsageError and SchemaError.
    """

    def made(of: Any) -> Resource:
        new_resource = make(of, name, hints, selected)
        if parallelized:
            new_resource.parallelize()
        return new_resource if data_from is None else _transforming(new_resource, data_from)

    return made if data is None else made(data)


@overload
def transformer(
    function: None = None,
    /,
    name: str | None = None,
    *,
    data_from: Any = None,
    parallelized: bool = False,
    **hints: Unpack[ResourceHints],
) -> Decorator: ...


@overload
def transformer(
    function: Callable[..., Any],
    /,
    name: str | None = None,
    *,
    data_from: Any = None,
    parallelized: bool = False,
    **hints: Unpack[ResourceHints],
) -> Resource: ...


def transformer(
    function: Any = None,
    /,
    name: str | None = None,
    *,
    data_from: Any = None,
    parallelized: bool = False,
    **hints: Any,
) -> Any:
    """Make a resource of a function that gets what another resource yields: `data_from`, or `a | b`.

    It takes the hints that `resource` takes.
    """

    def made(of: Callable[..., Any]) -> Resource:
        if not callable(of):
            raise UsageError("transformer: give a function of an item")
        new_resource = make(of, name, hints)
        if parallelized:
            new_resource.parallelize()
        return _transforming(new_resource, data_from)

    return made if function is None else made(function)


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
        self._said = options

    def _made(self, gives: Any, editor: SchemaEditor) -> Source:
        return Source(self.name, list(flat(gives, self.name)), editor, **self._said)

    def _start(self) -> Schema:
        if isinstance(self._schema, Schema):
            return self._schema
        return schema_beside(self._function, self.name) or Schema(self.name)


class SourceFunction(SourceMaker):
    """Makes a source when it is called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Source:
        """Run the body; in it `current.source_schema()` is the schema of the source."""
        editor = SchemaEditor(self._start())
        with current.running(current.Running(editor)):
            return self._made(self._function(*args, **kwargs), editor)


class AsyncSourceFunction(SourceMaker):
    """Makes a source when it is called and awaited."""

    async def __call__(self, *args: Any, **kwargs: Any) -> Source:
        editor = SchemaEditor(self._start())
        with current.running(current.Running(editor)):
            return self._made(await self._function(*args, **kwargs), editor)


class SourceDecorator(Protocol):
    @overload
    def __call__(self, function: AsyncFunction, /) -> AsyncSourceFunction: ...

    @overload
    def __call__(self, function: Callable[..., Any], /) -> SourceFunction: ...


@overload
def source(function: AsyncFunction, /) -> AsyncSourceFunction: ...


@overload
def source(function: Callable[..., Any], /) -> SourceFunction: ...


@overload
def source(
    function: None = None,
    /,
    name: str | None = None,
    *,
    schema: Schema | SchemaEditor | str | os.PathLike[str] | None = None,
    schema_contract: Any = None,
    max_table_nesting: int | None = None,
    root_key: bool | None = None,
    section: str | None = None,
    parallelized: bool = False,
) -> SourceDecorator: ...


def source(
    function: Callable[..., Any] | None = None,
    /,
    name: str | None = None,
    *,
    schema: Schema | SchemaEditor | str | os.PathLike[str] | None = None,
    schema_contract: Any = None,
    max_table_nesting: int | None = None,
    root_key: bool | None = None,
    section: str | None = None,
    parallelized: bool = False,
) -> Any:
    """Make a source of a function that returns or yields resources; call it to get the `Source`.

    Without `schema` (a Schema, or the path of a document) a file NAME.schema.yaml or NAME.schema.json beside
    the function's module is taken, else an empty schema of the source's name. `section` is not used.
    With `parallelized` the functions of its resources run in threads.
    The function may be a coroutine function; then the call is to be awaited.
    """
    declared_schema = _given(schema)

    def made(of: Callable[..., Any]) -> SourceFunction | AsyncSourceFunction:
        source_name = name or (
            declared_schema.name if declared_schema is not None else get_naming().identifier(of.__name__)
        )
        if declared_schema is not None and declared_schema.name != source_name:
            raise SchemaError(
                f"source {source_name}: its schema is called {declared_schema.name!r}; give both one name"
            )
        kind: type[SourceFunction] | type[AsyncSourceFunction] = SourceFunction
        if inspect.iscoroutinefunction(of):
            kind = AsyncSourceFunction
        maker = kind(
            of,
            source_name,
            declared_schema,
            schema_contract=schema_contract,
            max_table_nesting=max_table_nesting,
            root_key=root_key,
            parallelized=parallelized,
        )
        functools.update_wrapper(maker, of)
        return maker

    return made if function is None else made(function)


def _given(schema: Any) -> Schema | None:
    if isinstance(schema, SchemaEditor):
        return schema.schema
    return schema_at(Path(schema)) if isinstance(schema, (str, os.PathLike)) else schema
