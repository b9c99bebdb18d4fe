"""Telling others of a publication."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Iterable
from http.client import HTTPException
from typing import Final

from trellis.dialects.snowplow.identity.keys import SchemaKey
from trellis.dialects.snowplow.registry.settings import Webhook
from trellis.dialects.snowplow.registry.store.database import redact

TIMEOUT: Final = 5.0
_LOGGER: Final = logging.getLogger(__name__)


def call_webhooks(webhooks: Iterable[Webhook], key: SchemaKey, *, updated: bool) -> None:
    """POST the key to each webhook of its vendor.

    One that fails is logged; the schema is published already.
    """
    body = json.dumps({"schemaKey": str(key), "updated": updated}).encode()
    for webhook in webhooks:
        if webhook.concerns(key.vendor):
            request = urllib.request.Request(webhook.url, body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT):
                    pass
            except (OSError, HTTPException) as error:
                _LOGGER.warning(
                    "webhook %s was not told of %s: %s", redact(webhook.url), key, str(error).strip()
                )
