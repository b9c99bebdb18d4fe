"""Made-up records: the same each time, and as bad as they promise to be."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from pathlib import Path

import pytest
import zstandard

from trellis.errors import UsageError
from trellis.generate import PROFILES, generate, write
from trellis.generate.nasty import specimens


def records(rows: int, profile: str, seed: int = 0, columns: int = 300) -> list[dict[str, object]]:
    return [json.loads(line) for line in generate(rows, seed, profile, columns)]


# The bytes are a promise: benchmarks and bug reports name a profile, a number and a seed.
CHECKSUMS = {
    "shop": 299874282,
    "github": 1237479369,
    "wide": 1527435255,
    "flat": 1275527168,
    "nasty": 2925431750,
}


@pytest.mark.parametrize("profile", CHECKSUMS)
def test_the_same_seed_gives_the_same_bytes(profile: str) -> None:
    lines = list(generate(500, 7, profile))
    assert zlib.crc32(b"\n".join(lines)) == CHECKSUMS[profile]
    assert lines == list(generate(500, 7, profile)) != list(generate(500, 8, profile))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("rows", [0, 1, 2, 367])
def test_as_many_lines_as_asked_for_and_each_is_one(profile: str, rows: int) -> None:
    lines = list(generate(rows, profile=profile))
    assert len(lines) == rows
    assert not any(b"\n" in line for line in lines)


@pytest.mark.parametrize("profile", sorted(PROFILES.keys() - {"nasty"}))
def test_all_but_nasty_give_objects(profile: str) -> None:
    assert all(isinstance(record, dict) for record in records(300, profile))


def test_flat_never_drifts() -> None:
    shapes = {tuple((k, type(v)) for k, v in r.items() if k != "note") for r in records(2_000, "flat")}
    assert len(shapes) == 1
    assert len(next(iter(shapes))) == 11


def test_wide_is_as_wide_as_asked_from_the_first_row_on() -> None:
    first, *others = records(200, "wide", columns=431)
    assert len(first) == 431
    assert all(0.8 * 431 < len(other) < 431 and other.keys() < first.keys() for other in others)


def test_shop_has_keys_that_come_late() -> None:
    rows = records(4_000, "shop")
    first = {
        key: next(i for i, r in enumerate(rows) if key in r) for key in ("coupon", "loyalty", "campaign_id")
    }
    assert 2_000 <= first["coupon"] < 2_100
    assert 3_200 <= first["loyalty"] < 3_300
    assert first["campaign_id"] == 3_999


def test_shop_has_about_one_conflict_in_a_hundred() -> None:
    def fits(row: dict[str, object]) -> bool:
        user, context, product, order = (row.get(k, {}) for k in ("user", "context", "product", "order"))
        return (
            isinstance(row["occurred_at"], str)
            and isinstance(context, dict)
            and isinstance(user, dict)
            and isinstance(user["id"], int)
            and isinstance(product, dict)
            and not isinstance(product.get("price"), str)
            and isinstance(order, dict)
            and not isinstance(order.get("total"), str)
        )

    misfits = sum(not fits(row) for row in records(20_000, "shop"))
    assert 150 < misfits < 250


def test_shop_nests_lists_in_lists() -> None:
    orders = [row["order"] for row in records(5_000, "shop") if "order" in row]
    assert any("discounts" in item for order in orders for item in order["line_items"])  # type: ignore[index]


def test_github_has_a_payload_for_each_type() -> None:
    payloads: dict[object, set[str]] = {}
    for row in records(2_000, "github"):
        payloads.setdefault(row["type"], set()).update(row["payload"])  # type: ignore[call-overload]
    assert len(payloads) == 10
    assert payloads["PullRequestReviewEvent"] == {"action", "review", "pull_request"}
    assert payloads["PublicEvent"] == set()


def test_nasty_shows_every_specimen_before_any_comes_again() -> None:
    every = list(specimens())
    assert sorted(generate(len(every), 3, "nasty")) == sorted(every)
    assert len(set(every)) == len(every) > 180


def test_a_third_of_nasty_is_no_object() -> None:
    def is_object(line: bytes) -> bool:
        try:
            return isinstance(json.loads(line.decode()), dict)
        except (ValueError, RecursionError):
            return False

    every = list(specimens())
    assert 0.3 < sum(not is_object(line) for line in every) / len(every) < 0.5


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_write_packs_by_the_name(tmp_path: Path, name: str) -> None:
    progress: list[int] = []
    size = write(tmp_path / name, 4_500, seed=2, profile="flat", progress=progress.append)
    raw = (tmp_path / name).read_bytes()
    if name.endswith(".gz"):
        raw = gzip.decompress(raw)
    if name.endswith(".zst"):
        raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    assert raw == b"".join(line + b"\n" for line in generate(4_500, 2, "flat"))
    assert size == len(raw)
    assert progress == [2_000, 4_000, 4_500]


def test_a_packed_file_is_the_same_under_any_name_and_at_any_time(tmp_path: Path) -> None:
    write(tmp_path / "a.gz", 10)
    write(tmp_path / "b.gz", 10)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_it_takes_no_memory_for_rows_not_asked_for() -> None:
    assert len(list(itertools.islice(generate(10**12, profile="flat"), 3))) == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rows": 1, "profile": "shopp"}, "no profile 'shopp': did you mean 'shop'?"),
        ({"rows": -1}, "rows must be 0 or more and columns 1 or more, not -1 and 300"),
        ({"rows": 1, "columns": 0}, "rows must be 0 or more and columns 1 or more, not 1 and 0"),
    ],
)
def test_bad_arguments_are_said_at_once(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence.replace("?", r"\?")):
        generate(**arguments)  # type: ignore[arg-type]
