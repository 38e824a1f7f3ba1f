// SPDX-License-Identifier: Apache-2.0
#pragma once
// The padding that the windows of a convolution or pool need before and after the image, and
// whether it equals one of TensorFlow's padding modes: VALID is none; SAME puts half before, and
// the odd element after. Pure arithmetic.

#include <algorithm>
#include <cstdint>

#include "workers/tensorflow/graph_writer.h"

namespace tench::tensorflow {

// One dimension.
struct Reach {
  int64_t size, windows, kernel, stride, pad;

  int64_t before() const { return pad; }
  int64_t behind() const {
    return std::max<int64_t>(0, (windows - 1) * stride + kernel - size - pad);
  }
  bool valid() const {
    return before() == 0 && behind() == 0 && (size - kernel) / stride + 1 == windows;
  }
  bool same() const {
    const int64_t all = std::max<int64_t>(0, (windows - 1) * stride + kernel - size);
    return windows == (size + stride - 1) / stride && before() == all / 2 &&
           behind() == all - all / 2;
  }
  // The divisor of an average: the elements of a window inside the image with `pad` on both sides.
  int64_t Counted(int64_t window) const {
    const int64_t begin = window * stride - pad;
    return std::min(begin + kernel, size + pad) - begin;
  }
};

struct Plane {
  Reach h, w;
  bool valid() const { return h.valid() && w.valid(); }
  bool same() const { return h.same() && w.same(); }
  Dims explicit_paddings() const {
    return {0, 0, h.before(), h.behind(), w.before(), w.behind(), 0, 0};
  }
};

// The image (NHWC) with `value` around it.
inline TF_Output PadImage(GraphWriter& writer, TF_Output x, const Plane& plane, float value) {
  const Dims wide = plane.explicit_paddings();
  const std::vector<int32_t> paddings(wide.begin(), wide.end());
  const TF_Output widths = writer.Constant(std::span<const int32_t>(paddings), {4, 2});
  if (value == 0) return writer.Add("Pad").In(x).In(widths).Output();
  return writer.Add("PadV2").In(x).In(widths).In(writer.Scalar(value)).Output();
}

}  // namespace tench::tensorflow
