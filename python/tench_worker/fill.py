# SPDX-License-Identifier: Apache-2.0
"""The generator of weights and data, bit for bit that of docs/generator.md (C++: net/fill).

Element i is a pure function of the seed, the tensor's name and i. The work is done in blocks that
stay in the cache, in 64-bit unsigned integers and in doubles; numpy rounds every operation by
itself, so nothing is contracted into a fused multiply-add.
"""
import concurrent.futures

import numpy as np

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
GAUSSIAN = float.fromhex("0x1.3988e1412ed76p-16")
BLOCK = 1 << 15

_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_S11, _S16, _S32 = np.uint64(11), np.uint64(16), np.uint64(32)
_LANES = np.uint64(0x0000FFFF0000FFFF)
_LOW = np.uint64(0xFFFFFFFF)


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def make_key(seed, name):
    h = 0xCBF29CE484222325
    for byte in name.encode("utf-8"):
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return mix(mix((seed + STEP) & MASK) ^ h)


class _Scratch(object):
    """The counters and buffers of one thread."""

    def __init__(self):
        index = np.arange(BLOCK, dtype=np.uint64)
        self.once = index * np.uint64(STEP)
        self.twice = self.once * np.uint64(2)
        self.a, self.b, self.c = (np.empty(BLOCK, np.uint64) for _ in range(3))
        self.real = np.empty(BLOCK, np.float64)


def _bits(key, first, table, out, shifted):
    """out[j] = bits(first + j·stride), where table[j] = j·stride·STEP."""
    np.add(table, np.uint64((key + (first + 1) * STEP) & MASK), out=out)
    for shift, factor in ((_S30, _M1), (_S27, _M2)):
        np.right_shift(out, shift, out=shifted)
        np.bitwise_xor(out, shifted, out=out)
        np.multiply(out, factor, out=out)
    np.right_shift(out, _S31, out=shifted)
    np.bitwise_xor(out, shifted, out=out)


def _gaussian(key, first, n, scratch):
    x, y, t = scratch.a[:n], scratch.b[:n], scratch.c[:n]
    _bits(key, 2 * first, scratch.twice[:n], x, t)
    _bits(key, 2 * first + 1, scratch.twice[:n], y, t)
    # The eight 16-bit parts, summed in two 32-bit lanes that cannot overflow.
    np.bitwise_and(x, _LANES, out=t)
    np.right_shift(x, _S16, out=x)
    np.bitwise_and(x, _LANES, out=x)
    np.add(t, x, out=t)
    np.bitwise_and(y, _LANES, out=x)
    np.add(t, x, out=t)
    np.right_shift(y, _S16, out=y)
    np.bitwise_and(y, _LANES, out=y)
    np.add(t, y, out=t)
    np.right_shift(t, _S32, out=x)
    np.add(t, x, out=t)
    np.bitwise_and(t, _LOW, out=t)
    total = t.view(np.int64)
    np.subtract(total, np.int64(262140), out=total)
    real = scratch.real[:n]
    np.multiply(total, GAUSSIAN, out=real, casting="unsafe")
    return real


def _uniform(key, first, n, scratch):
    x, t = scratch.a[:n], scratch.c[:n]
    _bits(key, first, scratch.once[:n], x, t)
    np.right_shift(x, _S11, out=x)
    real = scratch.real[:n]
    np.multiply(x.view(np.int64), 2.0 ** -53, out=real, casting="unsafe")
    return real


def _block(key, fill, first, out, scratch):
    n, kind = len(out), fill["kind"]
    if kind == "gaussian":
        real = _gaussian(key, first, n, scratch)
        np.multiply(real, float(fill["std"]), out=real)
        np.add(real, float(fill["mean"]), out=real)
        out[:] = real
    elif kind == "uniform":
        real = _uniform(key, first, n, scratch)
        np.multiply(real, float(fill["high"]) - float(fill["low"]), out=real)
        np.add(real, float(fill["low"]), out=real)
        out[:] = real
    else:
        x, t = scratch.a[:n], scratch.c[:n]
        low, high = int(fill["low"]), int(fill["high"])
        _bits(key, first, scratch.once[:n], x, t)
        np.right_shift(x, _S32, out=x)
        np.multiply(x, np.uint64(high - low), out=x)
        np.right_shift(x, _S32, out=x)
        out[:] = x.view(np.int64) + low


def fill_tensor(seed, name, fill, first, out, threads=1):
    """Writes the elements from `first` on of the tensor `name` to the flat array `out`."""
    if fill["kind"] == "constant":
        out[:] = fill["value"]
        return
    if fill["kind"] not in ("gaussian", "uniform", "integer"):
        raise ValueError("unresolved fill '%s' of %s" % (fill["kind"], name))
    key = make_key(seed, name)

    def part(begin, end):
        scratch = _Scratch()
        for at in range(begin, end, BLOCK):
            _block(key, fill, first + at, out[at:min(at + BLOCK, end)], scratch)

    size = len(out)
    if threads == 1 or size < 8 * BLOCK:
        part(0, size)
        return
    # numpy releases the interpreter lock inside an operation.
    chunk = -(-size // (threads * BLOCK)) * BLOCK
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda at: part(at, min(at + chunk, size)), range(0, size, chunk)))
