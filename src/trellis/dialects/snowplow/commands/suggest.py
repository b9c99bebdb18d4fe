"""`trellis registry suggest`: the smallest version of a change, and its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import grid, indented
from trellis.dialects.snowplow.client.folder import FolderRegistry, read_schema
from trellis.dialects.snowplow.client.http import HttpRegistry
from trellis.dialects.snowplow.client.locator import open_registry, registry_key
from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.client.selection import Selection, parse_version
from trellis.dialects.snowplow.columns.profiles import get_profile
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.kind.rules import needs_of
from trellis.dialects.snowplow.kind.verdict import KindPolicy, Suggestion, suggest_version
from trellis.dialects.snowplow.versions.order import position_of

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"MODEL": "bold red", "REVISION": "yellow", "ADDITION": ""}


@dataclass(frozen=True)
class SuggestionReport:
    """The version that a schema may have."""

    key: SchemaKey
    """As its document says; only vendor, name and format count."""
    suggestion: Suggestion
    policy: KindPolicy

    @staticmethod
    def of(
        file: str,
        at: str,
        profiles: Sequence[str] | None,
        base: str | None,
        *,
        assume_order: bool = False,
    ) -> SuggestionReport:
        """Without `profiles` those count that the registry guards, if it says so.

        Raises SchemaError, UsageError, RegistryUnavailable.
        """
        path = Path(file)
        registry = _without(path, at, assume_order)
        document = read_schema(path)
        key = document.key
        registered = [
            other
            for family, documents in Selection(key.vendor, key.name).read(registry).items()
            if family.format == key.format
            for other in documents
        ]
        version = parse_version(base) if base else None
        if version:
            position_of(version, registered)
        profiles = profiles or _guarded_profiles(at)
        policy = KindPolicy(profiles=tuple(map(get_profile, profiles))) if profiles else KindPolicy()
        return SuggestionReport(key, suggest_version(document, registered, policy, version), policy)

    def to_dict(self) -> dict[str, Any]:
        suggestion = self.suggestion
        return {
            "schema": f"iglu:{self.key.vendor}/{self.key.name}/{self.key.format}",
            "base": None if suggestion.base is None else str(suggestion.base),
            "version": str(suggestion.version),
            "needs": suggestion.needs,
            "profiles": {
                profile.name: needs_of(suggestion.changes, profile.name) for profile in self.policy.profiles
            },
            "changes": [asdict(change) for change in suggestion.changes],
        }

    def show(self, out: Console) -> None:
        from rich.text import Text

        suggestion = self.suggestion
        table = grid("Needs", "Where", "Change", "Warehouse", "Detail", whole=("Change",))
        for change in suggestion.changes:
            needs = Text(change.needs, style=_STYLES[change.needs])
            table.add_row(needs, *map(Text, (change.pointer, change.rule, change.profile, change.detail)))
        if table.row_count:
            out.print(indented(table))
            out.print()
        reason = "nothing is registered yet" if suggestion.base is None else f"it follows {suggestion.base}"
        name = f"{self.key.vendor}/{self.key.name}"
        out.print(f"{name} can be {suggestion.version}: {reason}", style="bold", soft_wrap=True)


def _guarded_profiles(at: str) -> Sequence[str]:
    is_url = at.startswith(("http://", "https://"))
    return HttpRegistry.open(at, registry_key()).guarded_profiles() if is_url else ()


def _without(file: Path, at: str, assume_order: bool) -> Registry:
    """The registry; where it is a folder, without the file itself, which may be in it."""
    if Path(at).is_dir():
        return replace(FolderRegistry.open(at, assume_order=assume_order), ignored=file)
    return open_registry(at, assume_order=assume_order)
