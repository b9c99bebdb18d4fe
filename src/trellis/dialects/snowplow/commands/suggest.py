"""`trellis registry suggest`: the smallest version of a change, and its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import grid, indented
from trellis.dialects.snowplow.columns.profiles import get_profile
from trellis.dialects.snowplow.commands.schema_folder import (
    SchemaFolder,
    Selection,
    parse_version,
    position_of,
    read_schema,
    warn_of_order,
)
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.kind.verdict import KindPolicy, Suggestion, suggest_version

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"MODEL": "bold red", "REVISION": "yellow", "ADDITION": ""}


@dataclass(frozen=True)
class SuggestionReport:
    """The version that a schema may have."""

    key: SchemaKey
    """As its document says; only vendor, name and format count."""
    suggestion: Suggestion

    @staticmethod
    def of(
        file: str, folder: SchemaFolder, profiles: Sequence[str] | None, base: str | None
    ) -> SuggestionReport:
        """Raises SchemaError, UsageError."""
        path = Path(file)
        document = read_schema(path)
        key = document.key
        selection = Selection(key.vendor, key.name)
        families = {
            family: documents
            for family, documents in folder.read_families(selection, without=path).items()
            if family.format == key.format
        }
        warn_of_order(folder, families)
        registered = [other for documents in families.values() for other in documents]
        version = parse_version(base) if base else None
        if version:
            position_of(version, registered)
        policy = KindPolicy(profiles=tuple(map(get_profile, profiles))) if profiles else KindPolicy()
        return SuggestionReport(key, suggest_version(document, registered, policy, version))

    def to_dict(self) -> dict[str, Any]:
        suggestion = self.suggestion
        return {
            "schema": f"iglu:{self.key.vendor}/{self.key.name}/{self.key.format}",
            "base": None if suggestion.base is None else str(suggestion.base),
            "version": str(suggestion.version),
            "needs": suggestion.needs,
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
