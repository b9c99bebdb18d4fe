"""Loads as runs of OpenLineage: what was read, which tables were written, their columns and rows.

Where the events go is said as for every client of OpenLineage: in `openlineage.yml`, or in the environment
(OPENLINEAGE_URL, OPENLINEAGE__TRANSPORT__TYPE and so on).
"""

from __future__ import annotations

import os
import warnings
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trellis import __version__
from trellis.engine.storage.location import is_remote, local_path
from trellis.errors import UsageError
from trellis.pipelines.operations import hooks
from trellis.pipelines.operations.hooks import LoadFinished, LoadStarted
from trellis.schema.personal_data import comment_of
from trellis.schema.system import is_system

if TYPE_CHECKING:
    from openlineage.client.event_v2 import OutputDataset, Run

    from trellis.pipelines.report import Report

NAMESPACE = "OPENLINEAGE_NAMESPACE"
PRODUCER = f"https://pypi.org/project/trellis-spark/{__version__}"


def register() -> None:
    """Emit events of all loads of this process from now on. Raises UsageError without openlineage-python."""
    try:
        from openlineage.client import OpenLineageClient
    except ImportError:
        raise UsageError(
            "lineage needs the client of OpenLineage, which is not installed; pip install "
            "'trellis-spark[openlineage]'"
        ) from None
    emitter = LineageEmitter(OpenLineageClient())
    hooks.before_load(emitter.emit_start)
    hooks.after_load(emitter.emit_end)


class LineageEmitter:
    """Emits the events of loads through a client. The events of a load are those of one run."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._runs: dict[LoadStarted, str] = {}

    def emit_start(self, load: LoadStarted) -> None:
        from openlineage.client.event_v2 import Run
        from openlineage.client.uuid import generate_new_uuid

        run_id = self._runs[load] = str(generate_new_uuid())
        self._emit("START", load, Run(run_id), [], load.started_at)

    def emit_end(self, finished: LoadFinished) -> None:
        from openlineage.client.event_v2 import Run
        from openlineage.client.facet_v2 import error_message_run

        run_id, now = self._runs.pop(finished.load, None), datetime.now(timezone.utc)
        if run_id is None:
            return
        if finished.report is not None:
            outputs = _outputs(finished.load, finished.report)
            self._emit("COMPLETE", finished.load, Run(run_id), outputs, now)
            return
        error = error_message_run.ErrorMessageRunFacet(str(finished.error), "python")
        self._emit("FAIL", finished.load, Run(run_id, {"errorMessage": error}), [], now)

    def _emit(
        self, state: str, load: LoadStarted, run: Run, outputs: list[OutputDataset], at: datetime
    ) -> None:
        from openlineage.client.event_v2 import InputDataset, Job, RunEvent, RunState

        event = RunEvent(
            eventTime=at.isoformat(),
            producer=PRODUCER,
            eventType=RunState(state),
            run=run,
            job=Job(os.environ.get(NAMESPACE, "default"), f"{load.pipeline}.{load.dataset or 'load'}"),
            inputs=[InputDataset(*dataset_name(source)) for source in load.sources],
            outputs=outputs,
        )
        try:
            self.client.emit(event)
        except Exception as error:  # a load does not depend on who watches it
            warnings.warn(f"OpenLineage: an event could not be emitted: {error!r}", stacklevel=2)


def dataset_name(source: str) -> tuple[str, str]:
    """The namespace and the name of a source by the naming rules of OpenLineage.

    >>> dataset_name("s3a://raw/2026/01.jsonl"), dataset_name("/raw/a.jsonl")
    (('s3a://raw', '2026/01.jsonl'), ('file', '/raw/a.jsonl'))
    """
    if is_remote(source):
        url = urlsplit(source)
        return f"{url.scheme}://{url.netloc}", url.path.lstrip("/") or "/"
    return "file", os.path.abspath(local_path(source))


def table_names(destination: str, dataset: str) -> tuple[str, str]:
    """The namespace of the tables of a destination, and what their names begin with.

    >>> table_names("postgresql://me@db:5433/shop", "raw"), table_names("duckdb:/data/shop.duckdb", "main")
    (('postgresql://db:5433', 'shop.raw.'), ('duckdb:///data/shop.duckdb', 'main.'))
    """
    prefix = f"{dataset}." if dataset else ""
    scheme, _, path = destination.partition(":")
    if not path.startswith("//"):
        return f"{scheme}://{os.path.abspath(path)}", prefix
    url = urlsplit(destination)
    host = url.netloc.rpartition("@")[2]
    return f"{scheme}://{host}", f"{url.path.strip('/')}.{prefix}" if url.path.strip("/") else prefix


def _outputs(load: LoadStarted, report: Report) -> list[OutputDataset]:
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.facet_v2 import output_statistics_output_dataset, schema_dataset

    namespace, prefix = table_names(load.destination, load.dataset)
    outputs = []
    for table in report.tables:
        if is_system(table.name):
            continue
        columns = report.schema.tables[table.name].complete_columns
        fields = [
            schema_dataset.SchemaDatasetFacetFields(column.name, column.data_type, comment_of(column))
            for column in columns
        ]
        rows = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=table.rows)
        outputs.append(
            OutputDataset(
                namespace,
                f"{prefix}{table.name}",
                facets={"schema": schema_dataset.SchemaDatasetFacet(fields=fields)},
                outputFacets={"outputStatistics": rows},
            )
        )
    return outputs
