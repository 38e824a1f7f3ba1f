// SPDX-License-Identifier: Apache-2.0
// Williams, Waterman and Patterson 2009, "Roofline".
#include "machine/ceilings.h"

#include <algorithm>

#include "base/error.h"
#include "machine/run_together.h"

namespace tench {
namespace {

constexpr int kWindows = 6;  // the first only calibrates
constexpr int64_t kWindowNs = 8'000'000;
constexpr double kQuietSpread = 0.1;  // of the best window over the median
// Enough independent chains for a latency of 4 cycles on two ports, with some to spare.
constexpr int kChains = 12;
constexpr int64_t kRoundsPerCall = 4096;
constexpr int64_t kMemoryBytes = int64_t{64} << 20;  // of one array, shared by all threads

// s = s · x + y in kChains registers, `count` times. The chains start at different values, because
// the compiler would compute equal ones once; chain 0 starts at 0 and is the result.
template <class Vector>
[[gnu::always_inline]] inline float MultiplyAdds(int64_t count, float x, float y) {
  const Vector xs = Vector{} + x, ys = Vector{} + y;
  Vector sum[kChains];
  for (int chain = 0; chain < kChains; ++chain) sum[chain] = Vector{} + static_cast<float>(chain);
  for (int64_t n = 0; n < count; ++n) {
#pragma GCC unroll 16
    for (int chain = 0; chain < kChains; ++chain) sum[chain] = sum[chain] * xs + ys;
  }
  Vector others = sum[1];
  for (int chain = 2; chain < kChains; ++chain) others += sum[chain];
  // Never true, but the compiler cannot know.
  return others[0] == -1 ? others[0] : sum[0][0];
}

// y += a · x over whole vectors.
template <class Vector>
[[gnu::always_inline]] inline void AddScaled(float* y, const float* x, float a, int64_t count) {
  constexpr int64_t kLanes = sizeof(Vector) / sizeof(float);
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) {
    Vector left, right;
    __builtin_memcpy(&left, y + i, sizeof left);
    __builtin_memcpy(&right, x + i, sizeof right);
    left += right * a;
    __builtin_memcpy(y + i, &left, sizeof left);
  }
}

using MultiplyAddKernel = float (*)(int64_t count, float x, float y);
using StreamKernel = void (*)(float* y, const float* x, float a, int64_t count);

struct IsaKernels {
  const char* name;
  int64_t lanes;
  bool supported;
  MultiplyAddKernel multiply_adds;
  StreamKernel stream;
};

#ifdef __x86_64__
using F4 [[gnu::vector_size(16)]] = float;
using F8 [[gnu::vector_size(32)]] = float;
using F16 [[gnu::vector_size(64)]] = float;

[[gnu::target("sse4.1")]] float Sse41Fma(int64_t n, float x, float y) {
  return MultiplyAdds<F4>(n, x, y);
}
[[gnu::target("sse4.1")]] void Sse41Stream(float* y, const float* x, float a, int64_t n) {
  AddScaled<F4>(y, x, a, n);
}
[[gnu::target("avx")]] float AvxFma(int64_t n, float x, float y) {
  return MultiplyAdds<F8>(n, x, y);
}
[[gnu::target("avx")]] void AvxStream(float* y, const float* x, float a, int64_t n) {
  AddScaled<F8>(y, x, a, n);
}
[[gnu::target("avx2,fma")]] float Avx2Fma(int64_t n, float x, float y) {
  return MultiplyAdds<F8>(n, x, y);
}
[[gnu::target("avx2,fma")]] void Avx2Stream(float* y, const float* x, float a, int64_t n) {
  AddScaled<F8>(y, x, a, n);
}
[[gnu::target("avx512f")]] float Avx512Fma(int64_t n, float x, float y) {
  return MultiplyAdds<F16>(n, x, y);
}
[[gnu::target("avx512f")]] void Avx512Stream(float* y, const float* x, float a, int64_t n) {
  AddScaled<F16>(y, x, a, n);
}

std::vector<IsaKernels> Kernels() {
  return {{"sse41", 4, __builtin_cpu_supports("sse4.1") != 0, Sse41Fma, Sse41Stream},
          {"avx", 8, __builtin_cpu_supports("avx") != 0, AvxFma, AvxStream},
          {"avx2", 8, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), Avx2Fma,
           Avx2Stream},
          {"avx512", 16, __builtin_cpu_supports("avx512f") != 0, Avx512Fma, Avx512Stream}};
}
#else
std::vector<IsaKernels> Kernels() { return {}; }
#endif

std::vector<IsaKernels> SupportedKernels() {
  std::vector<IsaKernels> kernels = Kernels();
  std::erase_if(kernels, [](const IsaKernels& kernel) { return !kernel.supported; });
  return kernels;
}

struct Rate {
  double per_s = 0;
  bool disturbed = false;
};

// The best rate of `amount` per call of work(thread) on every thread.
Rate BestRate(int64_t threads, double amount, const std::function<void(int64_t)>& work) {
  int64_t repeats = 1;
  std::vector<double> rates;
  for (int window = 0; window < kWindows; ++window) {
    const int64_t time_ns = RunTogetherNs(threads, [&](int64_t thread) {
      for (int64_t i = 0; i < repeats; ++i) work(thread);
    });
    if (window > 0)
      rates.push_back(amount * static_cast<double>(repeats * threads) * 1e9 /
                      static_cast<double>(time_ns));
    if (time_ns < kWindowNs / 2)
      repeats = std::max<int64_t>(repeats + 1, repeats * kWindowNs / time_ns);
  }
  std::sort(rates.begin(), rates.end());
  return {rates.back(), rates.back() > (1 + kQuietSpread) * rates[rates.size() / 2]};
}

Ceiling Arithmetic(const IsaKernels& kernel, int64_t threads) {
  std::vector<float> results(static_cast<size_t>(threads));
  const double flops = 2.0 * kChains * static_cast<double>(kernel.lanes * kRoundsPerCall);
  const Rate rate = BestRate(threads, flops, [&](int64_t thread) {
    results[static_cast<size_t>(thread)] = kernel.multiply_adds(kRoundsPerCall, 0.5f, 0.25f);
  });
  return {kernel.name, threads, rate.per_s, 0, rate.disturbed};
}

// Every thread has its own part of both arrays; `elements` is the length of one part.
Ceiling Bandwidth(const std::string& name, const IsaKernels& kernel, int64_t threads,
                  int64_t elements) {
  struct Arrays {
    std::vector<float> x, y;
  };
  std::vector<Arrays> arrays(static_cast<size_t>(threads));
  for (Arrays& own : arrays) {
    own.x.assign(static_cast<size_t>(elements), 1);
    own.y.assign(static_cast<size_t>(elements), 0);
  }
  const double bytes = 3.0 * sizeof(float) * static_cast<double>(elements);
  const Rate rate = BestRate(threads, bytes, [&](int64_t thread) {
    Arrays& own = arrays[static_cast<size_t>(thread)];
    kernel.stream(own.y.data(), own.x.data(), 0.5f, elements);
  });
  return {name, threads, 0, rate.per_s, rate.disturbed};
}

// Elements of one of two arrays that fill half of the thread's share of a cache.
int64_t ElementsIn(const CpuCache& cache, int64_t threads) {
  const int64_t sharers = std::clamp<int64_t>(cache.shared_by, 1, threads);
  return std::max<int64_t>(256, cache.bytes / sharers / 2 / 2 / int64_t{sizeof(float)});
}

}  // namespace

std::vector<std::string> VectorIsas() {
  std::vector<std::string> names;
  for (const IsaKernels& kernel : SupportedKernels()) names.emplace_back(kernel.name);
  return names;
}

std::vector<Ceiling> MeasureCeilings(const CpuFacts& cpu, std::span<const int64_t> threads) {
  const std::vector<IsaKernels> kernels = SupportedKernels();
  std::vector<Ceiling> ceilings;
  if (kernels.empty()) return ceilings;
  for (const int64_t count : threads) {
    const int64_t together = std::max<int64_t>(1, count);
    for (const IsaKernels& kernel : kernels) ceilings.push_back(Arithmetic(kernel, together));
    int64_t largest = 0;
    for (const CpuCache& cache : cpu.caches) {
      if (cache.type == "Instruction") continue;
      ceilings.push_back(Bandwidth(fmt::format("L{}", cache.level), kernels.back(), together,
                                   ElementsIn(cache, together)));
      largest = std::max(largest, cache.bytes);
    }
    const int64_t memory = std::max(kMemoryBytes, 2 * largest) / int64_t{sizeof(float)};
    ceilings.push_back(Bandwidth("memory", kernels.back(), together, memory / together));
  }
  return ceilings;
}

float RunMultiplyAdds(const std::string& isa, int64_t count, float x, float y) {
  for (const IsaKernels& kernel : SupportedKernels()) {
    if (kernel.name == isa) return kernel.multiply_adds(count, x, y);
  }
  Check(false, "an instruction set that this CPU lacks");
  return 0;
}

}  // namespace tench
