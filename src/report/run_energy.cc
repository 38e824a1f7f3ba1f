// SPDX-License-Identifier: Apache-2.0
#include "report/run_energy.h"

namespace tench {

std::optional<double> ImageEnergyJ(const RunRecord& run) {
  const RunSummary& summary = run.summary;
  const auto images = static_cast<double>(summary.steps * run.cell.Integer(kAxisBatch));
  if (!summary.steps_energy_j || images <= 0) return std::nullopt;
  return *summary.steps_energy_j / images;
}

std::optional<double> IdleEnergyShare(const RunRecord& run) {
  const RunSummary& summary = run.summary;
  if (!summary.steps_energy_j || *summary.steps_energy_j <= 0 || !summary.idle_power_w ||
      !summary.energy_window_ns)
    return std::nullopt;
  const double window_s = static_cast<double>(*summary.energy_window_ns) * 1e-9;
  return *summary.idle_power_w * window_s / *summary.steps_energy_j;
}

std::string EnergyText(double joules) {
  return joules < 1 ? fmt::format("{:.3g} mJ", joules * 1e3) : fmt::format("{:.3g} J", joules);
}

}  // namespace tench
