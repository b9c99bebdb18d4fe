"""`trellis registry serve` and `keygen`: a store, and what its server accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

from trellis.dialects.snowplow.client.http import HttpRegistry, checked_url
from trellis.dialects.snowplow.client.locator import is_store, registry_key
from trellis.dialects.snowplow.client.store import StoreRegistry
from trellis.dialects.snowplow.columns.profiles import get_profile
from trellis.dialects.snowplow.kind.verdict import Evolution, KindPolicy
from trellis.dialects.snowplow.registry.service import RegistryService
from trellis.dialects.snowplow.registry.settings import ServerSettings, Webhook
from trellis.dialects.snowplow.registry.store.permissions import (
    Permission,
    is_vendor_prefix,
    super_permission,
)
from trellis.dialects.snowplow.registry.store.schema_store import SchemaStore
from trellis.dialects.snowplow.versions.succession import Succession, SuccessionRules
from trellis.errors import UsageError, nearest

HSTS = {"Strict-Transport-Security": "max-age=31536000; includeSubDomains"}


def open_service(
    store: str,
    evolution: str,
    succession: str,
    patches: bool,
    profiles: Sequence[str] | None,
    webhooks: Sequence[str] | None,
    hsts: bool,
    warehouse: tuple[str, str] | None = None,
    next_registry: str | None = None,
) -> RegistryService:
    """The registry that the options describe. `warehouse` is a URL and a dataset.

    Raises UsageError, StoreUnavailable.
    """
    _check_server_packages()
    _check_choice("--evolution", evolution, get_args(Evolution))
    _check_choice("--succession", succession, get_args(Succession))
    kinds = KindPolicy(cast(Evolution, evolution))
    if profiles:
        kinds = replace(kinds, profiles=tuple(map(get_profile, profiles)))
    from trellis.dialects.snowplow.commands.surroundings import HttpPromotion, LoadedDataset
    from trellis.dialects.snowplow.runs.warehouses.locator import check_warehouse

    if warehouse:
        check_warehouse(warehouse[0])

    schemas = SchemaStore.open(store)
    settings = ServerSettings(
        kinds,
        SuccessionRules(cast(Succession, succession), patches),
        tuple(map(Webhook.parse, webhooks or ())),
        HSTS if hsts else {},
        LoadedDataset(*warehouse, schemas) if warehouse else None,
        HttpPromotion(checked_url(next_registry)) if next_registry else None,
    )
    return RegistryService(schemas, settings)


def make_keys(at: str, vendor: str | None, *, super_key: bool) -> dict[str, str]:
    """New keys by what they do. Raises UsageError, RegistryUnavailable."""
    if (vendor is None) != super_key:
        raise UsageError(
            "name whom the keys are for: --vendor com.acme, or --super for one key to everything"
        )
    if vendor is not None and not is_vendor_prefix(vendor):
        raise UsageError(
            f"--vendor {vendor!r}: expected the beginning of vendors such as com.acme, or * for all"
        )
    if is_store(at):
        store = StoreRegistry.open(at, create=True).store
        if vendor is None:
            return {"super": str(store.add_keys([super_permission()])[0])}
        keys = store.add_keys([Permission(vendor, "READ"), Permission(vendor, "CREATE_VENDOR")])
        return dict(zip(("read", "write"), map(str, keys), strict=True))
    if vendor is None:
        raise UsageError(
            "--super: a server makes no such key; give --at the store, such as sqlite:registry.db"
        )
    registry = HttpRegistry.open(at, registry_key())
    answer = registry.send("POST", "/auth/keygen", json.dumps({"vendorPrefix": vendor}).encode())
    fields = answer.json_object()
    if not answer.ok:
        raise UsageError(
            f"{registry.name} makes no keys: {fields.get('message', f'HTTP {answer.status}')}; is the key in "
            "TRELLIS_REGISTRY_KEY one that may?"
        )
    return {name: str(fields[name]) for name in ("read", "write")}


def _check_server_packages() -> None:
    try:
        import fastapi
        import uvicorn
    except ImportError:
        raise UsageError(
            "the server needs packages that are not installed: pip install 'trellis-spark[registry]'"
        ) from None
    del fastapi, uvicorn


def _check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UsageError(f"{option}: unknown {value!r}{nearest(value, choices)}")
