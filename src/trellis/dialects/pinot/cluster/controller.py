"""A client of Pinot's controller: schemas, tables and reloads over REST.

Every refusal is an error of one sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

from trellis.dialects.pinot.cluster.http import TOKEN, USER, Answer, Http
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.table.config import TableKind
from trellis.dialects.pinot.value.json_text import compact
from trellis.errors import DestinationError

LONGEST: Final = 600
_SOURCE: Final = re.compile(r"\s*at \[Source: .*", re.DOTALL)
_ECHO: Final = re.compile(r"Invalid (schema|table) config json string: .*?\. Reason: ", re.DOTALL)


def problem_of(answer: Answer) -> str:
    """Why a request was not done: Pinot's message, without the document it echoes and Java stream positions.

    >>> problem_of(Answer(404, "application/json", '{"code":404,"error":"Schema not found"}'))
    'Schema not found (404)'
    """
    if answer.status in (401, 403):
        problem = "requires authentication" if answer.status == 401 else "does not permit this user"
        return f"the controller {problem} ({answer.status}); set {TOKEN}, or {USER} to name:password"
    try:
        document = json.loads(answer.body)
    except ValueError:
        is_html = "html" in answer.type or "<html" in answer.body[:500].lower()
        kind = "a web page (HTML)" if is_html else answer.type or "something"
        return (
            f"{kind} came back with status {answer.status}, not the JSON of a controller; is the "
            "URL that of the controller (port 9000) and not of a broker or a proxy?"
        )
    message = document.get("error") if isinstance(document, dict) else answer.body[:100]
    sentence = " ".join(_SOURCE.sub("", _ECHO.sub("", str(message or "no reason given"))).split())
    return f"{sentence if len(sentence) <= LONGEST else f'{sentence[:LONGEST]}...'} ({answer.status})"


Document = Mapping[str, Any]


class Controller:
    """Each call raises DestinationError for a refusal, and without an answer."""

    def __init__(self, http: Http) -> None:
        self.http = http

    @property
    def url(self) -> str:
        return self.http.url

    # ---- schemas

    def validate(self, schema: Document) -> Mapping[str, Any]:
        """Check a schema; nothing is stored. Returns what Pinot ignored, by JSON pointer."""
        return self._send_schema("POST", "/schemas/validate", schema, "validate the schema")

    def schema(self, name: str) -> PinotSchema | None:
        """The schema of a table; None if it does not exist."""
        document = self._get(f"/schemas/{_quoted(name)}", f"get schema {name}")
        return None if document is None else read_schema(document, f"{self.url}, schema {name}")

    def add_schema(self, schema: Document) -> Mapping[str, Any]:
        """Add a schema that does not exist. Returns what Pinot ignored, by JSON pointer."""
        path = "/schemas?override=false&force=false"
        return self._send_schema("POST", path, schema, f"add schema {schema.get('schemaName')}")

    def update_schema(self, schema: Document, name: str | None = None) -> Mapping[str, Any]:
        """Replace a schema, without a reload. Returns what Pinot ignored, by JSON pointer."""
        target_name = name or str(schema.get("schemaName"))
        path = f"/schemas/{_quoted(target_name)}?reload=false&force=false"
        return self._send_schema("PUT", path, schema, f"update schema {target_name}")

    # ---- tables

    def table(self, name: str, kind: TableKind) -> Document | None:
        """The config of a table; None if it does not exist."""
        document = self._get(f"/tables/{_quoted(name)}?type={kind.lower()}", f"get table {name}_{kind}")
        return None if document is None else document.get(kind)

    def add_table(self, config: Document) -> None:
        self._send("POST", "/tables", f"add table {_table(config)}", config)

    def update_table(self, config: Document) -> None:
        table = _table(config)
        self._send("PUT", f"/tables/{_quoted(table)}", f"update table {table}", config)

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
        if answer.status == 404 and "any segments" in answer.body:
            return None
        action = f"reload table {name}_{kind}"
        document = self._object_of(answer, action)
        try:
            return str(json.loads(document["status"])[f"{name}_{kind}"]["reloadJobId"])
        except (ValueError, KeyError, TypeError):
            raise self._refusal(action, answer) from None

    def needs_reload(self, name: str, kind: TableKind) -> bool:
        """Whether a server reports that segments of a table lack what its schema or config says."""
        path = f"/segments/{_quoted(f'{name}_{kind}')}/needReload?verbose=true"
        document = self._get(path, f"ask whether table {name}_{kind} needs a reload")
        return document is not None and bool(document.get("needReload"))

    def _send_schema(self, method: str, path: str, schema: Document, action: str) -> Mapping[str, Any]:
        return dict(self._send(method, path, action, schema).get("unrecognizedProperties") or {})

    def _send(self, method: str, path: str, action: str, document: Document) -> dict[str, Any]:
        body = compact(document).encode("utf-8", "surrogatepass")
        return self._object_of(self.http.send(method, path, body), action)

    def _get(self, path: str, action: str) -> dict[str, Any] | None:
        answer = self.http.send("GET", path)
        is_absent = answer.status == 404 and answer.body.startswith("{")
        return None if is_absent else self._object_of(answer, action)

    def _object_of(self, answer: Answer, action: str) -> dict[str, Any]:
        try:
            document = json.loads(answer.body) if answer.ok else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise self._refusal(action, answer)
        return document

    def _refusal(self, action: str, answer: Answer) -> DestinationError:
        return DestinationError(f"{self.url}: cannot {action}: {problem_of(answer)}")


def _table(config: Document) -> str:
    name, kind = str(config.get("tableName")), config.get("tableType")
    return name if name.endswith(f"_{kind}") else f"{name}_{kind}"


def _quoted(name: str) -> str:
    return quote(name, safe="")
