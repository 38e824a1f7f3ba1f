# SPDX-License-Identifier: Apache-2.0
"""Times the generator on AlexNet's parameters: python -m tench_worker.fill_bench [THREADS]"""
import sys
import time

import numpy as np

from .fill import fill_tensor

# Caffe's AlexNet: weights (out, in / groups, h, w) or (out, in), with their standard deviations.
ALEXNET = (("conv1", (96, 3, 11, 11), 0.01), ("conv2", (256, 48, 5, 5), 0.01),
           ("conv3", (384, 256, 3, 3), 0.01), ("conv4", (384, 192, 3, 3), 0.01),
           ("conv5", (256, 192, 3, 3), 0.01), ("fc6", (4096, 9216), 0.005),
           ("fc7", (4096, 4096), 0.005), ("fc8", (1000, 4096), 0.01))


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    begin, elements = time.time(), 0
    for name, shape, std in ALEXNET:
        values = np.empty(int(np.prod(shape)), np.float32)
        fill_tensor(1, name + ".weight", {"kind": "gaussian", "mean": 0, "std": std}, 0, values,
                    threads)
        elements += values.size
    seconds = time.time() - begin
    print("%d weights of AlexNet in %.2f s, %.2f ns each, %d thread%s" %
          (elements, seconds, seconds / elements * 1e9, threads, "" if threads == 1 else "s"))


if __name__ == "__main__":
    main()
