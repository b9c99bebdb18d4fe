"""A folder of schemas, as igluctl and static registries have it: VENDOR/NAME/FORMAT/VERSION.

A file VENDOR/NAME/FORMAT/MODEL beside them is the list of the versions of a model, in the order of their
creation: what a server answers to `GET /api/schemas/VENDOR/NAME/FORMAT/MODEL`. MODEL.overlay.json says how
its table differs from what the schemas say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, Final

from trellis.dialects.snowplow.client.http import warn_of_order
from trellis.dialects.snowplow.client.registry import SchemaNotFound
from trellis.dialects.snowplow.columns.overlay import Overlay
from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey
from trellis.dialects.snowplow.versions.order import is_unambiguous, order_by_number
from trellis.errors import SchemaError, UsageError
from trellis.pipelines.config import read_text

OVERLAY_SUFFIX: Final = ".overlay.json"


@dataclass(frozen=True)
class FolderRegistry:
    """Schemas in files."""

    root: Path
    assume_order: bool = False
    """Whether versions without a list are ordered by their numbers, also where these do not tell."""
    ignored: Path | None = None
    """A file that counts as absent, in lists as well."""
    label: str = ""

    @staticmethod
    def open(at: str, *, assume_order: bool = False, label: str = "") -> FolderRegistry:
        """Raises UsageError."""
        root = Path(at)
        if not root.is_dir():
            raise UsageError(f"{at!r} is no folder; expected one with schemas in VENDOR/NAME/FORMAT/VERSION")
        root = root / "schemas" if (root / "schemas").is_dir() else root
        return FolderRegistry(root, assume_order, label=label)

    @property
    def name(self) -> str:
        return self.label or str(self.root)

    def files(self, vendor: str = "", name: str = "") -> list[Path]:
        """The files of schemas, in the order of their paths. Raises UsageError where there is none at all."""
        parts = (escape(vendor) or "*", escape(name) or "*", "*", "*")
        files = [path for path in sorted(self.root.glob("/".join(parts))) if self._is_schema(path)]
        if not files and not vendor:
            raise UsageError(
                f"{self.root}: no schemas here; expected files such as com.acme/event/jsonschema/1-0-0"
            )
        return files

    def list_keys(self, vendor: str = "", name: str = "") -> Sequence[SchemaKey]:
        return [self._key_of(path) for path in self.files(vendor, name)]

    def schema(self, key: SchemaKey) -> SchemaDocument:
        path = self.root / key.vendor / key.name / key.format / str(key.version)
        for file in (path, path.with_name(f"{path.name}.json")):
            if self._is_schema(file):
                document = read_schema(file)
                if fault := self.path_fault(file, document.key):
                    raise SchemaError(f"{file}: {fault}")
                return document
        raise SchemaNotFound(f"{key}: not found in {self.name}")

    def versions(self, family: Family) -> Sequence[SchemaKey]:
        folder = self.root / family.vendor / family.name / family.format
        files = filter(self._is_schema, folder.glob("*"))
        keys = [key for key in map(self._key_of, files) if key.family == family]
        if not keys:
            raise SchemaNotFound(f"{family}: no versions in {self.name}")
        file = self.root / str(family)
        if file.is_file():
            return self._listed(file, family, keys)
        versions = [key.version for key in keys]
        ordered = order_by_number(str(family), versions, assume=self.assume_order)
        if not is_unambiguous(ordered):
            warn_of_order(family)
        return [keys[0].with_version(version) for version in ordered]

    def overlay(self, family: Family) -> Overlay | None:
        file = self.root / f"{family}{OVERLAY_SUFFIX}"
        if not file.is_file():
            return None
        document = read_document(file)
        try:
            return Overlay.parse(document)
        except SchemaError as error:
            raise SchemaError(f"{file}: {error}") from None

    def put_overlay(self, family: Family, overlay: Overlay) -> None:
        file = self.root / f"{family}{OVERLAY_SUFFIX}"
        part = file.with_name(f".{file.name}")
        try:
            part.write_text(json.dumps(overlay.to_dict(), indent=2) + "\n", encoding="utf-8")
            part.replace(file)
        except OSError as error:
            raise SchemaError(
                f"{file}: cannot be written ({error.strerror}); let the folder be written to, or keep its "
                "schemas in a registry that takes overlays"
            ) from None

    def path_fault(self, path: Path, key: SchemaKey) -> str | None:
        """That a file is not where its schema says."""
        expected = f"{key.vendor}/{key.name}/{key.format}/{key.version}"
        actual = path.relative_to(self.root).as_posix().removesuffix(".json")
        return None if actual == expected else f"self says {expected}; move the file there, or correct self"

    def _listed(self, file: Path, family: Family, keys: Sequence[SchemaKey]) -> Sequence[SchemaKey]:
        listed = _read_list(file)
        if strangers := [str(key) for key in listed if key.family != family]:
            raise SchemaError(f"{file}: lists {', '.join(strangers)}; expected versions of {family} alone")
        if self.ignored is not None:
            ignored = self.ignored.resolve().with_suffix("")
            listed = [key for key in listed if (file.parent / str(key.version)).resolve() != ignored]
        if sorted(listed) != sorted(keys):
            listed_text, files_text = (
                ", ".join(str(key.version) for key in part) for part in (listed, sorted(keys))
            )
            raise SchemaError(
                f"{file}: lists {listed_text}, and the files are {files_text}; list each of them once"
            )
        return listed

    def _key_of(self, path: Path) -> SchemaKey:
        address = path.relative_to(self.root).as_posix().removesuffix(".json")
        try:
            return SchemaKey.parse(f"iglu:{address}")
        except IgluError as error:
            raise SchemaError(f"{path}: {error}") from None

    def _is_schema(self, path: Path) -> bool:
        """Not a list of versions, an overlay, nor what a file manager leaves behind."""
        name = path.name
        is_named_so = not (name.isdigit() or name.startswith(".") or name.endswith(OVERLAY_SUFFIX))
        is_ignored = self.ignored is not None and path.resolve() == self.ignored.resolve()
        return is_named_so and path.is_file() and not is_ignored


def read_schema(path: Path) -> SchemaDocument:
    """Raises SchemaError, UsageError."""
    try:
        return SchemaDocument.parse(read_document(path))
    except IgluError as error:
        raise SchemaError(f"{path}: {error}") from None


def read_document(path: Path) -> Any:
    """The JSON of a file. Raises SchemaError, UsageError."""
    try:
        return read_json(read_text(path))
    except RecursionError:
        raise SchemaError(f"{path}: the JSON is nested too deep to be read") from None
    except ValueError as error:
        raise SchemaError(f"{path}: not JSON: {error}") from None


def _read_list(file: Path) -> list[SchemaKey]:
    uris = read_document(file)
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise SchemaError(f"{file}: a list of versions is a JSON list of addresses, in the order of creation")
    try:
        return [SchemaKey.parse(uri) for uri in uris]
    except IgluError as error:
        raise SchemaError(f"{file}: {error}") from None
