"""Error answers of a controller, as one sentence with what to do."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from trellis.dialects.pinot.cluster.http import Answer
from trellis.errors import DestinationError

LONGEST: Final = 600
_SOURCE: Final = re.compile(r"\s*at \[Source: .*", re.DOTALL)
_ECHO: Final = re.compile(r"Invalid (schema|table) config json string: .*?\. Reason: ", re.DOTALL)
_INCOMPATIBLE: Final = (
    re.compile(r"Backward incompatible schema (?P<name>\S+?)\. Only allow adding new columns"),
    re.compile(r"Backward incompatible schema (?P<name>\S+?)\. Reason: (?P<reason>.*)", re.DOTALL),
)
"""The wordings of 1.5 and of 1.6."""
_NEW_TABLE: Final = "`trellis pinot plan OLD NEW` shows what a new table takes; --force replaces it anyway"


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
    if 300 <= status < 400:
        return f"redirects to {answer.location}; use that as --controller"
    if status in (401, 403):
        problem = "requires authentication" if status == 401 else "does not permit this user"
        return (
            f"the controller {problem} ({status}); pass --header 'Authorization: ...', or set "
            "TRELLIS_PINOT_TOKEN or TRELLIS_PINOT_USER=name:password"
        )
    if reason is None:
        return _not_json(answer)
    if match := next((match for pattern in _INCOMPATIBLE if (match := pattern.fullmatch(reason))), None):
        why = match.groupdict().get("reason") or "it may only add columns"
        return f"incompatible with the schema {match['name']} of the cluster: {why.strip()}; {_NEW_TABLE}"
    sentence = reason or "no reason given"
    return f"{sentence} ({status}){_TO_DO.get(status, '')}" if status != 400 else sentence


def _not_json(answer: Answer) -> str:
    is_html = "html" in answer.type or "<html" in answer.body[:500].lower()
    kind = "a web page (HTML)" if is_html else answer.type or "something"
    return (
        f"{kind} came back with status {answer.status}, not the JSON of a controller; is the "
        "URL that of the controller (port 9000) and not of a broker or a proxy?"
    )


_TO_DO: Final = {
    404: "; check the name, and that it exists",
    409: "; it exists already or is in use: check it and run again",
    415: "; this controller does not take JSON there: is it a Pinot of 1.0 or later?",
    500: "; see the log of the controller",
    503: "; the controller is not ready: try again later",
}
