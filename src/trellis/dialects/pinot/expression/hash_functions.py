"""Digests and checksums of bytes (spec pinot.md, section 5). Text that is given for bytes is hexadecimal."""

from __future__ import annotations

import hashlib
import zlib
from typing import Final

from trellis.dialects.pinot.expression import city_hash, murmur_hash
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import as_bytes, as_int, as_long, as_text, give_int, give_long

HASH: Final = Theme()


def _declare_digest(name: str, algorithm: str) -> None:
    @HASH.function(name, as_bytes)
    def _digest(data: bytes) -> str:
        return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()

    _digest.__doc__ = f"The digest of bytes by {algorithm}, in hexadecimal digits."


for _name, _algorithm in (
    ("md5", "md5"),
    ("sha", "sha1"),
    ("sha224", "sha3_224"),
    ("sha256", "sha256"),
    ("sha512", "sha512"),
):
    _declare_digest(_name, _algorithm)


@HASH.function("crc32", as_bytes, gives=give_int)
def _crc32(data: bytes) -> int:
    """The checksum CRC-32 of bytes."""
    return zlib.crc32(data)


@HASH.function("adler32", as_bytes, gives=give_int)
def _adler32(data: bytes) -> int:
    """The checksum Adler-32 of bytes."""
    return zlib.adler32(data)


@HASH.function("crc32c", as_bytes, gives=give_int)
def _crc32c(data: bytes) -> int:
    """The checksum CRC-32C of bytes."""
    value = 0xFFFFFFFF
    for each in data:
        value = _CRC32C[(value ^ each) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _crc_of(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_CRC32C: Final = tuple(map(_crc_of, range(256)))


@HASH.function("murmurHash2", as_bytes, gives=give_int)
def _murmur2(data: bytes) -> int:
    """Murmur hash 2 of bytes, of 32 bits, as Kafka divides keys by it."""
    return murmur_hash.two(data)


@HASH.function("murmurHash2UTF8", as_text, gives=give_int)
def _murmur2_text(text: str) -> int:
    """As murmurHash2, of a text in UTF-8."""
    return murmur_hash.two(text.encode("utf-8", "replace"))


@HASH.function("murmurHash2Bit64", as_bytes, as_int, optional=1, gives=give_long)
def _murmur2_long(data: bytes, seed: int = 0xE17A1465) -> int:
    """Murmur hash 2 of bytes, of 64 bits, with a seed."""
    return murmur_hash.two_long(data, seed)


@HASH.function("murmurHash3Bit32", as_bytes, as_int, gives=give_int)
def _murmur3(data: bytes, seed: int) -> int:
    """Murmur hash 3 of bytes, of 32 bits, with a seed."""
    return murmur_hash.three(data, seed)


@HASH.function("murmurHash3Bit64", as_bytes, as_int, gives=give_long)
def _murmur3_long(data: bytes, seed: int) -> int:
    """The first half of murmurHash3Bit128, as a long."""
    return int.from_bytes(murmur_hash.three_wide(data, seed)[:8], "little")


@HASH.function("murmurHash3Bit128", as_bytes, as_int)
def _murmur3_wide(data: bytes, seed: int) -> bytes:
    """Murmur hash 3 of bytes, of 128 bits, with a seed."""
    return murmur_hash.three_wide(data, seed)


@HASH.function("murmurHash3X64Bit32", as_bytes, as_int, gives=give_int)
def _murmur_x64(data: bytes, seed: int) -> int:
    """The upper half of the first long of murmurHash3X64Bit128."""
    return murmur_hash.x64(data, seed)[0] >> 32


@HASH.function("murmurHash3X64Bit64", as_bytes, as_int, gives=give_long)
def _murmur_x64_long(data: bytes, seed: int) -> int:
    """As murmurHash3X64Bit32, but as a long: Pinot gives 32 bits here, too."""
    return give_int(murmur_hash.x64(data, seed)[0] >> 32)


@HASH.function("murmurHash3X64Bit128", as_bytes, as_int)
def _murmur_x64_wide(data: bytes, seed: int) -> bytes:
    """An early form of murmur hash 3 of bytes, of 128 bits, with a seed."""
    return b"".join(each.to_bytes(8, "big") for each in murmur_hash.x64(data, seed))


@HASH.function("cityHash32", as_bytes, gives=give_long)
def _city(data: bytes) -> int:
    """City hash of bytes, of 32 bits, as a long."""
    return give_int(city_hash.short(data))


@HASH.function("cityHash64", as_bytes, as_long, as_long, optional=2, gives=give_long)
def _city_long(data: bytes, *seeds: int) -> int:
    """City hash of bytes, of 64 bits, with one seed, two or none."""
    return city_hash.long(data, *seeds)


@HASH.function("cityHash128", as_bytes)
def _city_wide(data: bytes) -> bytes:
    """City hash of bytes, of 128 bits."""
    return b"".join(each.to_bytes(8, "big") for each in city_hash.wide(data))
