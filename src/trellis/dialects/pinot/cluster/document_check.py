"""All findings about a schema document at once: faults, ignored keys and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from trellis.dialects.pinot.cluster.controller import Controller, ControllerError
from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_object import Unknown
from trellis.dialects.pinot.document.reader import examine, parse
from trellis.dialects.pinot.jars.gateway import pinot_faults
from trellis.dialects.pinot.table.config import examine as examine_config
from trellis.dialects.pinot.table.config import unsupported_parts
from trellis.dialects.pinot.table.known_keys import misspelt_keys
from trellis.dialects.pinot.validation.lints import lints_of
from trellis.dialects.pinot.validation.schema_document import config_faults, deployment_faults, schema_faults
from trellis.dialects.pinot.validation.table_rules import hybrid_faults

Level = Literal["fault", "unchecked", "ignored", "mind"]
Source = Literal["schema", "table config", "OFFLINE config", "REALTIME config", "controller"]


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
    text: str,
    where: str,
    table: Mapping[str, Any] | None = None,
    controller: Controller | None = None,
    pinot_jars: bool = False,
) -> CheckResult:
    """Check a schema, alone or with its table config; with `pinot_jars` by Pinot's own classes too, which
    leave no transform or filter unchecked, and by a controller if there is one.

    Raises UsageError without jars, SchemaError where the text is not JSON, DestinationError where the
    controller does not answer.
    """
    schema, report = examine(text, where)
    findings = [*_faults("schema", schema_faults(schema, report))]
    if table is not None:
        findings += _faults("table config", config_faults(schema, report, table))
        findings += _faults("table config", deployment_faults(schema, report, table))
    findings += _ignored("schema", report.unknown)
    findings += _ignored("table config", misspelt_keys(table or {}))
    if not report.faults:
        for lint in lints_of(schema, table):
            findings.append(Finding("mind", "schema", lint.pointer, lint.column, lint.message))
    if pinot_jars:
        by_pinot = [
            Finding("fault", source, "", None, message) for source, message in pinot_faults(text, table)
        ]
        known = {finding.message for finding in findings}
        findings = [finding for finding in findings if not _is_checked_by_pinot(finding)]
        findings += [finding for finding in by_pinot if finding.message not in known]
    if isinstance(table, Mapping):
        for part in unsupported_parts(table):
            findings.append(Finding("mind", "table config", part.pointer, None, part.message))
    if controller is not None:
        findings += _by(controller, parse(text, where))
    return CheckResult(schema, tuple(findings))


def check_hybrid(
    text: str,
    where: str,
    tables: Sequence[Mapping[str, Any]],
    controller: Controller | None = None,
    pinot_jars: bool = False,
) -> CheckResult:
    """Check a schema with the OFFLINE and the REALTIME config of its table, and whether the two go together.

    Raises as `check` does.
    """
    result = check(text, where, None, controller, pinot_jars)
    findings = [*result.findings]
    configs = [examine_config(table).config for table in tables]
    for table, config in zip(tables, configs, strict=True):
        source: Source = "REALTIME config" if config.kind == "REALTIME" else "OFFLINE config"
        checked = check(text, where, table, pinot_jars=pinot_jars)
        findings += [
            replace(finding, source=source)
            for finding in checked.findings
            if finding.source == "table config"
        ]
    findings += _faults("REALTIME config", hybrid_faults(configs))
    return CheckResult(result.schema, tuple(findings))


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


def _by(controller: Controller, document: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        controller.validate(document)
    except ControllerError as error:
        if error.status != 400:
            raise
        yield Finding("fault", "controller", "", None, error.reason)
