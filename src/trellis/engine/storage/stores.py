"""The file systems behind URLs, as `pyarrow.fs` opens them, with the settings of a load."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trellis.engine.storage.location import RemoteLocation
from trellis.engine.storage.settings import StorageSettings
from trellis.errors import UsageError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

Options = dict[str, Any]

_RETRY = timedelta(seconds=20)
"""How long a request to Google Cloud Storage is repeated; its own default are 15 minutes."""
_ANONYMOUS = "AnonymousAWSCredentialsProvider"
_AWS = "s3.amazonaws.com"
_AWS_REGION = re.compile(r"s3[.-]([a-z0-9-]+)\.amazonaws\.com")
_TENANT = re.compile(r"https://[^/]+/([^/]+)/oauth2")


class Store(NamedTuple):
    """A kind of store: how it is opened, what a bucket is called there, and where its settings come from."""

    open: Callable[[RemoteLocation, StorageSettings], FileSystem]
    container: str
    endpoint_property: str
    endpoint: str
    key_property: str
    credentials: str


@lru_cache(maxsize=64)
def file_system(store: str, prefix: str, authority: str, settings: StorageSettings) -> FileSystem:
    """The file system that holds a bucket or container. Raises UsageError, OSError."""
    return STORES[store].open(RemoteLocation(store, prefix, authority, ""), settings)


def endpoint_of(location: RemoteLocation, settings: StorageSettings) -> str:
    """The endpoint that is set for a store, or its host; empty where neither is named."""
    host = location.account or ("" if location.in_bucket else location.authority)
    return settings.get(STORES[location.store].endpoint_property, location.container) or host


def has_credentials(location: RemoteLocation, settings: StorageSettings) -> bool:
    """Whether the settings name credentials for a location."""
    owner = location.account or location.container
    return settings.get(STORES[location.store].key_property, owner) is not None


def s3_options(bucket: str, settings: StorageSettings) -> Options:
    """The arguments of `pyarrow.fs.S3FileSystem` for a bucket.

    >>> conf = {"fs.s3a.endpoint": "http://minio:9000", "fs.s3a.path.style.access": "true"}
    >>> s3_options("raw", StorageSettings.of(conf, {}))
    {'endpoint_override': 'minio:9000', 'scheme': 'http', 'region': 'us-east-1'}
    """

    def setting(name: str) -> str:
        return settings.get(f"fs.s3a.{name}", bucket) or ""

    options: Options = {}
    scheme, mark, host = setting("endpoint").rstrip("/").rpartition("://")
    region = setting("endpoint.region")
    if host == _AWS:  # of all regions: it redirects to that of the bucket, which is asked for instead
        host = ""
    if host:
        options["endpoint_override"] = host
        regional = _AWS_REGION.search(host)
        region = region or (regional[1] if regional else "us-east-1")
    if mark or setting("connection.ssl.enabled").lower() == "false":
        options["scheme"] = scheme or "http"
    if host and setting("path.style.access").lower() == "false":
        options["force_virtual_addressing"] = True
    if region:
        options["region"] = region
    if setting("aws.credentials.provider").endswith(_ANONYMOUS):
        return {**options, "anonymous": True}
    keys = {
        "access_key": setting("access.key"),
        "secret_key": setting("secret.key"),
        "session_token": setting("session.token"),
        "role_arn": setting("assumed.role.arn"),
    }
    return {**options, **{name: value for name, value in keys.items() if value}}


def _open_s3(location: RemoteLocation, settings: StorageSettings) -> FileSystem:
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    options = s3_options(location.container, settings)
    if "region" not in options:
        options["region"] = resolve_s3_region(location.container)
    return S3FileSystem(**options)


def gcs_options(settings: StorageSettings) -> Options:
    """The arguments of `pyarrow.fs.GcsFileSystem`.

    >>> sorted(gcs_options(StorageSettings.of({}, {"STORAGE_EMULATOR_HOST": "http://localhost:4443"})))
    ['anonymous', 'endpoint_override', 'retry_time_limit', 'scheme']
    """
    options: Options = {"retry_time_limit": _RETRY}
    scheme, mark, host = (settings.get("fs.gs.storage.root.url") or "").rpartition("://")
    unauthenticated = (settings.get("fs.gs.auth.type") or "").upper() == "UNAUTHENTICATED"
    if host:
        options["endpoint_override"] = host.rstrip("/")
        unauthenticated = unauthenticated or "googleapis.com" not in host
    if mark:
        options["scheme"] = scheme
    if unauthenticated:
        options["anonymous"] = True
    if project := settings.get("fs.gs.project.id"):
        options["project_id"] = project
    return options


def _open_gcs(location: RemoteLocation, settings: StorageSettings) -> FileSystem:
    from pyarrow.fs import GcsFileSystem

    return GcsFileSystem(**gcs_options(settings))


def azure_options(location: RemoteLocation, settings: StorageSettings) -> Options:
    """The arguments of `pyarrow.fs.AzureFileSystem`. Raises UsageError where nothing names the account.

    >>> from trellis.engine.storage.location import parse_url
    >>> conf = {"fs.azure.account.key.acme.dfs.core.windows.net": "c2VjcmV0"}
    >>> azure_options(parse_url("abfss://raw@acme.dfs.core.windows.net/x"), StorageSettings.of(conf, {}))
    {'account_name': 'acme', 'account_key': 'c2VjcmV0'}
    """
    host = location.account
    account = host.partition(".")[0] or settings.get("fs.azure.account.name")
    if not account:
        raise UsageError(
            f"{location.prefix}://{location.authority}: the URL names no storage account; write "
            "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH, or set AZURE_STORAGE_ACCOUNT_NAME"
        )
    options: Options = {"account_name": account}
    domain = host.partition(".")[2]
    if domain and domain != "dfs.core.windows.net":  # of a national cloud
        options["dfs_storage_authority"] = f".{domain}"
        options["blob_storage_authority"] = f".{domain.replace('dfs.', 'blob.', 1)}"
    tenant = _TENANT.match(settings.get("fs.azure.account.oauth2.client.endpoint", host) or "")
    client = {
        "client_id": settings.get("fs.azure.account.oauth2.client.id", host),
        "client_secret": settings.get("fs.azure.account.oauth2.client.secret", host),
        "tenant_id": tenant[1] if tenant else None,
    }
    if key := settings.get("fs.azure.account.key", host):
        options["account_key"] = key
    elif token := settings.get("fs.azure.sas.fixed.token", host):
        options["sas_token"] = token
    elif all(client.values()):
        options.update(client)
    return options


def _open_azure(location: RemoteLocation, settings: StorageSettings) -> FileSystem:
    try:
        from pyarrow.fs import AzureFileSystem
    except ImportError:
        raise UsageError(
            f"{location.prefix}://{location.authority}: pyarrow is built without Azure; install a newer one"
        ) from None
    return AzureFileSystem(**azure_options(location, settings))


def _open_hdfs(location: RemoteLocation, settings: StorageSettings) -> FileSystem:
    from pyarrow.fs import HadoopFileSystem

    user, _, host = location.authority.rpartition("@")
    name, _, port = host.partition(":")
    return HadoopFileSystem(name or "default", int(port) if port.isdigit() else 0, user=user or None)


STORES: Mapping[str, Store] = {
    "s3": Store(
        _open_s3,
        "bucket",
        "fs.s3a.endpoint",
        "AWS_ENDPOINT_URL or spark.hadoop.fs.s3a.endpoint",
        "fs.s3a.access.key",
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or spark.hadoop.fs.s3a.access.key and .secret.key",
    ),
    "gs": Store(
        _open_gcs,
        "bucket",
        "fs.gs.storage.root.url",
        "STORAGE_EMULATOR_HOST or spark.hadoop.fs.gs.storage.root.url",
        "",
        "GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account",
    ),
    "abfs": Store(
        _open_azure,
        "container",
        "",
        "the name of the storage account",
        "fs.azure.account.key",
        "AZURE_STORAGE_ACCOUNT_KEY, or spark.hadoop.fs.azure.account.key.ACCOUNT.dfs.core.windows.net",
    ),
    "hdfs": Store(
        _open_hdfs,
        "folder",
        "",
        "host and port of the name node",
        "",
        "a Kerberos ticket with kinit, or HADOOP_USER_NAME",
    ),
}
