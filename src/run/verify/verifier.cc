// SPDX-License-Identifier: Apache-2.0
#include "run/verify/verifier.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/clock.h"
#include "parity/dropout_probe.h"
#include "parity/update_check.h"
#include "run/verify/parity_run.h"

namespace tench {
namespace {

constexpr size_t kFurthest = 8;  // of each trial

std::string Times(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.3g} times what is allowed", ratio)
                              : "beyond any bound";
}

class OneVerification {
 public:
  OneVerification(const WorkerEntry& entry, const std::string& worker, ReferenceAnswers& answers,
                  const SubjectName& name, const Subject& subject,
                  const Verifier::Progress& progress, int64_t timeout_ns, StopToken stop)
      : entry_(entry),
        version_(WorkerName::Of(worker).version),
        answers_(answers),
        name_(name),
        subject_(subject),
        progress_(progress),
        timeout_ns_(timeout_ns),
        stop_(stop) {
    result_.worker = worker;
    result_.subject = name;
  }

  Result<Verification> Go() {
    const int64_t started_ns = NowNs();
    for (const TrialKind kind : {TrialKind::kGradient, TrialKind::kOps, TrialKind::kSteady,
                                 TrialKind::kTrain, TrialKind::kForward}) {
      if (!TENCH_TRY(Try(kind))) break;
    }
    if (result_.outcome == Outcome::kOk && !DropoutRatios(subject_.job.network).empty())
      TENCH_TRY(TryDropout());
    if (result_.outcome == Outcome::kOk) TENCH_TRY(NoteUndiscriminated());
    result_.wall_ns = NowNs() - started_ns;
    return std::move(result_);
  }

  Result<Verification> GoTimed() {
    const int64_t started_ns = NowNs();
    TENCH_TRY(TryTimed());
    result_.wall_ns = NowNs() - started_ns;
    return std::move(result_);
  }

 private:
  // nullopt if the trial failed; result_ then has its outcome.
  Result<std::optional<ParityRun>> Run(const Trial& trial) {
    progress_(fmt::format("{}, {}", entry_.name, Name(trial.kind)));
    ParityRun seen = TENCH_TRY(RunTrial(entry_, version_, trial, timeout_ns_, stop_));
    if (!seen.version.empty()) result_.version = seen.version;
    if (seen.outcome == Outcome::kOk) return std::optional<ParityRun>(std::move(seen));
    result_.outcome = seen.outcome == Outcome::kDiverged ? Outcome::kWrong : seen.outcome;
    result_.reason = fmt::format("{}: {}", Name(trial.kind), seen.reason);
    return std::optional<ParityRun>();
  }

  Result<bool> Try(TrialKind kind) {
    Calibration calibration;
    if (kind == TrialKind::kTrain || kind == TrialKind::kForward)
      calibration = TENCH_TRY(answers_.GetCalibration(name_, subject_, progress_));
    const Trial trial = TENCH_TRY(MakeTrial(subject_, kind, calibration));
    const std::optional<ParityRun> seen = TENCH_TRY(Run(trial));
    if (!seen) return false;
    const Answer reference = TENCH_TRY(answers_.Get(name_, subject_, kind, progress_));
    const Answer answer = ReadAnswer(trial, seen->tensors(), seen->losses);
    if (!answer.missing.empty()) {
      Fail(fmt::format("{}: {}", Name(kind), answer.missing));
      TENCH_TRY(Locate());
      return false;
    }
    const std::vector<Deviation> deviations = Compare(kind, reference, answer);
    // An op that is right alone may still get a wrong gradient from the network around it.
    if (kind != TrialKind::kOps) NoteDiscriminated(deviations);
    if (!NoteWorst(kind, deviations)) {
      if (kind == TrialKind::kOps) NameOp(trial, deviations);
      if (NamePart(kind, deviations)) return false;
      TENCH_TRY(Locate());
      return kind != TrialKind::kOps && TENCH_TRY(NameOps());
    }
    return kind != TrialKind::kSteady || TryUpdate(trial, *seen);
  }

  // Whether all are within their tolerance; otherwise the worst one becomes the reason.
  bool NoteWorst(TrialKind kind, const std::vector<Deviation>& deviations) {
    NoteFurthest(kind, deviations);
    const auto worst = std::max_element(
        deviations.begin(), deviations.end(),
        [](const Deviation& a, const Deviation& b) { return a.ratio() < b.ratio(); });
    if (worst == deviations.end()) return true;
    if (worst->ratio() >= result_.worst) {
      result_.worst = worst->ratio();
      result_.worst_tensor = fmt::format("{}: {}", Name(kind), worst->what);
    }
    if (worst->ratio() <= 1) return true;
    Fail(fmt::format("{}: {} {} by {:.3g}, {}", Name(kind), worst->what,
                     kind == TrialKind::kOps ? "alone differs" : "differs", worst->difference,
                     Times(worst->ratio())));
    return false;
  }

  bool TryUpdate(const Trial& trial, const ParityRun& seen) {
    const std::vector<Deviation> updates = CheckUpdate(trial, seen.tensors());
    NoteDiscriminated(updates);
    if (NoteWorst(trial.kind, updates)) return true;
    result_.reason +=
        " (in ulps, recomputed from the worker's own gradient): the fault is in the optimizer's "
        "update";
    return false;
  }

  void NoteDiscriminated(const std::vector<Deviation>& deviations) {
    for (const Deviation& one : deviations) {
      if (one.discriminates()) discriminated_.insert(one.key);
    }
  }

  // Every gradient, every update and every running statistic needs a trial that would detect an
  // error in it. A movement covers both the gradient and the update.
  Status NoteUndiscriminated() {
    const TypedGraph graph = TENCH_TRY(Infer(subject_.job.network, subject_.batch));
    const auto any = [&](const std::string& name, std::initializer_list<const char*> kinds) {
      return std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
        return discriminated_.contains(kind + "/" + name);
      });
    };
    for (const Parameter& parameter : graph.parameters) {
      if (!parameter.trained && !any(parameter.name, {"state"}))
        result_.undiscriminated.push_back(parameter.name);
      if (parameter.trained && !any(parameter.name, {"gradients", "parameters"}))
        result_.undiscriminated.push_back("the gradient of " + parameter.name);
      if (parameter.trained && parameter.lr_mult != 0 &&
          !any(parameter.name, {"update", "parameters"}))
        result_.undiscriminated.push_back("the update of " + parameter.name);
    }
    NameUndiscriminated("no trial discriminates");
    return Ok();
  }

  void NameUndiscriminated(std::string_view who) {
    if (result_.undiscriminated.empty()) return;
    result_.reason = fmt::format("{} {}: its tolerance exceeds a tenth of its norm", who,
                                 result_.undiscriminated.front());
    if (const size_t others = result_.undiscriminated.size() - 1; others > 0)
      result_.reason += fmt::format(" ({} more)", others);
  }

  Status TryTimed() {
    const Calibration calibration = TENCH_TRY(answers_.GetCalibration(name_, subject_, progress_));
    const Trial timed = TENCH_TRY(MakeTimedTrial(subject_, calibration, false)),
                twin = TENCH_TRY(MakeTimedTrial(subject_, calibration, true));
    const std::optional<ParityRun> observed = TENCH_TRY(Run(twin));
    if (!observed) {
      result_.reason =
          fmt::format("the observing build at batch {}: {}", subject_.job.batch, result_.reason);
      // Nothing is known of the timed build.
      if (result_.outcome == Outcome::kWrong || result_.outcome == Outcome::kOutOfMemory) {
        result_.outcome = Outcome::kOk;
        result_.judged = false;
      }
      return Ok();
    }
    const std::optional<ParityRun> seen = TENCH_TRY(Run(timed));
    if (!seen) return Ok();
    const Answer expected = ReadAnswer(twin, observed->tensors(), observed->losses),
                 got = ReadAnswer(timed, seen->tensors(), seen->losses);
    for (const Answer* answer : {&expected, &got}) {
      if (answer->missing.empty()) continue;
      Fail(fmt::format("timed: {}", answer->missing));
      return Ok();
    }
    const TrialKind model = ToleranceTrial(subject_.job.phase);
    const Answer reference = TENCH_TRY(answers_.Get(name_, subject_, model, progress_));
    const std::vector<Deviation> deviations = CompareBuilds(model, reference, expected, got);
    if (!NoteWorst(TrialKind::kTimed, deviations)) {
      result_.reason +=
          fmt::format("; the observing build at batch {} has another result than the timed one",
                      subject_.job.batch);
      return Ok();
    }
    // A tensor of zeros is discriminated by any other value.
    for (const Deviation& one : deviations) {
      if (!one.key.empty() && one.norm > 0 && !one.discriminates())
        result_.undiscriminated.push_back("the " + one.what);
    }
    NameUndiscriminated("the timed trial does not discriminate");
    return Ok();
  }

  static TrialKind ToleranceTrial(Phase phase) {
    switch (phase) {
      case Phase::kForward:
        return TrialKind::kForward;
      case Phase::kGradient:
        return TrialKind::kSteady;
      case Phase::kTrain:
        break;
    }
    return TrialKind::kTrain;
  }

  // Names the part that is wrong although every layer's output agrees. Gradients were checked
  // before.
  bool NamePart(TrialKind kind, const std::vector<Deviation>& deviations) {
    const auto differs = [&](std::string_view what) {
      return std::any_of(deviations.begin(), deviations.end(), [&](const Deviation& one) {
        return one.what.starts_with(what) && one.ratio() > 1;
      });
    };
    const bool others =
        differs("outputs of ") || differs("gradients of ") || differs("parameters of ");
    if (kind == TrialKind::kForward) {
      result_.reason +=
          "; the training trials agree, so the fault is in inference (running statistics, dropout "
          "as the identity, auxiliary losses)";
      return true;
    }
    if (kind != TrialKind::kGradient && differs("state of ") && !others) {
      result_.reason += "; nothing else differs, so the fault is in the running statistics";
      return true;
    }
    if (kind == TrialKind::kTrain)
      result_.reason +=
          "; the first step's gradients and its update agree, so the fault is in what one step "
          "leaves to the next";
    return kind == TrialKind::kTrain;
  }

  void NoteFurthest(TrialKind kind, std::vector<Deviation> deviations) {
    std::stable_sort(deviations.begin(), deviations.end(),
                     [](const Deviation& a, const Deviation& b) { return a.ratio() > b.ratio(); });
    if (deviations.size() > kFurthest) deviations.resize(kFurthest);
    for (Deviation& deviation : deviations)
      result_.furthest.push_back({std::string(Name(kind)), std::move(deviation)});
  }

  void Fail(std::string reason) {
    if (result_.outcome == Outcome::kOk) result_.reason = std::move(reason);
    result_.outcome = Outcome::kWrong;
  }

  // An op that is wrong alone is the strongest evidence.
  void NameOp(const Trial& trial, const std::vector<Deviation>& deviations) {
    std::vector<std::string> wrong;
    for (const WantedTensor& wanted : trial.Wanted()) {
      const std::string what = wanted.kind + " of " + wanted.name;
      const auto found = std::find_if(deviations.begin(), deviations.end(),
                                      [&](const Deviation& d) { return d.what == what; });
      if (found == deviations.end() || found->ratio() <= 1) continue;
      const std::string layer =
          wanted.kind == "outputs" ? wanted.name : wanted.name.substr(0, wanted.name.rfind('.'));
      const std::string& op = trial.branch_of.at(layer);
      if (std::find(wrong.begin(), wrong.end(), op) == wrong.end()) wrong.push_back(op);
    }
    if (wrong.empty()) return;
    const std::vector<Layer>& layers = subject_.job.network.layers;
    const auto layer = std::find_if(layers.begin(), layers.end(),
                                    [&](const Layer& one) { return one.name == wrong.front(); });
    result_.reason +=
        fmt::format("; wrong alone: {} ({}){}", wrong.front(), OpName(layer->op),
                    wrong.size() > 1 ? fmt::format(" and {} more", wrong.size() - 1) : "");
  }

  // After a failure of the whole network, checks whether one op alone explains it. Returns false:
  // no further trial follows.
  Result<bool> NameOps() {
    const Trial trial = TENCH_TRY(MakeTrial(subject_, TrialKind::kOps));
    const Outcome outcome = result_.outcome;
    const std::string reason = result_.reason;
    const std::optional<ParityRun> seen = TENCH_TRY(Run(trial));
    if (!seen) {
      result_.reason = fmt::format("{}; {}", reason, result_.reason);
      result_.outcome = outcome;
      return false;
    }
    const Answer reference = TENCH_TRY(answers_.Get(name_, subject_, TrialKind::kOps, progress_));
    const std::vector<Deviation> deviations =
        Compare(TrialKind::kOps, reference, ReadAnswer(trial, seen->tensors(), seen->losses));
    NoteFurthest(TrialKind::kOps, deviations);
    NameOp(trial, deviations);
    return false;
  }

  // The first layer, in forward order, whose output differs.
  Status Locate() {
    const Trial trial = TENCH_TRY(MakeTrial(subject_, TrialKind::kOutputs));
    const Answer reference =
        TENCH_TRY(answers_.Get(name_, subject_, TrialKind::kOutputs, progress_));
    progress_(fmt::format("{}, looking for the first layer that differs", entry_.name));
    const ParityRun seen = TENCH_TRY(RunTrial(entry_, version_, trial, timeout_ns_, stop_));
    if (seen.outcome != Outcome::kOk) return Ok();
    const Answer answer = ReadAnswer(trial, seen.tensors(), seen.losses);
    for (const Deviation& deviation : Compare(TrialKind::kOutputs, reference, answer)) {
      if (!deviation.what.starts_with("outputs of ") || deviation.ratio() <= 1) continue;
      result_.first_layer = deviation.what.substr(std::string_view("outputs of ").size());
      result_.reason +=
          fmt::format("; the first layer whose output differs is {}", result_.first_layer);
      return Ok();
    }
    result_.reason +=
        "; every layer's output agrees, so the difference is in the backward pass or the losses' "
        "weights";
    return Ok();
  }

  Status TryDropout() {
    const Trial trial = TENCH_TRY(MakeTrial(subject_, TrialKind::kDropout));
    const std::optional<ParityRun> seen = TENCH_TRY(Run(trial));
    if (!seen) return Ok();
    const std::string complaint = JudgeDropout(trial, seen->snapshots());
    if (!complaint.empty()) Fail("dropout: " + complaint);
    return Ok();
  }

  const WorkerEntry& entry_;
  const std::string version_;  // asked for
  ReferenceAnswers& answers_;
  const SubjectName& name_;
  const Subject& subject_;
  const Verifier::Progress& progress_;
  const int64_t timeout_ns_;
  const StopToken stop_;
  std::set<std::string> discriminated_;  // keys of deviations
  Verification result_;
};

}  // namespace

bool Verification::verified() const {
  return outcome == Outcome::kOk && judged && undiscriminated.empty();
}

std::string Verification::Summary() const { return verified() ? worst_tensor : reason; }

Verifier::Verifier(WorkerCatalog& workers, ReferenceAnswers& answers, StopToken stop)
    : workers_(workers), answers_(answers), stop_(stop) {}

Result<const WorkerEntry*> Verifier::Find(const std::string& worker, Verification& absent) const {
  const WorkerEntry* entry = TENCH_TRY(workers_.Find(WorkerName::Of(worker).name));
  if (entry->installed()) return entry;
  absent.worker = worker;
  absent.outcome = Outcome::kUnsupported;
  absent.reason =
      entry->install.empty() ? "not installed" : "not installed; to install: " + entry->install;
  return nullptr;
}

Result<Verification> Verifier::Verify(const std::string& worker, const SubjectName& name,
                                      const Subject& subject, const Progress& progress,
                                      int64_t timeout_ns) {
  Verification absent;
  absent.subject = name;
  const WorkerEntry* entry = TENCH_TRY(Find(worker, absent));
  if (entry == nullptr) return absent;
  return OneVerification(*entry, worker, answers_, name, subject, progress, timeout_ns, stop_).Go();
}

Result<Verification> Verifier::VerifyTimed(const std::string& worker, const SubjectName& name,
                                           const Subject& subject, const Progress& progress,
                                           int64_t timeout_ns) {
  Verification absent;
  absent.subject = name;
  const WorkerEntry* entry = TENCH_TRY(Find(worker, absent));
  if (entry == nullptr) return absent;
  return OneVerification(*entry, worker, answers_, name, subject, progress, timeout_ns, stop_)
      .GoTimed();
}

}  // namespace tench
