"""`trellis docs`: what the pages of a dataset show."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import trellis
from trellis.errors import DestinationError, UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.site.content import read_pages
from trellis.site.diagram import draw_diagram
from trellis.site.pages import table_files, write_pages

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT}\"'&"


class Page(HTMLParser):
    """The text, the links and the tags of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.pieces: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())


@pytest.fixture
def shop(tmp_path: Path) -> Pipeline:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    (tmp_path / "orders.jsonl").write_text(
        '{"id": 1, "coupon": null, "lines": [{"sku": "a"}, {"sku": "b"}]}\n'
        '{"id": 2, "coupon": "TEA", "lines": []}\n'
        "no json\n"
    )
    shop.load(str(tmp_path / "orders.jsonl"), load_id="first")
    contract = {"data_type": "discard_value"}
    shop.load([{"id": "x", "Id": 3}], table="orders", load_id="second", contract=contract)
    return shop


@pytest.fixture
def site(shop: Pipeline, tmp_path: Path) -> Path:
    return trellis.write_docs(shop.to, tmp_path / "site").parent


def test_every_table_has_its_page(site: Path) -> None:
    assert {path.name for path in site.iterdir()} == {
        "index.html", "history.html", "left_out.html", "table-orders.html", "table-orders__lines.html"
    }  # fmt: skip


def test_every_link_leads_to_a_page_and_nothing_to_another_host(site: Path) -> None:
    for path in site.iterdir():
        page = Page(path)
        assert not {"script", "iframe", "img", "form"} & {*page.tags}
        for link in page.links:
            assert link in ("data:,", "#content") or (site / link).is_file(), (path.name, link)


def test_the_first_page_shows_tables_rows_and_freshness(site: Path) -> None:
    text = Page(site / "index.html").text
    assert "Tables 2 Rows 5 Last load 20" in text
    assert "Loads 2 Versions 2 Values and records left out 2" in text
    assert re.search(r"orders 3 4 append 20\d\d-\d\d-\d\d \d\d:\d\d UTC", text), text
    assert "orders__lines below orders 2 4 append" in text
    assert re.search(r"second 20\d\d\S+ \S+ UTC first 20\d\d", text)


def test_a_table_shows_types_nulls_and_its_family(site: Path) -> None:
    text = Page(site / "table-orders.html").text
    assert "Has orders__lines ." in text
    assert "coupon text VARCHAR yes 2" in text
    assert "_dlt_id unique text VARCHAR no 0" in text
    assert "Below orders ." in Page(site / "table-orders__lines.html").text


def test_the_history_has_every_version_newest_first(site: Path) -> None:
    text = Page(site / "history.html").text
    assert text.index("shop, version") > 0
    assert re.search(r"orders is new, with 4 columns \S+/orders\.jsonl:1 ", text), text
    assert "orders: schema_contract was not set, is data_type=discard_value shop" in text


def test_what_was_left_out_is_counted_with_an_example(site: Path) -> None:
    text = Page(site / "left_out.html").text
    assert "orders.jsonl 3 not JSON: expecting value at column 1 no json" in text
    reason = "collision: another key of the record is named id too"
    assert f"1 orders id {reason} x _trellis_discards" in text


def test_nothing_of_the_data_is_markup(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", naming="direct", engine="inline")
    (tmp_path / "bad.jsonl").write_text(f'{HOSTILE}\n{{"id": 1}}\n')
    shop.load([{HOSTILE: HOSTILE, "id": 1}], table=HOSTILE)
    shop.load(str(tmp_path / "bad.jsonl"), table="t")
    site = trellis.write_docs(shop.to, tmp_path / "site").parent
    for path in site.iterdir():
        page = Page(path)
        assert "script" not in page.tags
    assert SCRIPT in Page(site / "index.html").text
    assert HOSTILE in Page(site / "left_out.html").text


def test_large_tables_are_not_read_for_their_nulls(shop: Pipeline, tmp_path: Path) -> None:
    index = trellis.write_docs(shop.to, tmp_path / "small", scan_rows=2)
    text = Page(index.with_name("table-orders.html")).text
    assert "Nulls are not counted in tables of this size." in text
    assert "coupon text VARCHAR yes –" in text
    assert "sku text VARCHAR yes 0" in Page(index.with_name("table-orders__lines.html")).text


def test_pages_of_tables_that_are_gone_are_removed(shop: Pipeline, site: Path) -> None:
    pages = read_pages(shop, 10)
    write_pages(pages, site)
    assert (site / "table-orders.html").is_file()
    write_pages(type(pages)(**{**vars(pages), "tables": ()}), site)
    assert not [*site.glob("table-*.html")]


def test_tables_below_stand_to_the_right_and_boxes_do_not_overlap(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    lines = [{"sku": "a", "tags": [{"k": 1}]}]
    shop.load([{"id": 1, "lines": lines, "notes": ["x"]}], table="orders")
    shop.load([{"id": 1}], table="customers")
    diagram = draw_diagram(read_pages(shop, 10).tables)
    boxes = {box.table.name: box for box in diagram.boxes}
    assert [*boxes] == ["orders", "orders__lines", "orders__lines__tags", "orders__notes", "customers"]
    assert boxes["orders"].x < boxes["orders__lines"].x < boxes["orders__lines__tags"].x
    assert boxes["orders"].x == boxes["customers"].x
    assert len(diagram.links) == 3
    for one in diagram.boxes:
        assert one.y + one.height <= diagram.height
        for other in diagram.boxes:
            apart = one.x != other.x or one.y + one.height < other.y or other.y + other.height < one.y
            assert one is other or apart


def test_files_of_tables_differ_whatever_the_names() -> None:
    names = ["a", "A", "a ", "ä", "../../etc", "x" * 300, "x" * 301]
    files = table_files(names)
    assert len({file.lower() for file in files.values()}) == len(names)
    assert all(re.fullmatch(r"table-[\w-]+\.html", file, re.ASCII) for file in files.values())


def test_what_cannot_be_written_is_one_sentence(shop: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DestinationError, match="the pages cannot be written"):
        trellis.write_docs(shop.to, tmp_path / "file")
    with pytest.raises(UsageError, match="dataset main: holds no schema yet; load something into it"):
        trellis.write_docs(f"duckdb:{tmp_path}/none.duckdb", tmp_path / "site")


def test_the_command(shop: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from trellis.cli.app import run

    assert run(["docs", "--at", shop.to, "--out", str(tmp_path / "site")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/site/index.html: open it in a browser\n"


DIALECTS: dict[str, Callable[[Any], Any]] = {
    "rudderstack": lambda shop: shop.load(
        [{"type": "track", "event": "Signed Up", "messageId": "m1", "userId": "ada", "properties": {"n": 1}}]
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_datasets_of_other_dialects(dialect: str, tmp_path: Path) -> None:
    shop = pipeline("shop", f"parquet:{tmp_path}/lake", dialect=dialect, engine="inline")
    DIALECTS[dialect](shop)
    index = trellis.write_docs(shop.to, tmp_path / "site")
    assert "signed_up" in Page(index).text
