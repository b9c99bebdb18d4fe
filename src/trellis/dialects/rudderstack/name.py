"""Rows come with the names of their tables and columns; a dataset is named after its source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.rudderstack.naming.names import namespace
from trellis.dialects.rudderstack.options import Options
from trellis.schema.model import Schema
from trellis.schema.naming import Convention, Naming

_AS_IT_IS = Convention("as-it-is", str, case_sensitive=True, separator="\x1f")


class RudderName:
    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return Naming(_AS_IT_IS, use_break_path_on_normalize=False)

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        """The schema of section 2.6 where a source or a namespace is named."""
        said = Options.of(settings, None)
        if not (said.source_name or said.namespace or said.database):
            return default
        return namespace(
            said.warehouse,
            source=said.source_name,
            namespace=said.namespace,
            prefix=said.custom_dataset_prefix,
            database=said.database,
            split_digits=said.namespace_split_digits,
            skip_snake_casing=said.skip_namespace_snake_casing,
        )
