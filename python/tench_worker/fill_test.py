# SPDX-License-Identifier: Apache-2.0
"""The generator against the test vectors of docs/generator.md, which the C++ generator wrote."""
import os
import re
import struct
import unittest

try:
    import numpy as np
    from tench_worker.fill import BLOCK, _Scratch, _bits, fill_tensor, make_key
except ImportError:
    np = None

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")


def tables():
    """{first header cells: rows of cells} of the page."""
    found, rows = {}, None
    with open(os.path.join(DOCS, "generator.md"), encoding="utf-8") as page:
        for line in page:
            if not line.startswith("|"):
                rows = None
            elif rows is None:
                rows = found.setdefault(tuple(c.strip() for c in line.split("|")[1:-1]), [])
            elif not line.startswith("|--"):
                rows.append([cell.strip().strip("`") for cell in line.split("|")[1:-1]])
    return found


@unittest.skipIf(np is None, "numpy is not installed for this interpreter")
class FillTest(unittest.TestCase):
    def test_keys_are_those_of_the_page(self):
        rows = tables()[("seed", "name", "key")]
        self.assertGreater(len(rows), 3)
        for seed, name, key in rows:
            self.assertEqual("%016x" % make_key(int(seed), name), key)

    def test_bits_and_integers_are_those_of_the_page(self):
        rows = tables()[("seed", "name", "index", "bits", "integer")]
        self.assertGreater(len(rows), 10)
        for seed, name, index, bits, integer in rows:
            scratch, out = _Scratch(), np.empty(1, np.uint64)
            _bits(make_key(int(seed), name), int(index), scratch.once[:1], out, scratch.a[:1])
            self.assertEqual("%016x" % int(out[0]), bits)
            values = np.empty(1, np.int32)
            fill_tensor(int(seed), name, {"kind": "integer", "low": 0, "high": 1000}, int(index),
                        values)
            self.assertEqual(values[0], int(integer))

    def test_reals_are_those_of_the_page(self):
        rows = tables()[("seed", "name", "index", "uniform", "gaussian")]
        self.assertGreater(len(rows), 10)
        for seed, name, index, uniform, gaussian in rows:
            for fill, wanted in (({"kind": "uniform", "low": 0, "high": 1}, uniform),
                                 ({"kind": "gaussian", "mean": 0, "std": 1}, gaussian)):
                value = np.empty(1, np.float64)
                fill_tensor(int(seed), name, fill, int(index), value)
                self.assertEqual(float(value[0]), float(wanted))

    def test_floats_have_the_bits_of_the_page(self):
        import json
        rows = tables()[("seed", "name", "fill", "index", "float")]
        self.assertGreater(len(rows), 5)
        for seed, name, fill, index, wanted in rows:
            value = np.empty(1, np.float32)
            fill_tensor(int(seed), name, json.loads(fill), int(index), value)
            self.assertEqual(struct.pack(">f", value[0]).hex(), wanted)

    def test_neither_blocks_nor_threads_change_a_bit(self):
        fill = {"kind": "gaussian", "mean": 0.5, "std": 0.1}
        whole = np.empty(9 * BLOCK + 17, np.float32)
        fill_tensor(7, "w", fill, 3, whole)
        shared = np.empty_like(whole)
        fill_tensor(7, "w", fill, 3, shared, threads=3)
        self.assertTrue((whole == shared).all())
        parts = np.empty_like(whole)
        for begin in range(0, len(parts), 10007):
            fill_tensor(7, "w", fill, 3 + begin, parts[begin:begin + 10007])
        self.assertTrue((whole == parts).all())
        self.assertGreater(len(np.unique(whole)), len(whole) // 4)


if __name__ == "__main__":
    unittest.main()
