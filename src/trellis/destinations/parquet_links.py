"""Identity resolution in Parquet files: only files whose ids are no more are written anew."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from trellis.destinations.base import Commit, Links
from trellis.destinations.duckdb_links import find_changes
from trellis.destinations.manifest import LiveTable
from trellis.destinations.parquet_files import columns_of, schema_of
from trellis.destinations.placed import Placed
from trellis.destinations.sieve import Merged, sieve
from trellis.schema.model import Column


@dataclass
class LinkMerge:
    """The mappings of a load. `columns` are those they have after the load, with their types."""

    root: str
    commit: Commit
    links: Links
    live: LiveTable
    columns: Mapping[str, str]
    scratch: str

    def run(self) -> Merged:
        table, live = self.commit.schema.tables[self.links.mappings], self.live.files
        paths = [os.path.join(self.root, file.path) for file in live]
        known = {column.name: column for column in table.complete_columns}
        columns = [known.get(name) or Column(name) for name in self.columns]
        mappings = Placed(paths, [file.rows for file in live], columns, self.live.columns)
        with sieve(self.root, self.scratch) as found:
            linking = find_changes(found.db, self.commit, self._rules(), mappings.relation())
            leaving = f"SELECT m.{mappings.place} AS place FROM {linking.mappings} m WHERE {linking.leaves()}"
            stays = found.without(table.name, live, leaving)
            new = (linking.changed(self.columns), linking.added(self.columns))
            made = found.written(table.name, new, schema_of(self.columns, paths, table))
            return Merged(stays.kept, (*stays.made, *made))

    def _rules(self) -> Placed:
        table, files = self.commit.schema.tables[self.links.rules], self.commit.files[self.links.rules]
        there = {name for file in files for name in columns_of(file.path)}
        columns = [column for column in table.complete_columns if column.name in there]
        return Placed([file.path for file in files], [file.rows for file in files], columns, there)
