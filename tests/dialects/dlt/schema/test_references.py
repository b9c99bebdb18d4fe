"""Which columns point to which."""

from __future__ import annotations

from trellis.dialects.dlt.references import Reference, references
from trellis.dialects.dlt.system_tables import new_schema
from trellis.schema.model import Column, Table

ROW = Column("_dlt_id", "text").with_hints(row_key=True)
ROOT = Column("_dlt_root_id", "text").with_hints(root_key=True)
PARENT = Column("_dlt_parent_id", "text").with_hints(parent_key=True)
LOAD = Column("_dlt_load_id", "text")


def table(name: str, *columns: Column, parent: str | None = None) -> Table:
    return Table(name, {column.name: column for column in columns}, parent=parent)


def test_references() -> None:
    declared = {"columns": ["c"], "referenced_table": "customers", "referenced_columns": ["id"]}
    schema = new_schema("shop").with_tables(
        table("t", Column("c", "text"), LOAD, ROW).with_hints(references=[declared]),
        table("t__k", ROOT, PARENT, ROW, parent="t"),
        table("t__k__g", PARENT, ROW, parent="t__k"),
    )
    expected = """
        t (_dlt_load_id) -> _dlt_loads (load_id) _dlt_load many_to_one
        t (c) -> customers (id) None None
        t__k (_dlt_parent_id) -> t (_dlt_id) _dlt_parent many_to_one
        t__k (_dlt_root_id) -> t (_dlt_id) _dlt_root many_to_one
        t__k__g (_dlt_parent_id) -> t__k (_dlt_id) _dlt_parent many_to_one
        _dlt_version (version_hash) -> _dlt_loads (schema_version_hash) _dlt_schema_version one_to_many
        _dlt_version (schema_name) -> _dlt_loads (schema_name) _dlt_schema_name many_to_many
    """
    assert [shown(reference) for reference in references(schema)] == [
        line.strip() for line in expected.split("\n")[1:-1]
    ]


def shown(reference: Reference) -> str:
    ends = (reference.table, reference.columns), (reference.referenced_table, reference.referenced_columns)
    from_, to = (f"{table} ({', '.join(columns)})" for table, columns in ends)
    return f"{from_} -> {to} {reference.label} {reference.cardinality}"
