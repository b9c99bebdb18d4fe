"""Rows come with the names of their tables and columns; a dataset is named after its source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.rudderstack.names import namespace
from trellis.dialects.rudderstack.options import Options
from trellis.evolution.dialect.defaults import DefaultNaming


class RudderNaming(DefaultNaming):
    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        """The schema that RudderStack makes where a source or a namespace is named."""
        options = Options.of(settings, None)
        if not (options.source_name or options.namespace or options.database):
            return default
        return namespace(
            options.warehouse,
            source=options.source_name,
            namespace=options.namespace,
            prefix=options.custom_dataset_prefix,
            database=options.database,
            split_digits=options.namespace_split_digits,
            skip_snake_casing=options.skip_namespace_snake_casing,
        )
