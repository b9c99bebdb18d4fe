"""The normalizer of the conformance tests as dlt wants it: with dlt's own rules for types."""

from __future__ import annotations

from dlt.common.normalizers.json.relational import DataItemNormalizer as Relational

from dialects.dlt.conformance.linked_normalizer import DataItemNormalizer as Linked


class DataItemNormalizer(Linked, Relational):
    def extend_schema(self, extend_tables: bool = True) -> None:
        pass

    def extend_table(self, table_name: str) -> None:
        pass

    def remove_table(self, table_name: str) -> None:
        pass
