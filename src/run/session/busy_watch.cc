// SPDX-License-Identifier: Apache-2.0
#include "run/session/busy_watch.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "run/session/run_recorder.h"
#include "stats/noise.h"

namespace tench {
namespace {

constexpr double kOtherCpus = 0.2;  // as `tench doctor`
constexpr double kStealShare = 0.02;
constexpr double kUsedThreads = 0.6;  // of the worker's threads
constexpr int kReadings = 3;
constexpr double kShortestJudgedNs = 0.4e9;

int64_t Ns(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1000;
}

// The CPU time of tench and of all workers that have ended.
int64_t OwnNs() {
  int64_t ns = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    if (getrusage(who, &usage) == 0) ns += Ns(usage.ru_utime) + Ns(usage.ru_stime);
  }
  return ns;
}

double ReadingSpread(std::vector<SentinelReading> readings) {
  double worst = 1;
  for (const auto member : {&SentinelReading::compute_ns, &SentinelReading::memory_ns}) {
    const auto [low, high] = std::minmax_element(
        readings.begin(), readings.end(),
        [&](const SentinelReading& a, const SentinelReading& b) { return a.*member < b.*member; });
    if ((*low).*member > 0)
      worst = std::max(worst,
                       static_cast<double>((*high).*member) / static_cast<double>((*low).*member));
  }
  return worst;
}

}  // namespace

std::vector<std::string> BusyWarnings(const BusyEvidence& evidence) {
  std::vector<std::string> warnings;
  if (evidence.other_cpus && *evidence.other_cpus > kOtherCpus)
    warnings.push_back(fmt::format("other processes used {:.1f} of {:.4g} CPUs",
                                   *evidence.other_cpus, evidence.cpus));
  if (evidence.steal_share && *evidence.steal_share > kStealShare)
    warnings.push_back(fmt::format("the hypervisor gave {:.0f} % of the CPU time to other guests",
                                   *evidence.steal_share * 100));
  if (evidence.sentinel_ratio > kDisturbedAbove)
    warnings.push_back(
        fmt::format("the noise sentinel varied by {:.2f}×", evidence.sentinel_ratio));
  if (evidence.cpu_per_wall &&
      *evidence.cpu_per_wall < kUsedThreads * static_cast<double>(evidence.threads)) {
    warnings.push_back(fmt::format("the steps used {:.2f} CPUs of {} threads{}",
                                   *evidence.cpu_per_wall, evidence.threads,
                                   warnings.empty() ? ", or the worker has sequential parts" : ""));
  }
  return warnings;
}

BusyWatch::BusyWatch() : cpus_(AllowedCpus()), sentinel_(cpus_) {
  before_ = ReadSentinel();
  use_ = ReadCpuUse(cpus_);
  own_ns_ = OwnNs();
  begin_ns_ = NowNs();
}

// The median of three, so that one interrupt is no sign of a busy machine.
SentinelReading BusyWatch::ReadSentinel() {
  std::vector<int64_t> compute, memory;
  for (int i = 0; i < kReadings; ++i) {
    const SentinelReading reading = sentinel_.Read();
    compute.push_back(reading.compute_ns);
    memory.push_back(reading.memory_ns);
  }
  std::sort(compute.begin(), compute.end());
  std::sort(memory.begin(), memory.end());
  readings_.push_back({compute.front(), memory.front()});
  readings_.push_back({compute[kReadings / 2], memory[kReadings / 2]});
  return readings_.back();
}

std::vector<std::string> BusyWatch::Finish(RunRecord& record) {
  BusyEvidence evidence;
  evidence.cpus = static_cast<double>(cpus_.size());
  const auto elapsed_ns = static_cast<double>(NowNs() - begin_ns_);
  const auto own_ns = static_cast<double>(OwnNs() - own_ns_);
  const std::optional<CpuUse> use = ReadCpuUse(cpus_);
  if (use && use_ && elapsed_ns > 0) {
    evidence.other_cpus = (static_cast<double>(use->busy_ns - use_->busy_ns) - own_ns) / elapsed_ns;
    evidence.steal_share =
        static_cast<double>(use->steal_ns - use_->steal_ns) / (elapsed_ns * evidence.cpus);
  }
  const SentinelReading after = ReadSentinel();
  RecordSentinel({before_, after}, record);
  const double timed_ns =
      record.summary.step_ns_mean.value_or(0) * static_cast<double>(record.summary.steps);
  if (timed_ns < kShortestJudgedNs) return {};
  evidence.sentinel_ratio = ReadingSpread(readings_);
  evidence.threads = record.threads;
  evidence.cpu_per_wall = record.summary.cpu_per_wall;
  return BusyWarnings(evidence);
}

}  // namespace tench
