"""The registry that a text names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from trellis.dialects.snowplow.client.cache import CachedRegistry
from trellis.dialects.snowplow.client.folder import FolderRegistry
from trellis.dialects.snowplow.client.http import HttpRegistry
from trellis.dialects.snowplow.client.registry import Registry
from trellis.dialects.snowplow.client.resolver import Resolver
from trellis.dialects.snowplow.client.store import StoreRegistry
from trellis.errors import UsageError

KEY_VARIABLE: Final = "TRELLIS_REGISTRY_KEY"
"""The environment variable that holds the key of a URL."""


def open_registry(text: str, *, assume_order: bool = False) -> Registry:
    """The registry at a URL, in a store or a folder, or those of a resolver configuration file.

    It is asked once for each list and each version, so open one for each run. `assume_order` sorts versions
    by number where their order is not known. Raises UsageError, SchemaError, RegistryUnavailable.
    """
    if text.startswith(("http://", "https://")):
        return CachedRegistry(HttpRegistry.open(text, registry_key(), assume_order=assume_order))
    if is_store(text):
        return CachedRegistry(StoreRegistry.open(text))
    path = Path(text)
    if path.is_dir():
        return CachedRegistry(FolderRegistry.open(text, assume_order=assume_order))
    if path.is_file():
        return Resolver.read(path)
    raise UsageError(
        f"{text!r} is no registry: expected a URL such as http://127.0.0.1:8081, sqlite:FILE, "
        "postgresql://HOST/DATABASE, a folder of schemas in VENDOR/NAME/FORMAT/VERSION, or a resolver "
        "configuration file"
    )


def is_store(text: str) -> bool:
    return text.startswith(("sqlite:", "postgresql://", "postgres://"))


def registry_key() -> str | None:
    return os.environ.get(KEY_VARIABLE) or None
