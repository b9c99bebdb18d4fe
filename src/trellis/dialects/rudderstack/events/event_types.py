"""The types of events, and which rows each gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import (
    Cell,
    JsonText,
    is_blank,
    json_text,
    scalar_cell,
    scalar_text,
)
from trellis.dialects.rudderstack.events.envelope import Envelope
from trellis.dialects.rudderstack.events.event_transformer import Event, EventTransformer, Rows
from trellis.dialects.rudderstack.events.flatten import Row
from trellis.dialects.rudderstack.identifiers.standard import (
    EXTRACT_COLUMNS,
    NOT_IN_USERS,
    NOT_IN_USERS_OF_LAKES,
    TOP_LEVEL_FIELDS,
    TYPE_COLUMNS,
    USERS,
)
from trellis.dialects.rudderstack.options import Options
from trellis.evolution.record_outcome import LostValue, Rejected

MAX_EVENT_NAMES: Final = 10_000
"""Names of events that are remembered."""
WITH_RECORDS: Final = ("cloud", "singer-protocol")
"""Categories of sources whose records have ids of their own."""

_NO_RECORD = "recordId cannot be empty for cloud sources events"
_NO_EVENT = "cannot create event table with empty event name, event name is missing in the payload"
_NO_TABLE = "Table name cannot be empty."
_ONE_IDENTIFIER = "either or both identifiers missing in mergeProperties"
_NO_IDENTIFIER = "mergeProperties contains null values for expected inputs"


class TrackTransformer(EventTransformer):
    """A row of `tracks` with the columns of all events, and one of the event's table with its properties."""

    empty_reason = "the table tracks is skipped, and the event has no table of its own"

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        self.event, self.event_text, self.record_id = map(self.names.standard, TYPE_COLUMNS["track"])
        self.id = self.default[0]
        self.allowed = frozenset(map(self.names.event, options.events))
        self.has_records = options.source_category in WITH_RECORDS
        self.skips = options.skip_tracks_table
        self.events: dict[str, tuple[str, str, str, Cell | None]] = {}

    def __call__(self, event: Event, context: Event, position: str, lost: list[LostValue]) -> Rows:
        name = event.get("event")
        if name.__class__ is str:
            column, table, refused, text = self.events.get(name) or self.event_names(name)
        else:
            column, table, refused, text = "", "", "", None
        first = table if self.skips and table else self.table
        row = self.base_row(event, context, position, first, lost)
        if column:
            row[self.event] = column
        if text is not None:
            row[self.event_text] = text
        elif name is not None:
            self.set_column(row, self.event_text, name, "event", first, lost)
        record = _record_of(event, context) if self.has_records else None
        if record is not None:
            row[self.record_id] = scalar_text(record)
        self.add_context(context, row, first, lost)

        rows: Rows = [] if self.skips else [(self.table, row)]
        if table and not refused:
            event_row = row.copy()
            if record is not None:
                del event_row[self.record_id]
                self.set_column(event_row, self.id, record, "recordId", table, lost)
            self.add_properties(event, context, event_row, table, lost)
            self.check_width(event_row, event)
            rows.append((table, event_row))
        else:
            self.keep_properties(event, context, row, refused, lost)
        self.finish_row(event, context, row, first, lost, None if record is None else "recordId")
        if self.merges and column:
            self.add_identities(rows, event)
        return rows

    def shared(self) -> dict[str, set[str]]:
        keys_by_name = super().shared()
        for name, (_, table, refused, _) in self.events.items():
            if table and not refused:
                keys_by_name.setdefault(f"table {table}", set()).add(name)
        return keys_by_name

    def event_names(self, name: str) -> tuple[str, str, str, Cell | None]:
        """Column `event`, the event's table, why it is excluded from it, column `event_text`."""
        if len(self.events) >= MAX_EVENT_NAMES:
            self.events.clear()
        column, table = self.names.event(name), self.names.table(name)
        refused = ""
        if self.allowed and column not in self.allowed:
            refused = "not allowed: the event is not among the events of the option events"
        elif table in self.closed:
            refused = "not allowed: there are as many event tables as the option max_events admits"
        naming = self.events[name] = column, table, refused, scalar_cell(name, self.parse)
        return naming

    def keep_properties(
        self, event: Event, context: Event, row: Row, refused: str, lost: list[LostValue]
    ) -> None:
        """Put the properties of an event without a table into the overflow column, or report them as lost."""
        parts = self.user_objects(event, context, self.table, lost)
        if refused and not self.skips:
            overflow: dict[str, Any] = {}
            for item, node in parts:
                for key, value in item.items():
                    if is_blank(value):
                        continue
                    if key in overflow and overflow[key] != value:
                        reason = f"collision: {node.path[0]}.{key} takes its place"
                        lost.append(LostValue(self.table, "", f"properties.{key}", overflow[key], reason))
                    overflow[key] = value
            if overflow:
                row[self.overflow] = JsonText(json_text(overflow))
            return
        reason = refused or "no event table: nothing is left of the event's name"
        lost.extend(LostValue(self.table, "", node.path[0], item, reason) for item, node in parts)


class IdentifyTransformer(EventTransformer):
    """A row of identifies, and one of users."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        provider, standard = options.warehouse, self.names.standard
        self.id, self.user_id = standard("id"), standard("user_id")
        self.users = self.names.standard_table(USERS)
        self.skips = options.skip_users_table or provider.stream
        left_out = NOT_IN_USERS if not options.users_anonymous_id else ("user_id",)
        self.left_out = tuple(map(standard, left_out + (NOT_IN_USERS_OF_LAKES if provider.lake else ())))
        # RudderStack reserves `timestamp`, not the name that it has where that is a word of the warehouse.
        timestamp = standard("timestamp")
        self.not_reserved = timestamp if provider.lake and timestamp != "timestamp" else ""

    def __call__(self, event: Event, context: Event, position: str, lost: list[LostValue]) -> Rows:
        row = self.base_row(event, context, position, self.table, lost)
        self.add_context(context, row, self.table, lost)
        reserved = self.add_properties(event, context, row, self.table, lost)
        user = row.get(self.user_id)
        users = None
        if not self.skips and user is not None and str(user).strip():
            users = row.copy()
            users[self.id] = user
            for column in self.left_out:
                users.pop(column, None)
            if self.not_reserved in reserved:
                users[self.not_reserved] = reserved[self.not_reserved]
        self.finish_row(event, context, row, self.table, lost)
        rows: Rows = [(self.table, row)]
        if self.merges:
            self.add_identities(rows, event)
        if users is not None:
            if self.stores and not self.options.warehouse.lake:
                users[self.full_event] = row[self.full_event]
            rows.append((self.users, users))
        return rows


class SingleColumnTransformer(EventTransformer):
    """A row of pages, screens, groups or aliases, with the one column that only such a table has."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        (self.key,) = TOP_LEVEL_FIELDS[kind]
        (self.own,) = map(self.names.standard, TYPE_COLUMNS[kind])

    def __call__(self, event: Event, context: Event, position: str, lost: list[LostValue]) -> Rows:
        row = self.base_row(event, context, position, self.table, lost)
        title = event.get(self.key)
        if self.key == "name" and is_blank(title):
            properties = event.get("properties")
            title = properties.get("name") if properties.__class__ is dict else None
        if title is not None:
            self.set_column(row, self.own, title, self.key, self.table, lost)
        self.add_context(context, row, self.table, lost)
        self.add_properties(event, context, row, self.table, lost)
        self.finish_row(event, context, row, self.table, lost)
        rows: Rows = [(self.table, row)]
        if self.merges and self.kind == "alias":
            self.add_rule(rows, ("user_id", event.get("userId")), ("user_id", title))
        elif self.merges:
            self.add_identities(rows, event)
        return rows


class ExtractTransformer(EventTransformer):
    """A record of a cloud source: a row of the table it names."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        super().__init__(kind, options, envelope, closed)
        self.id, self.received_at, self.event = map(self.names.standard, EXTRACT_COLUMNS)

    def __call__(self, event: Event, context: Event, position: str, lost: list[LostValue]) -> Rows:
        name = event.get("event")
        if is_blank(name) or (name.__class__ is str and name.isspace()):
            raise Rejected(_NO_EVENT)
        table = self.names.table(name) if name.__class__ is str else ""
        if not table:
            raise Rejected(_NO_TABLE)
        record = scalar_cell(event.get("recordId"), self.parse)
        if record is None:
            raise Rejected(_NO_RECORD)
        row: Row = {self.id: record}
        row[self.received_at] = self.envelope.read_values(event, position, table, lost).received
        self.set_column(row, self.event, name, "event", table, lost)
        self.add_context(context, row, table, lost)
        self.add_properties(event, context, row, table, lost)
        self.finish_row(event, context, row, table, lost)
        return [(table, row)]


class MergeTransformer(EventTransformer):
    """Two ids of one person."""

    empty_reason = "identities are not resolved here"

    def __call__(self, event: Event, context: Event, position: str, lost: list[LostValue]) -> Rows:
        rows: Rows = []
        if not self.merges:
            return rows
        identifiers = event.get("mergeProperties")
        if identifiers is None or (identifiers.__class__ is list and len(identifiers) != 2):
            raise Rejected(_ONE_IDENTIFIER)
        if identifiers.__class__ is not list or not all(map(_is_identifier, identifiers)):
            raise Rejected(_NO_IDENTIFIER)
        first, second = ((scalar_text(identifier["type"]), identifier["value"]) for identifier in identifiers)
        self.add_rule(rows, first, second)
        self.finish_row(event, context, {}, rows[0][0], lost)
        return rows


TRANSFORMERS: Final[Mapping[str, type[EventTransformer]]] = {
    "track": TrackTransformer,
    "identify": IdentifyTransformer,
    **dict.fromkeys(("page", "screen", "group", "alias"), SingleColumnTransformer),
    "extract": ExtractTransformer,
    "merge": MergeTransformer,
}


def _is_identifier(identifier: Any) -> bool:
    return identifier.__class__ is dict and all(scalar_text(identifier.get(key)) for key in ("type", "value"))


def _record_of(event: Event, context: Event) -> Any:
    """The id of a record, where the source gives versions of its data; None elsewhere. Raises Rejected."""
    sources = context.get("sources")
    if sources.__class__ is not dict or is_blank(sources.get("version")):
        return None
    record = event.get("recordId")
    if not scalar_text(record):
        raise Rejected(_NO_RECORD)
    return record
