"""What a dialect is like, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.schema.system import OURS


@dataclass(frozen=True)
class Capabilities:
    """What the engine and the command line know of a dialect before they ask it for a decision."""

    records_name_tables: bool = False
    """Records or the schema name the tables, so that a user names none."""

    follows_catalog: bool = False
    """The destination's tables, not the stored document, say which columns there are."""

    system_prefix: str = OURS
    """What the names of its own tables and columns begin with."""

    tables_fail_alone: bool = False
    """A table that the destination refuses is left out of a load, and the others are loaded."""

    keeps_rejected_lines: bool = False
    """A rejected line is kept whole, so that it can be loaded later; else its first 4 kB are."""

    too_wide: str = ""
    """What to do about a table with too many columns, for messages."""

    line_extensions: tuple[str, ...] = ()
    """Endings of files whose lines are records of this dialect, though they are those of another format."""

    declares_nested_types: bool = False
    """Columns of nested values have types that the dialect declares and lets grow; values come in them."""

    options: tuple[str, ...] = ()
    """Names of the settings that a user may give."""

    file_options: tuple[str, ...] = ()
    """Those of them that name a file; the dialect is given what is in it."""
