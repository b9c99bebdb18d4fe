"""Identity resolution in Parquet files: only files with replaced ids are rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trellis.destinations.base import Commit, IdentityRules
from trellis.destinations.parquet.copy_on_write import RewrittenTable, open_rewriter, positioned_live_rows
from trellis.destinations.parquet.files import arrow_schema_of
from trellis.destinations.parquet.manifest import LiveTable
from trellis.destinations.scan.identities import prepare_identity_changes
from trellis.destinations.scan.positions import positioned_rows


@dataclass
class IdentityMerge:
    """The mappings of a load. `columns` are those they have after the load, with their types.

    No column of a table of the load begins with `prefix`.
    """

    root: str
    commit: Commit
    links: IdentityRules
    live: LiveTable
    columns: Mapping[str, str]
    scratch: str
    prefix: str

    def rewrite_table(self) -> RewrittenTable:
        table, rules = (self.commit.schema.tables[n] for n in (self.links.mappings, self.links.rules))
        position = f"{self.prefix}place"
        mappings = positioned_live_rows(self.root, self.live, self.columns, table, position)
        staged = positioned_rows(self.commit.files[rules.name], rules, position)
        with open_rewriter(self.root, self.scratch, position) as rewriter:
            statements = prepare_identity_changes(
                rewriter.db, self.commit, staged, mappings.relation(), self.prefix
            )
            rows = f"{statements.mappings} AS {statements.current_row} WHERE {statements.is_replaced()}"
            positions_to_delete = f"SELECT {statements.current_row}.{position} FROM {rows}"
            remaining = rewriter.remove_rows(table.name, self.live.files, positions_to_delete)
            queries = (statements.updated_rows(self.columns), statements.new_rows(self.columns))
            added = rewriter.write_query_rows(
                table.name, queries, arrow_schema_of(self.columns, mappings.paths, table)
            )
            return RewrittenTable(remaining.kept, (*remaining.added, *added))
