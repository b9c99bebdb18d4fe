"""Publishing a schema: what is refused, and what is stored in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final

from trellis.dialects.snowplow.columns.family_table import FamilyMerge
from trellis.dialects.snowplow.document.schema_document import META_SCHEMA, SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.kind.rules import Change, needs_of, strictest
from trellis.dialects.snowplow.kind.verdict import (
    KindPolicy,
    Suggestion,
    Verdict,
    judge,
    suggest_version,
)
from trellis.dialects.snowplow.lints.issues import Issue
from trellis.dialects.snowplow.lints.schema_lint import lint_document
from trellis.dialects.snowplow.registry.name_history import Histories, NameHistory, name_of
from trellis.dialects.snowplow.registry.refusals import Refusal, schema_not_found
from trellis.dialects.snowplow.registry.store.permissions import Permission, SchemaAction
from trellis.dialects.snowplow.registry.store.schema_store import (
    SchemaStore,
    SchemaWriter,
    StoredSchema,
    current_time,
)
from trellis.dialects.snowplow.versions.succession import (
    Conflict,
    Outcome,
    Publication,
    SuccessionRules,
    is_late_addition,
)
from trellis.dialects.snowplow.versions.superseding import supersede

TOO_DEEP: Final = "depth"


@dataclass(frozen=True)
class PublishReport:
    """What was stored, and what its author should know."""

    key: SchemaKey
    outcome: Outcome
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        return 201 if self.outcome == "created" else 200

    def to_dict(self) -> dict[str, Any]:
        return {
            "message": "Schema created" if self.outcome == "created" else "Schema updated",
            "updated": self.outcome == "patched",
            "location": str(self.key),
            "status": self.status,
            "notes": [*self.notes],
        }


@dataclass(frozen=True)
class Preview:
    """What publishing a document would meet.

    Without errors there are a document, a verdict and a suggestion.
    """

    issues: tuple[Issue, ...]
    document: SchemaDocument | None = None
    registered: tuple[SchemaDocument, ...] = ()
    """All versions of its name in the order of creation."""
    conflict: str = ""
    """Why its number cannot follow."""
    verdict: Verdict | None = None
    suggestion: Suggestion | None = None

    @property
    def family(self) -> list[SchemaDocument]:
        """The versions of its model."""
        return [
            other
            for other in self.registered
            if self.document and other.key.family == self.document.key.family
        ]


@dataclass
class Publisher:
    """Publishes into a store, by its rules. Any number of processes may do so at a time."""

    store: SchemaStore
    kinds: KindPolicy
    succession: SuccessionRules
    _histories: Histories = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._histories = Histories(self.kinds.profiles)

    def publish(
        self,
        document: object,
        permission: Permission,
        *,
        is_public: bool = False,
        expected: SchemaKey | None = None,
    ) -> PublishReport:
        """Raises Refusal. `expected` is the address that the document is put at; it need not repeat it."""
        if not permission.writes:
            raise Refusal(403, "Not enough permissions")
        schema = checked_document(document, expected)
        if not permission.covers(schema.key.vendor):
            raise Refusal(403, "Not enough permissions")
        name = name_of(schema.key)
        with self._lock:
            history = self._histories.of(name)
            with self.store.reading() as reader:
                history.refresh(reader, name)
            with self.store.writing() as writer:
                history.refresh(writer, name)
                check_permission(permission, schema.key, history, writer)
                return self._store(schema, is_public, permission, history, writer)

    def delete(self, key: SchemaKey, permission: Permission) -> None:
        """Raises Refusal."""
        if not self.succession.patches_allowed:
            raise Refusal(405, "DELETE is forbidden on this registry: it does not allow patches")
        if not permission.is_super:
            raise Refusal(401, "Not enough permissions: only the super key deletes schemas")
        with self.store.writing() as writer:
            if not writer.remove(key):
                raise schema_not_found()

    def preview(self, document: object, *, is_public: bool = False) -> Preview:
        """What publishing would meet, and the smallest version that the changes may have."""
        issues = tuple(lint_document(document))
        if any(issue.level == "ERROR" for issue in issues):
            return Preview(issues)
        schema = SchemaDocument.parse(document)
        name = name_of(schema.key)
        with self._lock, self.store.reading() as reader:
            history = self._histories.of(name)
            history.refresh(reader, name)
            registered = tuple(history.documents)
            publication = Publication(schema.key.version, is_public, schema.supersedes)
            outcome = self.succession.check(publication, history.versions, history.is_public)
            verdict = judge(schema, registered, self.kinds, history.tables_of(schema.key.version.model))
        conflict = outcome.message if isinstance(outcome, Conflict) else ""
        suggestion = suggest_version(schema, registered, self.kinds)
        return Preview(issues, schema, registered, conflict, verdict, suggestion)

    def _store(
        self,
        schema: SchemaDocument,
        is_public: bool,
        permission: Permission,
        history: NameHistory,
        writer: SchemaWriter,
    ) -> PublishReport:
        key = schema.key
        publication = Publication(key.version, is_public, schema.supersedes)
        outcome = self.succession.check(publication, history.versions, history.is_public)
        if isinstance(outcome, Conflict):
            raise Refusal(409, outcome.message, {"reason": outcome.reason})
        if owner := writer.owner_of_table(key.family):
            raise Refusal(
                409, f"the table of {key} is that of {owner}, too; rename the schema", {"reason": "one table"}
            )
        now = current_time()
        if outcome == "patched":
            self._check_patch(schema, history)
            writer.patch(schema, now)
            return PublishReport(key, outcome)
        schema = replace(schema, superseded_by=None)
        verdict = judge(schema, history.documents, self.kinds, history.tables_of(key.version.model))
        if verdict.refused:
            raise Refusal(409, _refused_kind(key, verdict), self._explain(verdict.refused))
        is_late = is_late_addition(key.version, history.versions)
        writer.add(StoredSchema(schema, is_public, now, now, permission.key_name))
        superseded = supersede(history.superseded_by, key.version, schema.supersedes)
        writer.supersede(key, superseded)
        return PublishReport(key, outcome, verdict.changes, tuple(_notes(key, verdict, is_late)))

    def _check_patch(self, schema: SchemaDocument, history: NameHistory) -> None:
        """That every version fits its table that did so before."""
        if self.kinds.evolution == "off":
            return
        family = [document for document in history.documents if document.key.family == schema.key.family]
        patched = [schema if document.key == schema.key else document for document in family]
        for profile in self.kinds.profiles:
            before, after = (_breaks(documents, FamilyMerge(profile)) for documents in (family, patched))
            if new := after - before:
                reasons = "; ".join(f"{version}: {message}" for version, message in sorted(new))
                raise Refusal(
                    409,
                    f"the patch of {schema.key} would break its table in {profile.name} ({reasons}); publish "
                    "a new version instead",
                    {"reason": "patch breaks the table"},
                )

    def _explain(self, changes: Sequence[Change]) -> dict[str, Any]:
        """The changes, and the kind that each warehouse needs."""
        return {
            "reason": "kind",
            "needs": strictest(change.needs for change in changes),
            "profiles": {profile.name: needs_of(changes, profile.name) for profile in self.kinds.profiles},
            "changes": [change_dict(change) for change in changes],
        }


def checked_document(document: object, expected: SchemaKey | None = None) -> SchemaDocument:
    """A schema without errors. Raises Refusal."""
    if expected is not None and isinstance(document, dict) and "self" not in document:
        parts = {"vendor": expected.vendor, "name": expected.name, "format": expected.format}
        headers = {"$schema": META_SCHEMA, "self": {**parts, "version": str(expected.version)}}
        document = {**document, **headers}
    issues = [issue for issue in lint_document(document) if issue.level == "ERROR"]
    if any(issue.linter == TOO_DEEP for issue in issues):
        raise Refusal(422, f"The schema cannot be read: {issues[0].message}")
    try:
        schema = SchemaDocument.parse(document)
    except IgluError as error:
        raise Refusal(400, f"The schema does not describe itself: {error}") from None
    if expected is not None and schema.key != expected:
        raise Refusal(
            400,
            "Mismatch: the address of the schema in the URL differs from that in its self",
            {"uriSchemaKey": str(expected), "payloadSchemaKey": str(schema.key)},
        )
    if issues:
        raise Refusal(400, "The schema has errors", {"report": issue_dicts(issues)})
    return schema


def check_permission(
    permission: Permission, key: SchemaKey, history: NameHistory, writer: SchemaWriter
) -> None:
    """Raises Refusal."""
    is_vendor_known = permission.vendor == key.vendor or writer.has_vendor(key.vendor)
    needed: SchemaAction = "BUMP" if history.heads else "CREATE" if is_vendor_known else "CREATE_VENDOR"
    if not permission.allows(needed, key.vendor):
        raise Refusal(403, f"Not enough permissions: publishing {key} needs {needed}")


def change_dict(change: Change) -> dict[str, str]:
    return {
        "pointer": change.pointer,
        "rule": change.rule,
        "needs": change.needs,
        "profile": change.profile,
        "detail": change.detail,
    }


def issue_dicts(issues: Iterable[Issue]) -> list[dict[str, str]]:
    """Issues as Iglu's validation reports them."""
    return [
        {
            "message": f"{issue.linter}: {issue.message}",
            "level": issue.level,
            "pointer": f"/{issue.pointer[1:]}",
        }
        for issue in issues
    ]


def _refused_kind(key: SchemaKey, verdict: Verdict) -> str:
    needs = strictest(change.needs for change in verdict.refused)
    return f"version {key.version} is declared as {verdict.declared}, and its changes need {needs}"


def _notes(key: SchemaKey, verdict: Verdict, is_late: bool) -> Iterable[str]:
    if is_late:
        yield (
            f"version {key.version} adds to a revision that others follow: its columns come last in the "
            "table, and clients that walk versions by number expect them earlier"
        )
    if verdict.info:
        yield f"INFO: {verdict.info}"
    for change in verdict.warnings:
        yield f"WARNING: {change.pointer}: {change.rule} needs {change.needs} {change.detail}".rstrip()


def _breaks(documents: Iterable[SchemaDocument], table: FamilyMerge) -> Counter[tuple[str, str]]:
    steps = [table.add(document) for document in documents]
    return Counter((str(step.key.version), reason.message) for step in steps for reason in step.breaks)
