// SPDX-License-Identifier: Apache-2.0
#include "run/session/job_axes.h"

#include <array>

#include "base/text.h"
#include "net/solver_name.h"
#include "record/rules.h"
#include "run/session/isa_limit.h"

namespace tench {
namespace {

constexpr const char* kByFingerprint = "the network's fingerprint represents it";
constexpr const char* kOwnData = "trials generate their own batches";
constexpr const char* kOwnRate = "trials calibrate the learning rate to the network";

constexpr const char* kBySettings = "trials run the settings that tuning selected";

constexpr std::array<AxisUse, kAxisCount> kUses = {{
    {kAxisWorker, nullptr, ParityUse::kIdentity, "the worker and its version represent it"},
    {kAxisNetwork, nullptr, ParityUse::kIdentity, kByFingerprint},
    {kAxisData, nullptr, ParityUse::kIdentity, kByFingerprint},
    {kAxisDevice, [](const Cell& cell, Job& job) { job.device = cell.Text(kAxisDevice); },
     ParityUse::kKey, ""},
    {kAxisThreads, [](const Cell& cell, Job& job) { job.threads = cell.Integer(kAxisThreads); },
     ParityUse::kTimedKey, ""},
    {kAxisBatch, [](const Cell& cell, Job& job) { job.batch = cell.Integer(kAxisBatch); },
     ParityUse::kTimedKey, ""},
    {kAxisPrecision, [](const Cell& cell, Job& job) { job.precision = cell.Text(kAxisPrecision); },
     ParityUse::kKey, ""},
    {kAxisPhase, [](const Cell& cell, Job& job) { job.phase = cell.phase(); }, ParityUse::kTimedKey,
     ""},
    {kAxisInput, [](const Cell& cell, Job& job) { job.cycled = cell.Text(kAxisInput) == "cycled"; },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisImages, [](const Cell& cell, Job& job) { job.images = cell.Integer(kAxisImages); },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisLabels, [](const Cell& cell, Job& job) { job.labels = cell.Integer(kAxisLabels); },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisLength, nullptr, ParityUse::kIdentity, kByFingerprint},
    {kAxisLr, [](const Cell& cell, Job& job) { job.solver.lr = cell.Real(kAxisLr); },
     ParityUse::kIrrelevant, kOwnRate},
    {kAxisMomentum,
     [](const Cell& cell, Job& job) { job.solver.momentum = cell.Real(kAxisMomentum); },
     ParityUse::kTimedKey, ""},
    {kAxisWeightDecay,
     [](const Cell& cell, Job& job) { job.solver.weight_decay = cell.Real(kAxisWeightDecay); },
     ParityUse::kTimedKey, ""},
    {kAxisSeed,
     [](const Cell& cell, Job& job) { job.seed = static_cast<uint64_t>(cell.Integer(kAxisSeed)); },
     ParityUse::kIrrelevant, "trials have their own seed"},
    {kAxisTuned, nullptr, ParityUse::kIrrelevant, kBySettings},
    {kAxisPlacement, nullptr, ParityUse::kIrrelevant, "the CPUs of the threads affect no result"},
    {kAxisDataThreads,
     [](const Cell& cell, Job& job) { job.data_threads = cell.Integer(kAxisDataThreads); },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisPrefetch, [](const Cell& cell, Job& job) { job.prefetch = cell.Integer(kAxisPrefetch); },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisOptimizer,
     [](const Cell& cell, Job& job) {
       const Result<OptimizerName> name = ParseOptimizer(cell.Text(kAxisOptimizer));
       Check(name.ok(), "a cell's optimizer is valid");
       SetOptimizer(*name, job.solver);
       if (!UsesMomentum(job.solver.type)) job.solver.momentum = 0;
     },
     ParityUse::kLaterKey, ""},
    {kAxisLrPolicy, nullptr, ParityUse::kIrrelevant, kOwnRate},
    {kAxisIsa,
     [](const Cell& cell, Job& job) { job.environment = IsaVariables(cell.Text(kAxisIsa)); },
     ParityUse::kLaterKey, ""},
}};

constexpr bool EveryAxisHasItsRow() {
  for (size_t i = 0; i < kAxisCount; ++i) {
    if (kUses[i].axis != i || kUses[i].reason == nullptr) return false;
  }
  return true;
}
static_assert(EveryAxisHasItsRow(), "a new axis needs a row: its effect on a job and on parity");

}  // namespace

std::span<const AxisUse> AxisUses() { return kUses; }

void ApplyAxes(const Cell& cell, Job& job) {
  job.environment.clear();
  for (const AxisUse& use : kUses) {
    if (use.apply) use.apply(cell, job);
  }
  job.options = OptionsOf(cell.options);
  for (const auto& [name, value] : EnvironmentOf(cell.options)) job.environment[name] = value;
}

namespace {

void AddAxes(const Cell& cell, ParityUse wanted, std::vector<std::string>& parts) {
  for (const AxisUse& use : kUses) {
    const Axis& axis = Axes()[use.axis];
    const bool part =
        use.parity == wanted || (use.parity == ParityUse::kLaterKey && wanted == ParityUse::kKey &&
                                 cell.values[use.axis] != axis.fallback);
    if (part) parts.push_back(fmt::format("{}={}", axis.name, axis.Print(cell.values[use.axis])));
  }
}

}  // namespace

std::string ParitySetting(const Cell& cell) {
  std::vector<std::string> parts = {fmt::format("rules={}", kRules)};
  AddAxes(cell, ParityUse::kKey, parts);
  for (const auto& [name, value] : cell.options)
    parts.push_back(fmt::format("{}={}", SettingName(name), value));
  return Join(parts, " ");
}

std::string TimedSetting(const Cell& cell) {
  std::vector<std::string> parts = {"timed"};
  AddAxes(cell, ParityUse::kTimedKey, parts);
  parts.push_back(ParitySetting(cell));
  return Join(parts, " ");
}

}  // namespace tench
