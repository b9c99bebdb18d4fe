"""Read a source: its rows by table, what is declared of them, and the state it leaves behind.

resources --> pages --> steps --> model --> cursor --> limit --> parts
                                                          |--> transformers --> ...
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, Literal

from trellis.errors import UsageError
from trellis.schema.model import Schema
from trellis.sources.event_loop import EventLoop
from trellis.sources.extraction.parts import Part
from trellis.sources.extraction.stream import ExtractionContext, Stream
from trellis.sources.extraction.threads import Threads
from trellis.sources.hints.table_hints import Declared
from trellis.sources.resources import Resource
from trellis.sources.schema_editor import SchemaEditor
from trellis.sources.sources import Source, copies
from trellis.sources.steps import Page

__all__ = ["Declared", "Extracted", "NextItemMode", "Part", "extract", "rows_of"]

NextItemMode = Literal["round_robin", "fifo"]
"""Whether the resources of a source are read in turns, a page each, or one after the other."""


@dataclass
class Extracted:
    """What a source gave. `schema` holds only what the source declares, with its settings.

    `state` is the source's part of the pipeline's state as it is to be stored once the rows are loaded,
    `notes` what the cursors left out.
    """

    schema_name: str
    parts: list[Part]
    schema: Schema
    source_contract: Any
    root_key: bool | None
    max_nesting: int | None
    state: dict[str, Any]
    notes: tuple[str, ...] = ()
    resets_state: bool = False
    """Whether a resource begins anew, so that the state is stored even if nothing is left of it."""


def extract(
    source: Source,
    state: Mapping[str, Any],
    schema: Schema,
    next_item_mode: NextItemMode = "round_robin",
) -> Extracted:
    """Read the selected resources of a source.

    `state` is what the last load left, `schema` the stored schema. Neither is changed, and nor is the source,
    except that iterators are used up. A selected resource without rows still has its part.
    """
    kept: dict[str, Any] = copy.deepcopy(dict(state))
    editor = SchemaEditor(source.schema.declared, schema)
    with EventLoop() as loop, Threads() as threads:
        streams = _streams(source, ExtractionContext(editor, kept, loop, threads))
        ready = {id(stream): part for stream in streams if (part := stream.as_given()) is not None}
        heads = [stream for stream in streams if stream.resource.parent is None and id(stream) not in ready]
        _read(heads, next_item_mode)
    parts: list[Part] = []
    for stream in streams:
        if stream.resource.selected:
            part = ready.get(id(stream))
            parts += [part] if part is not None else stream.sorter.finished()
    _declare_once(parts)
    return Extracted(
        schema_name=source.name,
        parts=parts,
        schema=editor.declared,
        source_contract=editor.declared.settings.schema_contract,
        root_key=source.root_key,
        max_nesting=source.max_table_nesting,
        state=kept,
        notes=tuple(note for stream in streams for note in stream.notes),
        resets_state=any(stream.resource.begins_anew for stream in streams),
    )


def _declare_once(parts: Sequence[Part]) -> None:
    """Of a table that several resources fill only the first one says what it is."""
    first: dict[str, Declared] = {}
    for part in parts:
        declared = first.setdefault(part.table_name, part.declared)
        if declared.resource != part.resource:
            part.declared = declared


def _read(streams: Sequence[Stream], next_item_mode: NextItemMode) -> None:
    """Read the streams that have no parent to their ends."""
    with ExitStack() as stack:
        pages = {stream: stack.enter_context(closing(stream.read())) for stream in streams}
        turns = deque(streams)
        while turns:
            stream = turns.popleft()
            page = next(pages[stream], None)
            if page is None:
                _deliver_rest(stream)
                continue
            _deliver(stream, page)
            if next_item_mode == "fifo":
                turns.appendleft(stream)
            else:
                turns.append(stream)


def _streams(source: Source, context: ExtractionContext) -> list[Stream]:
    """The selected resources and those they are made from; parents that no one selected are not loaded."""
    chosen = copies(source.resources.values())
    chosen_ids = {id(resource) for resource in chosen}
    streams: dict[int, Stream] = {}

    def add(resource: Resource) -> Stream:
        if id(resource) in streams:
            return streams[id(resource)]
        parent = resource.parent
        if resource.transforms and parent is None:
            raise UsageError(
                f"transformer {resource.name} gets no rows: give it data_from=, or write"
                f" other | {resource.name}"
            )
        above = add(parent) if parent is not None else None
        if id(resource) not in chosen_ids:
            resource.selected = False
        stream = streams[id(resource)] = Stream(resource, context)
        if above is not None:
            above.children.append(stream)
        return stream

    for resource in chosen:
        if resource.selected:
            add(resource)
    return list(streams.values())


def _deliver(stream: Stream, page: Page) -> None:
    if stream.resource.selected:
        stream.sorter.take(page)
    for child in stream.children:
        for child_page in child.transform(page):
            _deliver(child, child_page)


def _deliver_rest(stream: Stream) -> None:
    """After the last page: what the transformers below still wait for."""
    for child in stream.children:
        for child_page in child.rest():
            _deliver(child, child_page)
        _deliver_rest(child)


def rows_of(resource: Resource) -> Iterator[Any]:
    """The items of one resource, with an empty state and an empty schema."""
    with EventLoop() as loop, Threads() as threads:
        context = ExtractionContext(SchemaEditor(Schema("rows")), {}, loop, threads)
        with closing(_pages(resource, context)) as pages:
            for page in pages:
                yield from page.items


def _pages(resource: Resource, context: ExtractionContext) -> Generator[Page]:
    stream = Stream(resource, context)
    if resource.parent is None:
        yield from stream.read()
    else:
        for page in _pages(resource.parent, context):
            yield from stream.transform(page)
        yield from stream.rest()


Resource.reader = staticmethod(rows_of)
