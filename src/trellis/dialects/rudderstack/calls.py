"""The types of events, and which rows each gives (spec rudderstack.md, sections 3.1 to 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.envelope import Envelope
from trellis.dialects.rudderstack.flatten import Node, Path, Row, Shape, Tree, json_paths, same, spread
from trellis.dialects.rudderstack.names import Names
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.standard import (
    DEFAULT,
    EXTRACT,
    FULL_EVENT,
    MERGE_RULE,
    MERGE_RULES,
    NOT_IN_USERS,
    NOT_IN_USERS_OF_LAKES,
    OWN,
    SECTIONS,
    SINGLE,
    STAMPS,
    TABLES,
    USERS,
    known,
)
from trellis.dialects.rudderstack.values import (
    ArrayText,
    Cell,
    JsonText,
    LongText,
    blank,
    json_text,
    plain,
    scalar,
    scalar_text,
    spelled,
)
from trellis.evolution.dialect import Lost, Rejected

MEMORY: Final = 10_000
"""Names of events that are remembered."""
CLOUD_DEPTH: Final = 4
WITH_RECORDS: Final = ("cloud", "singer-protocol")
"""Categories of sources whose records have ids of their own."""

Event = Mapping[str, Any]
Rows = list[tuple[str, Mapping[str, Any]]]
Pair = tuple[str, Any]
Part = tuple[dict[str, Any], Node]

_CONTEXT: Path = ("context",)
_CONTEXT_TRAITS: Path = ("context", "traits")
_NO_RECORD = "recordId cannot be empty for cloud sources events"
_NO_EVENT = "cannot create event table with empty event name, event name is missing in the payload"
_NO_TABLE = "Table name cannot be empty."
_ONE_IDENTIFIER = "either or both identifiers missing in mergeProperties"
_NO_IDENTIFIER = "mergeProperties contains null values for expected inputs"
_NOT_PLAIN = "not plain: a standard column takes no array and no object"
_ECHOES = ("category", "event", "name")
"""Fields at the top that SDKs send beside a property of the same value."""


class Call:
    """One type of event, under the options of a destination or of a single event."""

    nothing = ""
    """Why there may be no row at all."""

    def __init__(self, kind: str, options: Options, envelope: Envelope, closed: frozenset[str]) -> None:
        provider = options.warehouse
        self.kind, self.options, self.envelope, self.closed = kind, options, envelope, closed
        self.parse = envelope.parse
        self.names = names = Names(
            provider,
            options.underscore_divide_numbers,
            options.use_blendo_casing,
            options.skip_reserved_keywords_escaping,
        )
        self.table = names.standard_table(TABLES.get(kind, kind))
        self.default = tuple(map(names.standard, DEFAULT))
        self.known = known(kind)
        self.overflow = names.standard(options.overflow)
        stamps = STAMPS if provider.loaded_at else STAMPS[:1]
        self.most = None if provider.lake else options.max_columns - len(stamps)
        self.merges = options.identity_resolution and provider.identities
        self.stores = options.store_full_event and kind in TABLES
        self.full_event = names.standard(FULL_EVENT)
        self.full_class: type[str] = LongText if provider.full_event == "text" else ArrayText
        if provider.full_event == provider.json_type == "json":
            self.full_class = JsonText

        own = EXTRACT if kind == "extract" else (*DEFAULT, *OWN.get(kind, ()))
        reserved = {*map(names.standard, (*own, *stamps))}
        if self.stores:
            reserved.add(self.full_event)
        if options.bounded:
            reserved.add(self.overflow)
        json = json_paths(options.json_paths, kind) if provider.json_paths else frozenset()
        json_class = JsonText if provider.json_type == "json" else ArrayText
        depth = CLOUD_DEPTH if options.source_category == "cloud" else None
        allowed = {names.column(each.replace(".", "_")) for each in options.properties} or None
        from_traits = options.allow_users_context_traits
        sections = [(path, "") for path in SECTIONS[kind] if path != _CONTEXT_TRAITS or from_traits]
        self.context_tree = Tree(
            Shape(names, reserved, {("context", "ip")}, json, json_class, depth), [(_CONTEXT, "context_")]
        )
        self.user_tree = Tree(
            Shape(names, reserved, (), json, json_class, depth, allowed, "context"),
            sections,
        )
        self.sections = tuple(self.user_tree.roots.values())
        self.added = _added(options) if options.populate_src_dest_info else {}

    def __call__(self, event: Event, context: Event, position: str, lost: list[Lost]) -> Rows:
        """The rows in their order. Adds to `lost`. Raises Rejected."""
        raise NotImplementedError

    def base(self, event: Event, context: Event, position: str, table: str, lost: list[Lost]) -> Row:
        """The standard columns that nearly every table has."""
        id_, anonymous, user, sent, stamp, received, original, channel, ip, request_ip, passed_ip = (
            self.default
        )
        get = event.get
        message, sent_at, timestamp, received_at, original_timestamp = self.envelope.read(
            event, position, table, lost
        )
        row: Row = {id_: message}
        value = get("anonymousId")
        if value.__class__ is str and value > "!" and value[4:5] != "-":
            row[anonymous] = value
        elif value is not None:
            self.single(row, anonymous, value, "anonymousId", table, lost)
        value = get("userId")
        if value.__class__ is str and value > "!" and value[4:5] != "-":
            row[user] = value
        elif value is not None:
            self.single(row, user, value, "userId", table, lost)
        row[sent] = sent_at
        row[stamp] = timestamp
        row[received] = received_at
        row[original] = original_timestamp
        value = get("channel")
        if value.__class__ is str and value > "!" and value[4:5] != "-":
            row[channel] = value
        elif value is not None:
            self.single(row, channel, value, "channel", table, lost)
        passed, request = context.get("ip"), get("request_ip")
        if passed.__class__ is str and passed > "!" and passed[4:5] != "-":
            row[ip] = passed
            if request == passed:
                row[request_ip] = passed
            else:
                self.single(row, request_ip, request, "request_ip", table, lost)
            row[passed_ip] = passed
        elif passed is not None or request is not None:
            self.single(row, ip, request if blank(passed) else passed, "", table, lost)
            self.single(row, request_ip, request, "request_ip", table, lost)
            self.single(row, passed_ip, passed, "", table, lost)
        return row

    def single(self, row: Row, column: str, value: Any, key: str, table: str, lost: list[Lost]) -> None:
        """Set a standard column. What is blank, an array or an object sets none; `key` is where it stood."""
        cell = scalar(value, self.parse)
        if cell is not None:
            row[column] = cell
        elif key and value and not blank(value):
            lost.append(Lost(table, column, key, value, _NOT_PLAIN))

    def add_context(self, context: Event, row: Row, table: str, lost: list[Lost]) -> None:
        tree = self.context_tree
        traits = context.get("traits")
        if traits.__class__ is dict and ("0" in traits or "1" in traits):
            text = spelled(traits)
            if text is not None and _CONTEXT_TRAITS not in tree.shape.json:
                context = {**context, "traits": text}
        if context.get("ip").__class__ is list and self.kind != "extract" and not blank(context["ip"]):
            context = dict(context)
            lost.append(Lost(table, self.default[8], "context.ip", context.pop("ip"), _NOT_PLAIN))
        if self.added:
            context = {**context, **self.added}
        if context:
            spread(((context, tree.roots[_CONTEXT]),), tree, row, table, self.parse, lost, {})

    def add_properties(self, event: Event, context: Event, row: Row, table: str, lost: list[Lost]) -> None:
        """Flatten what the user says beyond the context."""
        parts = self.parts(event, context, table, lost)
        if parts:
            over: dict[str, Any] = {}
            spread(parts, self.user_tree, row, table, self.parse, lost, over)
            if over:
                row[self.overflow] = JsonText(json_text(over))

    def parts(self, event: Event, context: Event, table: str, lost: list[Lost]) -> list[Part]:
        """The objects of the user that are not empty, with the nodes of their keys."""
        found = []
        for node in self.sections:
            path = node.path
            item = event.get(path[0]) if len(path) == 1 else context.get(path[1])
            if item is not None and item.__class__ is not dict:
                item = plain(item)
            if item.__class__ is dict:
                if item and not self.is_text(path, item, table, lost):
                    found.append((item, node))
            elif item is not None and path != _CONTEXT_TRAITS and not blank(item):
                reason = f"not an object: {path[0]} must be one to become columns"
                lost.append(Lost(table, "", path[0], item, reason))
        return found

    def is_text(self, path: Path, item: dict[str, Any], table: str, lost: list[Lost]) -> bool:
        """Whether a section is text that came as an object of its characters; such is no section."""
        if path != _CONTEXT_TRAITS and (self.kind != "group" or path != ("traits",)):
            return False
        if ("0" not in item and "1" not in item) or spelled(item) is None:
            return False
        if path != _CONTEXT_TRAITS:
            reason = f"not an object: {path[0]} is text, a character to a key"
            lost.append(Lost(table, "", path[0], item, reason))
        return True

    def finish(
        self, event: Event, context: Event, row: Row, table: str, lost: list[Lost], also: str | None = None
    ) -> None:
        """What comes last into the first row of an event, and what is lost at its top.

        `also` is a field there that is not always lost, but here it was taken.
        """
        if not self.known.issuperset(event):
            self.look_at_top(event, context, row, table, lost, also)
        if self.stores:
            row[self.full_event] = self.full_class(json_text(event))
        self.check(row, event)

    def check(self, row: Row, event: Event) -> None:
        if self.most is not None and len(row) > self.most and event.get("channel") != "sources":
            raise Rejected(
                f"{self.options.provider.lower()} transformer: Too many columns outputted from the event"
            )

    def look_at_top(
        self, event: Event, context: Event, row: Row, table: str, lost: list[Lost], also: str | None
    ) -> None:
        for key, value in event.items():
            if key in self.known or key == also or blank(value) or value == {}:
                continue
            if key in _ECHOES and any(same(value, cell) for cell in row.values()):
                continue
            if key == "traits" and value == context.get("traits"):
                continue
            lost.append(Lost(table, "", key, value, "top level: only properties and context become columns"))

    def add_rule(self, rows: Rows, first: Pair, second: Pair) -> None:
        """Add the row that says that two ids are one person's; one id alone is half a rule."""
        values = [(kind, scalar_text(value)) for kind, value in (first, second)]
        if not values[0][1]:
            return
        cells = [cell for kind, value in values if value for cell in (kind, value)]
        columns = map(self.names.standard, MERGE_RULE)
        rows.append((self.names.standard_table(MERGE_RULES), dict(zip(columns, cells, strict=False))))

    def add_identities(self, rows: Rows, event: Event) -> None:
        anonymous, user = event.get("anonymousId"), event.get("userId")
        if scalar_text(anonymous):
            self.add_rule(rows, ("anonymous_id", anonymous), ("user_id", user))
        else:
            self.add_rule(rows, ("user_id", user), ("user_id", None))


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


def _added(options: Options) -> dict[str, str]:
    """What the context gains."""
    said = {
        "sourceId": options.source_id,
        "sourceType": options.source_type,
        "destinationId": options.destination_id,
        "destinationType": options.destination_type,
    }
    return {key: value for key, value in said.items() if value}
