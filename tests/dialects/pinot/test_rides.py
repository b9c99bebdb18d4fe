"""Made-up rides: the same each time."""

from __future__ import annotations

import zlib

from trellis.generate import generate


def test_the_same_seed_gives_the_same_bytes() -> None:
    lines = list(generate(500, 7, "rides"))
    assert zlib.crc32(b"\n".join(lines)) == 2445914919
    assert lines == list(generate(500, 7, "rides")) != list(generate(500, 8, "rides"))
