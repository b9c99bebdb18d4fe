"""The tables of families, as rows of entities go into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from trellis.dialects.snowplow.columns.column_types import TypeName
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable, merge_family
from trellis.dialects.snowplow.columns.flatten import Column
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.document.json_text import decimal_of, encodable, is_whole, write_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.document.validation import SchemaValidator
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.events.event import Entity, ShreddedEvent
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.rows.csv import EVENTS, text_of, value_of

_MOST_VIOLATIONS: Final = 5
ENTITY_COLUMN: Final = "_entity"
"""Which kind of entity a row is of; only in rows that are marked."""
RECORD_COLUMN: Final = "_record"
"""The place of the event in the input; only in rows that are marked."""
_METADATA: Final = tuple(column.name for column in METADATA)


@dataclass(frozen=True)
class FamilyRows:
    """Makes the rows of one family. `documents` are its schemas in their order, up to the last that is used.

    `as_text`: all columns of the schemas get texts, as in the files that loaders read.
    """

    documents: Sequence[SchemaDocument]
    profile: Profile
    compat: bool = False
    as_text: bool = False
    marked: bool = False
    """Rows say in ENTITY_COLUMN which kind of entity they are of."""

    @cached_property
    def table(self) -> FamilyTable:
        return merge_family(self.documents, self.profile, compat=self.compat)

    @cached_property
    def _validators(self) -> Mapping[SchemaKey, SchemaValidator]:
        return {document.key: SchemaValidator(document.body) for document in self.documents}

    @cached_property
    def _columns(self) -> Mapping[SchemaKey, tuple[str, Sequence[Column]]]:
        """The table of each version, with its columns."""
        recovered = {recovery.key: recovery for recovery in self.table.recovery}
        return {
            key: (recovered[key].name, recovered[key].columns)
            if key in recovered
            else (self.table.name, self.table.columns)
            for key in (document.key for document in self.documents)
        }

    def check(self, entity: Entity) -> None:
        """Raises BadEvent for an entity that is invalid under its schema."""
        validator = self._validators[entity.key]
        try:
            if validator.is_valid(entity.data):
                return
            violations = list(validator.violations(entity.data))
        except RecursionError:
            raise BadEvent("schema_violations", f"{entity.key}: nested too deep to be validated") from None
        shown = "; ".join(
            f"{violation.pointer or '/'} {violation.keyword}: {violation.message}"
            for violation in violations[:_MOST_VIOLATIONS]
        )
        raise BadEvent("schema_violations", f"{entity.key}: {shown}")

    def row(self, entity: Entity, event: ShreddedEvent) -> tuple[str, dict[str, Any]]:
        """The table of an entity, and its row; NULL is left out."""
        table, columns = self._columns[entity.key]
        row = metadata_row(entity.key, event)
        if self.marked:
            row[ENTITY_COLUMN] = entity.kind
        for column in columns:
            value = value_of(column, entity.data)
            if value is not None:
                text = self.as_text or column.type.name in ("CHAR", "VARCHAR")
                row[column.name] = encodable(text_of(value) or "") if text else plain_value(value, column)
        return table, row


def metadata_row(key: SchemaKey, event: ShreddedEvent) -> dict[str, Any]:
    """The values of the columns before those of the schema."""
    values = (
        key.vendor,
        key.name,
        key.format,
        str(key.version),
        event.id,
        event.collected_at,
        EVENTS,
        write_json([EVENTS, key.name]),
        EVENTS,
    )
    return dict(zip(_METADATA, values, strict=True))


def plain_value(value: object, column: Column) -> object:
    """A value of JSON as one that a column of this type may take; what does not fit stays as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return encodable(value) if isinstance(value, str) else value
    convert = _NUMBERS.get(column.type.name)
    return value if convert is None else convert(value)


def _integer(value: float) -> object:
    exact = decimal_of(value)
    return int(exact) if abs(exact.adjusted()) < 40 and is_whole(value) else exact


_NUMBERS: Final[Mapping[TypeName, Callable[[float], object]]] = {
    "SMALLINT": _integer,
    "INT": _integer,
    "BIGINT": _integer,
    "DECIMAL": decimal_of,
    "DOUBLE": float,
}
