"""What a file system refuses, as one sentence: what is wrong with which location, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from trellis.engine.storage.location import RemoteLocation, is_remote, parse_url, redacted_url
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.stores import STORES, endpoint_of, has_credentials
from trellis.errors import StorageError, TrellisError, UsageError

_NO_CONTAINER = re.compile(r"NO_SUCH_BUCKET|Bucket '[^']*' not found|ContainerNotFound|NoSuchBucket")
_UNREACHABLE = re.compile(
    r"NETWORK_CONNECTION|[Cc]ould ?n[o']t (?:connect|resolve)|Connection refused|timed? ?out|CURLE_|"
    r"Unable to connect|Failed to connect|Name or service not known"
)
_CAUSE = re.compile(r"curlCode: \d+, ([^;]*)")
_UNKNOWN_KEY = re.compile(
    r"INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|EXPIRED_TOKEN|INVALID_TOKEN|UNRECOGNIZED_CLIENT|"
    r"InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|TokenRefreshRequired|AuthenticationFailed"
)
_DENIED = re.compile(
    r"ACCESS_DENIED|AccessDenied|PERMISSION_DENIED|UNAUTHENTICATED|AuthorizationFailure|AuthorizationPermission|"
    r"\b40[13]\b|[Pp]ermission denied|DefaultAzureCredential|[Cc]ould not (?:find|load|create) .*credential"
)
_OF_STORE = re.compile(r"AWS Error|google::cloud|Azure|HDFS")
_NO_HADOOP = re.compile(r"libjvm|libhdfs|HdfsException|NoClassDefFound")


@contextmanager
def explained(location: str, settings: StorageSettings) -> Iterator[None]:
    """Raise what a remote file system refuses as UsageError or StorageError. Local files are not concerned.

    An error of another kind, such as a damaged file, passes through.
    """
    try:
        yield
    except Exception as bad:
        # The latter is what pyarrow raises for errors of a store that it has no class for.
        is_of_store = isinstance(bad, OSError) or type(bad).__name__ == "ArrowException"
        if not is_of_store or not is_remote(location):
            raise
        reason = explanation(bad, location, settings)
        if reason is None:
            raise
        raise reason from None


def explanation(bad: Exception, location: str, settings: StorageSettings) -> TrellisError | None:
    """The error that a user reads; None for one that is not about the file system."""
    place, text = parse_url(location), str(bad)
    store = STORES[place.store]
    if _NO_CONTAINER.search(text):
        return missing_container(place, settings)
    if isinstance(bad, FileNotFoundError):
        return UsageError(f"{location}: no such file")
    if _NO_HADOOP.search(text):
        return StorageError(
            f"{location}: the Hadoop libraries cannot be loaded; set JAVA_HOME and HADOOP_HOME, and "
            "CLASSPATH to the output of `hadoop classpath --glob`"
        )
    if _UNREACHABLE.search(text):
        endpoint = endpoint_of(place, settings)
        cause = _CAUSE.search(text)
        at = f" at {redacted_url(endpoint)}" if endpoint else ""
        why = f" ({cause[1].strip()})" if cause else ""
        return StorageError(
            f"{location}: the store{at} cannot be reached{why}; check {store.endpoint}, and the network"
        )
    if _UNKNOWN_KEY.search(text):
        return StorageError(
            f"{location}: the store refuses the credentials ({_code(text)}); check {store.credentials}"
        )
    if _DENIED.search(text):
        if not has_credentials(place, settings):
            return UsageError(
                f"{location}: access is denied, and no credentials are set; set {store.credentials}"
            )
        return StorageError(
            f"{location}: access is denied to these credentials; check them, and their rights to list, "
            f"read and write the {store.container}"
        )
    if _OF_STORE.search(text):
        first = settings.redact(text.strip().splitlines()[0])
        return StorageError(f"{location}: the store failed ({first[:300]}); try again")
    return None


def missing_container(place: RemoteLocation, settings: StorageSettings) -> UsageError:
    """There is no such bucket."""
    store, endpoint = STORES[place.store], endpoint_of(place, settings)
    where = f" at {redacted_url(endpoint)}" if endpoint else ""
    return UsageError(
        f"{place.url(place.path)}: there is no {store.container} {place.container!r}{where}; check the name"
    )


def _code(text: str) -> str:
    code = _UNKNOWN_KEY.search(text)
    return code[0] if code else ""
