// SPDX-License-Identifier: Apache-2.0
#include "report/stored_facts.h"

#include "report/direct_peak.h"
#include "report/parity_error.h"

namespace tench {

void LabelEffectiveFlops(Ranking& ranking) {
  const DirectPeaks peaks(ranking.studies);
  for (RankGroup& group : ranking.groups) {
    for (RankRow& row : group.rows) {
      const Cell cell = CellOf(ranking, group, row);
      // The peak is measured on the CPU in f32.
      if (!row.flops_per_s || cell.Text(kAxisDevice) != "cpu" || cell.Text(kAxisPrecision) != "f32")
        continue;
      const std::string& machine_id = ranking.by == kByMachine ? row.machine_id : group.machine_id;
      const std::optional<double> peak = peaks.FlopsPerSecond(machine_id, row.threads);
      row.flops_effective |= peak && *row.flops_per_s > *peak;
    }
  }
}

namespace {

Status AddLatency(Store& store, RankRow& row) {
  std::vector<double> step_ns;
  for (const RoundTime& time : row.times) {
    const RunSeries series = TENCH_TRY(store.Series(time.run));
    step_ns.insert(step_ns.end(), series.step_ns.begin(), series.step_ns.end());
  }
  row.latency = LatencyOf(std::move(step_ns));
  return Ok();
}

}  // namespace

Status AddStoredFacts(Store& store, Ranking& ranking) {
  const std::vector<ParityRecord> parities = TENCH_TRY(store.Parities());
  for (RankGroup& group : ranking.groups) {
    for (RankRow& row : group.rows) {
      if (row.loss_run != 0 && !row.loss)
        row.loss = TENCH_TRY(store.LossAt(row.loss_run, group.loss_step));
      const Cell cell = CellOf(ranking, group, row);
      if (row.measured() && HasLatency(cell)) TENCH_TRY(AddLatency(store, row));
      const ParityRecord* parity =
          FindParity(parities, WithSettings(cell, row.settings), row.worker_version, row.build,
                     group.fingerprint, row.rules);
      if (parity == nullptr) continue;
      row.parity_error = parity->worst;
      row.parity_tensor = parity->worst_tensor;
    }
  }
  return Ok();
}

}  // namespace tench
