"""A schema for records that came without one, where the dialect wants one authored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from trellis.evolution.dialect import Dialect
from trellis.schema.model import Schema
from trellis.schema.system import is_system

NOTE: Final = (
    "there was no schema, so one was proposed from all records; `trellis {0} infer` tells its reasons"
)
_PROPOSERS: Final[Mapping[str, tuple[str, str]]] = {
    "pinot": ("trellis.dialects.pinot.cluster.infer", "authored_for")
}


def proposed(dialect: Dialect, source: Any, stored: Schema) -> Schema | None:
    """A schema for the records of files.

    None where the dialect learns from records, the stored schema says what the tables are, or the records
    come from no file.
    """
    found = _PROPOSERS.get(dialect.name)
    paths = [source] if isinstance(source, (str, Path)) else source
    if (
        found is None
        or not isinstance(paths, Sequence)
        or not all(isinstance(each, (str, Path)) for each in paths)
    ):
        return None
    if any(not is_system(name) for name in stored.tables):
        return None
    module, function = found
    made: Schema = getattr(import_module(module), function)(paths)
    return made
