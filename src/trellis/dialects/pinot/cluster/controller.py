"""A client of Pinot's controller: schemas, tables and reloads over REST.

Every refusal is a `ControllerError` of one sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, urlencode
from uuid import uuid4

from trellis.dialects.pinot.cluster.http import Answer, Http
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.table.config import TableKind
from trellis.dialects.pinot.validation.schema_document import read_schema
from trellis.dialects.pinot.value.json_text import compact
from trellis.errors import DestinationError

LONGEST: Final = 600
_SOURCE: Final = re.compile(r"\s*at \[Source: .*", re.DOTALL)
_ECHO: Final = re.compile(r"Invalid (schema|table) config json string: .*?\. Reason: ", re.DOTALL)


class ControllerError(DestinationError):
    """The controller refused a request. `reason` is Pinot's message."""

    def __init__(self, status: int, reason: str | None, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason or ""


def controller_error(url: str, action: str, answer: Answer) -> ControllerError:
    """Why an action, such as "add schema rides", was not done."""
    reason = reason_of(answer)
    return ControllerError(answer.status, reason, f"{url}: cannot {action}: {_sentence(answer, reason)}")


def json_of(url: str, answer: Answer) -> Any:
    """The JSON of an answer. Raises ControllerError for anything else."""
    try:
        return json.loads(answer.body)
    except ValueError:
        raise ControllerError(answer.status, "", f"{url}: {_not_json(answer)}") from None


def reason_of(answer: Answer) -> str | None:
    """Pinot's message, without the document it echoes and without Java stream positions; None without JSON.

    >>> reason_of(Answer(404, "application/json", '{"code":404,"error":"Schema not found"}'))
    'Schema not found'
    """
    try:
        document = json.loads(answer.body)
    except ValueError:
        return None
    message = document.get("error") if isinstance(document, dict) else None
    words = " ".join(_SOURCE.sub("", _ECHO.sub("", str(message or ""))).split())
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."


def _sentence(answer: Answer, reason: str | None) -> str:
    status = answer.status
    if status in (401, 403):
        problem = "requires authentication" if status == 401 else "does not permit this user"
        return (
            f"the controller {problem} ({status}); pass --header 'Authorization: ...', or set "
            "TRELLIS_PINOT_TOKEN or TRELLIS_PINOT_USER=name:password"
        )
    if reason is None:
        return _not_json(answer)
    return f"{reason or 'no reason given'} ({status})"


def _not_json(answer: Answer) -> str:
    is_html = "html" in answer.type or "<html" in answer.body[:500].lower()
    kind = "a web page (HTML)" if is_html else answer.type or "something"
    return (
        f"{kind} came back with status {answer.status}, not the JSON of a controller; is the "
        "URL that of the controller (port 9000) and not of a broker or a proxy?"
    )


Document = Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """The progress of a reload in segments. `silent`: servers that did not answer."""

    done: int
    total: int
    failed: int
    silent: int

    @property
    def finished(self) -> bool:
        return self.done + self.failed >= self.total


class Controller:
    """Each call raises DestinationError without an answer, ControllerError for a refusal."""

    def __init__(self, http: Http) -> None:
        self.http = http

    @property
    def url(self) -> str:
        return self.http.url

    # ---- schemas

    def validate(self, schema: Document | str) -> Mapping[str, Any]:
        """Check a schema; nothing is stored. Returns what Pinot ignored, by JSON pointer."""
        answer = self._send("POST", "/schemas/validate", schema, "validate the schema")
        return _unrecognized(answer)

    def schema(self, name: str) -> PinotSchema | None:
        """The schema of a table; None if it does not exist."""
        document = self._get(f"/schemas/{_quoted(name)}", f"get schema {name}")
        if document is None:
            return None
        return read_schema(document, f"{self.url}, schema {name}").schema

    def add_schema(self, schema: Document) -> Mapping[str, Any]:
        """Add a schema. Returns what Pinot ignored, by JSON pointer. ControllerError 409 if it exists."""
        path = "/schemas?override=false&force=false"
        return _unrecognized(self._send("POST", path, schema, f"add schema {schema.get('schemaName')}"))

    def update_schema(
        self, schema: Document, *, force: bool = False, name: str | None = None
    ) -> Mapping[str, Any]:
        """Replace a schema, without a reload. Returns what Pinot ignored, by JSON pointer."""
        target_name = name or str(schema.get("schemaName"))
        path = f"/schemas/{_quoted(target_name)}?reload=false&force={str(force).lower()}"
        return _unrecognized(self._send("PUT", path, schema, f"update schema {target_name}"))

    # ---- tables

    def table(self, name: str, kind: TableKind) -> Document | None:
        """The config of a table; None if it does not exist."""
        document = self._get(f"/tables/{_quoted(name)}?type={kind.lower()}", f"get table {name}_{kind}")
        return None if document is None else document.get(kind)

    def add_table(self, config: Document) -> None:
        self._send("POST", "/tables", config, f"add table {_table(config)}")

    def update_table(self, config: Document) -> None:
        table = _table(config)
        self._send("PUT", f"/tables/{_quoted(table)}", config, f"update table {table}")

    # ---- segments

    def push_segment(self, table: str, file_name: str, content: bytes) -> None:
        """Add the tar of a segment to the OFFLINE table, or replace the segment of its name."""
        boundary = uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file_name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = b"".join((head.encode(), content, f"\r\n--{boundary}--\r\n".encode()))
        path = f"/v2/segments?{urlencode({'tableName': table, 'tableType': 'OFFLINE'})}"
        answer = self.http.send("POST", path, body, f"multipart/form-data; boundary={boundary}")
        self._object_of(answer, f"push {file_name}")

    def reload(self, name: str, kind: TableKind) -> str | None:
        """Let the servers reload all segments of a table: the id of the job, None without segments."""
        answer = self.http.send("POST", f"/segments/{_quoted(name)}/reload?type={kind}")
        action = f"reload table {name}_{kind}"
        if answer.status == 404 and "any segments" in answer.body:
            return None
        document = self._object_of(answer, action)
        try:
            return str(json.loads(document["status"])[f"{name}_{kind}"]["reloadJobId"])
        except (ValueError, KeyError, TypeError):
            raise ControllerError(
                answer.status, "", f"{self.url}: cannot {action}: it told no job: {answer.body[:200]}"
            ) from None

    def needs_reload(self, name: str, kind: TableKind) -> bool:
        """Whether a server reports that segments of a table lack what its schema or config says."""
        document = self._get(
            f"/segments/{_quoted(f'{name}_{kind}')}/needReload?verbose=true",
            f"ask whether table {name}_{kind} needs a reload",
        )
        return document is not None and bool(document.get("needReload"))

    def progress(self, job: str) -> Progress:
        """How far a reload is."""
        action = f"get the state of reload {job}"
        document = self._object_of(
            self.http.send("GET", f"/segments/segmentReloadStatus/{_quoted(job)}"), action
        )
        numbers = (document.get(key) or 0 for key in _PROGRESS)
        return Progress(*map(int, numbers))

    def _send(self, method: str, path: str, document: Document | str, action: str) -> dict[str, Any]:
        text = document if isinstance(document, str) else compact(document)
        return self._object_of(self.http.send(method, path, text.encode("utf-8", "surrogatepass")), action)

    def _get(self, path: str, action: str) -> dict[str, Any] | None:
        answer = self.http.send("GET", path)
        if answer.status == 404 and json_of(self.url, answer):
            return None
        return self._object_of(answer, action)

    def _object_of(self, answer: Answer, action: str) -> dict[str, Any]:
        if not answer.ok:
            raise controller_error(self.url, action, answer)
        document = json_of(self.url, answer)
        if not isinstance(document, dict):
            raise ControllerError(
                answer.status, "", f"{self.url}: cannot {action}: it answered {answer.body[:100]!r}"
            )
        return document


_PROGRESS = ("successCount", "totalSegmentCount", "failureCount", "totalServerCallsFailed")


def _unrecognized(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], document.get("unrecognizedProperties") or {})


def _table(config: Document) -> str:
    name, kind = str(config.get("tableName")), config.get("tableType")
    return name if name.endswith(f"_{kind}") else f"{name}_{kind}"


def _quoted(name: str) -> str:
    return quote(name, safe="")
