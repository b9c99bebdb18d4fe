"""The id and the times of an event."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid5

from trellis.dialects.rudderstack.events.cells import Cell, SpaceText, is_blank, scalar_cell
from trellis.dialects.rudderstack.events.timestamps import Parse, in_utc, parse
from trellis.evolution.record_outcome import LostValue

_AUTO: Final = UUID("5f0c6a3e-2f0b-4c55-9d1e-6f3b7a1c8e42")


class EnvelopeValues(NamedTuple):
    """The id and the times of an event, in UTC."""

    id: Cell
    sent: datetime
    timestamp: datetime
    received: datetime
    original: datetime


class Envelope:
    """Reads the ids and times of events that were received at `now`.

    `early` counts the events that were sent before they happened, by the client's own clock.

    >>> from trellis.dialects.rudderstack.events.timestamps import UTC
    >>> envelope = Envelope(datetime(2024, 2, 29, tzinfo=UTC))
    >>> read = envelope.read_values({"originalTimestamp": "2024-02-28"}, "events.jsonl:1", "tracks", [])
    >>> read.id, read.timestamp.day, read.sent.day
    ('auto-b8c3364c-f945-5e10-a33f-cbb3397cc989', 28, 29)
    """

    def __init__(self, now: datetime, parse: Parse = parse) -> None:
        self.now = in_utc(now) or now
        self._seed = now.isoformat()
        self.early = 0
        self.parse = parse

    def read_values(
        self, event: Mapping[str, Any], position: str, table: str, lost: list[LostValue]
    ) -> EnvelopeValues:
        """An event without an id gets one from `now` and its position.

        Adds values that are no times to `lost`.
        """
        parse, get = self.parse, event.get
        message = get("messageId")
        if message.__class__ is not str or not message or message[4:5] == "-" or message.isspace():
            message = self._message_id(message, position, table, lost)
        value = get("receivedAt")
        received = parse(value) if value.__class__ is str else None
        if received is None:
            received = self._lenient_time("receivedAt", value, table, lost) or self.now
        value = get("sentAt")
        sent = parse(value) if value.__class__ is str else None
        if sent is None:
            sent = self._lenient_time("sentAt", value, table, lost)
        value = get("originalTimestamp")
        original = parse(value) if value.__class__ is str else None
        if original is None:
            original = self._lenient_time("originalTimestamp", value, table, lost)
        if sent is None:
            sent = received
        elif original is not None and sent < original:
            self.early += 1
        if original is None:
            original = received
        value = get("timestamp")
        timestamp = parse(value) if value.__class__ is str else None
        if timestamp is None:
            timestamp = self._lenient_time("timestamp", value, table, lost)
            if timestamp is None:
                timestamp = _correct_clock(received, sent, original)
        return EnvelopeValues(message, sent, timestamp, received, original)

    def _message_id(self, value: Any, position: str, table: str, lost: list[LostValue]) -> Cell:
        cell = scalar_cell(value, self.parse)
        if cell is not None and cell.__class__ is not SpaceText:
            return cell
        if cell is None and value and not is_blank(value):
            lost.append(LostValue(table, "", "messageId", value, "not plain: an id is text or a number"))
        return f"auto-{uuid5(_AUTO, f'{self._seed} {position}')}"

    def _lenient_time(self, key: str, value: Any, table: str, lost: list[LostValue]) -> datetime | None:
        """A time in another form than an accepted text."""
        cell = scalar_cell(value, self.parse)
        if cell.__class__ is datetime:
            return cell
        if value and not is_blank(value):
            lost.append(
                LostValue(table, "", key, value, f"not a timestamp: {key} is written as 2024-02-29T10:00:00Z")
            )
        return None


def _correct_clock(received: datetime, sent: datetime, original: datetime) -> datetime:
    """When it happened by the server's clock, from how long before sending it happened."""
    try:
        return received - (sent - original)
    except OverflowError:  # outside the years 1 to 9999
        return received
