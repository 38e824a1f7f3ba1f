// SPDX-License-Identifier: Apache-2.0
#include "run/verify/reference_answers.h"

#include <algorithm>

#include "base/file.h"
#include "machine/affinity.h"
#include "net/cost.h"
#include "run/verify/parity_run.h"

namespace tench {
namespace {

constexpr int64_t kPatienceNs =
    int64_t{4} * 3600 * 1'000'000'000;  // naive loops over a deep network
constexpr int64_t kAffordableStepFlops = 15'000'000'000;
constexpr size_t kMaxSketchBytes = 64 << 20;
constexpr TrialKind kSketched[] = {TrialKind::kOps, TrialKind::kGradient, TrialKind::kTrain,
                                   TrialKind::kForward, TrialKind::kOutputs};

// About the rounding of sums of a thousand terms in f32.
constexpr const char* kJitterUlps = "16";
// A pool whose two largest inputs almost agree chooses the other one in some jitters only; the
// largest change of several counts.
constexpr int kJitters = 3;

}  // namespace

std::string SubjectName::FileName(int64_t batch) const {
  std::string name = fmt::format("{}-{}-b{}.json", network, data.empty() ? "file" : data, batch);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::string SubjectName::Label() const { return data.empty() ? network : network + "/" + data; }

ReferenceAnswers::ReferenceAnswers(const WorkerCatalog& workers,
                                   std::vector<std::filesystem::path> sketch_folders,
                                   StopToken stop)
    : workers_(workers), folders_(std::move(sketch_folders)), stop_(stop) {}

bool ReferenceAnswers::Affordable(const SubjectName& name, const Subject& subject) const {
  const auto typed = Infer(subject.network, subject.batch);
  if (typed.ok() && StepFlops(*typed, Phase::kGradient) <= kAffordableStepFlops) return true;
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::filesystem::path& folder) {
    std::error_code error;
    return std::filesystem::exists(folder / name.FileName(subject.batch), error);
  });
}

Result<Answer> ReferenceAnswers::Run(const Subject& subject, const Trial& trial,
                                     const Progress& progress) {
  const WorkerEntry* entry =
      TENCH_TRY(workers_.Find("reference").In("parity needs the reference worker"));
  if (!entry->installed())
    return Failed("parity needs the reference worker, which is not installed (tench doctor)");
  const auto run = [&](const Trial& one) -> Result<Answer> {
    const ParityRun seen = TENCH_TRY(RunTrial(*entry, "", one, kPatienceNs, stop_));
    if (seen.outcome != Outcome::kOk)
      return Failed("reference on {}, {}: {}", subject.network.name, Name(one.kind), seen.reason);
    Answer answer = ReadAnswer(one, seen.tensors(), seen.losses);
    if (!answer.missing.empty())
      return Failed("reference on {}: {}", subject.network.name, answer.missing);
    return answer;
  };
  progress(fmt::format("reference, {}", Name(trial.kind)));
  Answer answer = TENCH_TRY(run(trial));
  if (trial.kind == TrialKind::kOps) return answer;
  Trial jittered = trial;
  jittered.job.options["jitter"] = kJitterUlps;
  for (int i = 0; i < kJitters; ++i) {
    progress(fmt::format("reference, {}, with jitter {} of {}", Name(trial.kind), i + 1, kJitters));
    jittered.job.options["jitter_seed"] = std::to_string(i);
    NoteChanges(TENCH_TRY(run(jittered)), answer);
  }
  return answer;
}

Status ReferenceAnswers::LoadSketches(const std::string& file_name) {
  std::map<std::string, Kept>& trials = kept_[file_name];
  for (const std::filesystem::path& folder : folders_) {
    const std::filesystem::path path = folder / file_name;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    const std::string text = TENCH_TRY(ReadFile(path, kMaxSketchBytes));
    const Json json = TENCH_TRY(ParseJson(text, path.string()));
    Fields fields(json, path.string());
    fields.AllowUnknown();
    const Json& list = fields.Object("trials");
    TENCH_TRY(fields.Finish());
    for (const auto& [name, entry] : list.items()) {
      Fields trial(entry, path.string() + ": " + name);
      Kept kept;
      kept.fingerprint = trial.String("fingerprint");
      const Json& answer = trial.Object("answer");
      TENCH_TRY(trial.Finish());
      kept.answer = TENCH_TRY(AnswerFromJson(answer, path.string() + ": " + name));
      trials[name] = std::move(kept);
    }
    break;
  }
  return Ok();
}

Result<Answer> ReferenceAnswers::Get(const SubjectName& name, const Subject& subject,
                                     TrialKind kind, const Progress& progress) {
  const std::string file_name = name.FileName(subject.batch);
  if (!kept_.contains(file_name)) TENCH_TRY(LoadSketches(file_name));
  Subject plain{subject.network,
                subject.batch,
                static_cast<int64_t>(AllowedCpus().size()),
                "cpu",
                "f32",
                {},
                false};
  const Trial trial = TENCH_TRY(MakeTrial(plain, kind));
  const std::string fingerprint = Fingerprint(trial.job.network);
  std::map<std::string, Kept>& trials = kept_[file_name];
  const std::string key(Name(kind));
  if (const auto found = trials.find(key);
      found != trials.end() && found->second.fingerprint == fingerprint)
    return found->second.answer;
  Answer answer = TENCH_TRY(Run(plain, trial, progress));
  trials[key] = {fingerprint, answer};
  return answer;
}

Status ReferenceAnswers::WriteSketches(const SubjectName& name, const Subject& subject,
                                       const std::filesystem::path& folder,
                                       const Progress& progress) {
  kept_[name.FileName(subject.batch)].clear();  // nothing that was read is taken over
  Json trials = Json::object();
  for (const TrialKind kind : kSketched) {
    const Answer answer = TENCH_TRY(Get(name, subject, kind, progress));
    const Trial trial = TENCH_TRY(MakeTrial(subject, kind));
    trials[std::string(Name(kind))] = {{"fingerprint", Fingerprint(trial.job.network)},
                                       {"answer", ToJson(answer)}};
  }
  const Json json = {
      {"network", name.network}, {"data", name.data}, {"batch", subject.batch}, {"trials", trials}};
  return WriteFileAtomically(folder / name.FileName(subject.batch), PrintJson(json) + "\n");
}

}  // namespace tench
