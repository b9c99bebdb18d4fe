"""Folders in which a pipeline writes its schema, and from which it takes one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from trellis.dialects.documents import from_json, from_yaml
from trellis.errors import SchemaError, UsageError
from trellis.schema.documents.document import to_yaml
from trellis.schema.model import Schema
from trellis.schema.system import OURS, is_system
from trellis.schema.version import content_hash

_ENDINGS = (".schema.yaml", ".schema.json")


@dataclass(frozen=True)
class SchemaFolders:
    """`imports`: a schema found there, and edited there, replaces the stored one; `exports`: a copy."""

    imports: str | None = None
    exports: str | None = None
    prefix: str = OURS
    """What the names of the dialect's own tables begin with."""

    def imported(self, stored: Schema) -> Schema:
        """The stored schema, or the one of the file if that says something new. Raises SchemaError."""
        file = self._import_file(stored.name)
        if file is None or not file.is_file():
            return stored
        schema = _read(file)
        if schema.name != stored.name:
            raise SchemaError(f"{file}: it is schema {schema.name!r}, but its name says {stored.name!r}")
        file_hash = content_hash(schema)
        if file_hash == stored.imported_hash:
            return stored
        system = {name: table for name, table in stored.tables.items() if is_system(name, self.prefix)}
        return replace(
            schema,
            tables={**system, **schema.tables},
            stored_version=stored.stored_version,
            stored_hash=stored.stored_hash,
            previous_hashes=stored.previous_hashes,
            imported_hash=file_hash,
        )

    def declared(self, schema: Schema) -> Schema:
        """The schema linked to the import file, which gets what was declared of it if there is none."""
        file = self._import_file(schema.name)
        if file is None or file.is_file():
            return schema
        _write(file, to_yaml(schema, declared_only=True))
        return replace(schema, imported_hash=content_hash(_read(file)))

    def export(self, schema: Schema) -> None:
        """Write the schema as it is now."""
        if self.exports is not None:
            _write(Path(self.exports) / f"{schema.name}{_ENDINGS[0]}", to_yaml(schema))

    def _import_file(self, name: str) -> Path | None:
        if self.imports is None:
            return None
        files = [Path(self.imports) / f"{name}{ending}" for ending in _ENDINGS]
        return next((file for file in files if file.is_file()), files[0])


def _read(file: Path) -> Schema:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as bad:
        raise UsageError(f"{file}: cannot be read as UTF-8 text ({bad})") from None
    return from_json(text, str(file)) if file.suffix == ".json" else from_yaml(text, str(file))


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError as bad:
        raise UsageError(
            f"{file}: cannot be written ({bad.strerror or bad}); check the folder and its rights"
        ) from None
