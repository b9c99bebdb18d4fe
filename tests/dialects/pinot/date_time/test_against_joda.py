"""The reader and the writer against Joda itself, which Spark brings along.

Generated patterns, zones, instants and texts, the texts often spoiled by a character. Left out are the names
that `z` writes, which are those of the Java release, and years before Christ that Joda counts beyond its own
64 bits.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pyspark
import pytest

from trellis.dialects.pinot.date_time.joda.reader import reader_of
from trellis.dialects.pinot.date_time.joda.writer import write
from trellis.dialects.pinot.date_time.units import FormatError

JAR = next((Path(pyspark.__file__).parent / "jars").glob("joda-time-*.jar"), None)
pytestmark = pytest.mark.skipif(JAR is None or shutil.which("java") is None, reason="needs Java and Joda")

ZONES = (
    *("UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe", "+05:30", "-08:00"),
    *("America/St_Johns", "Pacific/Apia", "Europe/London", "America/Sao_Paulo"),
)
USUAL = (
    *("yyyy-MM-dd", "yyyyMMdd", "yyyy-MM-dd HH:mm:ss", "yyyyMMddHHmmssSSS", "yyyy-MM-dd'T'HH:mm:ss.SSSZZ"),
    *("EEE MMM dd HH:mm:ss ZZZ yyyy", "yyyy-MM-dd hh:mm a", "xxxx-'W'ww-e", "yyyy-DDD", "dd/MM/yy", "MM-dd"),
    *("HH:mm", "yyMMdd", "yyyy-dd", "CC yy", "hh a", "kk:mm", "KK a dd", "yyyy-MM-dd HH:mm:ss.SSSSSS"),
)
LETTERS = "CYxweEyDMdaKhHkmsSZ" + "yMdHmsS" * 3
LITERALS = ("-", " ", "/", ":", "'T'", "''", ".", ",", "", "", "", " 'at' ", "_", "'1'")
MOMENTS = (
    *(1678604400000, 1699164000000, 1679792400000, 1698541200000, 1325239200000, 951782400000, 1704067200000),
    *(0, -62135596800000, -2717650800000, 946684800000),
)
CORNERS = (
    ("G", ("AD", "bc", "CE", "Ad")),
    ("YYYY G", ("2023 BC", "1 BC", "0 BC", "2023 AD")),
    ("yyyy G", ("2023 BC", "-5 AD")),
    ("MMM", ("Mar", "mar", "MARCH", "mAr", "Sept")),
    ("MMM'ch'", ("March", "Marchch")),
    ("yy", ("23", "45", "46", "99", "+23", "-23", "2023", "5", "++23", "1234567890")),
    (
        "Z",
        ("Z", "z", "+05", "+0530", "+05:30", "-5", "+053015", "+05:30:15.5", "+05301", "+24:00", "+05:3"),
    ),
    ("ZZZ", ("UTC", "EST", "US/Pacific", "PST", "Asia/", "Etc/GMT+10", "GMT+0")),
    ("ZZZ yyyy/MM", ("UTC 2023/11", "Asia/Kolkata 2023/11")),
    ("z", ("PST", "PDT", "UT", "IST", "pst")),
    ("a HH", ("PM 3", "AM 15")),
    ("yyyy Z ZZZ", ("2023 +0500 Asia/Kolkata",)),
    ("yyyy", ("292278993", "292278995", "-292275054", "+2023", "1234567890", " 2023")),
    ("yyyy'", ("2023",)),
    ("yyyy''MM", ("2023'11",)),
)
Row = tuple[str, str, str, str]


def a_pattern(rnd: random.Random) -> str:
    if rnd.random() < 0.3:
        return rnd.choice(USUAL)
    return "".join(
        rnd.choice(LETTERS) * rnd.choice((1, 2, 2, 2, 3, 3, 4, 5)) + rnd.choice(LITERALS)
        for _ in range(rnd.randint(1, 6))
    )


def an_instant(rnd: random.Random) -> int:
    kind = rnd.random()
    if kind < 0.3:
        return (
            rnd.choice(MOMENTS)
            + rnd.choice((-7200, -3600, -1800, 0, 1800, 3600, 7200)) * 1000
            - rnd.randint(0, 1)
        )
    if kind < 0.4:
        return rnd.randrange(-9 * 10**18, 9 * 10**18)
    return rnd.randrange(-3 * 10**12, 5 * 10**12)


def spoiled(rnd: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(rnd.choice((0, 0, 1, 2))):
        at = rnd.randrange(len(letters) + 1)
        letters[at : at + rnd.randint(0, 1)] = rnd.choice(("", *"0123456789+-.: TZapMé/"))
    return "".join(letters)


def joda(rows: Sequence[Row]) -> list[str]:
    """What Joda answers to each row."""
    source = Path(__file__).parent / "JodaOracle.java"
    request = "".join("\t".join(row) + "\n" for row in rows)
    done = subprocess.run(
        ["java", "-Xmx256m", "-Duser.timezone=UTC", "-cp", str(JAR), str(source)],
        input=request.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.decode().split("\n")[:-1]


def ours(row: Row) -> str:
    what, pattern, zone, value = row
    try:
        if what == "read":
            return f"={reader_of(pattern, zone).read(value)}"
        return f"={write(pattern, int(value), zone)}"
    except FormatError as error:
        return f"!{error}"


def differences(rows: Sequence[Row], answers: Sequence[str]) -> list[tuple[Row, str, str]]:
    """Rows that are answered otherwise; of errors only that they are."""
    return [
        (row, theirs, actual)
        for row, theirs in zip(rows, answers, strict=True)
        if (actual := ours(row)) != theirs and not (actual[0] == theirs[0] == "!")
    ]


def test_reader_and_writer_are_those_of_joda() -> None:
    rnd = random.Random(3)
    patterns = [(a_pattern(rnd), rnd.choice(ZONES)) for _ in range(400)]
    writes = [("write", *pattern, str(an_instant(rnd))) for pattern in patterns for _ in range(8)]
    written = joda(writes)
    assert differences(writes, written) == []
    reads = [("read", *row[1:3], spoiled(rnd, text[1:])) for row, text in zip(writes, written, strict=True)]
    answers = joda(reads)
    assert differences(reads, answers) == []
    assert sum(answer[0] == "=" for answer in answers) > len(reads) // 4


def test_corners_are_those_of_joda() -> None:
    rows = [("read", pattern, "UTC", text) for pattern, texts in CORNERS for text in texts]
    assert differences(rows, joda(rows)) == []
