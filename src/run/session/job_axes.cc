// SPDX-License-Identifier: Apache-2.0
#include "run/session/job_axes.h"

#include <array>

#include "base/text.h"

namespace tench {
namespace {

constexpr const char* kByFingerprint = "the network's fingerprint stands for it";
constexpr const char* kOwnData = "trials generate their own batches";
constexpr const char* kOwnSolver = "the train trial has a solver of its own";

constexpr std::array<AxisUse, kAxisCount> kUses = {{
    {kAxisWorker, nullptr, ParityUse::kIdentity, "the worker and its version stand for it"},
    {kAxisNetwork, nullptr, ParityUse::kIdentity, kByFingerprint},
    {kAxisData, nullptr, ParityUse::kIdentity, kByFingerprint},
    {kAxisDevice, [](const Cell& cell, Job& job) { job.device = cell.Text(kAxisDevice); },
     ParityUse::kKey, ""},
    {kAxisThreads, [](const Cell& cell, Job& job) { job.threads = cell.Integer(kAxisThreads); },
     ParityUse::kIrrelevant, "threads divide the work and do not change the result"},
    {kAxisBatch, [](const Cell& cell, Job& job) { job.batch = cell.Integer(kAxisBatch); },
     ParityUse::kIrrelevant, "trials have a batch size of their own"},
    {kAxisPrecision, [](const Cell& cell, Job& job) { job.precision = cell.Text(kAxisPrecision); },
     ParityUse::kKey, ""},
    {kAxisPhase, [](const Cell& cell, Job& job) { job.phase = cell.phase(); },
     ParityUse::kIrrelevant, "the trials cover every phase"},
    {kAxisInput, [](const Cell& cell, Job& job) { job.cycled = cell.Text(kAxisInput) == "cycled"; },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisImages, [](const Cell& cell, Job& job) { job.images = cell.Integer(kAxisImages); },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisLabels, [](const Cell& cell, Job& job) { job.labels = cell.Integer(kAxisLabels); },
     ParityUse::kIrrelevant, kOwnData},
    {kAxisLength, nullptr, ParityUse::kIdentity, kByFingerprint},
    {kAxisLr, [](const Cell& cell, Job& job) { job.solver.lr = cell.Real(kAxisLr); },
     ParityUse::kIrrelevant, kOwnSolver},
    {kAxisMomentum,
     [](const Cell& cell, Job& job) { job.solver.momentum = cell.Real(kAxisMomentum); },
     ParityUse::kIrrelevant, kOwnSolver},
    {kAxisWeightDecay,
     [](const Cell& cell, Job& job) { job.solver.weight_decay = cell.Real(kAxisWeightDecay); },
     ParityUse::kIrrelevant, kOwnSolver},
    {kAxisSeed,
     [](const Cell& cell, Job& job) { job.seed = static_cast<uint64_t>(cell.Integer(kAxisSeed)); },
     ParityUse::kIrrelevant, "trials have a seed of their own"},
    {kAxisTuned, [](const Cell& cell, Job& job) { job.tuned = cell.Text(kAxisTuned) == "yes"; },
     ParityUse::kKey, ""},
}};

constexpr bool EveryAxisHasItsRow() {
  for (size_t i = 0; i < kAxisCount; ++i) {
    if (kUses[i].axis != i || kUses[i].reason == nullptr) return false;
  }
  return true;
}
static_assert(EveryAxisHasItsRow(), "say what the new axis means for a job and for parity");

}  // namespace

std::span<const AxisUse> AxisUses() { return kUses; }

void ApplyAxes(const Cell& cell, Job& job) {
  for (const AxisUse& use : kUses) {
    if (use.apply) use.apply(cell, job);
  }
  job.options = cell.options;
}

std::string ParitySetting(const Cell& cell) {
  std::vector<std::string> parts;
  for (const AxisUse& use : kUses) {
    const Axis& axis = Axes()[use.axis];
    if (use.parity == ParityUse::kKey)
      parts.push_back(fmt::format("{}={}", axis.name, axis.Print(cell.values[use.axis])));
  }
  for (const auto& [name, value] : cell.options)
    parts.push_back(fmt::format("option.{}={}", name, value));
  return Join(parts, " ");
}

}  // namespace tench
