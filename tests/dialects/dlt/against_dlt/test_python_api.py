"""What dlt's declarations in Python take, Trellis takes: both run every scenario, into a dataset each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import dlt
import pyarrow as pa
import pytest

import trellis
from dialects.dlt.against_dlt.twins import Place, disagreements

Make = Callable[[Any, int], Any]
ROWS = ([{"id": 1, "at": 1}, {"id": 2, "at": 2}], [{"id": 2, "at": 2}, {"id": 3, "at": 3}])
SCENARIOS: dict[str, Make] = {}


def scenario(make: Make) -> Make:
    SCENARIOS[make.__name__] = make
    return make


def places(folder: Path) -> tuple[Place, Place]:
    """A dataset for dlt and one for Trellis."""
    theirs, ours = (Place(f"duckdb:{folder}/{name}.duckdb", folder / name) for name in ("dlt", "trellis"))
    return theirs, ours


def source_of(lib: Any, *resources: Any, **options: Any) -> Any:
    return lib.source(lambda: list(resources), name="shop", **options)()


# --- cursors ---------------------------------------------------------------------------------------------


@scenario
def cursor_with_a_type(lib: Any, batch: int) -> Any:
    cursor = lib.sources.incremental

    def rows(at: cursor[int] = cursor[int]("at", initial_value=0)) -> Any:  # type: ignore[valid-type]  # noqa: B008
        yield ROWS[batch]

    return lib.resource(rows, name="rows", primary_key="id")


@scenario
def cursor_that_is_optional(lib: Any, batch: int) -> Any:
    cursor = lib.sources.incremental

    def rows(at: cursor[int] | None = None) -> Any:  # type: ignore[valid-type]
        yield ROWS[batch]

    rows.__annotations__["at"] = cursor[int] | None
    resource = lib.resource(rows, name="rows", primary_key="id")
    return resource(cursor("at")) if batch else resource


@scenario
def flags_of_a_cursor(lib: Any, batch: int) -> Any:
    def rows(at: Any = lib.sources.incremental("at", initial_value=2, end_value=3)) -> Any:  # noqa: B008
        seen = lib.current.resource_state().setdefault("seen", [])
        for row in (*ROWS[0], *ROWS[1]):
            yield row
            seen.append([at.start_out_of_range, at.end_out_of_range, at.last_value, at.start_value])

    return lib.resource(rows, name="rows", primary_key="id")


@scenario
def flags_of_an_ordered_cursor(lib: Any, batch: int) -> Any:
    def rows(at: Any = lib.sources.incremental("at", initial_value=0, row_order="desc")) -> Any:  # noqa: B008
        seen = lib.current.resource_state().setdefault("seen", [])
        for row in reversed(ROWS[batch]):
            yield row
            seen.append([at.start_out_of_range, at.can_close(), at.last_value])

    return lib.resource(rows, name="rows", primary_key="id")


@scenario
def a_cursor_and_replace(lib: Any, batch: int) -> Any:
    """What replaces its table begins anew: its own state is forgotten, that of the source stays."""

    @lib.resource(primary_key="id", write_disposition="replace" if batch else "merge")
    def rows(at: Any = lib.sources.incremental("at", initial_value=0)) -> Iterator[Any]:  # noqa: B008
        state = lib.current.resource_state()
        state["runs"] = state.get("runs", 0) + 1
        lib.current.source_state()["runs"] = lib.current.source_state().get("runs", 0) + 1
        yield [*ROWS[0], *ROWS[1]]

    return rows


# --- steps and selections --------------------------------------------------------------------------------


@scenario
def steps_at_a_place(lib: Any, batch: int) -> Any:
    resource = lib.resource(ROWS[batch], name="rows")
    resource.add_map(lambda row: {**row, "size": len(row)})
    resource.add_map(lambda row: {**row, "first": len(row)}, insert_at=1)
    resource.add_filter(lambda row: row["id"] > 1, insert_at=1)
    resource.add_yield_map(lambda row: iter([row, {**row, "copy": True}]), insert_at=2)
    resource.add_map(lambda row: {**row, "before_last": len(row)}, insert_at=-1)
    return resource.add_map(lambda row: {**row, "last": len(row)}, insert_at=99)


@scenario
def steps_before_a_transformer(lib: Any, batch: int) -> Any:
    """They get the rows of the parent, before the function; places count them."""

    @lib.transformer(data_from=lib.resource([ROWS[batch], {"id": 9, "at": 9}], name="parents"))
    def rows(page: Any) -> Iterator[Any]:
        yield {"page": page}

    rows.add_map(lambda row: {**row, "before": len(row)}, insert_at=0)
    rows.add_filter(lambda row: row["id"] != 1, insert_at=1)
    rows.add_filter(lambda row: row["id"] != 9 or batch, insert_at=0)
    return rows.add_map(lambda row: {**row, "after": len(row)}, insert_at=4)


@scenario
def resources_added_and_taken_out(lib: Any, batch: int) -> Any:
    source = source_of(lib, *(lib.resource(ROWS[batch], name=name) for name in "abc"))
    source.resources["d"] = lib.resource(ROWS[batch], name="d")
    source.resources.add(lib.resource(ROWS[batch], name="e"))
    source.resources.pop("a")
    return source.with_resources("b", "d", "e")


@scenario
def a_transformer_added_to_its_parent(lib: Any, batch: int) -> Any:
    source = source_of(lib, lib.resource(ROWS[batch], name="a"))

    def doubles(row: Any) -> Iterator[Any]:
        yield {"double": row["id"] * 2}

    source.resources.add(lib.transformer(doubles, name="doubles", data_from=source.a))
    return source


@scenario
def limits(lib: Any, batch: int) -> Any:
    def pages() -> Iterator[Any]:
        for number in range(5):
            yield [{"id": number}, {"id": -number}]

    def resource(name: str) -> Any:
        return lib.resource(pages, name=name)

    return source_of(
        lib,
        resource("pages").add_limit(max_items=2),
        resource("rows").add_limit(3, count_rows=True),
        resource("all").add_limit(None),
        resource("also_all").add_limit(-1),
        resource("in_time").add_limit(max_time=60),
        resource("filtered").add_filter(lambda row: row["id"] > 0).add_limit(2),
        resource("limited").add_limit(2).add_filter(lambda row: row["id"] > 0),
    )


@scenario
def a_step_that_gives_a_list(lib: Any, batch: int) -> Any:
    return lib.resource([{"id": 1}], name="rows").add_map(lambda row: [row, {"id": 2}])


@scenario
def two_resources_into_one_table(lib: Any, batch: int) -> Any:
    """The first one says what the table is."""
    keys = {"primary_key": "id", "write_disposition": "merge"}
    first = lib.resource([{"id": 1, "a": 1}], name="x", table_name="t", **keys)
    second = lib.resource([{"id": 2, "b": "q"}], name="y", table_name="t", columns={"b": {"unique": True}})
    return source_of(lib, first, second)


# --- tables with types -----------------------------------------------------------------------------------


MERGES: dict[str, dict[str, Any]] = {
    "merge": {"write_disposition": "merge", "primary_key": "id"},
    "upsert": {
        "write_disposition": {"disposition": "merge", "strategy": "upsert"},
        "primary_key": "id",
    },
    "versions of their own": {
        "write_disposition": {
            "disposition": "merge",
            "strategy": "scd2",
            "row_version_column_name": "hash",
        }
    },
}


@pytest.mark.parametrize("name", MERGES)
def test_arrow_tables_are_merged(tmp_path: Path, name: str) -> None:
    """The rows are the same; a table that Trellis makes has row ids besides, so that records fit as well."""

    def make(lib: Any, batch: int) -> Any:
        rows = [{"id": 1, "v": "a", "hash": "x1"}, {"id": 2, "v": "b", "hash": "x2"}]
        if batch:
            rows = [{"id": 1, "v": "aa", "hash": "x3"}, {"id": 3, "v": "c", "hash": "x4"}]
        return lib.resource(pa.Table.from_pylist(rows), name="rows", **MERGES[name])

    theirs, ours = places(tmp_path)
    for batch in (0, 1):
        theirs.run("d", make, batch)
        ours.run("t", make, batch)
    expected, actual = theirs.read().tables["rows"], ours.read().tables["rows"]
    assert {*actual.types} - {*expected.types} == {"_dlt_id"}
    rows = [sorted(repr([row[key] for key in expected.types]) for row in t.rows) for t in (expected, actual)]
    assert rows[0] == rows[1]


# --- threads and turns -----------------------------------------------------------------------------------


@scenario
def parallelized_resources(lib: Any, batch: int) -> Any:
    @lib.resource(parallelized=True)
    def parents() -> Iterator[Any]:
        yield from ROWS[batch]

    @lib.transformer(data_from=parents, parallelized=True)
    def children(row: Any) -> Iterator[Any]:
        yield {"parent": row["id"]}
        yield [{"parent": row["id"], "second": True}]

    @lib.transformer(data_from=parents)
    def others(row: Any) -> Any:
        return {"parent": row["id"]}

    return source_of(lib, parents, children, others, parallelized=True)


@scenario
def a_parallelized_cursor(lib: Any, batch: int) -> Any:
    @lib.resource(name="rows", parallelized=True, primary_key="id")
    def rows(at: Any = lib.sources.incremental("at", initial_value=0)) -> Iterator[Any]:  # noqa: B008
        yield ROWS[batch]

    return rows


@scenario
def resources_in_turns(lib: Any, batch: int) -> Any:
    def resource_of(name: str, count: int) -> Any:
        def rows() -> Iterator[Any]:
            for number in range(count):
                lib.current.source_state().setdefault("order", []).append(f"{name}{number}")
                yield {"id": number}

        return lib.resource(rows, name=name)

    return source_of(lib, resource_of("a", 3), resource_of("b", 1), resource_of("c", 2))


# --- marks -----------------------------------------------------------------------------------------------


@scenario
def table_variants(lib: Any, batch: int) -> Any:
    hints = lib.mark.make_hints(table_name="keyed", primary_key="id", write_disposition="merge")

    def rows() -> Any:
        yield lib.mark.with_table_name({"id": 1}, "keyed")
        yield lib.mark.with_hints({"id": 2}, hints, create_table_variant=True)
        yield lib.mark.with_table_name({"id": 3}, "keyed")
        yield {"id": batch}

    return lib.resource(rows, name="rows")


# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refresh", ["drop_resources", "drop_data"])
def test_a_refresh_takes_the_parent_of_a_transformer_too(tmp_path: Path, refresh: str) -> None:
    def make(lib: Any, batch: int) -> Any:
        @lib.resource
        def parents(at: Any = lib.sources.incremental("id")) -> Iterator[Any]:  # noqa: B008
            yield {"id": 1 + batch}

        @lib.transformer(data_from=parents)
        def children(row: Any) -> Iterator[Any]:
            yield {"parent": row["id"]}

        source = source_of(lib, parents, children)
        return source.with_resources("children") if batch else source

    theirs, ours = places(tmp_path)
    for place, who in ((theirs, "d"), (ours, "t")):
        place.run(who, make, 0)
        place.run(who, make, 1, refresh)
    assert disagreements(theirs.read(), ours.read()) == []


def test_the_cursor_of_an_arrow_table_keeps_its_zone(tmp_path: Path) -> None:
    def make(lib: Any, batch: int) -> Any:
        times = pa.array([datetime(2024, 1, 1 + batch)], pa.timestamp("us", "Europe/Berlin"))

        @lib.resource(primary_key="id")
        def rows(at: Any = lib.sources.incremental("at")) -> Iterator[Any]:  # noqa: B008
            yield pa.table({"id": [batch], "at": times})

        return rows

    theirs, ours = places(tmp_path)
    for batch in (0, 1):
        theirs.run("d", make, batch)
        ours.run("t", make, batch)
    assert theirs.read().memories == ours.read().memories


def test_resources_one_after_the_other(tmp_path: Path) -> None:
    pipeline = Place(f"duckdb:{tmp_path}/ours.duckdb", tmp_path).trellis()
    pipeline.run(resources_in_turns(trellis, 0), next_item_mode="fifo")
    order = pipeline.state["sources"]["shop"]["order"]
    assert order == ["a0", "a1", "a2", "b0", "c0", "c1"]


def test_the_state_in_the_body_of_a_source(tmp_path: Path) -> None:
    """It is read from the pipeline that was made last, and what is changed in it is not stored."""

    def shop_of(lib: Any) -> Any:
        @lib.source(name="shop")
        def shop() -> Any:
            state = lib.current.source_state()
            state["bodies"] = state.get("bodies", 0) + 1

            @lib.resource(name="rows")
            def rows(known: Any = state.get("runs")) -> Any:  # noqa: B008
                runs = lib.current.source_state()
                runs["runs"] = runs.get("runs", 0) + 1
                yield {"known": known, "bodies": state["bodies"]}

            return rows

        return shop

    theirs, ours = places(tmp_path)
    for _ in range(2):
        for pipeline, lib in ((theirs.dlt(), dlt), (ours.trellis(), trellis)):
            pipeline.run(shop_of(lib)())
    assert disagreements(theirs.read(), ours.read()) == []
    assert ours.trellis().state["sources"] == {"shop": {"runs": 2}}


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("who", ["tt", "dt"])
def test_scenario(tmp_path: Path, name: str, who: str) -> None:
    theirs, ours = places(tmp_path)
    for batch, program in enumerate(who):
        theirs.run("d", SCENARIOS[name], batch)
        ours.run(program, SCENARIOS[name], batch)
    assert disagreements(theirs.read(), ours.read()) == []
