"""All findings about a schema document at once: faults, ignored keys and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import ReadReport, Unknown
from trellis.dialects.pinot.document.reader import examine
from trellis.dialects.pinot.jars.gateway import pinot_faults
from trellis.dialects.pinot.table.config import examine as examine_config
from trellis.dialects.pinot.table.config import unsupported_parts
from trellis.dialects.pinot.table.known_keys import misspelt_keys
from trellis.dialects.pinot.validation.lints import lints_of
from trellis.dialects.pinot.validation.schema_rules import faults_of
from trellis.dialects.pinot.validation.table_config.all_rules import cluster_faults
from trellis.dialects.pinot.validation.table_rules import hybrid_faults, table_faults

Level = Literal["fault", "unchecked", "ignored", "mind"]
Source = Literal["schema", "table config", "OFFLINE config", "REALTIME config"]


@dataclass(frozen=True)
class Finding:
    """One finding about a document: Pinot refuses a fault; Trellis does not implement what is unchecked.

    `pointer` is a JSON pointer (RFC 6901).
    """

    level: Level
    source: Source
    pointer: str
    column: str | None
    message: str


@dataclass(frozen=True)
class CheckResult:
    """A schema as far as it can be read, and the findings."""

    schema: PinotSchema
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool | None:
        """Whether Pinot accepts the schema; None without a known fault where something is unchecked."""
        levels = {finding.level for finding in self.findings}
        return False if "fault" in levels else None if "unchecked" in levels else True


def check(
    text: str, where: str, tables: Sequence[Mapping[str, Any]] = (), pinot_jars: bool = False
) -> CheckResult:
    """Check a schema document, alone, with its table config, or with both configs of a hybrid table and
    whether these go together. With `pinot_jars` Pinot's own classes check them too, which leave no transform
    or filter unchecked.

    Raises UsageError without jars, SchemaError where the text is not JSON.
    """
    schema, report = examine(text, where)
    findings = [*_faults("schema", schema_faults(schema, report)), *_ignored("schema", report.unknown)]
    halves = [examine_config(table)[0] for table in tables]
    sources: list[Source] = ["table config"]
    if len(tables) > 1:
        sources = ["REALTIME config" if half.kind == "REALTIME" else "OFFLINE config" for half in halves]
    for source, table in zip(sources, tables, strict=False):
        findings += _faults(source, config_faults(schema, report, table))
        findings += _ignored(source, misspelt_keys(table))
        findings += [
            Finding("mind", source, part.pointer, None, part.message) for part in unsupported_parts(table)
        ]
    if not report.faults:
        lints = dict.fromkeys(lint for table in tables or ({},) for lint in lints_of(schema, table))
        findings += [Finding("mind", "schema", lint.pointer, lint.column, lint.message) for lint in lints]
    if len(tables) > 1:
        findings += _faults("REALTIME config", hybrid_faults(halves))
    if pinot_jars:
        known = {finding.message for finding in findings}
        findings = [finding for finding in findings if not _is_checked_by_pinot(finding)]
        for source, config in zip(sources, tables or (None,), strict=False):
            for document, message in pinot_faults(text, config):
                if message not in known:
                    known.add(message)
                    place: Source = "schema" if document == "schema" else source
                    findings.append(Finding("fault", place, "", None, message))
    return CheckResult(schema, tuple(findings))


def schema_faults(schema: PinotSchema, report: ReadReport) -> tuple[Fault, ...]:
    """The faults of reading a schema, or else of its rules."""
    return tuple(dict.fromkeys(report.faults or faults_of(schema)))


def config_faults(schema: PinotSchema, report: ReadReport, table: Any) -> tuple[Fault, ...]:
    """The faults of reading a table config, or else of its rules if the schema could be read."""
    _, faults = examine_config(table)
    if report.faults or faults:
        return faults
    return (*table_faults(schema, table), *cluster_faults(schema, table))


def _faults(source: Source, faults: Iterable[Fault]) -> Iterator[Finding]:
    for fault in faults:
        level: Level = "unchecked" if fault.unchecked else "fault"
        yield Finding(level, source, fault.pointer, fault.column, fault.message)


def _ignored(source: Source, unknown: Iterable[Unknown]) -> Iterator[Finding]:
    for key in unknown:
        message = str(key).removeprefix(f"{key.pointer} ")
        yield Finding("ignored", source, key.pointer, None, message)


def _is_checked_by_pinot(finding: Finding) -> bool:
    """Whether Pinot's classes check what is unchecked; enrichers and tasks they take as they are."""
    return finding.level == "unchecked" and not finding.pointer.startswith(
        ("/ingestionConfig/enrichmentConfigs", "/task")
    )
