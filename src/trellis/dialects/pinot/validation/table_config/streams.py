"""The streams of a table: where they are configured, and the properties of each (`StreamConfig`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.validation.table_config.checked_table import CheckedTable, Rule, unchecked_part
from trellis.dialects.pinot.validation.table_config.value_forms import (
    INTEGER,
    NUMBER,
    SIZE,
    SPAN,
    form_faults,
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
_FORMS: Final = {
    **dict.fromkeys(_THRESHOLDS["rows"] + _THRESHOLDS["segment rows"], INTEGER),
    **dict.fromkeys(_THRESHOLDS["segment size"], SIZE),
    **dict.fromkeys(_THRESHOLDS["time"], SPAN),
    f"{_FLUSH}.variance.fraction": NUMBER,
    "topic.consumption.rate.limit": NUMBER,
    f"{_SEGMENT}.offsetAutoReset.offsetThreshold": INTEGER,
    f"{_SEGMENT}.offsetAutoReset.timeThresholdSeconds": INTEGER,
}
"""Keys whose value Pinot parses."""
_PROTOBUF: Final = "org.apache.pinot.plugin.inputformat.protobuf.ProtoBufMessageDecoder"

Properties = Mapping[str, Any]


def stream_exists(table: CheckedTable) -> Iterator[Fault]:
    if table.has(_INGESTION) and not table.value(_MAPS):
        yield Fault(_INGESTION, "streamConfigMaps is empty: a REALTIME table needs at least one stream")
    elif table.has(_INGESTION) and table.value(_OLD):
        twice = "the stream is configured twice: remove streamConfigs, as streamIngestionConfig is there"
        yield Fault(_OLD, twice)
    elif table.realtime and not table.has(_INGESTION) and not table.has(_OLD):
        yield Fault("", "a REALTIME table needs ingestionConfig.streamIngestionConfig with streamConfigMaps")


def streams(table: CheckedTable) -> Iterator[Fault]:
    configs = [*table.objects(f"{_MAPS}/*")] or [*table.objects(_OLD)] if table.realtime else []
    if len(configs) > 1:
        yield unchecked_part(_MAPS)
    for place, stream in configs:
        yield from _required_properties(place, stream)
        yield from form_faults(table, {f"{place}/{key}": form for key, form in _FORMS.items()})
        yield from _flush_thresholds(place, stream)


def _required_properties(place: str, stream: Properties) -> Iterator[Fault]:
    if stream.get("streamType") is None:
        yield Fault(place, "streamType is missing: kafka, kinesis or pulsar")
        return
    prefix = f"stream.{stream['streamType']}"
    for key in (f"{prefix}.topic.name", f"{prefix}.decoder.class.name"):
        if stream.get(key) is None:
            yield Fault(place, f"{key} is missing: Pinot requires it")
    if stream.get(f"{prefix}.decoder.class.name") == _PROTOBUF:
        for key in (f"{prefix}.decoder.prop.descriptorFile", f"{prefix}.decoder.prop.protoClassName"):
            if key not in stream:
                yield Fault(place, f"{key} is missing: the decoder of protobuf requires it")


def _flush_thresholds(place: str, stream: Properties) -> Iterator[Fault]:
    span = _threshold(stream, "time") or "1"
    millis = int(span) if is_integer(span) else period_millis(span)
    if millis is not None and millis <= 0:
        yield Fault(place, f"{_FLUSH}.time is above 0, not {span}")
    active = [name for name in ("rows", "segment rows", "segment size") if _is_set(_threshold(stream, name))]
    if len(active) > 1:
        keys = ", ".join(_THRESHOLDS[name][0] for name in active)
        yield Fault(place, f"only one flush threshold may be set, not {keys}")


def _threshold(stream: Properties, name: str) -> str:
    return next((str(stream[key]) for key in _THRESHOLDS[name] if stream.get(key) is not None), "")


def _is_set(threshold: str) -> bool:
    return not threshold.startswith("-") and threshold.strip("0.") != ""


RULES: Final[tuple[Rule, ...]] = (stream_exists, streams)
