"""All faults of a document at once: of reading it, and of what could be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from trellis.dialects.pinot.document import known_keys
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import TWICE, Ledger
from trellis.dialects.pinot.document.types import BASE, Profile
from trellis.dialects.pinot.document.validation.schema_rules import faults_of
from trellis.dialects.pinot.document.validation.table_rules import table_faults

_ORDER: Final = {
    key: at
    for at, key in enumerate(
        (
            "",
            "schemaName",
            *known_keys.LISTS,
            "timeFieldSpec",
            "primaryKeyColumns",
            "enableColumnBasedNullHandling",
        )
    )
}
_NEED_ALL_COLUMNS: Final = re.compile(
    r"/primaryKeyColumns/\d+|/segmentsConfig/timeColumnName|/ingestionConfig/transformConfigs/\d+"
)
_NEED_KEYS: Final = frozenset({"/isDimTable", "/upsertConfig", "/dedupConfig"})


def schema_faults(schema: PinotSchema, ledger: Ledger, *profiles: Profile) -> tuple[Fault, ...]:
    """Every fault of a schema that `examine` read, in the order of the document; none twice.

    With several profiles only what is wrong in all of them counts. What follows from a fault of reading is
    left out: a key column that does not exist, where a column could not be read.
    """
    unread = {each.pointer for each in ledger.faults}
    faults = faults_of(schema, profiles[0] if profiles else BASE)
    for profile in profiles[1:]:
        others = faults_of(schema, profile)
        faults = tuple(each for each in faults if each in others)
    found = [*ledger.faults]
    for each in faults:
        placed = replace(each, pointer=ledger.placed(each.pointer))
        if not _follows(placed, ledger) and not (placed.pointer in unread and _is_key(placed.pointer)):
            found.append(placed)
    return _sorted(found)


def config_faults(
    schema: PinotSchema, ledger: Ledger, profile: Profile, table: Mapping[str, Any]
) -> tuple[Fault, ...]:
    """What keeps the table config from the schema as far as that could be read."""
    keyless = any(each.pointer.startswith("/primaryKeyColumns") for each in ledger.faults)
    return tuple(
        each
        for each in table_faults(schema, profile, table)
        if not _follows(each, ledger) and not (keyless and each.pointer in _NEED_KEYS)
    )


def _follows(fault: Fault, ledger: Ledger) -> bool:
    if fault.message.startswith("schemaName is required"):
        return any(each.pointer == "/schemaName" for each in ledger.faults)
    if fault.message.startswith("When enable case insensitive"):
        return any(each.column == fault.column and each.message.startswith(TWICE) for each in ledger.faults)
    return ledger.gaps and _NEED_ALL_COLUMNS.fullmatch(fault.pointer) is not None


def _is_key(place: str) -> bool:
    return not place.rpartition("/")[2].isdigit()


def _sorted(found: Iterable[Fault]) -> tuple[Fault, ...]:
    def place(fault: Fault) -> tuple[int, int]:
        _, key, at, *_ = (*fault.pointer.split("/"), "", "")
        return _ORDER.get(key, len(_ORDER)), int(at) if at.isdigit() else -1

    return tuple(sorted(dict.fromkeys(found), key=place))
