"""Murmur hashes, as Pinot and Guava compute them. Numbers are without sign, seeds any of 32 bits."""

from __future__ import annotations

from typing import Final

INT: Final = 2**32 - 1
LONG: Final = 2**64 - 1


def two(data: bytes) -> int:
    """
    >>> two(b"abc")
    479470107
    """
    mix = 0x5BD1E995
    made = 0x9747B28C ^ len(data)
    for at in range(0, len(data) & ~3, 4):
        word = int.from_bytes(data[at : at + 4], "little") * mix & INT
        word = (word ^ word >> 24) * mix & INT
        made = (made * mix & INT) ^ word
    if tail := data[len(data) & ~3 :]:
        made = (made ^ int.from_bytes(tail, "little")) * mix & INT
    made = (made ^ made >> 13) * mix & INT
    return made ^ made >> 15


def two_long(data: bytes, seed: int) -> int:
    """Of 64 bits."""
    mix = 0xC6A4A7935BD1E995
    made = (seed & INT) ^ (len(data) * mix & LONG)
    for at in range(0, len(data) & ~7, 8):
        word = int.from_bytes(data[at : at + 8], "little") * mix & LONG
        word = (word ^ word >> 47) * mix & LONG
        made = (made ^ word) * mix & LONG
    if tail := data[len(data) & ~7 :]:
        made = (made ^ int.from_bytes(tail, "little")) * mix & LONG
    made = (made ^ made >> 47) * mix & LONG
    return made ^ made >> 47


def three(data: bytes, seed: int) -> int:
    """Murmur 3 of 32 bits."""
    made = seed & INT
    for at in range(0, len(data), 4):
        word = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & INT
        made ^= _turned(word, 15, 32) * 0x1B873593 & INT
        if at + 4 <= len(data):
            made = (_turned(made, 13, 32) * 5 + 0xE6546B64) & INT
    made ^= len(data)
    made = (made ^ made >> 16) * 0x85EBCA6B & INT
    made = (made ^ made >> 13) * 0xC2B2AE35 & INT
    return made ^ made >> 16


def three_wide(data: bytes, seed: int) -> bytes:
    """Murmur 3 of 128 bits, for machines of 64."""
    first_mix, second_mix = 0x87C37B91114253D5, 0x4CF5AD432745937F
    first = second = _extended(seed)
    for at in range(0, len(data), 16):
        one = int.from_bytes(data[at : at + 8], "little")
        other = int.from_bytes(data[at + 8 : at + 16], "little")
        first ^= _turned(one * first_mix & LONG, 31, 64) * second_mix & LONG
        if at + 16 <= len(data):
            first = ((_turned(first, 27, 64) + second) * 5 + 0x52DCE729) & LONG
        second ^= _turned(other * second_mix & LONG, 33, 64) * first_mix & LONG
        if at + 16 <= len(data):
            second = ((_turned(second, 31, 64) + first) * 5 + 0x38495AB5) & LONG
    return b"".join(each.to_bytes(8, "little") for each in _ended(first, second, len(data)))


def x64(data: bytes, seed: int) -> tuple[int, int]:
    """The two longs of an early form of it; bytes of a rest count with their sign, as in Java."""
    first, second = 0x9368E53C2F6AF274 ^ _extended(seed), 0x586DCD208F7CD3FD ^ _extended(seed)
    first_mix, second_mix = 0x87C37B91114253D5, 0x4CF5AD432745937F
    for at in range(0, len(data), 16):
        one, other = data[at : at + 8], data[at + 8 : at + 16]
        whole = at + 16 <= len(data)
        left = int.from_bytes(one, "little") if whole else _with_signs(one)
        right = int.from_bytes(other, "little") if whole else _with_signs(other)
        left = _turned(left * first_mix & LONG, 23, 64) * second_mix & LONG
        first = ((first ^ left) + second) & LONG
        right = _turned(right * second_mix & LONG, 23, 64) * first_mix & LONG
        second = ((_turned(second, 41, 64) ^ right) + first) & LONG
        first, second = (first * 3 + 0x52DCE729) & LONG, (second * 3 + 0x38495AB5) & LONG
        first_mix = (first_mix * 5 + 0x7B7D159C) & LONG
        second_mix = (second_mix * 5 + 0x6BCE6396) & LONG
    return _ended(first, second, len(data), once=True)


def _ended(first: int, second: int, size: int, once: bool = False) -> tuple[int, int]:
    first, second = first if once else first ^ size, second ^ size
    first = (first + second) & LONG
    second = (second + first) & LONG
    first, second = _mixed(first), _mixed(second)
    first = (first + second) & LONG
    return first, (second + first) & LONG


def _mixed(word: int) -> int:
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & LONG
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & LONG
    return word ^ word >> 33


def _with_signs(tail: bytes) -> int:
    made = 0
    for at, each in enumerate(tail):
        made ^= ((each - 256 if each > 127 else each) << 8 * at) & LONG
    return made


def _extended(seed: int) -> int:
    """The 64 bits of an int of 32."""
    return seed & LONG


def _turned(word: int, by: int, bits: int) -> int:
    return (word << by | word >> (bits - by)) & ((1 << bits) - 1)
