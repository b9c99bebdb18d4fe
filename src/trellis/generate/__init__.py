"""Made-up records for tests, benchmarks and first steps: the same seed gives the same bytes, everywhere.

| profile      | what a record is                                                                       |
|--------------|----------------------------------------------------------------------------------------|
| `shop`       | an event of a shop: optional and late keys, ~1 % type conflicts, nested lists, Unicode |
| `shop_3`     | `shop` with ~3 % type conflicts; `shop_10`, `shop_30` with as many                     |
| `github`     | an event like GitHub's: deep, a payload per type, many optional keys                   |
| `wide`       | one flat record of `columns` columns, each absent now and then                         |
| `flat`       | twelve columns that never drift: for benchmarks                                        |
| `nasty`      | all that goes wrong in real files; a third of the lines are no JSON objects at all     |

Dialects add profiles of their own.

>>> next(generate(1, profile="wide", columns=3))
b'{"c000_int":868,"c001_text":"value 5","c002_double":26.75}'
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from os import PathLike
from pathlib import Path
from random import Random

from trellis.dialects import registrations
from trellis.dialects.registration import Profile
from trellis.errors import UsageError, nearest
from trellis.generate.flat import flat, wide
from trellis.generate.github import github
from trellis.generate.nasty import nasty
from trellis.generate.shop import shop, shop_with_conflicts

PROFILES: Mapping[str, Profile] = {
    "shop": shop,
    "shop_3": shop_with_conflicts(0.03),
    "shop_10": shop_with_conflicts(0.1),
    "shop_30": shop_with_conflicts(0.3),
    "github": github,
    "wide": wide,
    "flat": flat,
    "nasty": nasty,
    **{
        name: profile
        for registration in registrations().values()
        for name, profile in registration.profiles.items()
    },
}

BATCH = 2_000  # lines to one write and one call of `progress`


def generate(rows: int, seed: int = 0, profile: str = "shop", columns: int = 300) -> Iterator[bytes]:
    """`rows` lines of JSON without their newline; `columns` is the width of profile `wide`."""
    if profile not in PROFILES:
        raise UsageError(f"no profile {profile!r}{nearest(profile, PROFILES)}")
    if rows < 0 or columns < 1:
        raise UsageError(f"rows must be 0 or more and columns 1 or more, not {rows} and {columns}")
    return PROFILES[profile](rows, Random(seed), columns)


def write(
    path: str | PathLike[str],
    rows: int,
    seed: int = 0,
    profile: str = "shop",
    columns: int = 300,
    progress: Callable[[int], object] | None = None,
) -> int:
    """Write the records as lines, packed if the name ends in `.gz` or `.zst`; the bytes before packing.

    `progress` is told the number of rows written so far.
    """
    lines = generate(rows, seed, profile, columns)
    size = done = 0
    with ExitStack() as stack:
        put = open_packed(Path(path), stack)
        while batch := list(islice(lines, BATCH)):
            block = b"\n".join(batch) + b"\n"
            put(block)
            size += len(block)
            done += len(batch)
            if progress:
                progress(done)
    return size


def open_packed(path: Path, stack: ExitStack) -> Callable[[bytes], object]:
    """The `write` of a new file, which packs if the file's name says so; `stack` closes it."""
    raw = stack.enter_context(path.open("wb"))
    if path.suffix == ".gz":  # neither the time nor the name in the header: the same bytes each time
        return stack.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0)).write
    if path.suffix == ".zst":
        import zstandard

        return stack.enter_context(zstandard.ZstdCompressor(level=3).stream_writer(raw, closefd=False)).write
    return raw.write
