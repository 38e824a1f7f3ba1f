// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/max_pool.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kVector = 8;
constexpr int64_t kMaxWindow = 256;  // elements that a byte can index

// Calls work(first, last) for ranges of the output rows of all planes.
template <class Work>
void ForRows(const MaxPoolShape& s, const Work& work) {
  const int64_t row_floats = s.out_w * s.block * s.kernel_h * s.kernel_w;
  ParallelFor(s.planes * s.out_h, std::max<int64_t>(1, 16 * 1024 / row_floats), work);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void Rows(const MaxPoolShape& s, int64_t first, int64_t last,
                                  const float* x, float* y, uint8_t* which) {
  const int64_t line = s.out_w * s.kernel_w * s.block;
  for (int64_t row = first; row < last; ++row) {
    for (int64_t w = 0; w < s.out_w; ++w) {
      for (int64_t c = 0; c < s.block; c += kVector) {
        const float* from = x + row * s.kernel_h * line + w * s.kernel_w * s.block + c;
        const int64_t to = (row * s.out_w + w) * s.block + c;
        __m256 largest = _mm256_loadu_ps(from);
        __m256i place = _mm256_setzero_si256();
        for (int32_t k = 1; k < s.kernel_h * s.kernel_w; ++k) {
          const __m256 value =
              _mm256_loadu_ps(from + k / s.kernel_w * line + k % s.kernel_w * s.block);
          const __m256 wins = _mm256_or_ps(_mm256_cmp_ps(value, largest, _CMP_GT_OQ),
                                           _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
          largest = _mm256_blendv_ps(largest, value, wins);
          place = _mm256_blendv_epi8(place, _mm256_set1_epi32(k), _mm256_castps_si256(wins));
        }
        _mm256_storeu_ps(y + to, largest);
        const __m128i words =
            _mm_packus_epi32(_mm256_castsi256_si128(place), _mm256_extracti128_si256(place, 1));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(which + to), _mm_packus_epi16(words, words));
      }
    }
  }
}

[[gnu::target("avx2")]] void GradientRows(const MaxPoolShape& s, int64_t first, int64_t last,
                                          const float* dy, const uint8_t* which, float* dx) {
  const int64_t line = s.out_w * s.kernel_w * s.block;
  for (int64_t row = first; row < last; ++row) {
    for (int64_t w = 0; w < s.out_w; ++w) {
      for (int64_t c = 0; c < s.block; c += kVector) {
        float* to = dx + row * s.kernel_h * line + w * s.kernel_w * s.block + c;
        const int64_t from = (row * s.out_w + w) * s.block + c;
        const __m256 gradient = _mm256_loadu_ps(dy + from);
        const __m256i place =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(which + from)));
        for (int32_t k = 0; k < s.kernel_h * s.kernel_w; ++k) {
          const __m256 here = _mm256_castsi256_ps(_mm256_cmpeq_epi32(place, _mm256_set1_epi32(k)));
          _mm256_storeu_ps(to + k / s.kernel_w * line + k % s.kernel_w * s.block,
                           _mm256_and_ps(gradient, here));
        }
      }
    }
  }
}
#else
void Rows(const MaxPoolShape&, int64_t, int64_t, const float*, float*, uint8_t*) {}
void GradientRows(const MaxPoolShape&, int64_t, int64_t, const float*, const uint8_t*, float*) {}
#endif

}  // namespace

bool HasMaxPool(const MaxPoolShape& shape) {
  return HasAvx2() && shape.block % kVector == 0 && shape.kernel_h * shape.kernel_w <= kMaxWindow;
}

void MaxPoolForward(const MaxPoolShape& shape, const float* x, float* y, uint8_t* which) {
  ForRows(shape, [&](int64_t first, int64_t last) { Rows(shape, first, last, x, y, which); });
}

void MaxPoolBackward(const MaxPoolShape& shape, const float* dy, const uint8_t* which, float* dx) {
  ForRows(shape,
          [&](int64_t first, int64_t last) { GradientRows(shape, first, last, dy, which, dx); });
}

}  // namespace tench::native
