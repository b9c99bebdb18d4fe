"""A client of Pinot's controller: schemas, tables and reloads over REST.

Only GET is asked again by itself. Every refusal is one sentence, a `Refused`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

from trellis.dialects.pinot.cluster.controller_errors import Refused, json_of, refused
from trellis.dialects.pinot.cluster.http import Answer, Http
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.json_output import compact
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.types import EXTENDED_PROFILE
from trellis.dialects.pinot.table.config import Kind

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Reload:
    """A reload that was ordered: its job, and to how many servers it went."""

    job: str
    messages: int


@dataclass(frozen=True)
class Progress:
    """How far a reload is, in segments. `silent`: how many servers did not tell."""

    done: int
    total: int
    failed: int
    silent: int

    @property
    def over(self) -> bool:
        return self.done + self.failed >= self.total


class Controller:
    """All raise DestinationError where no answer came, Refused where it was no."""

    def __init__(self, http: Http) -> None:
        self.http = http

    @property
    def url(self) -> str:
        return self.http.url

    # ---- schemas

    def validate(self, schema: Document | str) -> Mapping[str, Any]:
        """Have a schema checked; nothing is stored. What Pinot ignored, by JSON pointer."""
        answer = self._post("/schemas/validate", schema)
        return _unrecognized(self._found(answer, "validate the schema"))

    def schema(self, name: str) -> PinotSchema | None:
        """The schema of a table; None where there is none."""
        found = self._get(f"/schemas/{_part(name)}", f"get schema {name}")
        return (
            None
            if found is None
            else read_schema(found, EXTENDED_PROFILE, f"{self.url}, schema {name}").schema
        )

    def field_specs(self) -> Document:
        """The types that this Pinot knows, by role, with the default of each."""
        return cast(Document, self._get("/schemas/fieldSpec", "get the types") or {})

    def add_schema(
        self, schema: Document, *, override: bool = False, force: bool = False
    ) -> Mapping[str, Any]:
        """Add a schema. What Pinot ignored, by JSON pointer. Refused with 409 where there is one already."""
        path = f"/schemas?{_query(override=override, force=force)}"
        return _unrecognized(self._found(self._post(path, schema), f"add schema {schema.get('schemaName')}"))

    def update_schema(
        self, schema: Document, *, reload: bool = False, force: bool = False, name: str | None = None
    ) -> Mapping[str, Any]:
        """Replace a schema. What Pinot ignored, by JSON pointer."""
        wanted = name or str(schema.get("schemaName"))
        path = f"/schemas/{_part(wanted)}?{_query(reload=reload, force=force)}"
        answer = self.http.ask("PUT", path, _body(schema))
        return _unrecognized(self._found(answer, f"update schema {wanted}"))

    def delete_schema(self, name: str) -> None:
        self._found(self.http.ask("DELETE", f"/schemas/{_part(name)}"), f"delete schema {name}")

    # ---- tables

    def table(self, name: str, kind: Kind) -> Document | None:
        """The config of a table; None where there is none."""
        found = self._get(f"/tables/{_part(name)}?type={kind.lower()}", f"get table {name}_{kind}")
        return None if found is None else found.get(kind)

    def table_schema(self, name: str) -> PinotSchema | None:
        """The schema by the name of its table."""
        found = self._get(f"/tables/{_part(name)}/schema", f"get the schema of table {name}")
        return (
            None
            if found is None
            else read_schema(found, EXTENDED_PROFILE, f"{self.url}, table {name}").schema
        )

    def add_table(self, config: Document) -> None:
        self._found(self._post("/tables", config), f"add table {_table(config)}")

    def update_table(self, config: Document) -> None:
        answer = self.http.ask("PUT", f"/tables/{_part(_table(config))}", _body(config))
        self._found(answer, f"update table {_table(config)}")

    def delete_table(self, name: str, kind: Kind) -> None:
        answer = self.http.ask("DELETE", f"/tables/{_part(name)}?type={kind.lower()}")
        self._found(answer, f"delete table {name}_{kind}")

    # ---- segments

    def reload(self, name: str, kind: Kind) -> Reload | None:
        """Have the servers load all segments of a table anew; None where it has no segments."""
        answer = self.http.ask("POST", f"/segments/{_part(name)}/reload?type={kind}")
        asked = f"reload table {name}_{kind}"
        if answer.status == 404 and "any segments" in answer.body:
            return None
        found = self._found(answer, asked)
        try:
            told = json.loads(found["status"])[f"{name}_{kind}"]
            return Reload(str(told["reloadJobId"]), int(told["numMessagesSent"]))
        except (ValueError, KeyError, TypeError):
            raise Refused(
                answer.status, "", f"{self.url}: cannot {asked}: it told no job: {answer.body[:200]}"
            ) from None

    def needs_reload(self, name: str, kind: Kind) -> bool | None:
        """Whether segments of a table lack what its schema or config says; None where no server told."""
        found = self._get(
            f"/segments/{_part(f'{name}_{kind}')}/needReload?verbose=true",
            f"ask whether table {name}_{kind} needs a reload",
        )
        if found is None or found.get("needReload"):
            return None if found is None else True
        return None if found.get("serverToSegmentsCheckReloadList") == {} else False

    def has_segments(self, name: str, kind: Kind) -> bool:
        """Whether a table has segments."""
        answer = self.http.ask("GET", f"/segments/{_part(name)}?type={kind}")
        asked = f"list the segments of {name}_{kind}"
        if not answer.ok:
            raise refused(self.url, asked, answer)
        found = json_of(self.url, answer)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise Refused(answer.status, "", f"{self.url}: cannot {asked}: it answered {answer.body[:100]!r}")
        return any(each.get(kind) for each in found)

    def progress(self, job: str) -> Progress:
        """How far a reload is."""
        asked = f"get the state of reload {job}"
        found = self._found(self.http.ask("GET", f"/segments/segmentReloadStatus/{_part(job)}"), asked)
        numbers = (found.get(key) or 0 for key in _PROGRESS)
        return Progress(*map(int, numbers))

    def _post(self, path: str, document: Document | str) -> Answer:
        return self.http.ask("POST", path, _body(document))

    def _get(self, path: str, asked: str) -> dict[str, Any] | None:
        answer = self.http.ask("GET", path)
        if answer.status == 404 and json_of(self.url, answer):
            return None
        return self._found(answer, asked)

    def _found(self, answer: Answer, asked: str) -> dict[str, Any]:
        if not answer.ok:
            raise refused(self.url, asked, answer)
        found = json_of(self.url, answer)
        if not isinstance(found, dict):
            raise Refused(answer.status, "", f"{self.url}: cannot {asked}: it answered {answer.body[:100]!r}")
        return found


_PROGRESS = ("successCount", "totalSegmentCount", "failureCount", "totalServerCallsFailed")


def _unrecognized(found: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], found.get("unrecognizedProperties") or {})


def _body(document: Document | str) -> bytes:
    return (document if isinstance(document, str) else compact(document)).encode("utf-8", "surrogatepass")


def _table(config: Document) -> str:
    name, kind = str(config.get("tableName")), config.get("tableType")
    return name if name.endswith(f"_{kind}") else f"{name}_{kind}"


def _query(**flags: bool) -> str:
    return urlencode({name: str(flag).lower() for name, flag in flags.items()})


def _part(name: str) -> str:
    return quote(name, safe="")
