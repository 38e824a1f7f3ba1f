// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/lrn.h"

#include <string>

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::lrn_test {
namespace {

struct Layout {
  std::string name;
  LrnShape shape;
  int64_t channels;  // without padding
};

Layout Plain(int64_t images, int64_t channels, int64_t pixels) {
  return {"plain", {images, pixels, channels, 1, channels * pixels, 1, pixels}, channels};
}
Layout Blocked(int64_t images, int64_t channels, int64_t pixels, int64_t block) {
  const int64_t blocks = (channels + block - 1) / block;
  return {"blocked",
          {images, pixels, blocks, block, blocks * block * pixels, block, pixels * block},
          channels};
}
Layout ChannelsLast(int64_t images, int64_t channels, int64_t pixels) {
  return {"channels last", {images, pixels, 1, channels, channels * pixels, channels, 0}, channels};
}

int64_t At(const LrnShape& s, int64_t n, int64_t p, int64_t c) {
  return n * s.image_stride + p * s.pixel_stride + c / s.block * s.block_stride + c % s.block;
}

struct Definition {
  std::vector<float> x, dy;
  std::vector<double> y, dx;

  Definition(const Layout& layout, const LrnParameters& op) {
    const LrnShape& s = layout.shape;
    const int64_t size = s.images * s.image_stride, reach = op.size / 2;
    x.resize(size), dy.resize(size), y.resize(size), dx.resize(size);
    const std::vector<float> values = RandomArray(2 * size, 1, -3, 3);
    for (int64_t n = 0; n < s.images; ++n) {
      for (int64_t p = 0; p < s.pixels; ++p) {
        for (int64_t c = 0; c < layout.channels; ++c) {
          const int64_t at = At(s, n, p, c);
          x[at] = values[at], dy[at] = values[size + at];
        }
        const auto near = [&](int64_t c, const auto& term) {
          double sum = 0;
          for (int64_t d = std::max<int64_t>(0, c - reach);
               d <= std::min(layout.channels - 1, c + reach); ++d)
            sum += term(d);
          return sum;
        };
        const auto scale = [&](int64_t c) {
          return op.k + op.alpha / static_cast<double>(op.size) * near(c, [&](int64_t d) {
                          return double{x[At(s, n, p, d)]} * x[At(s, n, p, d)];
                        });
        };
        for (int64_t c = 0; c < layout.channels; ++c) {
          const int64_t at = At(s, n, p, c);
          y[at] = x[at] * std::pow(scale(c), -op.beta);
          dx[at] = dy[at] * std::pow(scale(c), -op.beta) -
                   2 * op.alpha * op.beta / static_cast<double>(op.size) * x[at] *
                       near(c, [&](int64_t d) {
                         return double{dy[At(s, n, p, d)]} * x[At(s, n, p, d)] *
                                std::pow(scale(d), -op.beta - 1);
                       });
        }
      }
    }
  }
};

void Check(const Layout& layout, const LrnParameters& op) {
  SCOPED_TRACE(testing::Message() << layout.name << ", " << layout.channels << " channels, size "
                                  << op.size << ", beta " << op.beta);
  const Definition d(layout, op);
  const auto count = static_cast<int64_t>(d.x.size());
  for (const int threads : kThreadCounts) {
    const ThreadCount team(threads);
    GuardedArray y(count), dx(d.dy);
    LrnForward(layout.shape, op, d.x.data(), y.data());
    LrnBackward(layout.shape, op, d.x.data(), dx.data(), dx.data());
    ExpectNear(y.span(), d.y, 3e-6);
    ExpectNear(dx.span(), d.dx, 1e-5);
    EXPECT_TRUE(y.IsIntact() && dx.IsIntact());
  }
}

TEST(LrnTest, IsTheDefinitionInEveryLayout) {
  for (const LrnParameters& op : {LrnParameters{5, 0.5, 0.75, 1}, LrnParameters{3, 0.2, 0.75, 2},
                                  LrnParameters{7, 0.5, 0.6, 1}, LrnParameters{1, 0.3, 0.75, 1}}) {
    Check(Plain(2, 13, 35), op);
    Check(Blocked(2, 20, 35, 8), op);
    Check(Blocked(3, 16, 400, 8), op);
    Check(Blocked(2, 33, 9, 16), op);
    Check(ChannelsLast(2, 21, 500), op);
  }
}

TEST(LrnTest, SupportsPixelsLongerThanALine) { Check(ChannelsLast(1, 9001, 3), {5, 0.5, 0.75, 1}); }

}  // namespace
}  // namespace tench::native::lrn_test
