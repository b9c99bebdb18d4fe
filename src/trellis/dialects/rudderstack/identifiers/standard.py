"""The standard columns and tables of RudderStack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEFAULT_COLUMNS: Final = (
    "id",
    "anonymous_id",
    "user_id",
    "sent_at",
    "timestamp",
    "received_at",
    "original_timestamp",
    "channel",
    "context_ip",
    "context_request_ip",
    "context_passed_ip",
)
"""Every table but users and those of extract events."""

TYPE_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "track": ("event", "event_text", "record_id"),
    "identify": (),
    "page": ("name",),
    "screen": ("name",),
    "group": ("group_id",),
    "alias": ("previous_id",),
}
"""The columns that only the tables of a type have, beyond `DEFAULT_COLUMNS`."""

EXTRACT_COLUMNS: Final = ("id", "received_at", "event")
NOT_IN_USERS: Final = ("anonymous_id", "user_id", "channel")
NOT_IN_USERS_OF_LAKES: Final = ("sent_at", "timestamp", "original_timestamp")
LOAD_TIME_COLUMNS: Final = ("uuid_ts", "loaded_at")
"""Set when rows are loaded; `loaded_at` on some warehouses only."""

FULL_EVENT: Final = "rudder_event"

TABLES: Final[Mapping[str, str]] = {
    "track": "tracks",
    "identify": "identifies",
    "page": "pages",
    "screen": "screens",
    "group": "groups",
    "alias": "aliases",
}
USERS: Final = "users"
DISCARDS: Final = "rudder_discards"
DISCARD_COLUMNS: Final = ("row_id", "table_name", "column_name", "column_value", "reason")
MERGE_RULES: Final = "rudder_identity_merge_rules"
MERGE_RULE_COLUMNS: Final = (
    "merge_property_1_type",
    "merge_property_1_value",
    "merge_property_2_type",
    "merge_property_2_value",
)

SECTIONS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "track": (("properties",), ("userProperties",)),
    "identify": (("userProperties",), ("context", "traits"), ("traits",)),
    "page": (("properties",),),
    "screen": (("properties",),),
    "group": (("traits",),),
    "alias": (("traits",),),
    "extract": (("properties",),),
    "merge": (),
}
"""The objects whose keys become columns beside those of `context`; of equal names the later wins."""

TOP_LEVEL_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "track": ("event",),
    "identify": (),
    "page": ("name",),
    "screen": ("name",),
    "group": ("groupId",),
    "alias": ("previousId",),
    "extract": ("event", "recordId"),
    "merge": ("mergeProperties",),
}
"""The fields at the top of an event of each type that standard columns come from, beyond `ENVELOPE`."""

ENVELOPE: Final = frozenset(
    (
        "type",
        "messageId",
        "anonymousId",
        "userId",
        "rudderId",
        "context",
        "integrations",
        "channel",
        "request_ip",
        "originalTimestamp",
        "sentAt",
        "receivedAt",
        "timestamp",
        "writeKey",
    )
)
"""The fields that SDKs and the server send with every event."""


def known_fields(kind: str) -> frozenset[str]:
    """The fields at the top of an event of this type that no value is lost in."""
    return ENVELOPE.union((path[0] for path in SECTIONS[kind]), TOP_LEVEL_FIELDS[kind])
