"""The job that makes segments of files and pushes them into Pinot (`SegmentGenerationJobSpec`)."""

from __future__ import annotations

import os
from typing import Any, Final
from urllib.parse import urlsplit

from trellis.errors import UsageError, nearest

CONTROLLER: Final = "http://localhost:9000"
"""The URL of a local controller, the default."""
_STANDALONE: Final = "org.apache.pinot.plugin.ingestion.batch.standalone"
FORMATS: Final = {"parquet": "ParquetRecordReader", "json": "JSONRecordReader"}
"""The formats of data files, with the classes that read them."""
_FILE_SYSTEMS: Final = {
    "file": "org.apache.pinot.spi.filesystem.LocalPinotFS",
    "s3": "org.apache.pinot.plugin.filesystem.S3PinotFS",
    "gs": "org.apache.pinot.plugin.filesystem.GcsPinotFS",
    "hdfs": "org.apache.pinot.plugin.filesystem.HadoopPinotFS",
}


def ingestion_job(
    table: str,
    source: str,
    target: str = "",
    format: str = "parquet",
    controller: str = CONTROLLER,
) -> dict[str, Any]:
    """The specification of one run over the files of a folder.

    `source` and `target` are the URIs of the folders of files and segments; without `target` the segments go
    next to the files. The region of s3 is that of the environment, as for the programs of AWS.

    Raises UsageError for an unknown format or file system, and for s3 without a region.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}{nearest(format, FORMATS)}")
    source, controller = source.rstrip("/"), controller.rstrip("/")
    target = target.rstrip("/") or f"{source}_segments"
    reader = f"org.apache.pinot.plugin.inputformat.{format}.{FORMATS[format]}"
    schemes = dict.fromkeys((scheme_of(source), scheme_of(target)))
    return {
        "executionFrameworkSpec": {
            "name": "standalone",
            "segmentGenerationJobRunnerClassName": f"{_STANDALONE}.SegmentGenerationJobRunner",
            "segmentTarPushJobRunnerClassName": f"{_STANDALONE}.SegmentTarPushJobRunner",
        },
        "jobType": "SegmentCreationAndTarPush",
        "inputDirURI": f"{source}/",
        "includeFileNamePattern": f"glob:**/*.{format}",
        "outputDirURI": f"{target}/",
        "overwriteOutput": True,
        "pinotFSSpecs": [_file_system(scheme) for scheme in schemes],
        "recordReaderSpec": {"dataFormat": format, "className": reader},
        "tableSpec": {
            "tableName": table,
            "schemaURI": f"{controller}/tables/{table}/schema",
            "tableConfigURI": f"{controller}/tables/{table}",
        },
        "segmentNameGeneratorSpec": {
            "type": "inputFile",
            "configs": {
                "file.path.pattern": f".+/(.+)\\.{format}",
                "segment.name.template": f"{table}_\\${{filePathPattern:\\1}}",
            },
        },
        "pinotClusterSpecs": [{"controllerURI": controller}],
        "pushJobSpec": {"pushAttempts": 2, "pushRetryIntervalMillis": 1000},
    }


def _file_system(scheme: str) -> dict[str, Any]:
    file_system: dict[str, Any] = {"scheme": scheme, "className": _FILE_SYSTEMS[scheme]}
    if scheme != "s3":
        return file_system
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None:
        raise UsageError("s3: Pinot needs the region; set AWS_REGION, such as eu-west-1")
    return {**file_system, "configs": {"region": region}}


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
