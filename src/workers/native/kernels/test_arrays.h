// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays for the kernels' tests: pseudo-random inputs, outputs between sentinels, and comparison
// with a definition in double. Not part of the kernels' library.

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tench::native {

// Uniform in [low, high), a function of the seed alone.
inline std::vector<float> RandomArray(int64_t count, uint32_t seed, float low = -1,
                                      float high = 1) {
  std::vector<float> values(count);
  uint32_t state = seed * 2654435761u + 17;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = low + (high - low) * static_cast<float>(state >> 8) * 0x1p-24f;
  }
  return values;
}

// An array between sentinels, which a kernel must not overwrite.
class GuardedArray {
 public:
  explicit GuardedArray(int64_t count) : values_(count + 2 * kMargin, kSentinel) {}
  explicit GuardedArray(const std::vector<float>& values)
      : GuardedArray(static_cast<int64_t>(values.size())) {
    std::copy(values.begin(), values.end(), data());
  }
  float* data() { return values_.data() + kMargin; }
  std::span<const float> span() const {
    return {values_.data() + kMargin, values_.size() - 2 * kMargin};
  }
  bool IsIntact() const {
    const auto is_sentinel = [](float value) { return value == kSentinel; };
    return std::all_of(values_.begin(), values_.begin() + kMargin, is_sentinel) &&
           std::all_of(values_.end() - kMargin, values_.end(), is_sentinel);
  }

 private:
  static constexpr int64_t kMargin = 32;
  static constexpr float kSentinel = 12345.0f;
  std::vector<float> values_;
};

// OpenMP's number of threads, while it lives.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  const int before_;
};
constexpr int kThreadCounts[] = {1, 2, 3};

// Each element within `tolerance`; NaN equals NaN alone.
inline void ExpectNear(std::span<const float> found, std::span<const double> expected,
                       double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << "element " << i;
    if (!std::isnan(expected[i])) {
      ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
    }
  }
}

// The root mean square of the difference, relative to that of the expected values.
inline double RelativeError(std::span<const float> found, std::span<const double> expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace tench::native
