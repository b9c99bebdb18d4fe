"""A schema and its table config checked by Pinot's own rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from trellis.dialects.pinot.jars.gateway import PinotError, pinot_classes


def pinot_faults(
    schema: str, table: Mapping[str, Any] | None
) -> Iterator[tuple[Literal["schema", "table config"], str]]:
    """What Pinot refuses in which document. Pinot stops at the first fault of each, and reads no table config
    with an invalid schema.

    Raises UsageError without jars.
    """
    classes = pinot_classes()
    try:
        read = classes.schema(schema)
        with classes.calls() as pinot:
            pinot.segment.local.utils.SchemaUtils.validate(read)
    except PinotError as error:
        yield "schema", str(error)
        return
    if table is None:
        return
    try:
        config = classes.table_config(json.dumps(table, default=dict))
        with classes.calls() as pinot:
            pinot.segment.local.utils.TableConfigUtils.validate(config, read)
            pinot.segment.local.utils.SchemaUtils.validate(read, [config])
    except PinotError as error:
        yield "table config", str(error)
