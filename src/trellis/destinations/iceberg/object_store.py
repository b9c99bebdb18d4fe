"""How pyiceberg opens an object store: its names for the settings of a load."""

from __future__ import annotations

from typing import Final

from trellis.destinations.lake.files import storage_of
from trellis.destinations.lake.object_store import renamed_options
from trellis.engine.storage.location import RemoteLocation, is_remote, parse_url
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.stores import azure_options, s3_options

_S3: Final = {
    "access_key": "s3.access-key-id",
    "secret_key": "s3.secret-access-key",
    "session_token": "s3.session-token",
    "role_arn": "s3.role-arn",
    "region": "s3.region",
}
_AZURE: Final = {
    "account_name": "adls.account-name",
    "account_key": "adls.account-key",
    "sas_token": "adls.sas-token",
    "client_id": "adls.client-id",
    "client_secret": "adls.client-secret",
    "tenant_id": "adls.tenant-id",
}


def file_io_properties(location: str) -> dict[str, str]:
    """The properties with which the files of a warehouse are opened; none for one on this machine."""
    return properties_of(parse_url(location), storage_of(location).settings) if is_remote(location) else {}


def properties_of(location: RemoteLocation, settings: StorageSettings) -> dict[str, str]:
    """The properties for a bucket or container.

    >>> from trellis.engine.storage.location import parse_url
    >>> conf = {"fs.s3a.endpoint": "http://minio:9000", "fs.s3a.access.key": "a", "fs.s3a.secret.key": "b"}
    >>> properties_of(parse_url("s3a://acme/lake"), StorageSettings.of(conf, {}))
    {'s3.access-key-id': 'a', 's3.secret-access-key': 'b', 's3.region': 'us-east-1',
     's3.endpoint': 'http://minio:9000'}
    """
    if location.store == "s3":
        options = s3_options(location.container, settings)
        properties = renamed_options(options, _S3)
        if endpoint := options.get("endpoint_override"):
            properties["s3.endpoint"] = f"{options.get('scheme', 'https')}://{endpoint}"
        if options.get("anonymous"):
            properties["s3.anonymous"] = "true"
        if options.get("force_virtual_addressing"):
            properties["s3.force-virtual-addressing"] = "true"
        return properties
    return renamed_options(azure_options(location, settings), _AZURE) if location.store == "abfs" else {}
