"""The work of one night, without any orchestrator in it: what Airflow and Dagster call, and tests too."""

from __future__ import annotations

import os
from typing import Any

import trellis
from trellis.errors import TrellisError

FOLDER = os.environ.get("ORDERS_FOLDER", "s3a://acme-raw/orders/")
DESTINATION = os.environ.get("ORDERS_TO", "postgresql://loader@warehouse/shop")


class GiveUp(Exception):
    """The load failed, and would fail again: the data, the schema or the settings have to change."""


def load_orders(folder: str, to: str, load_id: str) -> dict[str, Any]:
    """Load the new files of a folder; what an orchestrator keeps of the report.

    `load_id` names the run of the orchestrator: a task that is tried again after it succeeded loads nothing.
    Raises GiveUp where trying again is of no use, TrellisError where it may help.
    """
    pipeline = trellis.pipeline("orders", to)
    try:
        report = pipeline.load(folder, table="orders", new_only=True, max_rejected="1%", load_id=load_id)
    except TrellisError as error:
        if error.retryable:
            raise
        raise GiveUp(f"{error.error_code}: {error}") from error
    return {
        "load_id": report.load_id,
        "rows": report.rows.loaded,
        "rejected": report.rejects.count,
        "changes": [change.describe() for change in report.changes],
    }
