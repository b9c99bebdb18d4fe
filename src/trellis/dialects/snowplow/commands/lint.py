"""`trellis registry lint`: the findings of all schemas."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import counted, grid, indented
from trellis.dialects.snowplow.client.folder import OVERLAY_SUFFIX, FolderRegistry, read_document
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.lints.issues import Issue, Level
from trellis.dialects.snowplow.lints.schema_lint import lint_document
from trellis.errors import SchemaError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"ERROR": "bold red", "WARNING": "yellow", "INFO": "cyan"}


@dataclass(frozen=True)
class LintReport:
    """The findings of all schemas of a registry."""

    files: int
    issues: tuple[tuple[str, Issue], ...]
    """Each with the place of its schema, VENDOR/NAME/FORMAT/VERSION."""

    def count(self, level: Level) -> int:
        return sum(issue.level == level for _, issue in self.issues)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schemas": self.files,
            "errors": self.count("ERROR"),
            "issues": [{"file": file, **asdict(issue)} for file, issue in self.issues],
        }

    def show(self, out: Console, *, with_info: bool) -> None:
        from rich.text import Text

        table = grid("", "Schema", "Where", "Linter", "What", whole=("Schema",))
        for file, issue in self.issues:
            if with_info or issue.level != "INFO":
                level = Text(issue.level, style=_STYLES[issue.level])
                table.add_row(level, *map(Text, (file, issue.pointer, issue.linter, issue.message)))
        if table.row_count:
            out.print(indented(table))
            out.print()
        errors, warnings, infos = (self.count(level) for level in ("ERROR", "WARNING", "INFO"))
        counts = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}, {counted(infos, 'remark')}"
        style = "bold red" if errors else "bold"
        out.print(f"{counted(self.files, 'schema')}: {counts}", style=style, soft_wrap=True)


def lint_registry(at: str, skip: Collection[str]) -> LintReport:
    """Raises UsageError, SchemaError, RegistryUnavailable."""
    if Path(at).is_dir():
        return lint_folder(FolderRegistry.open(at), skip)
    registry = open_registry(at)
    keys = registry.list_keys()
    issues = (
        (str(key).removeprefix("iglu:"), issue)
        for key in keys
        for issue in lint_document(registry.schema(key).to_dict(), skip)
    )
    return LintReport(len(keys), tuple(issues))


def lint_folder(folder: FolderRegistry, skip: Collection[str]) -> LintReport:
    """Raises UsageError."""
    files = folder.files()
    issues = (
        (path.relative_to(folder.root).as_posix(), issue)
        for path in files
        for issue in _lint_file(folder, path, skip)
    )
    return LintReport(len(files), (*issues, *_lint_overlays(folder)))


def _lint_overlays(folder: FolderRegistry) -> Iterator[tuple[str, Issue]]:
    """What keeps overlays from fitting the tables of their schemas, as a server would say."""
    for file in sorted(folder.root.glob(f"*/*/*/*{OVERLAY_SUFFIX}")):
        place = file.relative_to(folder.root)
        vendor, name, format, _ = place.parts
        try:
            key = SchemaKey.parse(
                f"iglu:{vendor}/{name}/{format}/{file.name.removesuffix(OVERLAY_SUFFIX)}-0-0"
            )
            keys = [other for other in folder.list_keys(vendor, name) if other.family == key.family]
            if overlay := folder.overlay(key.family):
                overlay.check([folder.schema(other) for other in keys])
        except (IgluError, SchemaError, UsageError) as error:
            yield place.as_posix(), Issue("ERROR", "overlay", "", str(error).removeprefix(f"{file}: "))


def _lint_file(folder: FolderRegistry, path: Path, skip: Collection[str]) -> list[Issue]:
    try:
        document = read_document(path)
    except (SchemaError, UsageError) as error:
        return [Issue("ERROR", "json", "", str(error).removeprefix(f"{path}: "))]
    issues = lint_document(document, skip)
    if not any(issue.linter in ("self", "schemaUri", "depth") for issue in issues):
        fault = folder.path_fault(path, SchemaDocument.parse(document).key)
        issues += [Issue("ERROR", "path", "", fault)] if fault else []
    return issues
