"""`trellis schema lint`: every fault with its line, its key, the nearest right key; faults between keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trellis.cli.schema_store import lint
from trellis.schema.documents.consistency import all_faults
from trellis.schema.documents.document import from_dict, from_yaml
from trellis.schema.documents.validate import DocumentError
from trellis.schema.history import HistoryColumns

HISTORY = HistoryColumns("began", "ended", "version")
BROKEN = """\
name: shop
detections: []
tables:
  orders:
    primary_key: id
    columns:
      id: {data_type: bigint, write_disposition: merge}
      b: {data_type: text, dedup_sort: asc}
      c: {data_type: text, dedup_sort: desc}
      d: {data_type: bool, hard_delete: true}
      e: {data_type: bool, hard_delete: true}
      f: {nullable: false, primary_key: yes please}
      h: {nullable: false}
      m: {data_type: decimal, precision: 4, scale: 6}
    x-normalizer: {seen-data: true, max_nesting: two}
    x-merge-strategy: upsrt
    x-replace-strategy: insert-staging
    schema_contract: {table: freeze, columns: freez}
  lines:
    parent: order
    columns:
      x: {data_type: text}
    references:
      - {referenced_table: orders, columns: [y, x], referenced_columns: [id]}
  hist:
    columns:
      x: {data_type: text, x-valid-to: true}
    write_disposition: merge
    x-merge-strategy: scd2
  up:
    columns:
      x: {data_type: txt}
    write_disposition: merge
    x-merge-strategy: insert-only
settings:
  default_hints: {unique: ["re:("], not-null: [id]}
normalizers:
  names: snak_case
  json: {config: {max_nesting: x, propagation: {table: {}}}}
"""
SAID = """\
shop.yaml: 26 faults
  line 2, detections: unknown key: it is a key of settings
  line 5, tables.orders.primary_key: unknown key: it is a key of columns
  line 7, tables.orders.columns.id.write_disposition: unknown key: it is a key of tables
  line 9, tables.orders.columns.c.dedup_sort: column b has it already: one column has dedup_sort
  line 11, tables.orders.columns.e.hard_delete: column d has it already: one column has hard_delete
  line 12, tables.orders.columns.f.primary_key: expected true or false, found 'yes please'
  line 12, tables.orders.columns.f.nullable: the table has rows and the column must not be NULL, but it has \
no data_type: give it one
  line 13, tables.orders.columns.h.nullable: the table has rows and the column must not be NULL, but it has \
no data_type: give it one
  line 14, tables.orders.columns.m.scale: 6 digits behind the point, and 4 in all: the scale is at most the \
precision
  line 15, tables.orders.x-normalizer.max_nesting: expected a whole number, 0 or more, found 'two'
  line 16, tables.orders.x-merge-strategy: no such value 'upsrt': did you mean 'upsert'?
  line 17, tables.orders.x-replace-strategy: no such value 'insert-staging': did you \
mean 'insert-from-staging'?
  line 18, tables.orders.schema_contract.table: unknown key: did you mean 'tables'?
  line 18, tables.orders.schema_contract.columns: no such value 'freez': did you mean 'freeze'?
  line 20, tables.lines.parent: no table 'order': did you mean 'orders'?
  line 24, tables.lines.references.0: columns and referenced_columns differ in length
  line 24, tables.lines.references.0.columns.0: the table has no column 'y': it may be one of x
  line 27, tables.hist.columns.x.data_type: a column with x-valid-to is a timestamp, not text
  line 29, tables.hist.x-merge-strategy: scd2 needs a column with x-valid-from: add began with it, \
of type timestamp
  line 32, tables.up.columns.x.data_type: no such value 'txt': did you mean 'text'?
  line 34, tables.up.x-merge-strategy: insert-only needs a primary key: give a column primary_key: true
  line 36, settings.default_hints.unique.0: rule 're:(' is not a regex (missing ), unterminated subpattern \
at position 0)
  line 36, settings.default_hints.not-null: unknown key: did you mean 'not_null'?
  line 38, normalizers.names: no naming convention 'snak_case': did you mean 'snake_case'?
  line 39, normalizers.json.config.max_nesting: expected a whole number, 0 or more, found 'x'
  line 39, normalizers.json.config.propagation.table: unknown key: did you mean 'tables'?"""


def test_every_fault_with_its_line_in_the_order_of_lines() -> None:
    with pytest.raises(DocumentError) as caught:
        from_yaml(BROKEN, "shop.yaml", lambda document: all_faults(document, HISTORY))
    assert str(caught.value).splitlines() == SAID.splitlines()


def test_lint_says_them_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shop.yaml").write_text(BROKEN)
    assert not lint([str(tmp_path / "shop.yaml")])
    stderr = capsys.readouterr().err
    assert "line 16, tables.orders.x-merge-strategy: no such value 'upsrt': did you mean 'upsert'?" in stderr


def test_a_json_document_has_lines_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '{"name": "shop", "normalizers": {\n "names": "snak_case"}}'
    (tmp_path / "shop.json").write_text(text)
    assert not lint([str(tmp_path / "shop.json")])
    assert "shop.json, line 2, normalizers.names: no naming convention 'snak_case'" in capsys.readouterr().err


def test_a_document_that_a_load_may_complete_can_be_read() -> None:
    """Keys may come with the load, and so may a type; only the linter minds."""
    hints = {"write_disposition": "merge", "x-merge-strategy": "upsert"}
    column = {"nullable": False}
    document: dict[str, Any] = {"name": "shop", "tables": {"t": {"columns": {"c": column}, **hints}}}
    assert from_dict(document).tables["t"].columns["c"].required
    with pytest.raises(DocumentError, match="upsert needs a primary key"):
        from_dict(document, find=all_faults)


@pytest.mark.parametrize(
    "table",
    [
        {"columns": {"k": {"primary_key": True}}, "x-merge-strategy": "upsert"},
        {"columns": {"k": {"nullable": False}}, "x-merge-strategy": "delete-insert"},
        {"columns": {"k": {}}, "write_disposition": "append", "x-merge-strategy": "upsert"},
        {
            "columns": {
                "began": {"data_type": "timestamp", "x-valid-from": True},
                "until": {"data_type": "timestamp", "x-valid-to": True},
            },
            "x-merge-strategy": "scd2",
        },
        {
            "columns": {
                "began": {"data_type": "timestamp"},
                "ended": {"data_type": "timestamp"},
            },
            "x-merge-strategy": "scd2",
        },
        {"columns": {"a": {"dedup_sort": "asc"}, "b": {"dedup_sort": None}, "c": {"hard_delete": False}}},
        {"columns": {"a": {"data_type": "decimal", "precision": 4, "scale": 4}}},
        {"references": [{"columns": ["a"], "referenced_table": "elsewhere", "referenced_columns": ["b"]}]},
        {"x-normalizer": {"seen-data": True, "of-somebody": 5}, "x-note": "any"},
    ],
)
def test_what_is_right(table: dict[str, Any]) -> None:
    document = {"name": "shop", "tables": {"t": {"write_disposition": "merge", "columns": {}, **table}}}
    assert all_faults(document, HISTORY) == ()


@pytest.mark.parametrize(
    "document", [None, [], {"name": "s", "tables": []}, {"name": "s", "tables": {"t": 1}}]
)
def test_nonsense_is_told_and_not_raised(document: Any) -> None:
    assert all_faults(document)
