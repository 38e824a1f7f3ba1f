// SPDX-License-Identifier: Apache-2.0
// Bilinear interpolation with weights of 11 bits. The two passes keep 8 + 11 + 11 = 30 bits, and
// round once at the end.
#include <algorithm>
#include <vector>

#include "data/image.h"

namespace tench {
namespace {

constexpr int kWeightBits = 11;
constexpr int64_t kOne = 1 << kWeightBits;

struct Tap {
  size_t low, high;  // the two neighbours
  uint32_t weight;   // of `high`, from 0 to kOne
};

// The center of output pixel i is at (i + 1/2) · in / out - 1/2.
std::vector<Tap> TapsOf(int64_t in, int64_t out) {
  std::vector<Tap> taps;
  taps.reserve(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const int64_t position = std::max<int64_t>(0, (2 * i + 1) * in - out);  // in 1 / (2 · out)
    const int64_t low = std::min(position / (2 * out), in - 1);
    const int64_t rest = position - low * 2 * out;
    const int64_t weight = low == in - 1 ? 0 : (rest * kOne + out) / (2 * out);
    taps.push_back({static_cast<size_t>(low), static_cast<size_t>(std::min(low + 1, in - 1)),
                    static_cast<uint32_t>(weight)});
  }
  return taps;
}

}  // namespace

void Resize(const Image& image, int64_t height, int64_t width, Image& out) {
  const std::vector<Tap> columns = TapsOf(image.width, width), rows = TapsOf(image.height, height);
  out.channels = image.channels;
  out.height = height;
  out.width = width;
  out.bytes.resize(static_cast<size_t>(image.channels * height * width));
  const auto in_width = static_cast<size_t>(image.width), out_width = static_cast<size_t>(width);
  // Two source rows, scaled horizontally; consecutive output rows often share them.
  std::vector<uint32_t> low(out_width), high(out_width);
  auto* target = reinterpret_cast<unsigned char*>(out.bytes.data());
  for (int64_t c = 0; c < image.channels; ++c) {
    const auto* plane =
        reinterpret_cast<const unsigned char*>(image.bytes.data()) + c * image.height * image.width;
    const auto scale_row = [&](size_t y, std::vector<uint32_t>& scaled) {
      const unsigned char* row = plane + y * in_width;
      for (size_t x = 0; x < out_width; ++x) {
        const Tap& tap = columns[x];
        scaled[x] =
            row[tap.low] * (static_cast<uint32_t>(kOne) - tap.weight) + row[tap.high] * tap.weight;
      }
    };
    size_t have_low = SIZE_MAX, have_high = SIZE_MAX;
    for (const Tap& tap : rows) {
      if (have_high == tap.low) {
        std::swap(low, high);
        std::swap(have_low, have_high);
      }
      if (have_low != tap.low) scale_row(have_low = tap.low, low);
      if (have_high != tap.high) scale_row(have_high = tap.high, high);
      for (size_t x = 0; x < out_width; ++x) {
        const uint32_t sum =
            low[x] * (static_cast<uint32_t>(kOne) - tap.weight) + high[x] * tap.weight;
        *target++ =
            static_cast<unsigned char>((sum + (1u << (2 * kWeightBits - 1))) >> (2 * kWeightBits));
      }
    }
  }
}

}  // namespace tench
