"""What a run takes away before it loads, and what `drop` takes away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from trellis.destinations.base import Reset
from trellis.errors import UsageError, nearest
from trellis.evolution.dialect import Dialect
from trellis.evolution.dialect.metadata import State
from trellis.pipelines.loading.job import LoadJob
from trellis.schema.model import Schema
from trellis.schema.rules import matches

Refresh = Literal["drop_sources", "drop_resources", "drop_data"]
REFRESHES: tuple[Refresh, ...] = get_args(Refresh)


def drop_job(schema: Schema, state: State, dialect: Dialect, names: Sequence[str]) -> LoadJob:
    """A job that drops the tables of some resources, or of all, and their state. Raises UsageError.

    What the source itself keeps in its state stays.
    """
    prefix = dialect.capabilities.system_prefix
    reset = reset_of(schema, resources_of(schema, names, prefix), "drop_resources", prefix)
    remembered = ((state.get("sources") or {}).get(schema.name) or {}).get("resources") or {}
    sources = forgetting(state, schema.name, chosen_of(names, remembered), "drop_resources").get("sources")
    return LoadJob(
        (),
        schema.name,
        prepared=lambda stored: dialect.tables.drop_tables(stored, reset.drop),
        reset=reset,
        state=dialect.metadata.next_state(state, schema.name, sources),
    )


def refresh_of(word: str | None) -> Refresh | None:
    """Raises UsageError."""
    for mode in REFRESHES:
        if word == mode:
            return mode
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
        source_state = dict(sources[source])
        kept = {
            name: resource_state
            for name, resource_state in (source_state.get("resources") or {}).items()
            if name not in resources
        }
        sources[source] = {**source_state, "resources": kept}
    return {**state, "sources": sources}


def resources_of(schema: Schema, names: Sequence[str], prefix: str) -> list[str]:
    """The resources of these names and patterns; all without any. Raises UsageError."""
    roots = (t for t in schema.tables.values() if t.parent is None and not t.name.startswith(prefix))
    known = list(dict.fromkeys(str(t.hints.get("resource") or t.name) for t in roots))
    for rule in names:
        if not matching(rule, known):
            raise UsageError(f"schema {schema.name} has no resource {rule!r}{nearest(rule, known)}")
    return chosen_of(names, known)


def chosen_of(rules: Sequence[str], names: Iterable[str]) -> list[str]:
    """The names that one of the rules takes; all of them without a rule."""
    return [name for name in names if not rules or any(matching(rule, [name]) for rule in rules)]


def matching(rule: str, names: Iterable[str]) -> list[str]:
    """The names that a rule takes: `re:` and a pattern, or a name."""
    return [name for name in names if matches((rule,), name)]
