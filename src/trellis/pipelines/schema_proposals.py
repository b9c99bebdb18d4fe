"""A schema for records that came without one, where the dialect wants one authored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trellis.dialects import registration_of
from trellis.dialects.registration import ProposedSchema
from trellis.evolution.dialect import Dialect
from trellis.schema.model import Schema
from trellis.schema.system import is_system


def propose_schema(dialect: Dialect, source: Any, read_stored: Callable[[], Schema]) -> ProposedSchema | None:
    """A schema for the records of files.

    None where the dialect proposes none, the stored schema has tables, or the records come from no file.
    """
    propose = registration_of(dialect.name).propose_schema
    paths = [source] if isinstance(source, (str, Path)) else source
    if (
        propose is None
        or not isinstance(paths, Sequence)
        or not all(isinstance(path, (str, Path)) for path in paths)
    ):
        return None
    if not all(is_system(name, dialect.capabilities.system_prefix) for name in read_stored().tables):
        return None
    return propose(paths)
