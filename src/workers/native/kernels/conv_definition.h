// SPDX-License-Identifier: Apache-2.0
#pragma once
// The definition of a convolution and its gradients in double, for the tests of the direct and the
// Winograd kernels, on the layouts of blocked_conv_shape.h. Not part of the kernels' library.

#include <string>
#include <vector>

#include "workers/native/kernels/blocked_conv_shape.h"
#include "workers/native/kernels/test_arrays.h"

namespace tench::native {

struct NamedShape {
  std::string name;
  BlockedConvShape shape;
};

inline BlockedConvShape Shaped(int64_t batch, int64_t groups, int64_t in, int64_t out, int64_t h,
                               int64_t w, int64_t kernel, int64_t stride, int64_t pad,
                               int64_t dilation) {
  const auto size = [&](int64_t length) {
    return (length + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  };
  return {batch,  groups, in,     out, h,   w,        size(h),  size(w),       kernel,
          kernel, stride, stride, pad, pad, dilation, dilation, kChannelBlock, false};
}

// A convolution with random x, w and dy, whose unused channels are zero.
class ConvDefinition {
 public:
  explicit ConvDefinition(const BlockedConvShape& shape)
      : s_(shape),
        in_(shape.in_channels / shape.groups),
        out_(shape.out_channels / shape.groups),
        x(shape.plain_in ? RandomArray(shape.batch * in_ * shape.in_h * shape.in_w, 1)
                         : Images(shape.in_channels, shape.in_h, shape.in_w, 1)),
        dy(Images(shape.out_channels, shape.out_h, shape.out_w, 2)),
        w(weight_count()) {
    const std::vector<float> values = RandomArray(s_.groups * out_ * in_ * taps(), 3, -0.5f, 0.5f);
    size_t next = 0;
    for (int64_t g = 0; g < s_.groups; ++g) {
      for (int64_t oi = 0; oi < out_ * in_; ++oi) {
        for (int64_t tap = 0; tap < taps(); ++tap)
          w[WeightAt(g, oi / in_, oi % in_, tap)] = values[next++];
      }
    }
  }

  std::vector<double> Forward() const {
    std::vector<double> y(dy.size());
    ForEachProduct(
        [&](int64_t x_at, int64_t y_at, int64_t w_at) { y[y_at] += double{x[x_at]} * w[w_at]; });
    return y;
  }
  std::vector<double> BackwardData() const {
    std::vector<double> dx(x.size());
    ForEachProduct(
        [&](int64_t x_at, int64_t y_at, int64_t w_at) { dx[x_at] += double{dy[y_at]} * w[w_at]; });
    return dx;
  }
  std::vector<double> BackwardWeights() const {
    std::vector<double> dw(w.size());
    ForEachProduct(
        [&](int64_t x_at, int64_t y_at, int64_t w_at) { dw[w_at] += double{x[x_at]} * dy[y_at]; });
    return dw;
  }
  std::vector<double> BackwardBias() const {
    std::vector<double> db(s_.out_channels);
    for (int64_t n = 0; n < s_.batch; ++n) {
      for (int64_t o = 0; o < s_.out_channels; ++o) {
        for (int64_t p = 0; p < s_.out_h * s_.out_w; ++p)
          db[o] += dy[At(n, o, p, s_.out_channels, s_.out_h * s_.out_w)];
      }
    }
    return db;
  }
  // The position of output channel `o` and pixel `p` in y.
  int64_t OutputAt(int64_t n, int64_t o, int64_t p) const {
    return At(n, o, p, s_.out_channels, s_.out_h * s_.out_w);
  }

 private:
  int64_t taps() const { return s_.kernel_h * s_.kernel_w; }
  int64_t Padded(int64_t channels) const { return ChannelBlocks(channels, s_.block) * s_.block; }
  int64_t weight_count() const {
    return s_.groups * Padded(out_) * (s_.plain_in ? in_ : Padded(in_)) * taps();
  }
  int64_t At(int64_t n, int64_t c, int64_t p, int64_t channels, int64_t pixels) const {
    return ((n * ChannelBlocks(channels, s_.block) + c / s_.block) * pixels + p) * s_.block +
           c % s_.block;
  }
  std::vector<float> Images(int64_t channels, int64_t h, int64_t w_size, uint32_t seed) const {
    std::vector<float> images(s_.batch * Padded(channels) * h * w_size);
    const std::vector<float> values = RandomArray(s_.batch * channels * h * w_size, seed);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<int64_t>(i), pixels = h * w_size;
      images[At(at / pixels / channels, at / pixels % channels, at % pixels, channels, pixels)] =
          values[i];
    }
    return images;
  }
  int64_t InputAt(int64_t n, int64_t c, int64_t p) const {
    const int64_t pixels = s_.in_h * s_.in_w;
    return s_.plain_in ? (n * in_ + c) * pixels + p : At(n, c, p, s_.in_channels, pixels);
  }
  // `o` and `i` count within the group.
  int64_t WeightAt(int64_t g, int64_t o, int64_t i, int64_t tap) const {
    if (s_.plain_in) return ((o / s_.block * taps() + tap) * in_ + i) * s_.block + o % s_.block;
    const int64_t out_blocks = ChannelBlocks(out_, s_.block),
                  in_blocks = ChannelBlocks(in_, s_.block);
    const int64_t block =
        ((g * out_blocks + o / s_.block) * in_blocks + i / s_.block) * taps() + tap;
    return (block * s_.block + i % s_.block) * s_.block + o % s_.block;
  }

  // Calls visit(position in x, in y, in w) for every product of the convolution.
  template <class Visit>
  void ForEachProduct(const Visit& visit) const {
    for (int64_t n = 0; n < s_.batch; ++n) {
      for (int64_t p = 0; p < s_.out_h * s_.out_w; ++p) {
        for (int64_t tap = 0; tap < taps(); ++tap) {
          const int64_t h = p / s_.out_w * s_.stride_h + tap / s_.kernel_w * s_.dilation_h -
                            s_.pad_h,
                        v = p % s_.out_w * s_.stride_w + tap % s_.kernel_w * s_.dilation_w -
                            s_.pad_w;
          if (h < 0 || h >= s_.in_h || v < 0 || v >= s_.in_w) continue;
          for (int64_t g = 0; g < s_.groups; ++g) {
            for (int64_t oi = 0; oi < out_ * in_; ++oi) {
              visit(InputAt(n, g * in_ + oi % in_, h * s_.in_w + v),
                    OutputAt(n, g * out_ + oi / in_, p), WeightAt(g, oi / in_, oi % in_, tap));
            }
          }
        }
      }
    }
  }

  const BlockedConvShape s_;
  const int64_t in_, out_;  // channels of a group

 public:
  const std::vector<float> x, dy;
  std::vector<float> w;
};

// Shapes on blocked images that both backward directions must handle.
inline std::vector<NamedShape> BlockedShapes() {
  return {{"lenet", Shaped(3, 1, 20, 50, 12, 12, 5, 1, 0, 1)},
          {"padded", Shaped(2, 1, 16, 24, 13, 11, 3, 1, 1, 1)},
          {"strided", Shaped(2, 1, 8, 40, 15, 14, 3, 2, 1, 1)},
          {"dilated", Shaped(1, 1, 9, 8, 12, 12, 3, 1, 2, 2)},
          {"groups", Shaped(2, 2, 16, 48, 9, 9, 5, 1, 2, 1)},
          {"one_by_one", Shaped(2, 1, 32, 17, 7, 7, 1, 1, 0, 1)},
          {"one_by_one_strided", Shaped(2, 1, 8, 16, 8, 8, 1, 2, 0, 1)},
          {"wide_rows", Shaped(1, 1, 8, 8, 3, 300, 3, 1, 1, 1)},
          {"kernel_wider_than_the_image", Shaped(1, 1, 8, 8, 2, 2, 5, 1, 2, 1)}};
}

}  // namespace tench::native
