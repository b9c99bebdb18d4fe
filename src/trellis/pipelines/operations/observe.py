"""A load as others see it: its hooks, and lines of the logger `trellis.load`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from trellis.errors import TrellisError
from trellis.pipelines.operations import hooks
from trellis.pipelines.operations.hooks import LoadFinished, LoadResult, LoadStarted
from trellis.pipelines.report import Report

LOGGER: Final = logging.getLogger("trellis.load")
logging.getLogger("trellis").addHandler(logging.NullHandler())


def observe_load(load: LoadStarted, run: Callable[[], Report], load_id: Callable[[], str]) -> Report:
    """Run a load, and tell hooks and log of it. `load_id` gives its id once it has one.

    Raises what the load and the hook `before_load` raise.
    """
    hooks.enable_named_hooks()
    hooks.before_load.notify(load)
    LOGGER.info("load into %s started", _where(load), extra={"load": _fields(load, "started")})
    begin = time.monotonic()
    try:
        report = run()
    except BaseException as error:
        seconds = time.monotonic() - begin
        _log_failure(load, load_id(), seconds, error)
        hooks.after_load.notify(LoadFinished(load, load_id(), seconds, error=error))
        raise
    seconds = time.monotonic() - begin
    _log_report(load, report, seconds)
    if not report.already_loaded:
        result = LoadResult(load, report)
        if report.changes:
            hooks.on_drift.notify(result)
        if report.rejects.count or report.discards.count:
            hooks.on_reject.notify(result)
    hooks.after_load.notify(LoadFinished(load, report.load_id, seconds, report))
    return report


def _log_report(load: LoadStarted, report: Report, seconds: float) -> None:
    document = report.to_dict()
    state = "already loaded" if report.already_loaded else "partly failed" if report.failures else "loaded"
    fields = {
        **_fields(load, state),
        "load_id": report.load_id,
        "rows": document["rows"],
        "changes": document["changes"],
        "discards": report.discards.count,
        "rejects": report.rejects.count,
        "seconds": round(seconds, 3),
    }
    level = logging.WARNING if report.failures else logging.INFO
    LOGGER.log(
        level, "load %s into %s: %s", report.load_id, _where(load), report.balance, extra={"load": fields}
    )


def _log_failure(load: LoadStarted, load_id: str, seconds: float, error: BaseException) -> None:
    code = error.error_code if isinstance(error, TrellisError) else "internal"
    fields = {
        **_fields(load, "failed"),
        "load_id": load_id,
        "error": str(error) or type(error).__name__,
        "code": code,
        "retryable": isinstance(error, TrellisError) and error.retryable,
        "seconds": round(seconds, 3),
    }
    LOGGER.error("load into %s failed: %s", _where(load), fields["error"], extra={"load": fields})


def _where(load: LoadStarted) -> str:
    return f"{load.destination}, dataset {load.dataset}" if load.dataset else load.destination


def _fields(load: LoadStarted, state: str) -> dict[str, Any]:
    return {
        "state": state,
        "pipeline": load.pipeline,
        "destination": load.destination,
        "dataset": load.dataset,
        "dialect": load.dialect,
    }
