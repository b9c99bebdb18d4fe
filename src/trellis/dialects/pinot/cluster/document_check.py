"""All that can be said of a schema document at once: faults, ignored keys, and what is likely to surprise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.controller_errors import Refused
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import Unknown
from trellis.dialects.pinot.document.reader import examine, parse
from trellis.dialects.pinot.document.types import BASE, Profile
from trellis.dialects.pinot.document.validation.all_rules import config_faults, schema_faults
from trellis.dialects.pinot.document.validation.lints import lints_of
from trellis.dialects.pinot.table.known_keys import misspelt

Level = Literal["fault", "unchecked", "ignored", "mind"]
Source = Literal["schema", "table config", "controller"]


@dataclass(frozen=True)
class Finding:
    """One thing about a document: with a fault Pinot refuses it; what is unchecked Trellis cannot carry out.

    `pointer` is a JSON pointer (RFC 6901).
    """

    level: Level
    source: Source
    pointer: str
    column: str | None
    message: str


@dataclass(frozen=True)
class Checked:
    """A schema as far as it can be read, and what was found."""

    schema: PinotSchema
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool | None:
        """Whether Pinot takes the schema; None where something is unchecked and nothing wrong is known."""
        levels = {finding.level for finding in self.findings}
        return False if "fault" in levels else None if "unchecked" in levels else True


def check(
    text: str,
    where: str,
    table: Mapping[str, Any] | None = None,
    profile: Profile = BASE,
    controller: Controller | None = None,
) -> Checked:
    """Look at a schema, alone or with its table config, and have a controller look at it too.

    Raises SchemaError where the text is not JSON, DestinationError where the controller does not answer.
    """
    schema, ledger = examine(text, profile, where)
    found = [*_faults("schema", schema_faults(schema, ledger, profile))]
    if table is not None:
        found += _faults("table config", config_faults(schema, ledger, profile, table))
    found += _ignored("schema", ledger.unknown)
    found += _ignored("table config", misspelt(table or {}))
    if not ledger.faults:
        for each in lints_of(schema, profile, table):
            found.append(Finding("mind", "schema", each.pointer, each.column, each.message))
    if controller is not None:
        found += _by(controller, parse(text, where))
    return Checked(schema, tuple(found))


def _faults(source: Source, faults: Iterable[Fault]) -> Iterator[Finding]:
    for each in faults:
        level: Level = "unchecked" if each.unchecked else "fault"
        yield Finding(level, source, each.pointer, each.column, each.message)


def _ignored(source: Source, unknown: Iterable[Unknown]) -> Iterator[Finding]:
    for each in unknown:
        said = str(each).removeprefix(f"{each.pointer} ")
        yield Finding("ignored", source, each.pointer, None, said)


def _by(controller: Controller, document: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        controller.validate(document)
    except Refused as refused:
        if refused.status != 400:
            raise
        yield Finding("fault", "controller", "", None, refused.reason)
