"""From a source to a job: extract its rows, find its schema and its state, and what is to be reset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from trellis.attempt import Feed, Job
from trellis.destinations.base import Reset
from trellis.errors import UsageError, nearest
from trellis.evolution.dialect import Keep, Request, State
from trellis.flow.items import Chunks
from trellis.flow.records import ItemRecords, Records
from trellis.flow.turned_away import TurnedAway
from trellis.schema.form import plain
from trellis.schema.model import Schema
from trellis.schema.rules import matches
from trellis.sources import Files, Resource, Source, resource
from trellis.sources.extract import Extracted, Part, extract

Refresh = Literal["drop_sources", "drop_resources", "drop_data"]
REFRESHES: tuple[Refresh, ...] = get_args(Refresh)
ToRecords = Callable[[Any], Records]


def source_of(data: Any, name: str, hints: Mapping[str, Any]) -> Source:
    """Whatever the user hands over, as a source. `hints` are those of `apply_hints`, for all resources."""
    if isinstance(data, Source):
        found = data.with_resources(*data.resources.selected)
    elif isinstance(data, Resource):
        found = Source(name, [data])
    elif isinstance(data, (list, tuple)) and data and all(isinstance(each, Resource) for each in data):
        found = Source(name, data)
    else:
        table = hints.get("table_name")
        if not isinstance(table, str):
            raise UsageError(
                "the rows have no name; give them one with table_name=, or wrap them in a resource"
            )
        found = Source(name, [resource(data, name=table)])
    said = {key: value for key, value in hints.items() if value is not None}
    if "schema_contract" in said:
        found.schema_contract = said["schema_contract"]
    if said:
        for each in found.resources.values():
            each.apply_hints(**said)
    return found


def job_of(source: Source, schema: Schema, state: State, keep: Keep, to_records: ToRecords) -> Job:
    """Extract the source. `schema` is the stored one, `state` what the pipeline remembers."""
    sources = dict(state.get("sources") or {})
    made = extract(source, sources.get(source.name) or {}, schema)
    if made.state and not keep.journal().states:
        raise UsageError(
            f"source {source.name} keeps a state or a cursor, and this dialect has no table for it; "
            "load it with the dialect dlt"
        )
    if made.state or source.name in sources:
        sources[source.name] = made.state
    feeds = tuple(feed for part in made.parts for feed in _feeds(part, to_records))
    remembered = keep.remembered(state, source.name, sources)
    return Job(feeds, source.name, given=_given(made), state=remembered)


def _feeds(part: Part, to_records: ToRecords) -> Iterable[Feed]:
    request = Request(
        table=part.table_name,
        declared=part.declared.table,
        nested=part.declared.nested,
        max_nesting=part.declared.max_nesting,
        materialize=part.declared.materialize,
    )
    if part.form == "records":
        chunks = getattr(part.source, "chunks", None)
        yield Feed(ItemRecords(Chunks(chunks) if chunks else Chunks.of(part.source)), request)
    else:
        for piece in [part.source] if part.form == "whole" else part.source:
            found = list(piece.paths) if isinstance(piece, Files) else piece
            yield Feed(to_records(found), request)
    if part.dropped:
        items = ((each.position, each.item, each.reason) for each in part.dropped_items)
        yield Feed(TurnedAway(list(items), part.table_name), request)


def _given(made: Extracted) -> Schema:
    """What the source says of the schema as a whole."""
    said = {"max_nesting": made.max_nesting, "root_key_propagation": made.root_key}
    config = {key: value for key, value in said.items() if value is not None}
    if not config:
        return made.schema
    normalizers = plain(made.schema.normalizers)
    json = normalizers.setdefault("json", {})
    json["config"] = {**(json.get("config") or {}), **config}
    return replace(made.schema, normalizers=MappingProxyType(normalizers))


def refresh_of(word: str | None) -> Refresh | None:
    """Raises UsageError."""
    for each in REFRESHES:
        if word == each:
            return each
    if word is None:
        return None
    raise UsageError(f"refresh: there is no {word!r}{nearest(word, REFRESHES)}")


def tables_of(schema: Schema, resources: Sequence[str] | None, prefix: str) -> tuple[str, ...]:
    """The tables of these resources, children first; None: of all."""
    roots = [
        table.name
        for table in schema.tables.values()
        if table.parent is None
        and not table.name.startswith(prefix)
        and (resources is None or (table.hints.get("resource") or table.name) in resources)
    ]
    return tuple(table.name for root in roots for table in reversed(list(schema.chain(root))))


def reset_of(schema: Schema, resources: Sequence[str], refresh: Refresh, prefix: str) -> Reset:
    """What is taken away before the rows of these resources come."""
    chosen = None if refresh == "drop_sources" else resources
    tables = tables_of(schema, chosen, prefix)
    if refresh == "drop_data":
        return Reset(empty=tuple(name for name in tables if schema.tables[name].seen_data))
    return Reset(drop=tables, versions=True)


def forgetting(state: State, source: str, resources: Sequence[str], refresh: Refresh) -> State:
    """The state without that of these resources, or without that of the source."""
    sources = dict(state.get("sources") or {})
    if source not in sources:
        return state
    if refresh == "drop_sources":
        sources[source] = {}
    else:
        own = dict(sources[source])
        kept = {name: each for name, each in (own.get("resources") or {}).items() if name not in resources}
        sources[source] = {**own, "resources": kept}
    return {**state, "sources": sources}


def resources_of(schema: Schema, wanted: Sequence[str], prefix: str) -> list[str]:
    """The resources of these names and patterns; all without any. Raises UsageError."""
    roots = (t for t in schema.tables.values() if t.parent is None and not t.name.startswith(prefix))
    known = list(dict.fromkeys(str(t.hints.get("resource") or t.name) for t in roots))
    for each in wanted:
        if not matching(each, known):
            raise UsageError(f"schema {schema.name} has no resource {each!r}{nearest(each, known)}")
    return [name for name in known if not wanted or any(matching(each, [name]) for each in wanted)]


def matching(rule: str, names: Iterable[str]) -> list[str]:
    """The names that a rule takes: `re:` and a pattern, or a name."""
    return [name for name in names if matches((rule,), name)]
