// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parity of one worker. Verify runs the trials of a network in an observing build, compares each
// with the reference's answer, and locates the first difference. VerifyTimed compares the build
// that is timed with the observing build at the same batch. Not aware of the store or the terminal.

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "parity/comparison.h"
#include "record/outcome.h"
#include "run/session/worker_catalog.h"
#include "run/verify/reference_answers.h"

namespace tench {

// Of one trial.
inline constexpr int64_t kTrialTimeoutNs = int64_t{1800} * 1'000'000'000;

struct Verification {
  std::string worker, version;  // as it was asked for ("tensorflow@2.15"), and what it said it is
  SubjectName subject;
  // kOk = verified, kWrong = it computes something else; others (unsupported, crashed, …) as a
  // run's.
  Outcome outcome = Outcome::kOk;
  std::string reason;  // of any other: what differs by how much, and where it begins
  double worst = 0;    // the largest difference over its allowance; at most 1 when verified
  // kOk: false if there was nothing to compare the timed build with, as `reason` says. Not
  // verified.
  bool judged = true;
  // kOk: tensors that no trial discriminates, so that an error in them would pass. Not verified.
  std::vector<std::string> undiscriminated;
  std::string worst_tensor;  // "train: parameters of conv1.weight"
  // kWrong: the first layer, in forward order, whose output differs; "" = no output does.
  std::string first_layer;
  // The tensors furthest from the reference, over their allowance; a few of each trial, the
  // furthest first.
  struct Far {
    std::string trial;
    Deviation deviation;
  };
  std::vector<Far> furthest;
  int64_t wall_ns = 0;

  bool verified() const;
  std::string Summary() const;  // one line: the reason, or the worst tensor
};

class Verifier {
 public:
  using Progress = ReferenceAnswers::Progress;

  Verifier(WorkerCatalog& workers, ReferenceAnswers& answers, StopToken stop);

  // `worker` may name a version. An error is this machine's, the reference's or an unknown name; a
  // stop gives kInterrupted.
  Result<Verification> Verify(const std::string& worker, const SubjectName& name,
                              const Subject& subject, const Progress& progress,
                              int64_t timeout_ns = kTrialTimeoutNs);
  // The timed build of `subject.job` against the observing build of the same worker: losses of the
  // first steps, and what the updates, or the backward pass, leave behind. Only kOk means verified.
  Result<Verification> VerifyTimed(const std::string& worker, const SubjectName& name,
                                   const Subject& subject, const Progress& progress,
                                   int64_t timeout_ns = kTrialTimeoutNs);

 private:
  // Null if the worker is not installed, as `absent` then says.
  Result<const WorkerEntry*> Find(const std::string& worker, Verification& absent) const;

  WorkerCatalog& workers_;
  ReferenceAnswers& answers_;
  const StopToken stop_;
};

}  // namespace tench
