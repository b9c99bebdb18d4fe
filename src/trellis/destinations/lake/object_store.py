"""How deltalake opens an object store: its names for the settings of a load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trellis.destinations.lake.files import storage_of
from trellis.engine.storage.location import RemoteLocation, is_remote, parse_url
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.stores import azure_options, s3_options
from trellis.errors import UsageError

_S3: Final = {
    "access_key": "AWS_ACCESS_KEY_ID",
    "secret_key": "AWS_SECRET_ACCESS_KEY",
    "session_token": "AWS_SESSION_TOKEN",
    "role_arn": "AWS_ROLE_ARN",
    "region": "AWS_REGION",
}
_AZURE: Final = {
    "account_name": "AZURE_STORAGE_ACCOUNT_NAME",
    "account_key": "AZURE_STORAGE_ACCOUNT_KEY",
    "sas_token": "AZURE_STORAGE_SAS_TOKEN",
    "client_id": "AZURE_STORAGE_CLIENT_ID",
    "client_secret": "AZURE_STORAGE_CLIENT_SECRET",
    "tenant_id": "AZURE_STORAGE_TENANT_ID",
}


def storage_options(location: str) -> dict[str, str] | None:
    """The options for a table; None for one on this machine. Raises UsageError."""
    if not is_remote(location):
        return None
    return options_of(parse_url(location), storage_of(location).settings)


def options_of(location: RemoteLocation, settings: StorageSettings) -> dict[str, str]:
    """The options for tables in a bucket or container. Raises UsageError for a store without Delta tables.

    >>> from trellis.engine.storage.location import parse_url
    >>> conf = {"fs.s3a.endpoint": "http://minio:9000", "fs.s3a.access.key": "a", "fs.s3a.secret.key": "b"}
    >>> options_of(parse_url("s3a://acme/lake"), StorageSettings.of(conf, {}))
    {'AWS_ACCESS_KEY_ID': 'a', 'AWS_SECRET_ACCESS_KEY': 'b', 'AWS_REGION': 'us-east-1',
     'AWS_ENDPOINT_URL': 'http://minio:9000', 'AWS_ALLOW_HTTP': 'true'}
    """
    if location.store == "s3":
        return _s3_options(s3_options(location.container, settings))
    if location.store == "abfs":
        return renamed_options(azure_options(location, settings), _AZURE)
    if location.store == "gs":
        return {}
    raise UsageError(
        f"{location.prefix}://{location.authority}: Delta tables are written to local paths, s3a://, gs:// "
        "and abfss://; name one of these, or a catalog of your Spark session with spark:CATALOG.SCHEMA"
    )


def _s3_options(arrow: Mapping[str, object]) -> dict[str, str]:
    options = renamed_options(arrow, _S3)
    if endpoint := arrow.get("endpoint_override"):
        scheme = str(arrow.get("scheme", "https"))
        options["AWS_ENDPOINT_URL"] = f"{scheme}://{endpoint}"
        if scheme == "http":
            options["AWS_ALLOW_HTTP"] = "true"
    if arrow.get("force_virtual_addressing"):
        options["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] = "true"
    if arrow.get("anonymous"):
        options["AWS_SKIP_SIGNATURE"] = "true"
    return options


def renamed_options(options: Mapping[str, object], names: Mapping[str, str]) -> dict[str, str]:
    """The options that have another name for a library, under that."""
    return {names[name]: str(options[name]) for name in names if name in options}
