"""What the commands of `trellis pinot` are given, as values: documents, formats, a controller."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trellis.cli.commands.load import settings_of
from trellis.dialects.pinot.cluster.check import Checked, check
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.http import TIMEOUT, Http, basic
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.legacy import migrated
from trellis.dialects.pinot.document.plan import Plan, plan
from trellis.dialects.pinot.document.reading import read_schema
from trellis.dialects.pinot.document.recognition import is_schema
from trellis.dialects.pinot.document.types import EXTENDED_PROFILE, PROFILES, Profile
from trellis.dialects.pinot.document.writing import write_schema
from trellis.dialects.pinot.moment.errors import FormatError
from trellis.dialects.pinot.moment.sample import Sample, try_format
from trellis.errors import SchemaError, UsageError, nearest
from trellis.pipelines.config import read_text

TOKEN = "TRELLIS_PINOT_TOKEN"
USER = "TRELLIS_PINOT_USER"


def connection(url: str | None, headers: Sequence[str] | None, timeout: float | None) -> Controller | None:
    """The controller that was named, with the credentials of the environment. Raises UsageError."""
    if url is None:
        if headers:
            raise UsageError("--header: of requests to whom? add --controller URL")
        return None
    if timeout is not None and not timeout > 0:
        raise UsageError(f"--timeout: seconds are more than 0, not {timeout:g}")
    return Controller(Http.of(url, _credentials(url) | _headers(headers or ()), timeout or TIMEOUT))


def checked(file: str, tables: Sequence[str], profile: str | None, controller: Controller | None) -> Checked:
    """A look at a schema document. Raises UsageError, SchemaError."""
    if len(tables) > 1:
        raise UsageError("--table-config: check a schema with one table config at a time")
    config = table_document(tables[0]) if tables else None
    return check(read_text(Path(file)), file, config, profile_of(profile), controller)


def sample(format: str, values: Sequence[str], zone: str) -> Sample:
    """Values read by a format. Raises UsageError where it is none."""
    try:
        return try_format(format, values, zone)
    except FormatError as bad:
        raise UsageError(f"format {format!r}: {bad}") from None


def planned(
    old: str, new: str, tables: Sequence[str], renames: list[str] | None, profile: str | None
) -> Plan:
    """The way from one document to another. Raises UsageError, SchemaError."""
    followed = profile_of(profile)
    before, after = (schema_document(each, followed) for each in (old, new))
    return plan(before, after, [*map(table_document, tables)], settings_of(renames, "--rename"))


def migrated_text(file: str) -> tuple[str, str]:
    """The document without a legacy time field, and what was done, in words. Raises SchemaError."""
    schema = schema_document(file, EXTENDED_PROFILE)
    made = migrated(schema)
    if schema.time is None:
        return write_schema(made), f"{file}: there is no timeFieldSpec, so only its form is new"
    spec = made.date_times[-1]
    computed = f", computed as {spec.transform}" if spec.transform else ""
    return write_schema(
        made
    ), f"{file}: {spec.name} is a dateTime field of format {spec.format} now{computed}"


def write_text(to: str, text: str) -> None:
    """A file, whole or not at all."""
    unfinished = Path(f"{to}.{os.getpid()}")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(to)


def schema_document(file: str, profile: Profile) -> PinotSchema:
    return read_schema(read_text(Path(file)), profile, file).schema


def table_document(file: str) -> Mapping[str, Any]:
    """The object of a table config. Raises UsageError, SchemaError."""
    try:
        found = json.loads(read_text(Path(file)))
    except json.JSONDecodeError as bad:
        raise SchemaError(f"{file}, line {bad.lineno}, column {bad.colno}: not JSON: {bad.msg}") from None
    if not isinstance(found, dict):
        raise SchemaError(f"{file}: a table config is a JSON object, not {str(found)[:60]}")
    if is_schema(found):
        raise SchemaError(
            f"{file}: this is a schema, not a table config: give the document that has tableName"
        )
    return found


def profile_of(name: str | None) -> Profile:
    if name is not None and name not in PROFILES:
        raise UsageError(f"--profile: there is no {name!r}{nearest(name, PROFILES)}")
    return PROFILES[name or "base"]


def _headers(said: Sequence[str]) -> dict[str, str]:
    made = {}
    for each in said:
        name, colon, value = each.partition(":")
        if not colon or not name.strip() or any(sign in each for sign in "\r\n"):
            raise UsageError("--header: write NAME:VALUE, for example 'Authorization: Bearer ...'")
        made[name.strip()] = value.strip()
    return made


def _credentials(url: str) -> dict[str, str]:
    """Those of the environment, unless the URL has its own."""
    if "@" in url.partition("//")[2].partition("/")[0]:
        return {}
    if token := os.environ.get(TOKEN):
        return {"Authorization": f"Bearer {token}"}
    user = os.environ.get(USER)
    return {"Authorization": basic(user)} if user else {}
