"""Whether a version may be published beside those that are there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from trellis.dialects.snowplow.identity.keys import Kind, SchemaVer

Succession = Literal["registry-order", "sequential"]
"""Whether versions may be added to a revision that another one follows: always; never."""
Outcome = Literal["created", "patched"]
Reason = Literal[
    "availability conflict",
    "already exists",
    "previous missing",
    "next revision exists",
    "superseded missing",
    "superseded invalid",
]


@dataclass(frozen=True)
class Publication:
    """A version to be published."""

    version: SchemaVer
    is_public: bool = True
    supersedes: tuple[SchemaVer, ...] = ()


@dataclass(frozen=True)
class Conflict:
    """Why a version is refused, in a sentence that names what is possible instead."""

    reason: Reason
    message: str


@dataclass(frozen=True)
class SuccessionRules:
    """What a registry allows, set when it is deployed."""

    succession: Succession = "registry-order"
    patches_allowed: bool = False

    def check(
        self, publication: Publication, existing: Collection[SchemaVer], existing_public: bool | None = None
    ) -> Outcome | Conflict:
        """The first rule that the publication breaks, or what it is.

        `existing` are the versions of all models of its name, `existing_public` whether these are public.
        """
        version = publication.version
        if existing and existing_public not in (None, publication.is_public):
            ours, theirs = ("private", "public") if existing_public else ("public", "private")
            return Conflict(
                "availability conflict",
                f"version {version} is {ours}, and the versions before it are {theirs}; publish it as "
                f"{theirs}",
            )
        if version in existing:
            if self.patches_allowed:
                return "patched"
            return Conflict(
                "already exists",
                f"version {version} exists and cannot be changed; publish {_next(version, existing)} instead",
            )
        if not _has_predecessor(version, existing):
            return Conflict(
                "previous missing",
                f"version {version} follows none of {_listed(existing)}; publish "
                f"{_reachable(version, existing)} first",
            )
        if self.succession == "sequential" and is_late_addition(version, existing):
            latest = max(other for other in existing if other.model == version.model)
            return Conflict(
                "next revision exists",
                f"version {version} adds to a revision that others follow; publish "
                f"{next_version(latest, 'ADDITION', existing)} instead",
            )
        return self._check_superseded(publication, existing) or "created"

    @staticmethod
    def _check_superseded(publication: Publication, existing: Collection[SchemaVer]) -> Conflict | None:
        for superseded in publication.supersedes:
            if superseded not in existing:
                return Conflict(
                    "superseded missing",
                    f"version {publication.version} supersedes {superseded}, which does not exist; publish "
                    f"{superseded} first, or leave it out of $supersedes",
                )
            if superseded > publication.version:
                return Conflict(
                    "superseded invalid",
                    f"version {publication.version} cannot supersede {superseded}, which is greater; leave "
                    "it out of $supersedes",
                )
        return None


def predecessor(version: SchemaVer, existing: Collection[SchemaVer]) -> SchemaVer | None:
    """The version that a new one is compared with: one addition less, else the end of the revision before.

    None for the first of a model.

    >>> str(predecessor(SchemaVer(1, 1, 0), [SchemaVer(1, 0, 0), SchemaVer(1, 0, 1)]))
    '1-0-1'
    """
    if version.addition:
        before = SchemaVer(version.model, version.revision, version.addition - 1)
        return before if before in existing else None
    ancestors = [
        other for other in existing if (other.model, other.revision) == (version.model, version.revision - 1)
    ]
    return max(ancestors, default=None)


def next_version(base: SchemaVer, kind: Kind, existing: Collection[SchemaVer]) -> SchemaVer:
    """The smallest version of a kind that follows `base` and is free.

    >>> str(next_version(SchemaVer(1, 0, 0), "ADDITION", [SchemaVer(1, 0, 0), SchemaVer(1, 0, 1)]))
    '1-0-2'
    """
    versions = {*existing, base}
    models = max(other.model for other in versions)
    revisions = max(other.revision for other in versions if other.model == base.model)
    additions = max(
        other.addition for other in versions if (other.model, other.revision) == (base.model, base.revision)
    )
    if kind == "MODEL":
        return SchemaVer(models + 1, 0, 0)
    if kind == "REVISION":
        return SchemaVer(base.model, revisions + 1, 0)
    return SchemaVer(base.model, base.revision, additions + 1)


def is_late_addition(version: SchemaVer, existing: Collection[SchemaVer]) -> bool:
    """Whether it adds to a revision that another one follows.

    Its columns come last in the table, and clients that walk versions by number expect them before those of
    the next revision.

    >>> is_late_addition(SchemaVer(1, 0, 1), [SchemaVer(1, 0, 0), SchemaVer(1, 1, 0)])
    True
    """
    following = (version.model, version.revision + 1)
    return bool(version.addition) and any((other.model, other.revision) == following for other in existing)


def _has_predecessor(version: SchemaVer, existing: Collection[SchemaVer]) -> bool:
    if version.kind is None:
        return True
    if version.kind == "MODEL":
        return any(other.model == version.model - 1 for other in existing)
    return predecessor(version, existing) is not None


def _reachable(version: SchemaVer, existing: Collection[SchemaVer]) -> SchemaVer:
    """The version nearest to one that cannot follow yet, which can."""
    model = [other for other in existing if other.model == version.model]
    if not model:
        return next_version(max(existing), "MODEL", existing) if existing else SchemaVer(1, 0, 0)
    revision = [other for other in model if other.revision == version.revision]
    return next_version(max(revision or model), "ADDITION" if revision else "REVISION", existing)


def _next(version: SchemaVer, existing: Collection[SchemaVer]) -> str:
    kinds: tuple[Kind, ...] = ("ADDITION", "REVISION", "MODEL")
    addition, revision, model = (next_version(version, kind, existing) for kind in kinds)
    return f"{addition}, {revision} or {model}"


def _listed(existing: Collection[SchemaVer]) -> str:
    return ", ".join(map(str, sorted(existing))) or "no version"
