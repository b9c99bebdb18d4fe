"""What pages of a registry show besides schemas: tables and failures of a warehouse, the next registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trellis.destinations.url import redacted
from trellis.dialects.snowplow.client.http import HttpRegistry
from trellis.dialects.snowplow.client.store import StoreRegistry
from trellis.dialects.snowplow.commands.transfer import http_publisher
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore
from trellis.dialects.snowplow.registry.surroundings import FailureGroup, Promotion
from trellis.dialects.snowplow.runs.loading.inspection import TableInspector, TableStatus
from trellis.dialects.snowplow.runs.loading.records import FAILED_EVENTS
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse

_COLUMNS: Final = ("reason", "schema", "pointer", "message")


@dataclass(frozen=True)
class LoadedDataset:
    """The dataset of a warehouse. It is opened for each page, so that loads are not kept out."""

    url: str
    dataset: str
    store: SchemaStore

    @property
    def shown(self) -> str:
        return f"{self.dataset} in {redacted(self.url)}"

    def tables(self) -> Sequence[TableStatus]:
        warehouse = open_warehouse(self.url, read_only=True, missing="refuse")
        try:
            return TableInspector(
                warehouse, StoreRegistry("this registry", self.store), self.dataset
            ).inspect()
        finally:
            warehouse.close()

    def failures(self) -> Sequence[FailureGroup]:
        warehouse = open_warehouse(self.url, read_only=True, missing="refuse")
        try:
            rows = warehouse.select(self.dataset, FAILED_EVENTS, _COLUMNS, {"replayed_at": None})
        finally:
            warehouse.close()
        counts = Counter((reason, schema, pointer) for reason, schema, pointer, _ in rows)
        examples = {(reason, schema, pointer): message for reason, schema, pointer, message in rows}
        return [
            FailureGroup(reason, schema, pointer, count, examples[reason, schema, pointer])
            for (reason, schema, pointer), count in counts.most_common()
        ]


@dataclass(frozen=True)
class HttpPromotion:
    """The registry at a URL."""

    url: str

    @property
    def name(self) -> str:
        return redacted(self.url)

    def promote(self, documents: Sequence[SchemaDocument], key: str, *, public: bool) -> Iterator[Promotion]:
        registry = HttpRegistry.open(self.url, key or None, key_place="the form")
        publish = http_publisher(registry, public)
        for document in documents:
            outcome, message = publish(document)
            yield Promotion(document.key, outcome, message)
            if outcome == "refused":
                return
