// SPDX-License-Identifier: Apache-2.0
#include "machine/sentinel.h"

#include <sched.h>

#include <functional>
#include <latch>
#include <thread>

#include "base/clock.h"

namespace tench {
namespace {

constexpr int64_t kComputeSteps = 2'000'000;      // per thread: about 3 ms
constexpr size_t kMemoryWords = size_t{4} << 20;  // 32 MiB over all threads

// Four chains of dependent multiply-adds: bound by latency, so the time depends only on the clock
// frequency.
uint64_t Compute(uint64_t seed) {
  uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3;
  for (int64_t i = 0; i < kComputeSteps; ++i) {
    a = a * 6364136223846793005u + 1442695040888963407u;
    b = b * 6364136223846793005u + 1442695040888963407u;
    c = c * 6364136223846793005u + 1442695040888963407u;
    d = d * 6364136223846793005u + 1442695040888963407u;
    // Prevents the compiler from merging iterations.
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  return a ^ b ^ c ^ d;
}

uint64_t Stream(const uint64_t* begin, const uint64_t* end) {
  uint64_t sums[8] = {};
  for (const uint64_t* at = begin; at + 8 <= end; at += 8) {
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += at[lane];
  }
  uint64_t sum = 0;
  for (const uint64_t lane : sums) sum += lane;
  return sum;
}

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  // Without permission to pin, the scheduler chooses the CPU.
  (void)sched_setaffinity(0, sizeof set, &set);
}

// A latch starts the work, so that the time excludes thread creation.
int64_t TimeTogetherNs(const std::vector<int>& cpus, const std::function<void(size_t)>& work) {
  std::latch ready(static_cast<std::ptrdiff_t>(cpus.size())), go(1);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      PinTo(cpus[i]);
      ready.count_down();
      go.wait();
      work(i);
    });
  }
  ready.wait();
  const int64_t begin_ns = NowNs();
  go.count_down();
  threads.clear();
  return NowNs() - begin_ns;
}

}  // namespace

Sentinel::Sentinel(std::vector<int> cpus) : cpus_(std::move(cpus)), memory_(kMemoryWords, 1) {
  if (cpus_.empty()) cpus_.push_back(sched_getcpu());
}

SentinelReading Sentinel::Read() {
  std::vector<uint64_t> results(cpus_.size());
  SentinelReading reading;
  reading.compute_ns = TimeTogetherNs(cpus_, [&](size_t i) { results[i] = Compute(sink_ + i); });
  const size_t share = memory_.size() / cpus_.size();
  reading.memory_ns = TimeTogetherNs(cpus_, [&](size_t i) {
    results[i] ^= Stream(memory_.data() + i * share, memory_.data() + (i + 1) * share);
  });
  for (const uint64_t result : results) sink_ ^= result;
  return reading;
}

}  // namespace tench
