"""The job that makes segments of files and pushes them into Pinot (`SegmentGenerationJobSpec`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from trellis.errors import UsageError, nearest
from trellis.schema.documents.yaml_text import write

CONTROLLER: Final = "http://localhost:9000"
"""The URL of a local controller, the default."""
_RUNNER_PREFIX: Final = "org.apache.pinot.plugin.ingestion.batch.standalone."
_RUNNERS: Final = ("SegmentGeneration", "SegmentTarPush", "SegmentUriPush", "SegmentMetadataPush")
FORMATS: Final = {"parquet": "ParquetRecordReader", "json": "JSONRecordReader"}
"""The formats of data files, with the classes that read them."""
_FILE_SYSTEMS: Final = {
    "file": "org.apache.pinot.spi.filesystem.LocalPinotFS",
    "s3": "org.apache.pinot.plugin.filesystem.S3PinotFS",
    "gs": "org.apache.pinot.plugin.filesystem.GcsPinotFS",
    "hdfs": "org.apache.pinot.plugin.filesystem.HadoopPinotFS",
}
_NEEDED: Final = {"s3": ("region", "eu-west-1")}


@dataclass(frozen=True)
class IngestionJob:
    """One run over the files of a folder.

    `input` and `output` are URIs of folders: of the files and of the segments; without `output` the segments
    go next to the input. `configs` are those of the file system, such as `region` of s3.
    """

    table: str
    input: str
    output: str = ""
    format: str = "parquet"
    controller: str = CONTROLLER
    configs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def document(self) -> dict[str, Any]:
        """The specification as an object. Raises UsageError for an unknown format or file system."""
        if self.format not in FORMATS:
            raise UsageError(f"unknown format {self.format!r}{nearest(self.format, FORMATS)}")
        source = f"{self.input.rstrip('/')}/"
        target = f"{self.output.rstrip('/')}/" if self.output else f"{self.input.rstrip('/')}_segments/"
        controller = self.controller.rstrip("/")
        runners = {
            f"{runner[0].lower()}{runner[1:]}JobRunnerClassName": f"{_RUNNER_PREFIX}{runner}JobRunner"
            for runner in _RUNNERS
        }
        reader = f"org.apache.pinot.plugin.inputformat.{self.format}.{FORMATS[self.format]}"
        schemes = dict.fromkeys((scheme_of(source), scheme_of(target)))
        return {
            "executionFrameworkSpec": {"name": "standalone", **runners},
            "jobType": "SegmentCreationAndTarPush",
            "inputDirURI": source,
            "includeFileNamePattern": f"glob:**/*.{self.format}",
            "outputDirURI": target,
            "overwriteOutput": True,
            "pinotFSSpecs": [self._file_system(scheme) for scheme in schemes],
            "recordReaderSpec": {"dataFormat": self.format, "className": reader},
            "tableSpec": {
                "tableName": self.table,
                "schemaURI": f"{controller}/tables/{self.table}/schema",
                "tableConfigURI": f"{controller}/tables/{self.table}",
            },
            "segmentNameGeneratorSpec": {
                "type": "inputFile",
                "configs": {
                    "file.path.pattern": f".+/(.+)\\.{self.format}",
                    "segment.name.template": f"{self.table}_\\${{filePathPattern:\\1}}",
                },
            },
            "pinotClusterSpecs": [{"controllerURI": controller}],
            "pushJobSpec": {"pushAttempts": 2, "pushRetryIntervalMillis": 1000},
        }

    def to_yaml(self) -> str:
        """The specification as the file that `pinot-admin.sh LaunchDataIngestionJob -jobSpecFile` takes."""
        return write(self.document())

    def _file_system(self, scheme: str) -> dict[str, Any]:
        file_system: dict[str, Any] = {"scheme": scheme, "className": _FILE_SYSTEMS[scheme]}
        if scheme == "file":
            return file_system
        name, example = _NEEDED.get(scheme, ("", ""))
        if name and name not in self.configs:
            raise UsageError(f"{scheme}: Pinot needs the {name}; pass --fs {name}={example}")
        return {**file_system, "configs": dict(self.configs)} if self.configs else file_system


def scheme_of(uri: str) -> str:
    """The file system of a URI. Raises UsageError for one that Pinot does not support.

    >>> scheme_of("s3://lake/rides/"), scheme_of("/data/rides")
    ('s3', 'file')
    """
    scheme = urlsplit(uri).scheme or "file"
    if scheme not in _FILE_SYSTEMS:
        raise UsageError(
            f"{uri}: Pinot does not support the file system {scheme!r}{nearest(scheme, _FILE_SYSTEMS)}"
        )
    return scheme
