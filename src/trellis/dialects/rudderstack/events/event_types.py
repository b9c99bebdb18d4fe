"""The types of events, and which rows each gives (spec rudderstack.md, sections 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import Cell, JsonText, blank, json_text, scalar, scalar_text
from trellis.dialects.rudderstack.events.envelope import Envelope
from trellis.dialects.rudderstack.events.event_transformer import Call, Event, Rows
from trellis.dialects.rudderstack.events.flatten import Row
from trellis.dialects.rudderstack.naming.standard import (
    EXTRACT,
    NOT_IN_USERS,
    NOT_IN_USERS_OF_LAKES,
    OWN,
    SINGLE,
    USERS,
)
from trellis.dialects.rudderstack.options import Options
from trellis.evolution.record import Lost, Rejected

MEMORY: Final = 10_000
"""Names of events that are remembered."""
WITH_RECORDS: Final = ("cloud", "singer-protocol")
"""Categories of sources whose records have ids of their own."""

_NO_RECORD = "recordId cannot be empty for cloud sources events"
_NO_EVENT = "cannot create event table with empty event name, event name is missing in the payload"
_NO_TABLE = "Table name cannot be empty."
_ONE_IDENTIFIER = "either or both identifiers missing in mergeProperties"
_NO_IDENTIFIER = "mergeProperties contains null values for expected inputs"


class Track(Call):
    """A row of tracks with what all events have, and one of the event's own table with its properties."""

    nothing = "the table tracks is skipped, and the event has no table of its own"

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        self.event, self.event_text, self.record_id = map(self.names.standard, OWN["track"])
        self.id = self.default[0]
        self.allowed = frozenset(map(self.names.event, options.events))
        self.has_records = options.source_category in WITH_RECORDS
        self.skips = options.skip_tracks_table
        self.events: dict[str, tuple[str, str, str, Cell | None]] = {}

    def __call__(self, event: Event, context: Event, position: str, lost: list[Lost]) -> Rows:
        name = event.get("event")
        if name.__class__ is str:
            column, table, refused, text = self.events.get(name) or self.named(name)
        else:
            column, table, refused, text = "", "", "", None
        first = table if self.skips and table else self.table
        row = self.base(event, context, position, first, lost)
        row[self.event] = column
        if text is not None:
            row[self.event_text] = text
        elif name is not None:
            self.single(row, self.event_text, name, "event", first, lost)
        record = _record_of(event, context) if self.has_records else None
        if record is not None:
            row[self.record_id] = scalar_text(record)
        self.add_context(context, row, first, lost)

        rows: Rows = [] if self.skips else [(self.table, row)]
        if table and not refused:
            own = row.copy()
            if record is not None:
                del own[self.record_id]
                self.single(own, self.id, record, "recordId", table, lost)
            self.add_properties(event, context, own, table, lost)
            self.check(own, event)
            rows.append((table, own))
        else:
            self.without_table(event, context, row, refused, lost)
        self.finish(event, context, row, first, lost, None if record is None else "recordId")
        if self.merges and column:
            self.add_identities(rows, event)
        return rows

    def shared(self) -> dict[str, set[str]]:
        found = super().shared()
        for name, (_, table, refused, _) in self.events.items():
            if table and not refused:
                found.setdefault(f"table {table}", set()).add(name)
        return found

    def named(self, name: str) -> tuple[str, str, str, Cell | None]:
        """What column `event` holds, the event's table, why it may not have it, what `event_text` holds."""
        if len(self.events) >= MEMORY:
            self.events.clear()
        column, table = self.names.event(name), self.names.table(name)
        refused = ""
        if self.allowed and column not in self.allowed:
            refused = "not allowed: the event is not among the events of the option events"
        elif table in self.closed:
            refused = "not allowed: there are as many event tables as the option max_events admits"
        found = self.events[name] = column, table, refused, scalar(name, self.parse)
        return found

    def without_table(self, event: Event, context: Event, row: Row, refused: str, lost: list[Lost]) -> None:
        """What becomes of the properties of an event that has no table."""
        parts = self.parts(event, context, self.table, lost)
        if refused and not self.skips:
            over: dict[str, Any] = {}
            for item, node in parts:
                for key, value in item.items():
                    if blank(value):
                        continue
                    if key in over and over[key] != value:
                        reason = f"collision: {node.path[0]}.{key} takes its place"
                        lost.append(Lost(self.table, "", f"properties.{key}", over[key], reason))
                    over[key] = value
            if over:
                row[self.overflow] = JsonText(json_text(over))
            return
        reason = refused or "no event table: nothing is left of the event's name"
        lost.extend(Lost(self.table, "", node.path[0], item, reason) for item, node in parts)


class Identify(Call):
    """A row of identifies, and one of users."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        provider, standard = options.warehouse, self.names.standard
        self.id, self.user_id = standard("id"), standard("user_id")
        self.users = self.names.standard_table(USERS)
        self.skips = options.skip_users_table or provider.stream
        left_out = NOT_IN_USERS if not options.users_anonymous_id else ("user_id",)
        self.left_out = tuple(map(standard, left_out + (NOT_IN_USERS_OF_LAKES if provider.lake else ())))

    def __call__(self, event: Event, context: Event, position: str, lost: list[Lost]) -> Rows:
        row = self.base(event, context, position, self.table, lost)
        self.add_context(context, row, self.table, lost)
        self.add_properties(event, context, row, self.table, lost)
        user = row.get(self.user_id)
        users = None
        if not self.skips and user is not None and str(user).strip():
            users = row.copy()
            users[self.id] = user
            for column in self.left_out:
                users.pop(column, None)
        self.finish(event, context, row, self.table, lost)
        rows: Rows = [(self.table, row)]
        if self.merges:
            self.add_identities(rows, event)
        if users is not None:
            rows.append((self.users, users))
        return rows


class Titled(Call):
    """A row of pages, screens, groups or aliases, with the one column that such a table has of its own."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        (self.key,) = SINGLE[kind]
        (self.own,) = map(self.names.standard, OWN[kind])

    def __call__(self, event: Event, context: Event, position: str, lost: list[Lost]) -> Rows:
        row = self.base(event, context, position, self.table, lost)
        title = event.get(self.key)
        if self.key == "name" and blank(title):
            properties = event.get("properties")
            title = properties.get("name") if properties.__class__ is dict else None
        if title is not None:
            self.single(row, self.own, title, self.key, self.table, lost)
        self.add_context(context, row, self.table, lost)
        self.add_properties(event, context, row, self.table, lost)
        self.finish(event, context, row, self.table, lost)
        rows: Rows = [(self.table, row)]
        if self.merges and self.kind == "alias":
            self.add_rule(rows, ("user_id", event.get("userId")), ("user_id", title))
        elif self.merges:
            self.add_identities(rows, event)
        return rows


class Extract(Call):
    """A record of a cloud source: a row of the table it names."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        self.id, self.received_at, self.event = map(self.names.standard, EXTRACT)

    def __call__(self, event: Event, context: Event, position: str, lost: list[Lost]) -> Rows:
        name = event.get("event")
        if blank(name) or (name.__class__ is str and name.isspace()):
            raise Rejected(_NO_EVENT)
        table = self.names.table(name) if name.__class__ is str else ""
        if not table:
            raise Rejected(_NO_TABLE)
        record = scalar(event.get("recordId"), self.parse)
        if record is None:
            raise Rejected(_NO_RECORD)
        row: Row = {self.id: record}
        row[self.received_at] = self.envelope.read(event, position, table, lost).received
        self.single(row, self.event, name, "event", table, lost)
        self.add_context(context, row, table, lost)
        self.add_properties(event, context, row, table, lost)
        self.finish(event, context, row, table, lost)
        return [(table, row)]


class Merge(Call):
    """Two ids of one person."""

    nothing = "identities are not resolved here"

    def __call__(self, event: Event, context: Event, position: str, lost: list[Lost]) -> Rows:
        rows: Rows = []
        if not self.merges:
            return rows
        said = event.get("mergeProperties")
        if said is None or (said.__class__ is list and len(said) != 2):
            raise Rejected(_ONE_IDENTIFIER)
        if said.__class__ is not list or not all(map(_is_identifier, said)):
            raise Rejected(_NO_IDENTIFIER)
        first, second = ((scalar_text(each["type"]), each["value"]) for each in said)
        self.add_rule(rows, first, second)
        self.finish(event, context, {}, rows[0][0], lost)
        return rows


CALLS: Final[Mapping[str, type[Call]]] = {
    "track": Track,
    "identify": Identify,
    **dict.fromkeys(("page", "screen", "group", "alias"), Titled),
    "extract": Extract,
    "merge": Merge,
}


def _is_identifier(said: Any) -> bool:
    return said.__class__ is dict and all(scalar_text(said.get(key)) for key in ("type", "value"))


def _record_of(event: Event, context: Event) -> Any:
    """The id of a record, where the source gives versions of its data; None elsewhere. Raises Rejected."""
    sources = context.get("sources")
    if sources.__class__ is not dict or blank(sources.get("version")):
        return None
    record = event.get("recordId")
    if not scalar_text(record):
        raise Rejected(_NO_RECORD)
    return record
