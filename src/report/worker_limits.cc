// SPDX-License-Identifier: Apache-2.0
#include "report/worker_limits.h"

#include "base/json.h"

namespace tench {
namespace {

constexpr const char* kFact = "cannot_use";

}  // namespace

void WorkerLimits::Add(const RunRecord& run) {
  // A fast check, because most workers have no limit, and there may be a hundred thousand runs.
  if (run.worker_json.find(kFact) == std::string::npos) return;
  const std::string& name = run.cell.Text(kAxisWorker);
  const std::string worker = name.substr(0, name.find('@'));
  if (texts_.contains(worker)) return;
  const Json hello = Json::parse(run.worker_json, nullptr, false);
  const Json::json_pointer place("/worker/facts/" + std::string(kFact));
  if (hello.is_object() && hello.contains(place) && hello[place].is_string())
    texts_[worker] = hello[place].get<std::string>();
}

}  // namespace tench
