"""The projections of ordinary events: what the transformers do with one at a time, for many at once.

Whatever is special about an event or about the options is left to the transformers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import is_blank, json_text
from trellis.dialects.rudderstack.events.event_transformer import EventTransformer
from trellis.dialects.rudderstack.events.event_types import (
    IdentifyTransformer,
    SingleColumnTransformer,
    TrackTransformer,
)
from trellis.dialects.rudderstack.events.flatten import KeyNode, KeyTree
from trellis.dialects.rudderstack.events.timestamps import ISO_TIME, Parse
from trellis.evolution.projection import (
    Constant,
    First,
    Moment,
    Path,
    Projection,
    Shifted,
    Source,
    TableRows,
    ValueRules,
)

_TEXTS: Final[tuple[Path, ...]] = tuple(
    (key,)
    for key in ("type", "messageId", "anonymousId", "userId", "rudderId", "channel", "request_ip", "writeKey")
)
_TIMES: Final[tuple[Path, ...]] = tuple(
    (key,) for key in ("receivedAt", "sentAt", "originalTimestamp", "timestamp")
)
_IP: Final[Path] = ("context", "ip")
_RECEIVED, _SENT, _ORIGINAL, _TIMESTAMP = _TIMES


def projection_of(transformer: EventTransformer, event: str | None, early: str) -> Projection | None:
    """The projection of events of a type, and of a name for track events; None if they are none of ours."""
    options = transformer.options
    if (
        transformer.merges
        or transformer.stores
        or transformer.added
        or options.bounded
        or options.strict_timestamps
    ):
        return None
    if options.allow_users_context_traits:  # a value with two columns
        return None
    make_rows = _MAKERS.get(type(transformer))
    rows = make_rows(transformer, event) if make_rows is not None else None
    if rows is None or any(
        transformer.max_columns and len(table_rows.columns) + len(table_rows.leaves) > transformer.max_columns
        for table_rows in rows
    ):
        return None
    names = {("event",)} if isinstance(transformer, TrackTransformer) else set()
    if isinstance(transformer, SingleColumnTransformer):
        names.add((transformer.key,))
    return Projection(
        rows=rows,
        texts=(*_TEXTS, *names, *_TIMES, _IP),
        flags=(("integrations", "All"),),
        required=(("messageId",), _RECEIVED),
        rules=_value_rules(transformer.parse, options.warehouse.text_beyond or options.warehouse.max_string),
        same=dict(_reserved(transformer)),
        early=(Moment((_SENT,)), Moment((_ORIGINAL,))),
        warning=early,
    )


@cache
def _value_rules(parse: Parse, longest: int | None) -> ValueRules:
    """The same rules for all event types: these can be read together."""
    return ValueRules(partial(_is_plain, parse=parse), parse, ISO_TIME, list_text, longest)


def _is_plain(text: str, parse: Parse) -> bool:
    """Whether a text is no time and holds more than white space."""
    return not text.isspace() and parse(text) is None


def list_text(value: list[Any]) -> str | None:
    return None if is_blank(value) else json_text(value)


def _default(transformer: EventTransformer) -> dict[str, Source]:
    id_, anonymous, user, sent, stamp, received, original, channel, ip, request_ip, passed_ip = (
        transformer.default
    )
    arrived = Moment((_RECEIVED,))
    sent_at, happened = Moment((_SENT, _RECEIVED)), Moment((_ORIGINAL, _RECEIVED))
    return {
        id_: First((("messageId",),)),
        anonymous: First((("anonymousId",),)),
        user: First((("userId",),)),
        sent: sent_at,
        stamp: Shifted(_TIMESTAMP, arrived, plus=happened, minus=sent_at),
        received: arrived,
        original: happened,
        channel: First((("channel",),)),
        ip: First((_IP, ("request_ip",))),
        request_ip: First((("request_ip",),)),
        passed_ip: First((_IP,)),
    }


def _track(transformer: EventTransformer, event: str | None) -> tuple[TableRows, ...] | None:
    assert isinstance(transformer, TrackTransformer)
    if event is None or transformer.has_records or transformer.skips:
        return None
    column, table, refused, text = transformer.events.get(event) or transformer.event_names(event)
    if not table or refused or text.__class__ is not str or not column:
        return None
    columns = {
        **_default(transformer),
        transformer.event: Constant(column),
        transformer.event_text: Constant(str(text)),
    }
    context = dict(_leaves(transformer.context_tree))
    return (
        TableRows(transformer.table, columns, context),
        TableRows(table, columns, {**context, **dict(_leaves(transformer.user_tree))}),
    )


def _single_column(transformer: EventTransformer, _: str | None) -> tuple[TableRows, ...]:
    assert isinstance(transformer, SingleColumnTransformer)
    title = (
        ((transformer.key,), ("properties", "name")) if transformer.key == "name" else ((transformer.key,),)
    )
    columns = {**_default(transformer), transformer.own: First(title)}
    return (
        TableRows(
            transformer.table,
            columns,
            dict((*_leaves(transformer.context_tree), *_leaves(transformer.user_tree))),
        ),
    )


def _identify(transformer: EventTransformer, _: str | None) -> tuple[TableRows, ...]:
    assert isinstance(transformer, IdentifyTransformer)
    columns = _default(transformer)
    leaves = dict((*_leaves(transformer.context_tree), *_leaves(transformer.user_tree)))
    rows = TableRows(transformer.table, columns, leaves)
    if transformer.skips:
        return (rows,)
    users = {name: source for name, source in columns.items() if name not in transformer.left_out}
    users[transformer.id] = First((("userId",),))
    return (rows, TableRows(transformer.users, users, leaves, where=("userId",)))


_MAKERS: Final = {
    TrackTransformer: _track,
    SingleColumnTransformer: _single_column,
    IdentifyTransformer: _identify,
}


def _leaves(tree: KeyTree) -> Iterator[tuple[Path, str]]:
    """The keys that have a column, alone or with others."""
    for node in _nodes(tree):
        for key, column in node.columns.items():
            path = (*node.path, str(key))
            if column is not None and path != _IP:
                yield path, column
        for special in node.special.values():
            if not (special.loss_reason or special.is_excluded or special.is_json) and special.path != _IP:
                yield special.path, special.column


def _reserved(transformer: EventTransformer) -> Iterator[tuple[Path, str]]:
    """The keys of standard columns, which lose nothing where the values are equal."""
    for node in _nodes(transformer.user_tree):
        for special in node.special.values():
            if special.loss_reason and special.column == getattr(transformer, "own", None):
                yield special.path, special.column


def _nodes(tree: KeyTree) -> Iterator[KeyNode]:
    todo = list(tree.roots.values())
    for node in todo:
        yield node
        todo += (inner for inner in node.inner.values() if inner is not None)
