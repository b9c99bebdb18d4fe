"""A long hunt: `python tests/dialects/dlt/against_dlt --streams 2000 --seed 7` prints what differs.

Each sort of difference is made small first.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--batch", type=int, default=75)
    parser.add_argument("--small", type=int, default=10, help="how many sorts of differences to make small")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
        os.environ.setdefault("DLT_DATA_DIR", folder)
        return hunt(arguments)


def hunt(arguments: argparse.Namespace) -> int:
    from dialects.dlt.against_dlt.hunt import compare
    from dialects.dlt.against_dlt.known import unexplained
    from dialects.dlt.against_dlt.reduce import signature, smaller
    from dialects.dlt.against_dlt.streams import stream

    groups, used = defaultdict(list), Counter[str]()
    for first in range(arguments.first, arguments.first + arguments.streams, arguments.batch):
        numbers = range(first, min(first + arguments.batch, arguments.first + arguments.streams))
        for number, comparison in zip(
            numbers, compare([stream(arguments.seed, n) for n in numbers]), strict=True
        ):
            for way in comparison.differences:
                left, numbers_used = unexplained(comparison, way)
                used.update(numbers_used)
                if left:
                    groups[signature(left[0])].append((number, way, comparison.stream))
        print(
            f"{numbers.stop - arguments.first} streams, {sum(map(len, groups.values()))} disagree", flush=True
        )
    print("explained:", dict(used))
    ranked = sorted(groups.items(), key=lambda group: -len(group[1]))
    for sort, found_in in ranked:
        print(len(found_in), sort, sorted({number for number, *_ in found_in})[:8])
    for sort, found_in in ranked[: arguments.small]:
        number, way, large = min(found_in, key=lambda example: len(repr(example[2].loads)))
        small = smaller(large, sort, way)
        print(f"\n{sort}, stream {number}, {way}, profile {small.stream.profile}")
        for load in small.stream.loads:
            print(f"  {load}")
        for one in unexplained(small, way)[0][:3]:
            print(f"  {one}", flush=True)
    return bool(groups)


if __name__ == "__main__":
    sys.exit(main())
