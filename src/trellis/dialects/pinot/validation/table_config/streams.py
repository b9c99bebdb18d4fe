"""The streams of a table: where they are configured, and the properties of each (`StreamConfig`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.validation.table_config.checked_table import (
    CheckedTable,
    Rule,
    is_data_size,
    is_integer,
    period_millis,
)

_INGESTION: Final = "/ingestionConfig/streamIngestionConfig"
_MAPS: Final = f"{_INGESTION}/streamConfigMaps"
_OLD: Final = "/tableIndexConfig/streamConfigs"
_SEGMENT: Final = "realtime.segment"
_FLUSH: Final = f"{_SEGMENT}.flush.threshold"
_THRESHOLDS: Final = {
    "rows": (f"{_FLUSH}.rows", f"{_FLUSH}.size", f"{_FLUSH}.size.llc"),
    "segment rows": (f"{_FLUSH}.segment.rows",),
    "segment size": (f"{_FLUSH}.segment.size", f"{_SEGMENT}.flush.desired.size"),
    "time": (f"{_FLUSH}.time", f"{_FLUSH}.time.llc"),
}
"""The keys of each flush threshold: the first that is set counts."""
_PROTOBUF: Final = "org.apache.pinot.plugin.inputformat.protobuf.ProtoBufMessageDecoder"

Properties = Mapping[str, Any]


def streams_of(table: CheckedTable) -> list[tuple[str, Properties]]:
    """The properties of every stream, with their pointers."""
    return [*table.objects(f"{_MAPS}/*")] or [*table.objects(_OLD)]


def stream_exists(table: CheckedTable) -> Iterator[Fault]:
    config = table.value(_INGESTION)
    if config is not None and not table.value(_MAPS):
        yield Fault(_INGESTION, "streamConfigMaps is empty: a REALTIME table needs at least one stream")
    elif config is not None and table.value(_OLD):
        yield Fault(
            _OLD, "the stream is configured twice: remove streamConfigs, as streamIngestionConfig is there"
        )
    elif table.realtime and config is None and table.value(_OLD) is None:
        yield Fault("", "a REALTIME table needs ingestionConfig.streamIngestionConfig with streamConfigMaps")


def single_streams(table: CheckedTable) -> Iterator[Fault]:
    for place, stream in _checked_streams(table):
        yield from _source_properties(place, stream)
        for keys, is_valid, form in _FORMS:
            for key in keys:
                value = stream.get(key)
                if value is not None and not is_valid(str(value)):
                    yield Fault(place + pointer(key), f"{key} is {form}, not '{value}'")
        yield from _flush_thresholds(place, stream)


def _source_properties(place: str, stream: Properties) -> Iterator[Fault]:
    kind = stream.get("streamType")
    if kind is None:
        yield Fault(place, "streamType is missing: kafka, kinesis or pulsar")
        return
    for key in (f"stream.{kind}.topic.name", f"stream.{kind}.decoder.class.name"):
        if stream.get(key) is None:
            yield Fault(place, f"{key} is missing: Pinot requires it")
    properties = f"stream.{kind}.decoder.prop."
    if stream.get(f"stream.{kind}.decoder.class.name") == _PROTOBUF:
        for key in (f"{properties}descriptorFile", f"{properties}protoClassName"):
            if key not in stream:
                yield Fault(place, f"{key} is missing: the decoder of protobuf requires it")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_span(text: str) -> bool:
    return period_millis(text) is not None or is_integer(text)


_FORMS: Final[tuple[tuple[tuple[str, ...], Callable[[str], bool], str], ...]] = (
    (_THRESHOLDS["rows"] + _THRESHOLDS["segment rows"], is_integer, "a whole number"),
    (_THRESHOLDS["segment size"], is_data_size, "a size such as 200M"),
    (_THRESHOLDS["time"], _is_span, "a period such as 6h, or milliseconds"),
    ((f"{_FLUSH}.variance.fraction", "topic.consumption.rate.limit"), _is_number, "a number"),
    (
        (f"{_SEGMENT}.offsetAutoReset.offsetThreshold", f"{_SEGMENT}.offsetAutoReset.timeThresholdSeconds"),
        is_integer,
        "a whole number",
    ),
)
"""Keys whose value Pinot parses: the form of the value, for a check and for a sentence."""


def _flush_thresholds(place: str, stream: Properties) -> Iterator[Fault]:
    span = _threshold(stream, "time")
    millis = None if span is None else period_millis(span)
    millis = int(span) if span is not None and millis is None and is_integer(span) else millis
    if millis is not None and millis <= 0:
        yield Fault(place, f"{_FLUSH}.time is above 0, not {span}")
    active = [name for name in ("rows", "segment rows", "segment size") if _is_set(_threshold(stream, name))]
    if len(active) > 1:
        keys = ", ".join(_THRESHOLDS[name][0] for name in active)
        yield Fault(place, f"only one flush threshold may be set, not {keys}")


def several_streams(table: CheckedTable) -> Iterator[Fault]:
    streams = [*_checked_streams(table)]
    if len(streams) < 2:
        return
    if table.flag(f"{_INGESTION}/pauselessConsumptionEnabled"):
        yield Fault(_INGESTION, "pauselessConsumptionEnabled allows one stream only")
    if table.upsert:
        yield Fault(_MAPS, "an upsert table has one stream only")
    (_, first), *others = streams
    topics = {_topic(first)}
    for place, stream in others:
        if stream.get("streamType") != first.get("streamType"):
            yield Fault(place, "all streams of a table have the same streamType")
        if any(_threshold(stream, name) != _threshold(first, name) for name in _THRESHOLDS):
            yield Fault(place, "all streams of a table have the same flush thresholds")
        if _topic(stream) in topics:
            yield Fault(place, f"a second stream reads topic {_topic(stream)}")
        topics.add(_topic(stream))


def pauseless_replicas(table: CheckedTable) -> Iterator[Fault]:
    scheme = table.text("/segmentsConfig/peerSegmentDownloadScheme").lower()
    pauseless = table.flag(f"{_INGESTION}/pauselessConsumptionEnabled")
    if pauseless and (table.replication or 0) > 1 and scheme not in ("http", "https"):
        yield Fault(
            _INGESTION,
            "pauselessConsumptionEnabled with several replicas needs peerSegmentDownloadScheme http or https",
        )


def _checked_streams(table: CheckedTable) -> list[tuple[str, Properties]]:
    return streams_of(table) if table.realtime else []


def _threshold(stream: Properties, name: str) -> str | None:
    return next((str(stream[key]) for key in _THRESHOLDS[name] if stream.get(key) is not None), None)


def _is_set(threshold: str | None) -> bool:
    return threshold is not None and not threshold.startswith("-") and threshold.strip("0.") != ""


def _topic(stream: Properties) -> Any:
    return stream.get(f"stream.{stream.get('streamType')}.topic.name")


RULES: Final[tuple[Rule, ...]] = (stream_exists, single_streams, several_streams, pauseless_replicas)
