// SPDX-License-Identifier: Apache-2.0
#include "run/study/retry.h"

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "protocol/missing_fact.h"

namespace tench {
namespace {

// The kernel's own share of the memory varies between boots by less than this.
constexpr double kSameMemory = 0.01;

bool Differs(int64_t before, int64_t now) {
  const auto largest = static_cast<double>(std::max(before, now));
  return static_cast<double>(std::abs(before - now)) > kSameMemory * largest;
}

}  // namespace

RetryConditions::RetryConditions(WorkerCatalog& workers, const HostFacts& host,
                                 const WorkerBuilds& builds)
    : workers_(workers), builds_(builds), memory_bytes_(host.UsableMemoryBytes()) {
  for (const WorkerEntry& entry : workers.entries()) {
    if (entry.installed()) installed_.push_back(entry.name);
  }
  devices_.push_back(fmt::format("cpu x{}", host.allowed_cpus.size()));
  for (const GpuDevice& gpu : host.gpus)
    devices_.push_back(fmt::format("{} {}", gpu.name, HumanBytes(gpu.memory_bytes)));
}

std::string RetryConditions::For(const RunRecord& run) const {
  Json json = {{"workers", installed_}, {"memory_bytes", memory_bytes_}, {"devices", devices_}};
  if (run.outcome == Outcome::kUnsupported) json["missing"] = MissingOf(run.cell.Text(kAxisWorker));
  return PrintJson(json);
}

bool RetryConditions::Changed(const RunRecord& run) const {
  const std::string& worker = run.cell.Text(kAxisWorker);
  const auto build = builds_.find(worker);
  if (build != builds_.end() && build->second != run.build) return true;
  const Result<Json> before = ParseJson(run.conditions, "conditions");
  if (!before.ok() || !before->is_object()) return false;
  const auto same = [&](const char* name, const Json& now) {
    return !before->contains(name) || before->at(name) == now;
  };
  const Json memory = before->value("memory_bytes", Json());
  return !same("workers", Json(installed_)) || !same("devices", Json(devices_)) ||
         (memory.is_number_integer() && Differs(memory.get<int64_t>(), memory_bytes_)) ||
         (before->contains("missing") && !same("missing", MissingOf(worker)));
}

std::string RetryConditions::MissingOf(const std::string& worker) const {
  const auto [name, version] = WorkerName::Of(worker);
  const Result<const WorkerEntry*> entry = workers_.Find(name);
  if (!entry.ok() || !(*entry)->installed()) return "";
  const Result<Description> description = workers_.Describe(**entry, version);
  if (!description.ok()) return description.error().message;
  const auto missing = description->facts.find(kMissingFact);
  return missing == description->facts.end() ? "" : missing->second;
}

}  // namespace tench
