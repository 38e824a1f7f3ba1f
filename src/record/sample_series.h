// SPDX-License-Identifier: Apache-2.0
#pragma once
// The samples of one run, their peaks, and their encoding in the store. Bounded: a long run keeps
// every second, then every fourth sample and so on, and always the latest. Peaks and totals cover
// all samples. A value type; not aware of where samples come from.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/sample.h"

namespace tench {

class SampleSeries {
 public:
  // About seven minutes at 10 Hz before the first thinning.
  static constexpr size_t kMostSamples = 4096;

  // In order of time. Ignores a sample without processes.
  void Add(const Sample& sample);

  bool empty() const { return samples_.empty(); }
  const std::vector<Sample>& samples() const { return samples_; }
  // The maximum of each field. For counters this is the total, because the sum drops when a thread
  // ends.
  const Sample& peak() const { return peak_; }
  // The maximum of the summed resident set, or the kernel's high-water mark if it is larger.
  int64_t PeakRssBytes() const;
  int64_t PeakSwapBytes() const { return peak_.swap_bytes; }
  int64_t CpuNs() const { return peak_.cpu_ns; }
  // Mean number of CPUs in use between the first and the last sample; 0 with fewer than two
  // samples.
  double MeanCpus() const;

  // Little-endian, versioned, a few bytes per sample: Decode(Encode()) == *this.
  std::string Encode() const;
  static Result<SampleSeries> Decode(std::string_view blob);

  bool operator==(const SampleSeries&) const = default;

 private:
  void Thin();

  std::vector<Sample> samples_;
  Sample peak_;
  int64_t added_ = 0;
  // samples_[i] is sample number i * stride_, except for the last element, the latest sample.
  int64_t stride_ = 1;
  bool last_is_extra_ = false;
};

}  // namespace tench
