// SPDX-License-Identifier: Apache-2.0
#include "run/study/tuning_search.h"

#include <algorithm>
#include <utility>

namespace tench {
namespace {

constexpr const char* kDefault = "default";
constexpr const char* kDefaultAgain = "default, again";
constexpr const char* kSelectedAgain = "selected, again";
constexpr const char* kNotTried = "not tried: the budget was spent";

bool SetByCell(const Cell& cell, const CellSettings& candidate) {
  return std::ranges::any_of(
      candidate, [&](const auto& setting) { return cell.options.contains(setting.first); });
}

CellSettings Completed(CellSettings settings, const std::map<std::string, std::string>& more) {
  for (const auto& [key, value] : more) settings[key] = value;
  return settings;
}

class Search {
 public:
  Search(const RunTrial& make, Clock& clock, int64_t budget_ns)
      : make_(make), clock_(clock), began_ns_(clock.Now()) {
    record_.budget_ns = budget_ns;
  }

  int64_t Remaining() { return record_.budget_ns - (clock_.Now() - began_ns_); }
  int64_t default_ns() const { return record_.trials.front().wall_ns; }

  // Returns whether the trial's step was measured.
  bool Try(const std::string& candidate, const CellSettings& settings, bool is_default) {
    const TrialEnd end = Make(candidate, settings, is_default);
    if (!end.step_ns) return false;
    if (is_default) record_.default_step_ns = end.step_ns;
    if (is_default || *end.step_ns < kTuningMargin * *record_.best_step_ns) {
      record_.best_step_ns = end.step_ns;
      record_.settings = Completed(settings, end.frozen);
    }
    return true;
  }

  void Confirm() {
    const std::optional<double> usual = Make(kDefaultAgain, {}, false).step_ns;
    if (!usual) return;
    const TrialEnd selected = Make(kSelectedAgain, record_.settings, false);
    // The end of the budget or of the study says nothing about the settings.
    if (selected.outcome == Outcome::kTimeout || selected.outcome == Outcome::kInterrupted) return;
    record_.default_step_ns = std::min(*record_.default_step_ns, *usual);
    if (selected.step_ns && *selected.step_ns < kTuningMargin * *usual) {
      record_.best_step_ns = std::min(*record_.best_step_ns, *selected.step_ns);
    } else {
      record_.settings.clear();
      record_.best_step_ns = record_.default_step_ns;
    }
  }

  void Skip(const std::string& candidate) {
    record_.trials.push_back({candidate, Outcome::kInterrupted, kNotTried, std::nullopt, 0});
  }

  const CellSettings& best() const { return record_.settings; }
  TuningRecord Finish() {
    record_.spent_ns = clock_.Now() - began_ns_;
    return std::move(record_);
  }

 private:
  // `step_ns` is empty unless the trial was ok.
  TrialEnd Make(const std::string& candidate, const CellSettings& settings, bool is_default) {
    const int64_t start_ns = clock_.Now();
    TrialEnd end = make_({candidate, settings, Remaining(), is_default});
    if (end.outcome != Outcome::kOk) end.step_ns.reset();
    record_.trials.push_back(
        {candidate, end.outcome, end.reason, end.step_ns, clock_.Now() - start_ns});
    return end;
  }

  const RunTrial& make_;
  Clock& clock_;
  const int64_t began_ns_;
  TuningRecord record_;
};

}  // namespace

TuningRecord SearchSettings(const Cell& cell, std::span<const CellSettings> candidates,
                            int64_t budget_ns, const RunTrial& make, Clock& clock, StopToken stop) {
  Search search(make, clock, budget_ns);
  // Without a measured default, the cell's runs report the failure themselves.
  if (!search.Try(kDefault, {}, true)) return search.Finish();
  for (const CellSettings& candidate : candidates) {
    if (stop.stop_requested()) break;
    if (SetByCell(cell, candidate)) continue;
    const CellSettings settings = Completed(search.best(), candidate);
    if (settings == search.best()) continue;
    if (search.Remaining() < search.default_ns()) {
      search.Skip(SettingsText(candidate));
    } else {
      search.Try(SettingsText(candidate), settings, false);
    }
  }
  if (!search.best().empty() && !stop.stop_requested() &&
      search.Remaining() >= static_cast<int64_t>(kConfirmingTrials) * search.default_ns())
    search.Confirm();
  return search.Finish();
}

}  // namespace tench
