"""A folder of schemas, as igluctl and static registries have it: VENDOR/NAME/FORMAT/VERSION.

A file VENDOR/NAME/FORMAT/MODEL beside them is the list of the versions of a model, in the order of their
creation: what a server answers to `GET /api/schemas/VENDOR/NAME/FORMAT/MODEL`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import Family, SchemaKey, SchemaVer
from trellis.dialects.snowplow.versions.order import is_unambiguous, order_by_number
from trellis.errors import SchemaError, UsageError, nearest
from trellis.pipelines.config import read_text


@dataclass(frozen=True)
class Selection:
    """The schemas that a user names: VENDOR/NAME, with a version all of its model up to it."""

    vendor: str
    name: str
    version: SchemaVer | None = None

    @staticmethod
    def parse(text: str) -> Selection:
        """Raises UsageError."""
        parts = text.removeprefix("iglu:").split("/")
        if len(parts) == 4:
            parts.pop(2)
        if len(parts) not in (2, 3) or not all(parts):
            raise UsageError(f"{text!r} names no schemas: expected com.acme/event or com.acme/event/1-0-0")
        return Selection(parts[0], parts[1], parse_version(parts[2]) if parts[2:] else None)

    @property
    def pattern(self) -> str:
        return f"{escape(self.vendor)}/{escape(self.name)}/*/*"

    def includes(self, family: Family) -> bool:
        is_model = self.version is None or self.version.model == family.model
        return is_model and (self.vendor, self.name) == (family.vendor, family.name)


@dataclass(frozen=True)
class SchemaFolder:
    """Schemas in files."""

    root: Path
    assume_order: bool = False
    """Whether versions without a list are ordered by their numbers, also where these do not tell."""

    @staticmethod
    def open(at: str, *, assume_order: bool = False) -> SchemaFolder:
        """Raises UsageError."""
        root = Path(at)
        if not root.is_dir():
            raise UsageError(
                f"--at: {at!r} is no folder; expected one with schemas in VENDOR/NAME/FORMAT/VERSION"
            )
        return SchemaFolder(root / "schemas" if (root / "schemas").is_dir() else root, assume_order)

    def files(self, selection: Selection | None = None) -> list[Path]:
        """The files of schemas, in the order of their paths. Raises UsageError where there is none at all."""
        pattern = "*/*/*/*" if selection is None else selection.pattern
        files = [path for path in sorted(self.root.glob(pattern)) if path.is_file() and _is_schema(path)]
        if not files and selection is None:
            raise UsageError(
                f"{self.root}: no schemas here; expected files such as com.acme/event/jsonschema/1-0-0"
            )
        return files

    def read_families(
        self, selection: Selection | None = None, without: Path | None = None
    ) -> dict[Family, Sequence[SchemaDocument]]:
        """The schemas of each family in the order of their creation, but that of the file `without`.

        Raises SchemaError, UsageError.
        """
        families: dict[Family, dict[SchemaVer, SchemaDocument]] = {}
        for path in self.files(selection):
            if without is None or path.resolve() != without.resolve():
                document = self._read(path)
                families.setdefault(document.key.family, {})[document.key.version] = document
        ordered = {
            family: self._ordered(family, documents, without)
            for family, documents in sorted(families.items())
            if selection is None or selection.includes(family)
        }
        if selection is None or selection.version is None:
            return ordered
        return {family: up_to(selection.version, documents) for family, documents in ordered.items()}

    def unknown(self, selection: Selection) -> UsageError:
        """That there is no such schema."""
        names = {"/".join(path.relative_to(self.root).parts[:2]) for path in self.files()}
        name = f"{selection.vendor}/{selection.name}"
        return UsageError(f"{self.root} has no schema {name}{nearest(name, sorted(names - {name}))}")

    def path_fault(self, path: Path, key: SchemaKey) -> str | None:
        """That a file is not where its schema says."""
        expected = f"{key.vendor}/{key.name}/{key.format}/{key.version}"
        actual = path.relative_to(self.root).as_posix().removesuffix(".json")
        return None if actual == expected else f"self says {expected}; move the file there, or correct self"

    def is_assumed(self, family: Family, documents: Sequence[SchemaDocument]) -> bool:
        """Whether only the user says that the order is that of the numbers."""
        versions = [document.key.version for document in documents]
        return not self._list_file(family).is_file() and not is_unambiguous(versions)

    def _list_file(self, family: Family) -> Path:
        return self.root / str(family)

    def _read(self, path: Path) -> SchemaDocument:
        document = read_schema(path)
        if fault := self.path_fault(path, document.key):
            raise SchemaError(f"{path}: {fault}")
        return document

    def _ordered(
        self, family: Family, documents: dict[SchemaVer, SchemaDocument], without: Path | None
    ) -> Sequence[SchemaDocument]:
        file = self._list_file(family)
        if not file.is_file():
            versions = order_by_number(str(family), documents, assume=self.assume_order)
            return [documents[version] for version in versions]
        keys = _read_list(file)
        if strangers := [str(key) for key in keys if key.family != family]:
            raise SchemaError(f"{file}: lists {', '.join(strangers)}; expected versions of {family} alone")
        skipped = without.resolve().with_suffix("") if without else None
        listed = [key.version for key in keys if (file.parent / str(key.version)).resolve() != skipped]
        if sorted(listed) != sorted(documents):
            raise SchemaError(
                f"{file}: lists {', '.join(map(str, listed))}, and the files are "
                f"{', '.join(map(str, sorted(documents)))}; list each of them once"
            )
        return [documents[version] for version in listed]


def up_to(version: SchemaVer, documents: Sequence[SchemaDocument]) -> Sequence[SchemaDocument]:
    """The schemas of a family until one was created. Raises UsageError."""
    return documents[: position_of(version, documents) + 1]


def position_of(version: SchemaVer, documents: Sequence[SchemaDocument]) -> int:
    """Raises UsageError."""
    versions = [document.key.version for document in documents]
    if version in versions:
        return versions.index(version)
    raise UsageError(f"there is no version {version}: it may be one of {', '.join(map(str, versions))}")


def parse_version(text: str) -> SchemaVer:
    """The version of an option. Raises UsageError."""
    try:
        return SchemaVer.parse(text)
    except IgluError as error:
        raise UsageError(str(error)) from None


def warn_of_order(folder: SchemaFolder, families: Mapping[Family, Sequence[SchemaDocument]]) -> None:
    """Say which orders are the user's assumption."""
    for family, documents in families.items():
        if folder.is_assumed(family, documents):
            warnings.warn(
                f"{family}: versions are sorted by number, which need not be the order of their creation",
                stacklevel=2,
            )


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


def _is_schema(path: Path) -> bool:
    """Not a list of versions, nor what a file manager leaves behind."""
    return not path.name.isdigit() and not path.name.startswith(".")


def _read_list(file: Path) -> list[SchemaKey]:
    uris = read_document(file)
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise SchemaError(f"{file}: a list of versions is a JSON list of addresses, in the order of creation")
    try:
        return [SchemaKey.parse(uri) for uri in uris]
    except IgluError as error:
        raise SchemaError(f"{file}: {error}") from None
