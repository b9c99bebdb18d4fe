"""Merges into tables of a lake: one MERGE of Spark for each table, so that each is one commit.

The source of a MERGE has the rows to insert and those whose keys say what to delete or to update. It is
computed from the staged rows and the tables as they are. A rehearsal counts what the MERGE would do.

Loads may merge the same keys at the same moment, and a load that was killed goes on later, so the order of
the tables of a tree matters. With upsert and insert-only the ids of rows follow from their keys. There the
root comes first: its rows then say which load wrote them, and each load writes the nested rows of its own.
Otherwise each load gives its rows new ids, and the leaves come first, so that what is left to do still sees
the root as it was. In the end the nested rows go of root rows that others brought meanwhile and this load
replaced, and with scd2 those whose root row was not inserted, as others had brought its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Protocol

from trellis.destinations.base import CatalogTable, Commit, IdentityRules, KeyedWrite, TableTreeWrite
from trellis.destinations.lake.merge_source import MERGE_METRICS, MergeSource
from trellis.destinations.lake.spark_sql import SparkStatements
from trellis.destinations.lake.staged import DataFile, staged_rows
from trellis.destinations.lake.store import CommitLabel, TableName, TableSize, TableStore
from trellis.destinations.refusals import duplicate_keys
from trellis.destinations.row_changes import RowTally
from trellis.destinations.sql.identities import IdentityStatements, resolve_rows
from trellis.destinations.sql.keyed import KeyedStatements
from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.merge import TableTreeStatements
from trellis.destinations.sql.names import alias_prefix, quoted
from trellis.destinations.sql.roots import MergeNames, RootStatements, columns_of, merge_columns
from trellis.schema.model import NOTHING, Table

COUNTED_ROWS: Final = 5_000_000
"""How many staged rows at most are looked through in this process for keys that occur twice, as that spares
Spark to do it. An upsert, which refuses such keys, always looks."""


class SparkMerge(Protocol):
    def check(self) -> None:
        """Raises SchemaError, ContractError for rows that cannot be merged."""
        ...

    def execute(self) -> None:
        """Merge all tables that the load has not committed to before."""
        ...


@dataclass(frozen=True)
class MergeContext:
    """`files` are the staged files, and `types` the columns of the tables after the migration.

    `catalog` has the tables before it where the load is a rehearsal; None: it is not. `tallies` are filled by
    merges whose rows are counted. No MERGE has more to shuffle than `size`; None: it is not known.
    """

    store: TableStore
    commit: Commit
    files: Mapping[str, Sequence[DataFile]]
    types: Mapping[str, Mapping[str, str]]
    catalog: Mapping[str, CatalogTable] | None = None
    tallies: dict[str, RowTally] = field(default_factory=dict)
    size: TableSize | None = None

    @cached_property
    def label(self) -> CommitLabel:
        return CommitLabel.of_load(self.commit.load_id)

    @cached_property
    def statements(self) -> SparkStatements:
        return self.store.statements()

    @cached_property
    def prefix(self) -> str:
        """What every name begins with that a statement adds; no column of the tables does."""
        return alias_prefix(name for types in self.types.values() for name in types)

    @property
    def place(self) -> str:
        """What the column with the place of a staged row is called."""
        return f"{self.prefix}place"

    def relation(self, table: str) -> str:
        """The rows of a table, with the columns that it has after the migration, as an item of FROM."""
        name = self.store.sql_name(self._name(table))
        if self.catalog is None:
            return name
        known = self.catalog.get(table, CatalogTable(table)).columns
        columns = ", ".join(
            f"CAST({quoted(column) if column in known else 'NULL'} AS {type_}) AS {quoted(column)}"
            for column, type_ in self.types[table].items()
        )
        return f"(SELECT {columns}{f' FROM {name}' if known else ' WHERE FALSE'})"

    def staged_columns(self, table: str) -> list[str]:
        """The columns that staged files have; the others are NULL."""
        present = {name for file in self.files.get(table, ()) for name in file.types}
        return [name for name in self.types[table] if name in present]

    def stage(self, table: str, columns: Iterable[str]) -> str:
        """The staged rows of a table as a view; columns that the table does not have are NULL."""
        types = {name: self.types[table].get(name, "STRING") for name in columns}
        number = list(self.types).index(table)
        return self.statements.stage(f"staged_{number}", self.files.get(table, ()), types, self.place)

    def is_committed(self, table: str) -> bool:
        return self.catalog is None and self.store.has_label(self._name(table), self.label)

    def version(self, table: str) -> str:
        """The version that a table has now; empty in a rehearsal."""
        return "" if self.catalog is not None else self.store.version(self._name(table))

    def version_before(self, table: str, earlier: str) -> str:
        """The version that a table had before this load committed, which was after an earlier version."""
        return self.store.version_before(self._name(table), self.label, earlier)

    def delete_rows(self, table: str, key: str, values: str) -> None:
        """Delete the rows with values that a query gives, after the commit of the load."""
        source, label = MergeSource((key,), (), deleted=values), f"trellis-orphans-{self.commit.load_id}"
        statement = source.statement(self.relation(table), self.prefix)
        self.statements.run(statement, self.store.settings(CommitLabel(label)))

    def run_merge(self, table: str, source: MergeSource) -> RowTally:
        """Merge into a table, or count what that would do."""
        if self.catalog is not None:
            (counts,) = self.statements.run(source.counts_query(self.relation(table), self.prefix))
        else:
            statement = source.statement(self.relation(table), self.prefix)
            settings = self.store.settings(self.label, merges_staged=not source.reads_tables)
            rows = self.statements.run(statement, {**settings, **self.statements.shuffle_settings(self.size)})
            if query := self.store.merge_counts_query(self._name(table), self.label):
                rows = self.statements.run(query)
            (counts,) = rows
        inserted, changed, removed = (counts[name] for name in MERGE_METRICS)
        self.tallies[table] = RowTally(inserted=inserted, changed=changed, removed=removed)
        return self.tallies[table]

    def _name(self, table: str) -> TableName:
        return TableName(self.commit.dataset, table)


@dataclass
class TreeMerge:
    """A root table and its descendants."""

    context: MergeContext
    load: TableTreeWrite

    def check(self) -> None:
        self._staged_roots.check()
        if self.load.strategy == "upsert" and (count := self._duplicate_keys):
            raise duplicate_keys(self.load.root, count)

    @property
    def _staged_roots(self) -> RootStatements:
        """The root table, whose staged rows DuckDB reads."""
        context, commit = self.context, self.context.commit
        names = MergeNames(context.prefix, context.store.warehouse.type_of)
        chain = TableTreeStatements(
            commit.schema,
            self.load,
            commit.keys.__getitem__,
            context.relation,
            lambda _: f"{context.prefix}rows",
            names,
        )
        return chain.roots

    @cached_property
    def _duplicate_keys(self) -> int:
        """How many primary keys occur more than once in the staged rows of the root table."""
        import duckdb

        context, root = self.context, self._staged_roots
        files = context.files.get(self.load.root)
        if not files or self.load.strategy == "scd2" or not root.comparable("primary_key"):
            return 0
        with duckdb.connect(":memory:") as db:
            db.register(root.staged, staged_rows(files, context.types[self.load.root]))
            row = db.execute(root.duplicate_keys()).fetchone()
        return int(row[0]) if row else 0

    @property
    def _has_unique_keys(self) -> bool:
        """Whether all staged rows of the root table are known to have other primary keys."""
        rows = sum(file.rows for file in self.context.files.get(self.load.root, ()))
        return rows <= COUNTED_ROWS and not self._duplicate_keys

    def execute(self) -> None:
        if not self.context.files.get(self.load.root):
            return
        context, statements = self.context, self.context.statements
        chain, root = self._chain(), self.load.root
        planned = "" if context.is_committed(root) else context.version(root)
        try:
            marks = self._count_marks(chain)
            self._create_views(chain)
            if self._follows_root(chain):
                self._merge_root(chain, marks)
                self._create_views_after_root(chain, context.version_before(root, planned))
                self._merge_nested(chain)
            else:
                self._merge_nested(chain)
                self._merge_root(chain, marks)
                if len(chain.tables) > 1 and context.catalog is None:
                    self._delete_orphans(chain, planned)
        finally:
            statements.drop_views()

    def _follows_root(self, chain: TableTreeStatements) -> bool:
        """Whether nested rows are written after the root rows, which say which load wrote them."""
        load_id = chain.keys(chain.root.name).load_id
        is_known = load_id is not None and load_id in self.context.types[chain.root.name]
        is_keyed = self.load.strategy in ("upsert", "insert-only")
        return is_keyed and is_known and len(chain.tables) > 1 and self.context.catalog is None

    def _merge_root(self, chain: TableTreeStatements, marks: tuple[int, int]) -> None:
        context, root = self.context, chain.root
        if context.is_committed(root.name):
            return
        replaced, marked = marks
        if self.load.strategy == "upsert":
            context.run_merge(root.name, self._upsert_source(chain)).marked = marked
            return
        tally = context.run_merge(root.name, self._source(chain, root))
        tally.replaced, tally.marked = replaced, marked
        tally.ended, tally.changed = tally.changed, 0
        if chain.roots.replaces_by_key:
            tally.replaced = min(tally.inserted, tally.removed)

    def _merge_nested(self, chain: TableTreeStatements) -> None:
        """Merge into the nested tables, a child before its parent."""
        context = self.context
        for table in reversed(chain.tables[1:]):
            is_merged = table.name in context.files or chain.replaces
            if is_merged and not context.is_committed(table.name):
                context.run_merge(table.name, self._source(chain, table))

    def _delete_orphans(self, chain: TableTreeStatements, planned: str) -> None:
        """Delete nested rows whose root row went, or never came, as other loads brought that of its key.

        They did so after this load had planned its nested rows, which came before the root rows.
        """
        context, q, roots = self.context, self.context.prefix, chain.roots
        before = context.version_before(roots.table.name, planned)
        if before == planned:
            return
        earlier = roots if roots.versions else self._roots_at(chain, before)
        if earlier is None:
            return
        ids = roots.staged_ids() if roots.versions else earlier.rows_to_delete()
        same = f"{q}current.{quoted(roots.row_id)} = {q}left.{q}id"
        is_current = f"EXISTS (SELECT 1 FROM {roots.current} AS {q}current WHERE {same})"
        gone = f"SELECT {q}id FROM ({ids}) AS {q}left WHERE NOT {is_current}"
        context.statements.create_view(f"{q}rows_to_delete", gone)
        for table in reversed(chain.tables[1:]):
            context.delete_rows(
                table.name, *chain.link(table.name, chain.current, chain.names.rows_to_delete)
            )

    def _roots_at(self, chain: TableTreeStatements, version: str) -> RootStatements | None:
        """The root table as it was; None where it had no such columns, as with names that it got since."""
        roots = replace(chain.roots, current=f"{chain.current(chain.root.name)} VERSION AS OF {version}")
        stored = self.context.statements.query(f"SELECT * FROM {roots.current}").columns
        return roots if merge_columns(chain.root, self.load) | {roots.row_id} <= {*stored} else None

    def _create_views_after_root(self, chain: TableTreeStatements, before: str) -> None:
        """The views for nested rows after this load has written root rows into the version `before`.

        Root rows that another load has written since are left to it, with their nested rows.
        """
        context, roots, q = self.context, chain.roots, self.context.prefix
        load_id, written = chain.keys(chain.root.name).load_id, string_literal(context.commit.load_id)
        assert load_id is not None
        current, row_id = f"{roots.current} AS {q}current", f"{q}current.{quoted(roots.row_id)}"
        same = f"{row_id} = {q}rows.{q}id AND {q}current.{quoted(load_id)}"
        unknown = replace(roots, current=f"(SELECT * FROM {roots.current} WHERE FALSE)").rows_to_insert()
        is_own = f"EXISTS (SELECT 1 FROM {current} WHERE {same} = {written})"
        context.statements.create_view(
            f"{q}rows_to_insert", f"SELECT {q}id, {q}place FROM ({unknown}) AS {q}rows WHERE {is_own}"
        )
        if not chain.replaces:
            return
        earlier = self._roots_at(chain, before) if before else None
        ids = [roots.staged_ids(), *([earlier.rows_to_delete()] if earlier else [])]
        is_foreign = f"EXISTS (SELECT 1 FROM {current} WHERE {same} IS DISTINCT FROM {written})"
        context.statements.create_view(
            f"{q}rows_to_delete",
            f"SELECT {q}id FROM ({' UNION '.join(ids)}) AS {q}rows WHERE NOT {is_foreign}",
        )

    def _create_views(self, chain: TableTreeStatements) -> None:
        """Views of root rows to insert and to delete, where nested rows or the statements need them."""
        context, roots = self.context, chain.roots
        has_nested = len(chain.tables) > 1
        if has_nested or not (roots.inserts_all or self.load.strategy == "upsert"):
            context.statements.create_view(f"{context.prefix}rows_to_insert", roots.rows_to_insert())
        if chain.replaces and (has_nested or not roots.replaced_by()):
            context.statements.create_view(f"{context.prefix}rows_to_delete", roots.rows_to_delete())

    def _count_marks(self, chain: TableTreeStatements) -> tuple[int, int]:
        """How many inserted rows replace one of their key, and how many only mark deletions."""
        query = chain.roots.write_counts()
        if query is None:
            return 0, 0
        replaced, marked = self.context.statements.run(query)[0]
        return int(replaced), int(marked)

    def _chain(self) -> TableTreeStatements:
        context, type_of = self.context, self.context.store.warehouse.type_of
        names = MergeNames(context.prefix, type_of, context.statements.views)
        names = replace(names, place=f"{names.staged_row}.{context.place}")
        tables = [t for t in context.commit.schema.chain(self.load.root) if t.complete_columns]
        views = {
            table.name: context.stage(table.name, [c.name for c in table.complete_columns])
            for table in tables
        }
        keys = context.commit.keys.__getitem__
        return TableTreeStatements(
            context.commit.schema,
            self.load,
            keys,
            context.relation,
            views.__getitem__,
            names,
            self._has_unique_keys,
        )

    def _upsert_source(self, chain: TableTreeStatements) -> MergeSource:
        """Rows of the root table update that of their key in all columns; only the MERGE reads the table."""
        root, staged = chain.root, chain.names.staged_row
        keys, columns = chain.roots.comparable("primary_key"), [c.name for c in root.complete_columns]
        source = MergeSource(keys, columns, reads_tables=False)
        rows, is_unmarked = f"{chain.staged(root.name)} AS {staged}", chain.roots.is_unmarked()
        source.upserted = f"SELECT {_listed(staged, source.columns)} FROM {rows} WHERE {is_unmarked}"
        if root.columns_with("hard_delete"):
            source.deleted = f"SELECT {_listed(staged, source.keys)} FROM {rows} WHERE NOT ({is_unmarked})"
        return source

    def _source(self, chain: TableTreeStatements, table: Table) -> MergeSource:
        names = chain.names
        keys, deleted = self._keys_to_delete(chain, table)
        columns = self.context.staged_columns(table.name)
        roots = chain.roots if table == chain.root else None
        versions = roots.versions if roots else None
        values = dict[str, str](versions.written if versions else NOTHING)
        columns = [*dict.fromkeys((*columns, *values))]
        source = MergeSource(keys, columns, deleted=deleted if chain.replaces else "")
        if roots and roots.replaced_by() and chain.replaces:
            source.reads_tables, source.deletes_once = False, roots.replaces_once
        if versions:
            of_current = columns_of(names.current_row)
            rows = (
                f"{chain.current(table.name)} AS {names.current_row} WHERE {chain.roots.is_ended(versions)}"
            )
            source.ended = f"SELECT {_listed(names.current_row, keys)} FROM {rows}"
            source.assignments = {versions.history.valid_to: versions.ended}
            source.is_ended = versions.active(of_current)
        if table.name in self.context.files:
            shown = ", ".join(
                f"{values.get(name, f'{names.staged_row}.{quoted(name)}')} AS {quoted(name)}"
                for name in columns
            )
            rows = f"{chain.staged(table.name)} AS {names.staged_row}"
            source.inserted = f"SELECT {shown} FROM {rows} WHERE {self._is_inserted(chain, table)}"
        return source

    def _is_inserted(self, chain: TableTreeStatements, table: Table) -> str:
        """A condition on a staged row."""
        if table == chain.root and chain.roots.inserts_all:
            return chain.roots.is_unmarked()
        places = chain.positions_to_insert(table.name, once=chain.replaces)
        return f"{chain.names.staged_row}.{self.context.place} IN ({places})"

    def _keys_to_delete(self, chain: TableTreeStatements, table: Table) -> tuple[Sequence[str], str]:
        """Columns of a table, and a query of the values of rows to delete.

        The staged rows tell them where one key decides, so that the table is read once, by the MERGE.
        """
        keys = chain.roots.replaced_by() if table == chain.root else ()
        if keys:
            staged = chain.names.staged_row
            return keys, f"SELECT {_listed(staged, keys)} FROM {chain.staged(table.name)} AS {staged}"
        key, deleted = chain.link(table.name, chain.current, chain.names.rows_to_delete)
        return (key,), deleted


def _listed(row: str, columns: Iterable[str]) -> str:
    return ", ".join(map(columns_of(row), columns))


@dataclass
class KeyedMerge:
    """One table without descendants."""

    context: MergeContext
    load: KeyedWrite

    def check(self) -> None:
        return

    def execute(self) -> None:
        context, table = self.context, self.load.table
        if not context.files.get(table) or context.is_committed(table):
            return
        statements = context.statements
        columns, types = context.staged_columns(table), context.types[table]
        keyed = KeyedStatements(
            self.load,
            context.relation(table),
            context.stage(table, columns),
            columns,
            types,
            context.place,
            context.prefix,
            statements.syntax,
        )
        try:
            for statement in keyed.prepare():
                statements.run(statement)
            source = self._source(keyed, columns)
            tally = None if source.is_empty else context.run_merge(table, source)
            if tally is not None:
                tally.replaced = min(tally.inserted, tally.removed)
        finally:
            statements.drop_views()

    def _source(self, keyed: KeyedStatements, columns: Sequence[str]) -> MergeSource:
        keys = self.load.keys if keyed.merges else ()
        source = MergeSource(keys, columns)
        listed, staged = ", ".join(map(quoted, columns)), keyed.staged_row
        if (is_inserted := keyed.is_inserted()) != "FALSE":
            source.inserted = f"SELECT {listed} FROM {keyed.staged} AS {staged} WHERE {is_inserted}"
        if keyed.replaces:
            replaced = ", ".join(f"{keyed.current_row}.{quoted(key)}" for key in keys)
            rows = f"{keyed.table} AS {keyed.current_row} WHERE {keyed.is_replaced()}"
            source.deleted = f"SELECT {replaced} FROM {rows}"
        if keyed.coalesces:
            source.upserted = f"SELECT {listed} FROM {keyed.coalesced}"
        return source


@dataclass
class IdentityMerge:
    """The table of identities, by the rules of the load."""

    context: MergeContext
    links: IdentityRules

    def check(self) -> None:
        return

    def execute(self) -> None:
        context, table = self.context, self.links.mappings
        if not context.files.get(self.links.rules) or context.is_committed(table):
            return
        spark = context.statements
        paired = [column for pair in self.links.pairs for column in pair]
        columns = dict.fromkeys([*context.staged_columns(self.links.rules), *paired])
        rules = context.stage(self.links.rules, columns)
        statements = IdentityStatements(
            self.links,
            rules,
            context.relation(table),
            context.commit.now,
            context.place,
            context.prefix,
            spark.views,
        )
        try:
            changes = resolve_rows(spark.run(statements.open_rules()), context.commit.load_id)
            new = [(*pair, identity) for pair, identity in changes.new_identities.items()]
            spark.create_rows(statements.new_identities, statements.new_identity_columns, new)
            spark.create_rows(statements.merged, statements.merged_columns, list(changes.merged.items()))
            links = self.links
            written = (links.kind, links.value, links.identity, links.updated)
            keys = (links.kind, links.value)
            source = MergeSource(keys, written, inserted=statements.new_rows(written))
            source.upserted = statements.updated_rows(written)
            context.run_merge(table, source)
        finally:
            spark.drop_views()


def is_merge(load: KeyedWrite) -> bool:
    """Whether a write does more than to append the staged rows as they are."""
    return bool(load.keys) or load.needs_keys


def merges_of(context: MergeContext) -> list[SparkMerge]:
    """All merges of a load, in order."""
    commit = context.commit
    trees = [TreeMerge(context, chain) for chain in commit.chains if chain.mode == "merge"]
    keyed = [KeyedMerge(context, load) for load in commit.keyed if is_merge(load)]
    links = [IdentityMerge(context, commit.links)] if commit.links else []
    return [*trees, *keyed, *links]
