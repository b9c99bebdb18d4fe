"""City hashes, as Pinot computes them. Numbers are without sign."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.expression.murmur_hash import INT, LONG

_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F
_MUL: Final = 0x9DDFEA08EB382D69
_C1: Final = 0xCC9E2D51
_C2: Final = 0x1B873593
Pair = tuple[int, int]


def short(s: bytes) -> int:
    """Of 32 bits."""
    size = len(s)
    if size <= 4:
        return _short_up_to_4(s)
    if size <= 12:
        a, b, c = size + _int(s, 0), size * 5 + _int(s, size - 4), 9 + _int(s, size >> 1 & 4)
        return _ended(_mur(c, _mur(b, _mur(a, size * 5))))
    if size <= 24:
        made = size
        for at in (-4 + (size >> 1), 4, size - 8, size >> 1, 0, size - 4):
            made = _mur(_int(s, at), made)
        return _ended(made)
    return _short_of_many(s)


def _short_up_to_4(s: bytes) -> int:
    b, c = 0, 9
    for each in s:
        b = (b * _C1 + (each - 256 if each > 127 else each)) & INT
        c ^= b
    return _ended(_mur(b, _mur(len(s), c)))


def _short_of_many(s: bytes) -> int:
    size = len(s)
    h, f, g = size, _C1 * size & INT, _C1 * size & INT
    h = _step(_step(h ^ _spread(_int(s, size - 4)), 19) ^ _spread(_int(s, size - 16)), 19)
    g = _step(_step(g ^ _spread(_int(s, size - 8)), 19) ^ _spread(_int(s, size - 12)), 19)
    f = _step(f + _spread(_int(s, size - 20)), 19)
    for at in range(0, (size - 1) // 20 * 20, 20):
        a0, a1 = _spread(_int(s, at)), _int(s, at + 4)
        a2, a3, a4 = _spread(_int(s, at + 8)), _spread(_int(s, at + 12)), _int(s, at + 16)
        h = _step(h ^ a0, 18)
        f = _turned32(f + a1, 19) * _C1 & INT
        g = _step(g + a2, 18)
        h = _step(h ^ (a3 + a1 & INT), 19)
        g = _swapped(g ^ a4, 4) * 5 & INT
        h = _swapped(h + a4 * 5 & INT, 4)
        f = (f + a0) & INT
        f, g, h = g, h, f
    g = _turned32(_turned32(g, 11) * _C1, 17) * _C1
    f = _turned32(_turned32(f, 11) * _C1, 17) * _C1
    h = _turned32(_step(h + g, 19), 17) * _C1
    return _turned32(_step(h + f, 19), 17) * _C1 & INT


def long(s: bytes, *seeds: int) -> int:
    """Of 64 bits; with a seed or two."""
    if seeds:
        first, last = seeds if len(seeds) > 1 else (_K2, seeds[0])
        return _both(long(s) - first, last)
    size = len(s)
    if size <= 16:
        return _up_to_16(s)
    if size <= 32:
        mul = _K2 + size * 2
        a, b = _long(s, 0) * _K1 & LONG, _long(s, 8)
        c, d = _long(s, size - 8) * mul & LONG, _long(s, size - 16) * _K2 & LONG
        return _both(_turned(a + b, 43) + _turned(c, 30) + d, a + _turned(b + _K2, 18) + c, mul)
    return _up_to_64(s) if size <= 64 else _of_many(s)


def _up_to_16(s: bytes) -> int:
    size = len(s)
    mul = _K2 + size * 2
    if size >= 8:
        a, b = _long(s, 0) + _K2, _long(s, size - 8)
        return _both(_turned(b, 37) * mul + a, (_turned(a, 25) + b) * mul, mul)
    if size >= 4:
        return _both((_int(s, 0) << 3) + size, _int(s, size - 4), mul)
    if size:
        y, z = s[0] + (s[size >> 1] << 8), size + (s[-1] << 2)
        return _shifted(y * _K2 & LONG ^ z * _K0 & LONG) * _K2 & LONG
    return _K2


def _up_to_64(s: bytes) -> int:
    size = len(s)
    mul = _K2 + size * 2
    a, b, c, d = _long(s, 0) * _K2, _long(s, 8), _long(s, size - 24), _long(s, size - 32)
    e, f, g = _long(s, 16) * _K2, _long(s, 24) * 9, _long(s, size - 8)
    h = _long(s, size - 16) * mul
    u = _turned(a + g, 43) + (_turned(b, 30) + c) * 9
    v = (a + g & LONG ^ d) + f + 1
    w = _swapped((u + v) * mul & LONG, 8) + h
    x = _turned(e + f, 42) + c
    y = (_swapped((v + w) * mul & LONG, 8) + g) * mul
    z = e + f + c
    a = _swapped((x + z) * mul + y & LONG, 8) + b
    return _shifted((z + a) * mul + d + h & LONG) * mul + x & LONG


def _of_many(s: bytes) -> int:
    size = len(s)
    x, y = _long(s, size - 40), _long(s, size - 16) + _long(s, size - 56)
    z = _both(_long(s, size - 48) + size, _long(s, size - 24))
    v, w = _weak(s, size - 64, size, z), _weak(s, size - 32, y + _K1, x)
    x = x * _K1 + _long(s, 0)
    for at in range(0, (size - 1) & ~63, 64):
        x, y, z, v, w = _round(s, at, x, y, z, v, w)
    return _both(_both(v[0], w[0]) + _shifted(y & LONG) * _K1 + z, _both(v[1], w[1]) + x)


def _round(s: bytes, at: int, x: int, y: int, z: int, v: Pair, w: Pair) -> tuple[int, int, int, Pair, Pair]:
    x = _turned(x + y + v[0] + _long(s, at + 8), 37) * _K1 & LONG
    y = _turned(y + v[1] + _long(s, at + 48), 42) * _K1 & LONG
    x ^= w[1]
    y = y + v[0] + _long(s, at + 40) & LONG
    z = _turned(z + w[0], 33) * _K1 & LONG
    v = _weak(s, at, v[1] * _K1, x + w[0])
    w = _weak(s, at + 32, z + w[1], y + _long(s, at + 16))
    return z, y, x, v, w


def wide(s: bytes) -> Pair:
    """Two longs, together of 128 bits."""
    if len(s) >= 16:
        return _seeded(s[16:], _long(s, 0), _long(s, 8) + _K0 & LONG)
    return _seeded(s, _K0, _K1)


def _seeded(s: bytes, first: int, last: int) -> Pair:
    size = len(s)
    if size < 128:
        return _murmur(s, first, last)
    x, y, z = first, last, _K1 * size & LONG
    start = _turned(y ^ _K1, 49) * _K1 + _long(s, 0) & LONG
    v = start, _turned(start, 42) * _K1 + _long(s, 8) & LONG
    w = _turned(y + z, 35) * _K1 + x & LONG, _turned(x + _long(s, 88), 53) * _K1 & LONG
    done = size & ~127
    for at in range(0, done, 64):
        x, y, z, v, w = _round(s, at, x, y, z, v, w)
    x = x + _turned(v[0] + z, 49) * _K0 & LONG
    y = y * _K0 + _turned(w[1], 37) & LONG
    z = z * _K0 + _turned(w[0], 27) & LONG
    w, v = (w[0] * 9 & LONG, w[1]), (v[0] * _K0 & LONG, v[1])
    at = size
    for _ in range(0, size - done, 32):
        at -= 32
        y = _turned(x + y, 42) * _K0 + v[1] & LONG
        w = w[0] + _long(s, at + 16) & LONG, w[1]
        x = x * _K0 + w[0] & LONG
        z = z + w[1] + _long(s, at) & LONG
        w = w[0], w[1] + v[0] & LONG
        v = _weak(s, at, v[0] + z, v[1])
        v = v[0] * _K0 & LONG, v[1]
    x, y = _both(x, v[0]), _both(y + z, w[0])
    return _both(x + v[1], w[1]) + y & LONG, _both(x + w[1], y + v[1])


def _murmur(s: bytes, a: int, b: int) -> Pair:
    size = len(s)
    if size <= 16:
        a = _shifted(a * _K1 & LONG) * _K1 & LONG
        c = b * _K1 + _up_to_16(s) & LONG
        d = _shifted(a + (_long(s, 0) if size >= 8 else c) & LONG)
    else:
        c = _both(_long(s, size - 8) + _K1, a)
        d = _both(b + size, c + _long(s, size - 16))
        a = a + d & LONG
        for at in range(0, (size - 1) & ~15, 16):
            a = (a ^ _shifted(_long(s, at) * _K1 & LONG) * _K1 & LONG) * _K1 & LONG
            b ^= a
            c = (c ^ _shifted(_long(s, at + 8) * _K1 & LONG) * _K1 & LONG) * _K1 & LONG
            d ^= c
    a, b = _both(a, c), _both(d, b)
    return a ^ b, _both(b, a)


def _weak(s: bytes, at: int, a: int, b: int) -> Pair:
    w, x, y, z = (_long(s, at + each) for each in (0, 8, 16, 24))
    a = a + w & LONG
    b = _turned(b + a + z, 21)
    c = a
    a = a + x + y & LONG
    return a + z & LONG, b + _turned(a, 44) + c & LONG


def _both(u: int, v: int, mul: int = _MUL) -> int:
    """One number of two."""
    v &= LONG
    a = _shifted((u & LONG ^ v) * mul & LONG)
    return _shifted((v ^ a) * mul & LONG) * mul & LONG


def _shifted(value: int) -> int:
    return value ^ value >> 47


def _turned(value: int, by: int) -> int:
    value &= LONG
    return (value >> by | value << (64 - by)) & LONG


def _turned32(value: int, by: int) -> int:
    value &= INT
    return (value >> by | value << (32 - by)) & INT


def _step(value: int, by: int) -> int:
    return (_turned32(value, by) * 5 + 0xE6546B64) & INT


def _spread(value: int) -> int:
    return _turned32(value * _C1, 17) * _C2 & INT


def _mur(a: int, h: int) -> int:
    return _step(h & INT ^ _spread(a), 19)


def _ended(value: int) -> int:
    value = (value ^ value >> 16) * 0x85EBCA6B & INT
    value = (value ^ value >> 13) * 0xC2B2AE35 & INT
    return value ^ value >> 16


def _swapped(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def _long(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _int(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 4], "little")
