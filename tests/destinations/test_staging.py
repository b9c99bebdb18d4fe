"""Rows that wait for their commit in another place than beside the destination."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trellis
from destinations.conftest import merging
from s3_server import S3Server
from trellis.destinations.base import CommitConflict
from trellis.errors import DestinationError
from trellis.pipelines.pipeline import Pipeline

ROWS = [{"id": 1, "k": [1, 2]}, {"id": "x", "k": [3]}, {"id": 3}]


@pytest.fixture(params=["folder", "bucket"])
def staging(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "bucket":
        return f"s3a://{request.getfixturevalue('bucket')}/stage"
    return str(tmp_path / "shared")


@pytest.fixture
def staged(staging: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], list[str]]:
    """The files that are left in the staging folder."""

    def left() -> list[str]:
        if staging.startswith("s3a://"):
            server: S3Server = request.getfixturevalue("s3")
            return server.objects(staging.split("/")[2])
        return sorted(str(path) for path in Path(staging).rglob("*"))

    return left


@merging
def test_rows_are_appended_replaced_and_merged(
    destination_url: str, staging: str, staged: Callable[[], list[str]], rows_of: Callable[..., Any]
) -> None:
    shop = trellis.pipeline("shop", to=destination_url, staging=staging)
    shop.load([{"id": 1, "k": [1, 2]}, {"id": 2, "k": [3]}], table="t", mode="merge", keys=("id",))
    assert rows_of(shop, "t", "id") == [{"id": 1}, {"id": 2}]
    assert rows_of(shop, "t__k", "value") == [{"value": 1}, {"value": 2}, {"value": 3}]
    shop.load([{"id": 1, "k": [9]}], table="t", mode="merge", keys=("id",))
    assert rows_of(shop, "t__k", "value") == [{"value": 3}, {"value": 9}]
    shop.load([{"id": 7, "new": "x"}], table="t", mode="replace")
    assert rows_of(shop, "t", "id", "new") == [{"id": 7, "new": "x"}]
    assert staged() == []


def test_two_resources_in_one_commit(
    destination_url: str, staging: str, staged: Callable[[], list[str]], rows_of: Callable[..., Any]
) -> None:
    @trellis.source(name="shop")
    def shop_data() -> Iterator[Any]:
        yield trellis.resource([{"id": 1}], name="orders")
        yield trellis.resource([{"id": 2}], name="users")

    shop = trellis.pipeline("shop", to=destination_url, staging=staging)
    shop.run(shop_data())
    assert (rows_of(shop, "orders"), rows_of(shop, "users")) == ([{"id": 1}], [{"id": 2}])
    assert staged() == []


def test_what_the_destination_refuses_is_kept_where_it_reads(
    destination_url: str,
    staging: str,
    staged: Callable[[], list[str]],
    rows_of: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise DestinationError("it is full")

    shop = trellis.pipeline("shop", to=destination_url, staging=staging)
    with monkeypatch.context() as patch:
        patch.setattr(shop.destination, "commit", refuse)
        with pytest.raises(
            DestinationError, match="it is full; the rows are kept, the next run loads them first"
        ):
            shop.run(ROWS, table_name="t")
    if staging.startswith("s3a://"):
        assert staged() == []
    shop.run([{"id": 9}], table_name="t")
    assert len(rows_of(shop, "t")) == 3
    assert staged() == []


def test_a_load_that_is_planned_anew_is_staged_anew(
    destination_url: str, staging: str, staged: Callable[[], list[str]], rows_of: Callable[..., Any]
) -> None:
    shop = Pipeline("shop", destination_url, staging=staging)
    commit, tries = shop.destination.commit, []

    def moved_once(*arguments: Any) -> None:
        tries.append(staged())
        if len(tries) == 1:
            raise CommitConflict
        commit(*arguments)

    shop.destination.commit = moved_once  # type: ignore[method-assign]
    shop.load(ROWS, table="t")
    assert len(rows_of(shop, "t")) == 3
    assert [len(files) > 0 for files in tries] == [True, True]
    assert {*tries[0]}.isdisjoint(tries[1])
    assert staged() == []
