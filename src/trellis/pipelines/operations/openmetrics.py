"""Metrics of loads for Prometheus, and for whatever else reads OpenMetrics.

A process that stays, such as a stream, serves them with `prometheus_client.start_http_server`. One that ends
writes them into the file that the environment variable TRELLIS_METRICS_FILE names, from which the textfile
collector of Prometheus' node exporter reads.
"""

from __future__ import annotations

import os

from trellis.errors import UsageError
from trellis.pipelines.operations import hooks
from trellis.pipelines.operations.hooks import LoadFinished

FILE = "TRELLIS_METRICS_FILE"
_LABELS = ("pipeline", "dataset")


def register() -> None:
    """Count all loads of this process from now on. Raises UsageError without prometheus-client."""
    hooks.after_load(_Metrics().count_load)


class _Metrics:
    def __init__(self) -> None:
        try:
            from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram
        except ImportError:
            raise UsageError(
                "metrics need the client of Prometheus, which is not installed; pip install "
                "'trellis-spark[metrics]'"
            ) from None
        registry = self.registry = CollectorRegistry()
        self.loads = Counter("trellis_loads", "Loads by state.", (*_LABELS, "state"), registry=registry)
        self.records = Counter("trellis_records", "Records by end.", (*_LABELS, "outcome"), registry=registry)
        self.rows = Counter("trellis_rows", "Rows by table.", (*_LABELS, "table"), registry=registry)
        self.changes = Counter("trellis_schema_changes", "Changes of the schema.", _LABELS, registry=registry)
        self.discards = Counter("trellis_discards", "Discards.", (*_LABELS, "reason"), registry=registry)
        self.seconds = Histogram("trellis_load_seconds", "How long loads took.", _LABELS, registry=registry)
        self.success = Gauge(
            "trellis_last_success_timestamp_seconds",
            "When the last load succeeded.",
            _LABELS,
            registry=registry,
        )
        REGISTRY.register(registry)

    def count_load(self, finished: LoadFinished) -> None:
        labels = (finished.load.pipeline, finished.load.dataset)
        report = finished.report
        if report is None:
            self.loads.labels(*labels, "failed").inc()
        else:
            state = "skipped" if report.already_loaded else "partly failed" if report.failures else "loaded"
            self.loads.labels(*labels, state).inc()
            self.success.labels(*labels).set_to_current_time()
            for outcome in ("loaded", "rejected", "dropped", "failed"):
                self.records.labels(*labels, outcome).inc(getattr(report.rows, outcome))
            for table in report.tables:
                self.rows.labels(*labels, table.name).inc(table.rows)
            for reason, count in report.discards.by_reason.items():
                self.discards.labels(*labels, reason).inc(count)
            self.changes.labels(*labels).inc(len(report.changes))
        self.seconds.labels(*labels).observe(finished.seconds)
        if path := os.environ.get(FILE):
            from prometheus_client import write_to_textfile

            write_to_textfile(path, self.registry)
