"""FarmHash's 64-bit fingerprint, which TensorFlow's `to_hash_bucket_fast` takes of a string.

The algorithm is farmhashna's of https://github.com/google/farmhash (MIT licence). It is hashed here
only what a vocabulary lacks, so that 5 microseconds a word do not count.
"""

from __future__ import annotations

import numpy as np

_MASK = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def fingerprint64(data: bytes) -> int:
    """The fingerprint of some bytes: an integer in [0, 2**64)."""
    length = len(data)
    if length <= 16:
        return _up_to_16(data, length)
    if length <= 32:
        return _up_to_32(data, length)
    if length <= 64:
        return _up_to_64(data, length)
    return _longer(data, length)


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _rotated(value: int, by: int) -> int:
    return (value >> by | value << (64 - by)) & _MASK


def _mixed(value: int) -> int:
    return value ^ value >> 47


def _hashed(u: int, v: int, factor: int) -> int:
    """Two 64-bit numbers to one."""
    a = _mixed((u ^ v) * factor & _MASK)
    return _mixed((v ^ a) * factor & _MASK) * factor & _MASK


def _up_to_16(data: bytes, length: int) -> int:
    if length >= 8:
        return _from_8(_word(data, 0), _word(data, length - 8), length)
    if length >= 4:
        return _from_4(_word(data, 0, 4), _word(data, length - 4, 4), length)
    if length:
        return _from_1(data[0], data[length >> 1], data[-1], length)
    return _K2


# Of numbers, or of arrays of uint64.


def _from_8(first, last, length):
    factor = _K2 + length * 2
    a, b = first + _K2 & _MASK, last
    c = _rotated(b, 37) * factor + a & _MASK
    d = (_rotated(a, 25) + b) * factor & _MASK
    return _hashed(c, d, factor)


def _from_4(first, last, length):
    return _hashed(length + (first << 3), last, _K2 + length * 2)


def _from_1(first, middle, last, length):
    y = first + (middle << 8)
    z = length + (last << 2)
    return _mixed((y * _K2 ^ z * _K0) & _MASK) * _K2 & _MASK


def fingerprints64(eight: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The fingerprints of strings of 1 to 16 bytes.

    Args:
      eight: uint64 [places], the 8 bytes from each place on.
      starts: int [strings], their places.
      lengths: int [strings], in bytes.

    Returns:
      uint64 [strings].
    """
    found = np.empty(len(starts), np.uint64)

    def word(places: np.ndarray, size: int = 8) -> np.ndarray:
        return eight.take(places) & np.uint64(256**size - 1)

    some = np.flatnonzero(lengths >= 8)
    at, length = starts[some], lengths[some]
    found[some] = _from_8(word(at), word(at + length - 8), length.astype(np.uint64))
    some = np.flatnonzero((lengths >= 4) & (lengths < 8))
    at, length = starts[some], lengths[some]
    found[some] = _from_4(word(at, 4), word(at + length - 4, 4), length.astype(np.uint64))
    some = np.flatnonzero(lengths < 4)
    at, length = starts[some], lengths[some]
    middle, last = word(at + (length >> 1), 1), word(at + length - 1, 1)
    found[some] = _from_1(word(at, 1), middle, last, length.astype(np.uint64))
    return found


def _up_to_32(data: bytes, length: int) -> int:
    factor = _K2 + length * 2
    a, b = _word(data, 0) * _K1 & _MASK, _word(data, 8)
    c, d = _word(data, length - 8) * factor & _MASK, _word(data, length - 16) * _K2 & _MASK
    return _hashed(
        _rotated(a + b & _MASK, 43) + _rotated(c, 30) + d & _MASK,
        a + _rotated(b + _K2 & _MASK, 18) + c & _MASK,
        factor,
    )


def _up_to_64(data: bytes, length: int) -> int:
    factor = _K2 + length * 2
    a, b = _word(data, 0) * _K2 & _MASK, _word(data, 8)
    c, d = _word(data, length - 8) * factor & _MASK, _word(data, length - 16) * _K2 & _MASK
    y = _rotated(a + b & _MASK, 43) + _rotated(c, 30) + d & _MASK
    z = _hashed(y, a + _rotated(b + _K2 & _MASK, 18) + c & _MASK, factor)
    e, f = _word(data, 16) * factor & _MASK, _word(data, 24)
    g, h = (y + _word(data, length - 32)) * factor & _MASK, (z + _word(data, length - 24)) * factor
    return _hashed(
        _rotated(e + f & _MASK, 43) + _rotated(g, 30) + h & _MASK,
        e + _rotated(f + a & _MASK, 18) + g & _MASK,
        factor,
    )


def _two_of_32(data: bytes, at: int, a: int, b: int) -> tuple:
    """32 bytes from `at` on and two seeds to two 64-bit numbers."""
    w, x, y, z = (_word(data, at + step) for step in (0, 8, 16, 24))
    a = a + w & _MASK
    b = _rotated(b + a + z & _MASK, 21)
    c = a
    a = a + x + y & _MASK
    b = b + _rotated(a, 44) & _MASK
    return a + z & _MASK, b + c & _MASK


def _longer(data: bytes, length: int) -> int:
    x = 81
    y = 81 * _K1 + 113 & _MASK
    z = _mixed(y * _K2 + 113 & _MASK) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(data, 0) & _MASK
    blocks = (length - 1) // 64
    for at in range(0, blocks * 64, 64):
        x = _rotated(x + y + v[0] + _word(data, at + 8) & _MASK, 37) * _K1 & _MASK
        y = _rotated(y + v[1] + _word(data, at + 48) & _MASK, 42) * _K1 & _MASK
        x ^= w[1]
        y = y + v[0] + _word(data, at + 40) & _MASK
        z = _rotated(z + w[0] & _MASK, 33) * _K1 & _MASK
        v = _two_of_32(data, at, v[1] * _K1 & _MASK, x + w[0] & _MASK)
        w = _two_of_32(data, at + 32, z + w[1] & _MASK, y + _word(data, at + 16) & _MASK)
        z, x = x, z
    factor = _K1 + ((z & 0xFF) << 1)
    at = length - 64
    w = (w[0] + (length - 1 & 63) & _MASK, w[1])
    v = (v[0] + w[0] & _MASK, v[1])
    w = (w[0] + v[0] & _MASK, w[1])
    x = _rotated(x + y + v[0] + _word(data, at + 8) & _MASK, 37) * factor & _MASK
    y = _rotated(y + v[1] + _word(data, at + 48) & _MASK, 42) * factor & _MASK
    x ^= w[1] * 9 & _MASK
    y = y + v[0] * 9 + _word(data, at + 40) & _MASK
    z = _rotated(z + w[0] & _MASK, 33) * factor & _MASK
    v = _two_of_32(data, at, v[1] * factor & _MASK, x + w[0] & _MASK)
    w = _two_of_32(data, at + 32, z + w[1] & _MASK, y + _word(data, at + 16) & _MASK)
    z, x = x, z
    return _hashed(
        _hashed(v[0], w[0], factor) + _mixed(y) * _K0 + z & _MASK,
        _hashed(v[1], w[1], factor) + x & _MASK,
        factor,
    )
