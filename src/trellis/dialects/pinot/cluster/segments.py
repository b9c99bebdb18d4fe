"""Segments of a delivery: one of each data file, built by Pinot's own classes where the tasks run."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

import pyarrow.parquet as pq

from trellis.dialects.pinot.cluster.data_files import FileRows, JsonFile
from trellis.dialects.pinot.cluster.delivery import DATA, OFFLINE, SCHEMA
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.jars.gateway import PinotClasses, PinotError, pinot_classes
from trellis.dialects.pinot.stored_schema import columns_of, table_name
from trellis.errors import DestinationError, UsageError

SEGMENTS: Final = "segments"
METADATA_FILES: Final = ("metadata.properties", "creation.meta")


@dataclass(frozen=True)
class SegmentOrder:
    """A data file of a delivery, and the folder for its segment."""

    file: Path
    folder: Path
    schema: str
    table: str

    @property
    def table_name(self) -> str:
        return table_name(read_schema(self.schema))

    @property
    def name(self) -> str:
        """As the ingestion job of the delivery names it, so that one built by either replaces the other."""
        return f"{self.table_name}_{self.file.stem}"


@dataclass(frozen=True)
class Segment:
    """A segment that was built. Beside its tar lies a smaller one with its metadata (`.metadata.tar.gz`)."""

    name: str
    path: Path
    rows: int
    bytes: int
    crc: int


def segment_orders(delivery: Path, folder: Path) -> list[SegmentOrder]:
    """Those of the data files of a delivery. Raises UsageError for another folder."""
    schema, table, data = (delivery / name for name in (SCHEMA, OFFLINE, DATA))
    if not (schema.exists() and table.exists() and data.is_dir()):
        raise UsageError(
            f"{delivery}: it is not a delivery; `trellis pinot deliver --out {delivery}` writes one"
        )
    files = sorted(path for path in data.iterdir() if path.suffix in (".parquet", ".json"))
    documents = [path.read_text(encoding="utf-8") for path in (schema, table)]
    return [SegmentOrder(file.absolute(), folder.absolute(), *documents) for file in files]


def build_segments(
    orders: Sequence[SegmentOrder], parallel: Callable[..., Any], tell: Callable[[int], None]
) -> list[Segment]:
    """Build all segments, by name; `tell` gets the number of those that are done.

    Raises UsageError where a worker lacks the jars, DestinationError where Pinot refuses a file.
    """
    segments: list[Segment] = []
    for segment in parallel(build_segment, orders):
        segments.append(segment)
        tell(len(segments))
    return sorted(segments, key=lambda segment: segment.name)


def build_segment(order: SegmentOrder) -> Segment:
    """Build one segment. It appears at once or not at all, so a task may run twice."""
    if not order.file.exists():
        raise UsageError(
            f"{order.file}: a worker of Spark does not see this file; deliver into a folder that all of them "
            "share"
        )
    classes, name = pinot_classes(), order.name
    with TemporaryDirectory(prefix="trellis-segment-") as scratch:
        try:
            built = _build(classes, order, name, _as_json(order, Path(scratch)), scratch)
            tar = Path(scratch, f"{name}.tar.gz")
            file_class = classes.gateway.jvm.java.io.File
            with classes.calls() as pinot:
                metadata = pinot.segment.spi.index.metadata.SegmentMetadataImpl(file_class(str(built)))
                rows, crc = int(metadata.getTotalDocs()), int(metadata.getCrc())
                pinot.common.utils.TarCompressionUtils.createCompressedTarFile(
                    file_class(str(built)), file_class(str(tar))
                )
        except PinotError as error:
            raise DestinationError(f"{order.file}: Pinot builds no segment of it: {error}") from None
        with tarfile.open(Path(scratch, f"{name}.metadata.tar.gz"), "w:gz") as archive:
            for file_name in METADATA_FILES:
                archive.add(next(built.rglob(file_name)), f"{name}/{file_name}")
        order.folder.mkdir(parents=True, exist_ok=True)
        size = tar.stat().st_size
        for archive_path in (Path(scratch, f"{name}.metadata.tar.gz"), tar):
            _publish(archive_path, order.folder)
    return Segment(name, order.folder / tar.name, rows, size, crc)


def _build(classes: PinotClasses, order: SegmentOrder, name: str, rows: Path, scratch: str) -> Path:
    schema, table = classes.schema(order.schema), classes.table_config(order.table)
    with classes.calls() as pinot:
        config = pinot.segment.spi.creator.SegmentGeneratorConfig(table, schema)
        config.setInputFilePath(str(rows))
        config.setFormat(pinot.spi.data.readers.FileFormat.JSON)
        config.setOutDir(scratch)
        config.setSegmentName(name)
        driver = pinot.segment.local.segment.creator.impl.SegmentIndexCreationDriverImpl()
        driver.init(config)
        driver.build()
        return Path(driver.getOutputDirectory().toString())


def _as_json(order: SegmentOrder, scratch: Path) -> Path:
    """The rows as the JSON of a delivery: Pinot's reader of it is the only one that needs no Hadoop."""
    if order.file.suffix == ".json":
        return order.file
    path = scratch / f"{order.file.stem}.json"
    rows = FileRows(columns_of(read_schema(order.schema)))
    with pq.ParquetFile(order.file) as file, closing(JsonFile(path, rows)) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch)
    return path


def _publish(file: Path, folder: Path) -> None:
    """Copy a file into a folder under its name, on a file system that may be another one."""
    unfinished = folder / f".{file.name}.{uuid4().hex}"
    try:
        shutil.copyfile(file, unfinished)
        unfinished.replace(folder / file.name)
    finally:
        unfinished.unlink(missing_ok=True)
