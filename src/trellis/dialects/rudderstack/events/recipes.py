"""The recipes of ordinary events: what `calls` does with one at a time, for many at once.

Whatever is special about an event or about the options is left to `calls`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import blank, json_text
from trellis.dialects.rudderstack.events.event_transformer import Call
from trellis.dialects.rudderstack.events.event_types import Identify, Titled, Track
from trellis.dialects.rudderstack.events.flatten import Node, Tree
from trellis.dialects.rudderstack.events.timestamps import parse
from trellis.evolution.recipe import Constant, First, Moment, Path, Recipe, Rows, Shifted, Source

_TEXTS: Final[tuple[Path, ...]] = tuple(
    (key,)
    for key in ("type", "messageId", "anonymousId", "userId", "rudderId", "channel", "request_ip", "writeKey")
)
_TIMES: Final[tuple[Path, ...]] = tuple(
    (key,) for key in ("receivedAt", "sentAt", "originalTimestamp", "timestamp")
)
_IP: Final[Path] = ("context", "ip")
_RECEIVED, _SENT, _ORIGINAL, _TIMESTAMP = _TIMES


def recipe_of(call: Call, event: str | None, early: str) -> Recipe | None:
    """The recipe of events of one type, and of one name for track events; None if they are none of ours."""
    options = call.options
    if call.merges or call.stores or call.added or options.bounded or options.strict_timestamps:
        return None
    if options.allow_users_context_traits:  # a value with two columns
        return None
    made = _MAKERS.get(type(call))
    rows = made(call, event) if made is not None else None
    if rows is None or any(call.most and len(each.columns) + len(each.leaves) > call.most for each in rows):
        return None
    names = {("event",)} if isinstance(call, Track) else set()
    if isinstance(call, Titled):
        names.add((call.key,))
    return Recipe(
        rows=rows,
        texts=(*_TEXTS, *names, *_TIMES, _IP),
        flags=(("integrations", "All"),),
        required=(("messageId",), _RECEIVED),
        is_plain=is_plain,
        time_of=parse,
        list_text=list_text,
        same=dict(_reserved(call)),
        longest=options.warehouse.text_beyond or options.warehouse.max_string,
        early=(Moment((_SENT,)), Moment((_ORIGINAL,))),
        oddity=early,
    )


def is_plain(text: str) -> bool:
    """Whether a text is no time and holds more than white space."""
    return not text.isspace() and parse(text) is None


def list_text(value: list[Any]) -> str | None:
    return None if blank(value) else json_text(value)


def _default(call: Call) -> dict[str, Source]:
    id_, anonymous, user, sent, stamp, received, original, channel, ip, request_ip, passed_ip = call.default
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


def _track(call: Call, event: str | None) -> tuple[Rows, ...] | None:
    assert isinstance(call, Track)
    if event is None or call.has_records or call.skips:
        return None
    column, table, refused, text = call.events.get(event) or call.named(event)
    if not table or refused or text.__class__ is not str or not column:
        return None
    columns = {**_default(call), call.event: Constant(column), call.event_text: Constant(str(text))}
    context = dict(_leaves(call.context_tree))
    return (
        Rows(call.table, columns, context),
        Rows(table, columns, {**context, **dict(_leaves(call.user_tree))}),
    )


def _titled(call: Call, _: str | None) -> tuple[Rows, ...]:
    assert isinstance(call, Titled)
    title = ((call.key,), ("properties", "name")) if call.key == "name" else ((call.key,),)
    columns = {**_default(call), call.own: First(title)}
    return (Rows(call.table, columns, dict((*_leaves(call.context_tree), *_leaves(call.user_tree)))),)


def _identify(call: Call, _: str | None) -> tuple[Rows, ...]:
    assert isinstance(call, Identify)
    columns = _default(call)
    leaves = dict((*_leaves(call.context_tree), *_leaves(call.user_tree)))
    rows = Rows(call.table, columns, leaves)
    if call.skips:
        return (rows,)
    users = {name: source for name, source in columns.items() if name not in call.left_out}
    users[call.id] = First((("userId",),))
    return (rows, Rows(call.users, users, leaves, where=("userId",)))


_MAKERS: Final = {Track: _track, Titled: _titled, Identify: _identify}


def _leaves(tree: Tree) -> Iterator[tuple[Path, str]]:
    """The keys that have a column, of their own or with others."""
    for node in _nodes(tree):
        for key, column in node.columns.items():
            path = (*node.path, str(key))
            if column is not None and path != _IP:
                yield path, column
        for odd in node.odd.values():
            if not (odd.why or odd.refused or odd.whole) and odd.path != _IP:
                yield odd.path, odd.column


def _reserved(call: Call) -> Iterator[tuple[Path, str]]:
    """The keys that land on a standard column: nothing is lost of those that say the same."""
    for node in _nodes(call.user_tree):
        for odd in node.odd.values():
            if odd.why and odd.column == getattr(call, "own", None):
                yield odd.path, odd.column


def _nodes(tree: Tree) -> Iterator[Node]:
    todo = list(tree.roots.values())
    for node in todo:
        yield node
        todo += (inner for inner in node.inner.values() if inner is not None)
