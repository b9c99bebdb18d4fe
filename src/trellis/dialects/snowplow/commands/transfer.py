"""`trellis registry push` and `pull`: schemas between folders and registries."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from trellis.cli.output.console import counted, grid, indented
from trellis.dialects.snowplow.client.folder import OVERLAY_SUFFIX, FolderRegistry, read_document
from trellis.dialects.snowplow.client.http import HttpRegistry
from trellis.dialects.snowplow.client.locator import is_store, registry_key
from trellis.dialects.snowplow.client.registry import SchemaNotFound
from trellis.dialects.snowplow.client.store import StoreRegistry
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.json_text import canonical, write_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.registry.publishing import Publisher
from trellis.dialects.snowplow.registry.refusals import Refusal
from trellis.dialects.snowplow.registry.settings import ServerSettings
from trellis.dialects.snowplow.registry.store.permissions import super_permission
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore, StoredSchema
from trellis.errors import SchemaError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

EXPORT: Final = "registry.json"
"""Beside the schemas of a copy: all of them in the order of creation, with their times and visibility."""
Outcome = Literal["created", "patched", "unchanged", "restored", "refused"]


@dataclass(frozen=True)
class Transfer:
    """What became of one schema."""

    key: SchemaKey
    outcome: Outcome
    message: str = ""
    """Why it was refused, and what its author should know."""


@dataclass(frozen=True)
class TransferReport:
    transfers: tuple[Transfer, ...]

    @property
    def refused(self) -> int:
        return sum(transfer.outcome == "refused" for transfer in self.transfers)

    def to_dict(self) -> dict[str, Any]:
        return {
            "refused": self.refused,
            "schemas": [
                {"uri": str(transfer.key), "outcome": transfer.outcome, "message": transfer.message}
                for transfer in self.transfers
            ],
        }

    def show(self, out: Console) -> None:
        from rich.text import Text

        table = grid("Schema", "Outcome", "Why", whole=("Schema",))
        for transfer in self.transfers:
            style = "bold red" if transfer.outcome == "refused" else ""
            table.add_row(str(transfer.key), Text(transfer.outcome, style=style), Text(transfer.message))
        if table.row_count:
            out.print(indented(table))
            out.print()
        outcomes = [transfer.outcome for transfer in self.transfers]
        counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(outcomes))
        out.print(f"{counted(len(outcomes), 'schema')}: {counts or 'none'}", style="bold", soft_wrap=True)


def push_folder(path: str, at: str, *, public: bool, assume_order: bool = False) -> TransferReport:
    """Publish the schemas of a folder in their order. After a version that is refused comes none of its name.

    Raises SchemaError, UsageError, RegistryUnavailable.
    """
    folder = FolderRegistry.open(path, assume_order=assume_order)
    exported = read_export(folder.root)
    target: SchemaStore | HttpRegistry
    if is_store(at):
        target = StoreRegistry.open(at, create=True).store
        if exported and not target.list_schemas():
            return TransferReport(tuple(_restore(folder, exported, target)))
        publish = _store_publisher(target, public)
    else:
        target = HttpRegistry.open(at, registry_key())
        publish = http_publisher(target, public)
    keys = [*exported] if exported else _ordered_keys(folder)
    overlays = _overlays(folder, keys)
    report = TransferReport(tuple(_push(folder, keys, publish)))
    if not report.refused:
        for family, overlay in overlays.items():
            target.put_overlay(family, overlay)
    return report


def pull_registry(at: str, path: str, *, force: bool = False) -> TransferReport:
    """Copy all schemas that can be read, with the order and times of their creation.

    Raises SchemaError, UsageError, RegistryUnavailable.
    """
    source = StoreRegistry.open(at) if is_store(at) else HttpRegistry.open(at, registry_key())
    root = Path(path)
    if root.exists() and not (root.is_dir() and (force or not any(root.iterdir()))):
        raise UsageError(f"{path} is there already; name a new folder, or write over it with --force")
    try:
        keys = source.list_keys()
    except UsageError:
        raise UsageError(
            f"{at} has no list of its schemas, so they cannot be pulled; copy its files"
        ) from None
    schemas = [source.stored(key) for key in keys]
    for schema in schemas:
        key = schema.key
        file = root / "schemas" / key.vendor / key.name / key.format / str(key.version)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(write_json(schema.document.to_dict()) + "\n", encoding="utf-8")
    for family in dict.fromkeys(schema.key.family for schema in schemas):
        listed = [str(schema.key) for schema in schemas if schema.key.family == family]
        (root / "schemas" / str(family)).write_text(json.dumps(listed) + "\n", encoding="utf-8")
        if overlay := source.overlay(family):
            file = root / "schemas" / f"{family}{OVERLAY_SUFFIX}"
            file.write_text(json.dumps(overlay.to_dict()) + "\n", encoding="utf-8")
    (root / "schemas").mkdir(parents=True, exist_ok=True)
    entries = [_export_entry(schema) for schema in schemas]
    (root / "schemas" / EXPORT).write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    return TransferReport(tuple(Transfer(schema.key, "created") for schema in schemas))


def read_export(root: Path) -> dict[SchemaKey, dict[str, Any]]:
    """What a copy says of its schemas, in the order of their creation; nothing where it is none."""
    file = root / EXPORT
    if not file.is_file():
        return {}
    try:
        return {SchemaKey.parse(entry["uri"]): entry for entry in read_document(file)}
    except (IgluError, KeyError, TypeError) as error:
        raise SchemaError(f"{file}: not written by `trellis registry pull`: {error}") from None


Publish = Callable[[SchemaDocument], tuple[Outcome, str]]


def _push(folder: FolderRegistry, keys: Sequence[SchemaKey], publish: Publish) -> Iterator[Transfer]:
    given_up: set[tuple[str, str]] = set()
    for key in keys:
        name = (key.vendor, key.name)
        if name in given_up:
            yield Transfer(key, "refused", "a version before it was refused")
            continue
        outcome, message = publish(folder.schema(key))
        if outcome == "refused":
            given_up.add(name)
        yield Transfer(key, outcome, message)


def http_publisher(registry: HttpRegistry, public: bool) -> Publish:
    """Publishes on a server what it does not have with the same content."""

    def publish(document: SchemaDocument) -> tuple[Outcome, str]:
        try:
            if _is_same(registry.schema(document.key), document):
                return "unchanged", ""
        except SchemaNotFound:
            pass
        path = f"/schemas?isPublic={'true' if public else 'false'}"
        answer = registry.send("POST", path, write_json(document.to_dict()).encode())
        fields = answer.json_object()
        if answer.ok:
            return ("patched" if fields.get("updated") else "created"), "; ".join(fields.get("notes", ()))
        reason = _reason(fields, f"HTTP {answer.status}")
        hint = f"; give a key that may publish it in {registry.key_place}" if answer.status == 403 else ""
        return "refused", f"{reason}{hint}"

    return publish


def _store_publisher(store: SchemaStore, public: bool) -> Publish:
    settings = ServerSettings()
    publisher = Publisher(store, settings.kinds, settings.succession)

    def publish(document: SchemaDocument) -> tuple[Outcome, str]:
        stored = store.find_schema(document.key)
        if stored and _is_same(stored.document, document):
            return "unchanged", ""
        try:
            report = publisher.publish(document.to_dict(), super_permission(), is_public=public)
        except Refusal as refusal:
            return "refused", _reason(refusal.to_dict(), "")
        return report.outcome, "; ".join(report.notes)

    return publish


def _restore(
    folder: FolderRegistry, exported: dict[SchemaKey, dict[str, Any]], store: SchemaStore
) -> Iterator[Transfer]:
    """Store the schemas of a copy as they were, all of them or none."""
    schemas = [
        StoredSchema(folder.schema(key), entry["isPublic"], entry["createdAt"], entry["updatedAt"])
        for key, entry in exported.items()
    ]
    overlays = _overlays(folder, exported)
    with store.writing() as writer:
        for schema in schemas:
            writer.add(schema)
        for family, overlay in overlays.items():
            writer.put_overlay(family, overlay)
    yield from (Transfer(schema.key, "restored") for schema in schemas)


def _overlays(folder: FolderRegistry, keys: Collection[SchemaKey]) -> dict[Family, Overlay]:
    """Raises SchemaError for one that does not fit the table of its schemas."""
    overlays: dict[Family, Overlay] = {}
    for family in dict.fromkeys(key.family for key in keys):
        if overlay := folder.overlay(family):
            try:
                overlay.check([folder.schema(key) for key in keys if key.family == family])
            except SchemaError as error:
                raise SchemaError(f"{folder.root / str(family)}{OVERLAY_SUFFIX}: {error}") from None
            overlays[family] = overlay
    return overlays


def _ordered_keys(folder: FolderRegistry) -> list[SchemaKey]:
    families = sorted({key.family for key in folder.list_keys()})
    return [key for family in families for key in folder.versions(family)]


def _is_same(stored: SchemaDocument, document: SchemaDocument) -> bool:
    return canonical(stored.body) == canonical(document.body)


def _reason(fields: dict[str, Any], default: str) -> str:
    """The sentence of a refusal, with the changes or issues that it names."""
    changes = [
        f"{change['pointer']}: {change['rule']} needs {change['needs']}"
        + (f" in {change['profile']}" if change["profile"] else "")
        for change in fields.get("changes", ())
    ]
    issues = [f"{issue['pointer']}: {issue['message']}" for issue in fields.get("report", ())]
    return "; ".join([fields.get("message", default), *changes, *issues])


def _export_entry(schema: StoredSchema) -> dict[str, Any]:
    return {
        "uri": str(schema.key),
        "isPublic": schema.is_public,
        "createdAt": schema.created_at,
        "updatedAt": schema.updated_at,
    }
