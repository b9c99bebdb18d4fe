"""Where the files of a run are, below its folder."""

from __future__ import annotations

from typing import Final

from trellis.dialects.snowplow.events.families import Layout
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.runs.manifest import FORMAT_NAMES, FileFormat

ATOMIC: Final = SchemaKey.parse("iglu:com.snowplowanalytics.snowplow/atomic/jsonschema/1-0-0")
"""What stands for the schema of the events themselves."""
BAD_PATH: Final = "output=bad/vendor=com.snowplowanalytics.snowplow.badrows"
GOOD_PATH: Final = "output=good"
"""Of wide rows; of the folders of versions the one around them."""


def events_path(layout: Layout, format: FileFormat) -> str:
    """The folder of the events themselves, where entities are in others."""
    return table_path(layout, ATOMIC, format)


def table_path(layout: Layout, key: SchemaKey, format: FileFormat, *, is_recovered: bool = False) -> str:
    """The folder of a table: of a family, or of one version.

    >>> table_path("version", ATOMIC, "csv").partition("/format=")[2]
    'tsv/model=1/revision=0/addition=0'
    """
    version = key.version
    name, model = f"vendor={key.vendor}/name={key.name}", f"model={version.model}"
    if layout == "version":
        numbers = f"{model}/revision={version.revision}/addition={version.addition}"
        return f"{GOOD_PATH}/{name}/format={FORMAT_NAMES[format].lower()}/{numbers}"
    return f"{name}/{model}/recovered={version}" if is_recovered else f"{name}/{model}"
