"""What the transformers of all types of events share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid5

from trellis.dialects.rudderstack.events.cells import (
    ArrayText,
    Cell,
    JsonText,
    LongText,
    is_blank,
    join_spelled,
    json_text,
    scalar_cell,
    scalar_text,
    to_plain,
)
from trellis.dialects.rudderstack.events.envelope import Envelope
from trellis.dialects.rudderstack.events.flatten import (
    KeyNode,
    KeyRules,
    KeyTree,
    Path,
    Row,
    flatten_sections,
    json_paths,
)
from trellis.dialects.rudderstack.identifiers.names import Names
from trellis.dialects.rudderstack.identifiers.standard import (
    DEFAULT_COLUMNS,
    DISCARD_COLUMNS,
    DISCARDS,
    EXTRACT_COLUMNS,
    FULL_EVENT,
    LOAD_TIME_COLUMNS,
    MERGE_RULE_COLUMNS,
    MERGE_RULES,
    SECTIONS,
    TABLES,
    TYPE_COLUMNS,
    known_fields,
)
from trellis.dialects.rudderstack.options import Options
from trellis.evolution.record_outcome import LostValue, Rejected

LONGEST_PAIR: Final = 512
"""Characters of a type and a value of a merge rule together."""
CLOUD_DEPTH: Final = 4
"""Objects of cloud sources that are so many keys deep are kept as JSON."""

Event = Mapping[str, Any]
Rows = list[tuple[str, Mapping[str, Any]]]
Pair = tuple[str, Any]
Part = tuple[dict[str, Any], KeyNode]

_PAIRS: Final = UUID("0f7f0a53-6c0e-4a0b-9a3e-8f1f6b1b6c55")
_CONTEXT: Path = ("context",)
_CONTEXT_TRAITS: Path = ("context", "traits")
_NOT_PLAIN = "not plain: a standard column takes no array and no object"
_ECHOES = ("category", "event", "name")
"""Fields at the top that SDKs send beside a property of the same value."""


class EventTransformer:
    """One type of event, under the options of a destination or of a single event."""

    empty_reason = ""
    """Why an event of this type may give no row."""

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
        self.default = tuple(map(names.standard, DEFAULT_COLUMNS))
        self.known = known_fields(kind)
        self.overflow = names.standard(options.overflow)
        stamps = LOAD_TIME_COLUMNS if provider.loaded_at else LOAD_TIME_COLUMNS[:1]
        self.max_columns = None if provider.lake else options.max_columns - len(stamps)
        self.merges = options.identity_resolution and provider.identities
        self.stores = options.store_full_event and kind in TABLES
        self.full_event = names.standard(FULL_EVENT)
        self.full_class: type[str] = LongText if provider.full_event == "text" else ArrayText
        if provider.full_event == provider.json_type == "json":
            self.full_class = JsonText

        standard_columns = (
            EXTRACT_COLUMNS if kind == "extract" else (*DEFAULT_COLUMNS, *TYPE_COLUMNS.get(kind, ()))
        )
        reserved = {*map(names.standard, (*standard_columns, *stamps))}
        if self.stores:
            reserved.add(self.full_event)
        if options.bounded:
            reserved.add(self.overflow)
        json = json_paths(options.json_paths, kind) if provider.json_paths else frozenset()
        json_class = JsonText if provider.json_type == "json" else ArrayText
        depth = CLOUD_DEPTH if options.source_category == "cloud" else None
        allowed = {names.column(property_.replace(".", "_")) for property_ in options.properties} or None
        from_traits = options.allow_users_context_traits
        sections = [(path, "") for path in SECTIONS[kind] if path != _CONTEXT_TRAITS or from_traits]
        self.context_tree = KeyTree(
            KeyRules(names, reserved, {("context", "ip")}, json, json_class, depth), [(_CONTEXT, "context_")]
        )
        self.user_tree = KeyTree(
            KeyRules(names, reserved, (), json, json_class, depth, allowed, "context"), sections
        )
        self.sections = tuple(self.user_tree.roots.values())
        self.added = _added(options) if options.populate_src_dest_info else {}

    def __call__(self, event: Event, context: Event, position: str, lost: list[LostValue]) -> Rows:
        """The rows in their order. Adds to `lost`. Raises Rejected."""
        raise NotImplementedError

    def shared(self) -> dict[str, set[str]]:
        """The original names of each table and column that several share."""
        keys_by_name: dict[str, set[str]] = {}
        for tree in (self.context_tree, self.user_tree):
            for name, paths in tree.shared().items():
                keys_by_name.setdefault(name, set()).update(paths)
        return keys_by_name

    def base_row(self, event: Event, context: Event, position: str, table: str, lost: list[LostValue]) -> Row:
        """The standard columns that nearly every table has."""
        id_, anonymous, user, sent, stamp, received, original, channel, ip, request_ip, passed_ip = (
            self.default
        )
        get = event.get
        message, sent_at, timestamp, received_at, original_timestamp = self.envelope.read_values(
            event, position, table, lost
        )
        row: Row = {id_: message}
        value = get("anonymousId")
        if value.__class__ is str and value > "!" and value[4:5] != "-":
            row[anonymous] = value
        elif value is not None:
            self.set_column(row, anonymous, value, "anonymousId", table, lost)
        value = get("userId")
        if value.__class__ is str and value > "!" and value[4:5] != "-":
            row[user] = value
        elif value is not None:
            self.set_column(row, user, value, "userId", table, lost)
        row[sent] = sent_at
        row[stamp] = timestamp
        row[received] = received_at
        row[original] = original_timestamp
        value = get("channel")
        if value.__class__ is str and value > "!" and value[4:5] != "-":
            row[channel] = value
        elif value is not None:
            self.set_column(row, channel, value, "channel", table, lost)
        passed, request = context.get("ip"), get("request_ip")
        if passed.__class__ is str and passed > "!" and passed[4:5] != "-":
            row[ip] = passed
            if request == passed:
                row[request_ip] = passed
            else:
                self.set_column(row, request_ip, request, "request_ip", table, lost)
            row[passed_ip] = passed
        elif passed is not None or request is not None:
            self.set_column(row, ip, request if is_blank(passed) else passed, "", table, lost)
            self.set_column(row, request_ip, request, "request_ip", table, lost)
            self.set_column(row, passed_ip, passed, "", table, lost)
        return row

    def set_column(
        self, row: Row, column: str, value: Any, key: str, table: str, lost: list[LostValue]
    ) -> None:
        """Set a standard column. A blank value, an array or an object sets none; `key` is its field."""
        cell = scalar_cell(value, self.parse)
        if cell is not None:
            row[column] = cell
        elif key and value and not is_blank(value):
            lost.append(LostValue(table, column, key, value, _NOT_PLAIN))

    def add_context(self, context: Event, row: Row, table: str, lost: list[LostValue]) -> None:
        tree = self.context_tree
        traits = context.get("traits")
        if traits.__class__ is dict and ("0" in traits or "1" in traits):
            text = join_spelled(traits)
            if text is not None and _CONTEXT_TRAITS not in tree.rules.json:
                context = {**context, "traits": text}
        if context.get("ip").__class__ is list and self.kind != "extract" and not is_blank(context["ip"]):
            context = dict(context)
            lost.append(LostValue(table, self.default[8], "context.ip", context.pop("ip"), _NOT_PLAIN))
        if self.added:
            context = {**context, **self.added}
        if context:
            flatten_sections(((context, tree.roots[_CONTEXT]),), tree, row, table, self.parse, lost, {})

    def add_properties(
        self, event: Event, context: Event, row: Row, table: str, lost: list[LostValue]
    ) -> Row:
        """Flatten the user's objects beside the context. Returns what they hold for reserved columns."""
        parts = self.user_objects(event, context, table, lost)
        if not parts:
            return {}
        overflow: dict[str, Any] = {}
        reserved = flatten_sections(parts, self.user_tree, row, table, self.parse, lost, overflow)
        if overflow:
            row[self.overflow] = JsonText(json_text(overflow))
        return reserved

    def user_objects(self, event: Event, context: Event, table: str, lost: list[LostValue]) -> list[Part]:
        """The objects of the user that are not empty, with the nodes of their keys."""
        objects = []
        for node in self.sections:
            path = node.path
            item = event.get(path[0]) if len(path) == 1 else context.get(path[1])
            if item is not None and item.__class__ is not dict:
                item = to_plain(item)
            if item.__class__ is dict:
                if item and not self.is_spelled_text(path, item, table, lost):
                    objects.append((item, node))
            elif item is not None and path != _CONTEXT_TRAITS and not is_blank(item):
                reason = f"not an object: {path[0]} must be one to become columns"
                lost.append(LostValue(table, "", path[0], item, reason))
        return objects

    def is_spelled_text(self, path: Path, item: dict[str, Any], table: str, lost: list[LostValue]) -> bool:
        """Whether a section is a text that was sent as an object of its characters."""
        if path != _CONTEXT_TRAITS and (self.kind != "group" or path != ("traits",)):
            return False
        if ("0" not in item and "1" not in item) or join_spelled(item) is None:
            return False
        if path != _CONTEXT_TRAITS:
            reason = f"not an object: {path[0]} is text, a character to a key"
            lost.append(LostValue(table, "", path[0], item, reason))
        return True

    def finish_row(
        self,
        event: Event,
        context: Event,
        row: Row,
        table: str,
        lost: list[LostValue],
        also: str | None = None,
    ) -> None:
        """Set the last columns of the first row of an event, and report its unmapped fields.

        `also` is a field that was mapped for this event alone.
        """
        if not self.known.issuperset(event):
            self.report_unmapped_fields(event, context, row, table, lost, also)
        if self.stores:
            row[self.full_event] = self.full_class(json_text(event))
        self.check_width(row, event)

    def check_width(self, row: Row, event: Event) -> None:
        if self.max_columns is not None and len(row) > self.max_columns and event.get("channel") != "sources":
            why = f"{self.options.provider.lower()} transformer: Too many columns outputted from the event"
            raise Rejected(why, why)

    def report_unmapped_fields(
        self, event: Event, context: Event, row: Row, table: str, lost: list[LostValue], also: str | None
    ) -> None:
        for key, value in event.items():
            if key in self.known or key == also or is_blank(value) or value == {}:
                continue
            if key in _ECHOES and value in row.values():
                continue
            if key == "traits" and value == context.get("traits"):
                continue
            lost.append(
                LostValue(table, "", key, value, "top level: only properties and context become columns")
            )

    def add_rule(self, rows: Rows, first: Pair, second: Pair) -> None:
        """Add a merge rule: two ids of one person; with one id alone half of the rule is NULL."""
        values = [(kind, scalar_text(value)) for kind, value in (first, second)]
        if not values[0][1]:
            return
        received = rows[0][1].get(self.default[5]) if rows else None
        columns = [self.names.standard(name) for name in MERGE_RULE_COLUMNS]
        row: Row = {}
        for at, (kind, value) in enumerate(values):
            if value:
                pair = columns[2 * at], columns[2 * at + 1]
                if len(kind) + len(value) > LONGEST_PAIR:
                    value = self.discard_long_value(rows, pair, kind, value, received or self.envelope.now)
                row[pair[0]], row[pair[1]] = kind, value
        rows.append((self.names.standard_table(MERGE_RULES), row))

    def discard_long_value(
        self, rows: Rows, pair: tuple[str, str], kind: str, value: str, received: Cell
    ) -> str:
        """Discard a value that is too long for the rules (section 8, Constraint): its placeholder."""
        placeholder = f"rudder-discards-{uuid5(_PAIRS, f'{kind} {value}')}"
        why = (
            f"The maximum length of the concatenated columns {pair[0]} and {pair[1]} should be less than 512"
        )
        cells = (placeholder, self.names.standard_table(MERGE_RULES), pair[1], value, why, received)
        columns = map(self.names.standard, (*DISCARD_COLUMNS, "received_at"))
        rows.append((self.names.standard_table(DISCARDS), dict(zip(columns, cells, strict=True))))
        return placeholder

    def add_identities(self, rows: Rows, event: Event) -> None:
        anonymous, user = event.get("anonymousId"), event.get("userId")
        if scalar_text(anonymous):
            self.add_rule(rows, ("anonymous_id", anonymous), ("user_id", user))
        else:
            self.add_rule(rows, ("user_id", user), ("user_id", None))


def _added(options: Options) -> dict[str, str]:
    """The fields that are added to the context."""
    ids = {
        "sourceId": options.source_id,
        "sourceType": options.source_type,
        "destinationId": options.destination_id,
        "destinationType": options.destination_type,
    }
    return {key: value for key, value in ids.items() if value}
