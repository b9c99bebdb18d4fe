"""Identity resolution in Parquet files: only files whose ids are no more are written anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trellis.destinations.base import Commit, Links
from trellis.destinations.parquet.copy_on_write import Merged, positioned_live_rows, sieve
from trellis.destinations.parquet.files import schema_of
from trellis.destinations.parquet.manifest import LiveTable
from trellis.destinations.scan.identities import prepare_identity_changes
from trellis.destinations.scan.positions import positioned_rows


@dataclass
class LinkMerge:
    """The mappings of a load. `columns` are those they have after the load, with their types.

    No column of a table of the load begins with `prefix`.
    """

    root: str
    commit: Commit
    links: Links
    live: LiveTable
    columns: Mapping[str, str]
    scratch: str
    prefix: str

    def run(self) -> Merged:
        table, rules = (self.commit.schema.tables[n] for n in (self.links.mappings, self.links.rules))
        place = f"{self.prefix}place"
        mappings = positioned_live_rows(self.root, self.live, self.columns, table, place)
        staged = positioned_rows(self.commit.files[rules.name], rules, place)
        with sieve(self.root, self.scratch, place) as found:
            linking = prepare_identity_changes(
                found.db, self.commit, staged, mappings.relation(), self.prefix
            )
            rows = f"{linking.mappings} AS {linking.current_row} WHERE {linking.leaves()}"
            leaving = f"SELECT {linking.current_row}.{place} FROM {rows}"
            stays = found.without(table.name, self.live.files, leaving)
            new = (linking.changed(self.columns), linking.added(self.columns))
            made = found.written(table.name, new, schema_of(self.columns, mappings.paths, table))
            return Merged(stays.kept, (*stays.made, *made))
