"""Endpoints and credentials of object stores: one value that travels with a load and is never printed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

_KNOWN = re.compile(
    r"""fs\.s3a\.(bucket\..+\.)?(access\.key | secret\.key | session\.token | endpoint | endpoint\.region
            | path\.style\.access | connection\.ssl\.enabled | aws\.credentials\.provider
            | assumed\.role\.arn)
      | fs\.gs\.(project\.id | storage\.root\.url | auth\.type)
      | fs\.azure\.(account\.key | sas\.fixed\.token
            | account\.oauth2\.client\.(id | secret | endpoint))(\..+)?""",
    re.VERBOSE,
)
_SECRET = re.compile(r"(access|secret|account)\.key|token|client\.secret")
_SPARK = "spark.hadoop."
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "fs.s3a.endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "fs.s3a.endpoint.region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "fs.gs.storage.root.url": ("STORAGE_EMULATOR_HOST",),
    "fs.gs.project.id": ("GOOGLE_CLOUD_PROJECT",),
    "fs.azure.account.name": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"),
    "fs.azure.account.key": ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY"),
    "fs.azure.sas.fixed.token": ("AZURE_STORAGE_SAS_TOKEN",),
}
_S3_CREDENTIALS: Mapping[str, str] = {
    "fs.s3a.access.key": "AWS_ACCESS_KEY_ID",
    "fs.s3a.secret.key": "AWS_SECRET_ACCESS_KEY",
    "fs.s3a.session.token": "AWS_SESSION_TOKEN",
}


@dataclass(frozen=True, repr=False)
class StorageSettings:
    """Settings by the names that Hadoop and Spark give them: `fs.s3a.endpoint`, `fs.s3a.access.key` ...

    What is not set here is left to the usual places of the machine that reads: profiles in `~/.aws`,
    `GOOGLE_APPLICATION_CREDENTIALS`, the identity of a virtual machine.

    >>> StorageSettings.of({"spark.hadoop.fs.s3a.secret.key": "s3cret", "fs.s3a.endpoint": "minio:9000"}, {})
    StorageSettings(fs.s3a.endpoint='minio:9000', fs.s3a.secret.key=***)
    """

    properties: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(conf: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> StorageSettings:
        """The settings in Spark's conf, and those of the environment where the conf has none.

        The access key, the secret key and the session token of S3 come from one of the two, never from both.
        """
        hadoop = {name.removeprefix(_SPARK): value for name, value in conf.items() if name.startswith(_SPARK)}
        properties = {
            name: value for name, value in {**hadoop, **conf}.items() if value and _KNOWN.fullmatch(name)
        }
        variables = dict(_VARIABLES)
        if properties.keys().isdisjoint(_S3_CREDENTIALS):
            variables.update((name, (variable,)) for name, variable in _S3_CREDENTIALS.items())
        for name, choices in variables.items():
            value = next(filter(None, map(environment.get, choices)), None)
            if value is not None:
                properties.setdefault(name, value)
        return StorageSettings(tuple(sorted(properties.items())))

    def get(self, name: str, owner: str = "") -> str | None:
        """A setting by name. What is set for one bucket of S3, or one account of Azure, comes first.

        >>> settings = StorageSettings.of({"fs.s3a.endpoint": "a", "fs.s3a.bucket.raw.endpoint": "b"}, {})
        >>> settings.get("fs.s3a.endpoint"), settings.get("fs.s3a.endpoint", "raw")
        ('a', 'b')
        """
        properties = dict(self.properties)
        of_bucket = name.replace("fs.s3a.", f"fs.s3a.bucket.{owner}.", 1)
        return properties.get(of_bucket) or properties.get(f"{name}.{owner}") or properties.get(name)

    def redact(self, text: str) -> str:
        """The text without the secrets of these settings."""
        for name, value in self.properties:
            if _SECRET.search(name):
                text = text.replace(value, "***")
        return text

    def __repr__(self) -> str:
        values = (
            f"{name}={'***' if _SECRET.search(name) else repr(value)}" for name, value in self.properties
        )
        return f"StorageSettings({', '.join(values)})"
