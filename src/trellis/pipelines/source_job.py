"""From a source to a job: its rows by table, what it says of the schema, and its new state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

from trellis.dialects import get_dialect, names
from trellis.engine.records.files import ItemRecords, Records
from trellis.engine.records.filtered import FilteredRecord, FilteredRecords
from trellis.engine.records.items import Chunks
from trellis.errors import UsageError
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.metadata import State
from trellis.evolution.dialect.schemas import TableRequest
from trellis.pipelines.loading.job import LoadInput, LoadJob
from trellis.pipelines.records import of_tables
from trellis.schema.dict_form import plain
from trellis.schema.model import Schema, Settings
from trellis.sources import Files, Resource, Source, resource
from trellis.sources.cursors.frames import library_of
from trellis.sources.event_loop import is_awaitable
from trellis.sources.extraction.extract import Extracted, Part

ToRecords = Callable[[Any], Records]
SAID_ANEW = ("max_nesting", "root_key_propagation")


def source_of(data: Any, name: str, hints: Mapping[str, Any]) -> Source:
    """Whatever the user hands over, as a source. `hints` are those of `apply_hints`, for all resources."""
    if is_awaitable(data):
        raise UsageError("the source is asynchronous and was not awaited: give what it gives, `await NAME()`")
    if data is None:
        raise UsageError(
            "there is nothing to load: the data is None and no rows of an earlier run are waiting; give a"
            " source, a resource or rows"
        )
    if isinstance(data, Source):
        source = data.with_resources(*data.resources.selected)
    elif isinstance(data, Resource):
        source = Source(name, [data])
    elif isinstance(data, (list, tuple)) and any(isinstance(item, Source) for item in data):
        raise UsageError("a run loads one source, in one commit; run the sources of the list one by one")
    elif isinstance(data, (list, tuple)) and data and all(isinstance(item, Resource) for item in data):
        source = Source(name, data)
    else:
        table = hints.get("table_name")
        if not isinstance(table, str):
            raise UsageError(
                "the rows have no name; give them one with table_name=, or wrap them in a resource"
            )
        source = Source(name, [resource(data, name=table)])
    changed = {key: value for key, value in hints.items() if value is not None}
    if "schema_contract" in changed:
        source.schema_contract = changed["schema_contract"]
    if changed:
        for member in source.resources.values():
            member.apply_hints(**changed)
    return source


def job_of(extracted: Extracted, state: State, dialect: Dialect, to_records: ToRecords) -> LoadJob:
    """The load of what a source gave. `state` is what the pipeline remembers."""
    name, sources = extracted.schema_name, dict(state.get("sources") or {})
    if extracted.state and not dialect.metadata.tables().states:
        able = [name for name in names() if get_dialect(name).metadata.tables().states]
        way = (
            f"load it with the dialect {' or '.join(able)}" if able else "nor has any other that is installed"
        )
        raise UsageError(
            f"source {name} keeps a state or a cursor, and this dialect has no table for it; {way}"
        )
    if extracted.state or extracted.resets_state or name in sources:
        sources[name] = extracted.state
    feeds = tuple(feed for part in extracted.parts for feed in _feeds(part, to_records))
    return LoadJob(
        feeds,
        name,
        user_schema=_given(extracted),
        state=dialect.metadata.next_state(state, name, sources),
        notes=extracted.notes,
    )


def _feeds(part: Part, to_records: ToRecords) -> Iterable[LoadInput]:
    request = TableRequest(
        table=part.table_name,
        declared=part.declared.table,
        nested=part.declared.nested,
        max_nesting=part.declared.max_nesting,
        materialize=part.declared.materialize,
    )
    if part.form == "records":
        chunks = getattr(part.source, "chunks", None)
        yield LoadInput(ItemRecords(Chunks(chunks) if chunks else Chunks.of(part.source)), request)
    elif part.form == "whole":
        yield _feed(part.source, request, to_records)
    else:
        tables = _Tables(part)
        if any(True for _ in tables):
            yield LoadInput(of_tables(tables), replace(request, preserve_types=True))
        for piece in part.source:
            if not _is_table(piece):
                yield _feed(piece, request, to_records)
    if part.dropped or len(part.removed_values):
        yield LoadInput(FilteredRecords(_Reasons(part), part.table_name), request)


def _is_table(piece: Any) -> bool:
    """Whether its rows are in memory with their types: they are taken whole."""
    return library_of(piece) in ("pyarrow", "pandas", "polars")


def _feed(piece: Any, request: TableRequest, to_records: ToRecords) -> LoadInput:
    records = list(piece.paths) if isinstance(piece, Files) else piece
    return LoadInput(to_records(records), replace(request, preserve_types=_is_table(piece)))


@dataclass(frozen=True)
class _Tables:
    """The tables and frames of a part, as often as they are wanted."""

    part: Part

    def __iter__(self) -> Iterator[Any]:
        return (piece for piece in self.part.source if _is_table(piece))


@dataclass(frozen=True)
class _Reasons:
    """The items of a part that a model turned away, as often as they are wanted."""

    part: Part

    def __iter__(self) -> Iterator[FilteredRecord]:
        for removed in chain(self.part.dropped_items, self.part.removed_values):
            yield FilteredRecord(
                removed.position, removed.item, f"contract on {removed.entity}: {removed.reason}", removed.key
            )


def undeclared(schema: Schema, settings: Settings) -> Schema:
    """The stored schema without what only the code of a source says: it gives its settings anew.

    So a rule or a limit that was taken out of the code is gone.
    """
    normalizers = plain(schema.normalizers)
    json = normalizers.get("json") or {}
    config = {key: value for key, value in (json.pop("config", None) or {}).items() if key not in SAID_ANEW}
    if config:
        json["config"] = config
    return replace(schema, settings=settings, normalizers=MappingProxyType(normalizers))


def _given(extracted: Extracted) -> Schema:
    """What the source says of the schema as a whole."""
    options = dict(zip(SAID_ANEW, (extracted.max_nesting, extracted.root_key), strict=True))
    config = {key: value for key, value in options.items() if value is not None}
    if not config:
        return extracted.schema
    normalizers = plain(extracted.schema.normalizers)
    json = normalizers.setdefault("json", {})
    json["config"] = {**(json.get("config") or {}), **config}
    return replace(extracted.schema, normalizers=MappingProxyType(normalizers))
