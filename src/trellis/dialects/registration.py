"""What the folder of a dialect brings besides its decisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import typer

    from trellis.evolution.dialect import Dialect
    from trellis.schema.dict_form import Document
    from trellis.schema.documents.schema_format import SchemaFormat
    from trellis.schema.history import HistoryColumns
    from trellis.schema.model import Schema


Profile = Callable[[int, Random, int], Iterator[bytes]]
"""Makes lines of JSON: how many, chance, and how many columns where a profile has any number of them."""


class ProposedSchema(NamedTuple):
    """A schema for records that came without one, and a note for the report that says so."""

    schema: Schema
    note: str


ErrorForm = Callable[[Exception, Mapping[str, Any]], Mapping[str, Any]]
"""Makes what `--json` prints of an error, from the error and from what other commands print of it."""

SchemaProposer = Callable[
    [Sequence[str | Path], Mapping[str, Any], "tuple[Schema, str] | None"], ProposedSchema | None
]
"""Makes a schema for the records of files, by the options of the user; None where they want none.

The last argument is the stored schema and the table, where that has it (any, where the user names none).
"""


class ReferenceResolver(Protocol):
    """A registry of the documents that records refer to by names."""

    def __call__(self, schema: Schema, references: Collection[str]) -> Schema:
        """The schema completed with the documents of these names. Raises TrellisError."""
        ...

    def missing_notes(self, schema: Schema) -> tuple[str, ...]:
        """What a load with this schema says of documents that the registry does not have."""
        ...

    def before_commit(self, before: Schema, after: Schema, dry_run: bool) -> tuple[str, ...]:
        """Keep in the registry what the load settles, unless it is a dry run; notes for its report."""
        ...


class BroughtDestination(NamedTuple):
    """A destination that a dialect brings: what opens its URLs, and how they are written."""

    open: Callable[[str], object]
    url_form: str


class RevisedRows(NamedTuple):
    """What is left of staged rows: Parquet files of each table, with their numbers of rows.

    `dropped` counts records that are left out, `notes` are for the report.
    """

    schema: Schema
    files: Mapping[str, Sequence[tuple[str, int]]]
    dropped: int = 0
    notes: tuple[str, ...] = ()


class RowRevision(Protocol):
    """Looks at all rows of a load together before they are committed, such as to drop copies."""

    def visible(self, schema: Schema) -> Schema:
        """The schema without what only the revision needs."""
        ...

    def revise(
        self,
        schema: Schema,
        files: Mapping[str, Sequence[str]],
        load_id: str,
        resolve: ReferenceResolver | None,
        dry_run: bool,
    ) -> RevisedRows:
        """The rows of the files of each table as they are loaded. Raises TrellisError.

        What remembers the rows of a load must answer for one that is repeated under its id as the first time.
        """
        ...


def _no_revision(settings: Mapping[str, Any]) -> RowRevision | None:
    return None


def _no_commands(app: typer.Typer) -> None:
    return None


def _same_name(name: str) -> str:
    return name


def _no_history() -> HistoryColumns | None:
    return None


def _no_formats() -> Sequence[SchemaFormat]:
    return ()


def _no_upgrade(document: Document, engine: int) -> bool:
    return False


@dataclass(frozen=True)
class Registration:
    """One dialect, as the rest of Trellis reaches it.

    It is read whenever Trellis starts, so its functions import what they need when they are called.
    """

    dialect: Callable[[], Dialect] | None
    """Makes the dialect; None where the folder brings tools alone, and nothing is loaded by it."""
    system_prefix: str = ""
    """What the names of its own tables and columns begin with, if not as those of Trellis do."""
    option_example: str = ""
    """One of its options with a value, for the help of `--option`."""
    add_commands: Callable[[typer.Typer], None] = _no_commands
    """Adds commands of its own to `trellis`."""
    error_forms: Mapping[str, ErrorForm] = field(default_factory=dict)
    """What `--json` prints of errors of its commands, by their groups, if not what it does elsewhere."""
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """Profiles of `trellis generate` by name."""
    propose_schema: SchemaProposer | None = None
    """A schema for the records of files; None where the schema is learned from them as they are loaded."""
    destinations: Mapping[str, BroughtDestination] = field(default_factory=dict)
    """Destinations for its tables alone, by the scheme of their URLs."""
    open_registry: Callable[[str], ReferenceResolver] | None = None
    """Opens the registry that the user's schema names, where records refer to schemas of one.

    None where the user's schema is a document.
    """
    open_revision: Callable[[Mapping[str, Any]], RowRevision | None] = _no_revision
    """What the settings of a load want of all its rows together; None where that is nothing."""
    history_columns: Callable[[], HistoryColumns | None] = _no_history
    """The columns of a table with the strategy scd2 whose user names none; None without that strategy."""
    convention_name: Callable[[str], str] = _same_name
    """The name of a naming convention that documents of the original may give another name."""
    upgrade_document: Callable[[Document, int], bool] = _no_upgrade
    """Writes a schema document that an engine of this number wrote, in place, as the current one writes it.

    Whether it knows that engine.
    """
    schema_formats: Callable[[], Sequence[SchemaFormat]] = _no_formats
    """The forms of schemas that the original has, which `trellis schema convert` writes and reads."""
