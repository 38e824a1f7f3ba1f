// SPDX-License-Identifier: Apache-2.0
#pragma once
// Judges the losses of a study's runs by stats/loss_agreement.h. Runs of one study are compared if
// they differ only in the worker, its version, its build and its options. The runner judges once,
// after the last run, and stores the judgement. Readers judge the runs without one, such as those
// of a killed sweep.
//
// Not compared: single runs, runs of an older tench, precisions other than f32 (the tolerances are
// for f32), and networks whose steps draw dropout masks.
// Thread safety: no shared state.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "stats/loss_agreement.h"
#include "store/store.h"

namespace tench {

struct LossJudgement {
  int64_t run = 0;     // id in the store
  std::string reason;  // why it is wrong; "" = its losses agree
};

class StudyLosses {
 public:
  // Accepts any run of any study; runs that are not compared are ignored. A judged run is evidence.
  void Add(const RunRecord& run);
  // Judges the runs without a stored judgement.
  std::vector<LossJudgement> Judge() const;

 private:
  struct Group {
    StepUpdate update = StepUpdate::kNone;
    std::vector<LossTrace> traces;
    std::vector<int64_t> runs;
    std::vector<bool> judged;
  };
  std::map<std::string, Group> groups_;  // by study, fingerprint and the shared part of the cell
};

// Applies the judgement to a record. A run whose losses disagree becomes `wrong` and loses the
// flags `verified` and `unverified`, which only an `ok` run has.
void Apply(const LossJudgement& judgement, RunRecord& run);

// Store::ForEachRun over a study, or over all runs, with judgements applied to the runs without a
// stored one. Failed attempts that a later attempt replaced are left out, and so are profiled runs,
// whose times are not comparable.
Status ForEachJudgedRun(Store& store, std::optional<int64_t> study,
                        const std::function<bool(const RunRecord&)>& each);

}  // namespace tench
