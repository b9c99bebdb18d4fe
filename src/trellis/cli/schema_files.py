"""Schema documents in files, of Trellis and of other programs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from trellis.dialects.documents import from_json, from_yaml
from trellis.errors import SchemaError, TrellisError, UsageError
from trellis.pipelines.config import read_text
from trellis.schema.documents.schema_format import Reading, SchemaFormat
from trellis.schema.documents.validate import DocumentError, Fault, faults
from trellis.schema.documents.yaml_text import read
from trellis.schema.model import Schema

if TYPE_CHECKING:
    from trellis.exchange.export import Documents

_OURS: Final = re.compile(r'^tables[ \t]*:|"tables"', re.MULTILINE)
"""What a document of Trellis has, so that no other format has to be imported to tell it."""


def schema_file(path: str, find: Callable[[Any], tuple[Fault, ...]] = faults) -> Schema:
    """The schema of a document of Trellis. Raises UsageError, SchemaError with file and line."""
    text = read_text(Path(path))
    if not text.lstrip().startswith("{"):
        return from_yaml(text, path, find)
    try:
        return from_json(text, path, find)
    except DocumentError as bad:
        from trellis.exchange.catalog import recognized_format

        source = None if _OURS.search(text) else recognized_format(_parse(text, path))
        if source is not None:
            raise SchemaError(
                f"{path}: this is a schema of {source.title}, not of Trellis: "
                f"`trellis schema convert {path} --to yaml` makes one of Trellis of it"
            ) from None
        try:
            from_yaml(text, path, find)  # JSON is YAML, and its reader knows the lines
        except DocumentError as located:
            raise located from None
        except TrellisError:
            pass
        raise bad from None


def read_schema(path: str, format_name: str | None = None) -> Reading:
    """The schema of a document of a format that can be read, by default of the one that it shows.

    Raises UsageError, SchemaError with the file.
    """
    text = read_text(Path(path))
    if format_name is None and _OURS.search(text):
        return Reading(schema_file(path))
    from trellis.exchange.catalog import format_of, formats, recognized_format

    if format_name is None:
        document = _parse(text, path)
        source = recognized_format(document)
        if source is None or source.read is None:
            return Reading(schema_file(path))
        return source.read(document, _name_of(path))
    source = format_of(format_name)
    if source.read is None:
        readable = ", ".join(name for name, known in formats().items() if known.read)
        raise UsageError(
            f"{path}: schemas of the format {source.name} are written, not read; these are read: {readable}"
        )
    return source.read((source.parse or _parse)(text, path), _name_of(path))


def _parse(text: str, where: str) -> Any:
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SchemaError(f"{where}: not valid JSON: {error}") from None
    return read(text, where)[0]


def _name_of(path: str) -> str:
    name = re.sub(r"\W+", "_", Path(path).name.split(".")[0], flags=re.ASCII).strip("_") or "schema"
    return f"_{name}" if name[0].isdigit() else name


def output_format(name: str | None, out: str | None) -> SchemaFormat:
    """The format of that name, or of a file whose name shows it; by default YAML. Raises UsageError."""
    from trellis.exchange.catalog import format_of, formats
    from trellis.exchange.formats.document import YAML

    if name is not None:
        return format_of(name)
    if out is None or _is_folder(out):
        return YAML
    path = f"{out.removesuffix('.yml')}.yaml" if out.endswith(".yml") else out
    suffixes = (known.suffix for known in formats().values() if path.endswith(known.suffix))
    suffix = max(suffixes, key=len, default="")
    named = [known for known in formats().values() if known.suffix == suffix]
    if not suffix or len({known.title for known in named}) > 1:
        choices = ", ".join(known.name for known in named or formats().values())
        raise UsageError(f"--out {out}: its name does not show a format; choose one with --format: {choices}")
    return named[0]


def write_documents(documents: Documents, out: str | None, target: SchemaFormat) -> list[str]:
    """Write documents to a file, a folder or stdout, each whole or not at all. Returns the paths."""
    if len(documents) > 1 and not (out and _is_folder(out)):
        raise UsageError(
            f"{target.title} takes one table in a document, and the schema has {len(documents)}; "
            "choose one with --table NAME, or write all into a folder with --out DIR/"
        )
    if out is None:
        for document in documents.values():
            _print(document)
        return []
    paths = [os.path.join(out, name) for name in documents] if _is_folder(out) else [out]
    for path, document in zip(paths, documents.values(), strict=True):
        _write(Path(path), document)
    return paths


def _is_folder(out: str) -> bool:
    return out.endswith(("/", os.sep)) or os.path.isdir(out)


def _print(document: str | bytes) -> None:
    if isinstance(document, str):
        typer.echo(document, nl=False)
    else:
        sys.stdout.buffer.write(document)


def _write(path: Path, document: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_bytes(document.encode() if isinstance(document, str) else document)
    unfinished.replace(path)
