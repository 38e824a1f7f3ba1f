// SPDX-License-Identifier: Apache-2.0
#include "report/html/cell_profile.h"

#include <map>

#include "base/plural.h"
#include "base/text.h"
#include "plan/matrix.h"
#include "record/run_flag.h"

namespace tench {
namespace {

constexpr size_t kMostProfiles = 40;  // a profile has up to a few hundred rows

std::string Title(const RunRecord& run) {
  const Cell& cell = run.cell;
  const std::string& data = cell.Text(kAxisData);
  return fmt::format("{}{}, batch {}, {}, {}", cell.Text(kAxisNetwork),
                     data.empty() ? "" : " on " + data, cell.Integer(kAxisBatch),
                     cell.Text(kAxisPhase), Plural(run.threads, "thread"));
}

std::string SeriesName(const Cell& cell) {
  const std::string settings = SettingsText(cell.options);
  return cell.Text(kAxisWorker) + (settings.empty() ? "" : " " + settings);
}

}  // namespace

Result<std::vector<CellProfile>> ReadProfiles(Store& store, const RunSelector& only,
                                              Anonymizer* names) {
  std::vector<RunRecord> runs;
  std::map<std::pair<std::string, std::string>, size_t> places;  // by machine and cell
  TENCH_TRY(store.ForEachRun({}, [&](const RunRecord& run) {
    if (!HasFlag(run.flags, kFlagProfiled) || run.outcome != Outcome::kOk ||
        !run.summary.step_ns_mean || (!only.empty() && !only.Matches(run)))
      return true;
    const auto [place, fresh] = places.emplace(std::pair(run.machine_id, run.cell_id), runs.size());
    if (fresh && runs.size() == kMostProfiles) {
      places.erase(place);
    } else if (fresh) {
      runs.push_back(run);
    } else {
      runs[place->second] = run;
    }
    return true;
  }));
  std::vector<CellProfile> profiles;
  for (const RunRecord& stored : runs) {
    Census census = TENCH_TRY(store.Series(stored.id)).census;
    if (census.steps == 0) continue;
    const RunRecord run = names != nullptr ? names->Apply(stored) : stored;
    profiles.push_back({run.machine_id + " " + ComparedGroup(run.cell), Title(run),
                        SeriesName(run.cell), stored.cell_id, std::move(census),
                        *run.summary.step_ns_mean});
  }
  return profiles;
}

}  // namespace tench
