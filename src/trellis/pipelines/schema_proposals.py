"""A schema for records that came without one, where the dialect wants one authored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trellis.dialects import registration_of
from trellis.dialects.registration import ProposedSchema
from trellis.evolution.dialect import Dialect
from trellis.schema.model import Schema
from trellis.schema.system import is_system


def propose_schema(
    dialect: Dialect,
    source: Any,
    table: str,
    look: Callable[[], tuple[Schema, object]],
    settings: Mapping[str, Any],
) -> ProposedSchema | None:
    """A schema for the records of files.

    None where the dialect proposes none, or the records come from no file. `look` gives the stored schema,
    with the tables it was read from.
    """
    propose = registration_of(dialect.name).propose_schema
    paths = [source] if isinstance(source, (str, Path)) else source
    if (
        propose is None
        or not isinstance(paths, Sequence)
        or not all(isinstance(path, (str, Path)) for path in paths)
    ):
        return None
    prefix = dialect.capabilities.system_prefix
    stored = look()[0]
    known = [name for name in stored.tables if not is_system(name, prefix)]
    is_known = table in known or (bool(known) and not table)
    return propose(paths, settings, (stored, table) if is_known else None)
