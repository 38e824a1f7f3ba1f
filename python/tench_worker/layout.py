# SPDX-License-Identifier: Apache-2.0
"""Host arrays between the logical order and channels-last frameworks."""
import numpy as np


def images_to_nhwc(values):
    return np.ascontiguousarray(values.transpose(0, 2, 3, 1)) if values.ndim == 4 else values


def images_to_nchw(values):
    values = np.asarray(values)
    return values.transpose(0, 3, 1, 2) if values.ndim == 4 else values


def filters_to_hwio(values):
    """(out, in / groups, height, width) to (height, width, in / groups, out)."""
    return np.ascontiguousarray(values.transpose(2, 3, 1, 0)) if values.ndim == 4 else values


def filters_to_oihw(values):
    values = np.asarray(values)
    return values.transpose(3, 2, 0, 1) if values.ndim == 4 else values
