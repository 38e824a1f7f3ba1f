// SPDX-License-Identifier: Apache-2.0
#include "run/verify/reference_answers.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "net/cost.h"
#include "parity/calibration.h"
#include "run/verify/parity_run.h"

namespace tench {
namespace {

constexpr int64_t kPatienceNs =
    int64_t{4} * 3600 * 1'000'000'000;  // naive loops over a deep network
constexpr int64_t kAffordableStepFlops = 15'000'000'000;
constexpr size_t kMaxSketchBytes = 64 << 20;
constexpr TrialKind kSketched[] = {TrialKind::kOps,   TrialKind::kGradient, TrialKind::kSteady,
                                   TrialKind::kTrain, TrialKind::kForward,  TrialKind::kOutputs};

// About the rounding of sums of a thousand terms in f32.
constexpr const char* kJitterUlps = "16";
// If the two largest inputs of a pooling window nearly tie, only some jitters change the choice.
// The largest change over several jitters counts.
constexpr int kJitters = 3;
// For committed sketches, whose trials take minutes.
constexpr int kSketchJitters = 1;

// The reference's update is not compared with anything: a worker's is recomputed from its own
// gradient. Gradients do not depend on momenta.
Trial WithoutUpdate(Trial trial) {
  if (trial.kind != TrialKind::kSteady) return trial;
  trial.job.phase = Phase::kGradient;
  trial.job.tensors.parameters = false;
  std::erase_if(trial.reals,
                [](const auto& tensor) { return tensor.first.ends_with(".momentum"); });
  return trial;
}

// Of the network and of the tensors that the trial loads.
std::string TrialFingerprint(const Trial& trial) {
  std::string fingerprint = Fingerprint(trial.job.network);
  uint64_t hash = 0;
  for (const auto& [name, values] : trial.reals) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(float));
    hash = hash * 31 + Hash64(name) + Hash64(bytes);
  }
  if (!trial.reals.empty()) fingerprint += "-" + Hex64(hash);
  return fingerprint;
}

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
    : workers_(workers), folders_(std::move(sketch_folders)), stop_(stop), jitters_(kJitters) {}

bool ReferenceAnswers::Affordable(const SubjectName& name, const Subject& subject) const {
  const auto typed = Infer(subject.job.network, subject.batch);
  if (typed.ok() && StepFlops(*typed, Phase::kGradient) <= kAffordableStepFlops) return true;
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::filesystem::path& folder) {
    std::error_code error;
    return std::filesystem::exists(folder / name.FileName(subject.batch), error);
  });
}

Result<Answer> ReferenceAnswers::Run(const Trial& trial, int jitters, const Progress& progress) {
  const WorkerEntry* entry =
      TENCH_TRY(workers_.Find("reference").In("parity needs the reference worker"));
  if (!entry->installed())
    return Failed("parity needs the reference worker, which is not installed (tench doctor)");
  const std::string& network = trial.job.network.name;
  const auto run = [&](const Trial& one) -> Result<Answer> {
    const ParityRun seen = TENCH_TRY(RunTrial(*entry, "", one, kPatienceNs, stop_));
    if (seen.outcome != Outcome::kOk)
      return Failed("reference on {}, {}: {}", network, Name(one.kind), seen.reason);
    Answer answer = ReadAnswer(one, seen.tensors(), seen.losses);
    if (!answer.missing.empty()) return Failed("reference on {}: {}", network, answer.missing);
    return answer;
  };
  progress(fmt::format("reference, {}", Name(trial.kind)));
  Answer answer = TENCH_TRY(run(trial));
  if (trial.kind == TrialKind::kOps) return answer;
  Trial jittered = trial;
  jittered.job.options["jitter"] = kJitterUlps;
  for (int i = 0; i < jitters; ++i) {
    progress(fmt::format("reference, {}, with jitter {} of {}", Name(trial.kind), i + 1, jitters));
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

Result<Calibration> ReferenceAnswers::GetCalibration(const SubjectName& name,
                                                     const Subject& subject,
                                                     const Progress& progress) {
  const Answer steady = TENCH_TRY(Get(name, subject, TrialKind::kSteady, progress));
  return Calibrate(TENCH_TRY(MakeTrial(subject, TrialKind::kSteady)), steady);
}

Result<Answer> ReferenceAnswers::Get(const SubjectName& name, const Subject& subject,
                                     TrialKind kind, const Progress& progress) {
  const std::string file_name = name.FileName(subject.batch);
  if (!kept_.contains(file_name)) TENCH_TRY(LoadSketches(file_name));
  Subject plain;
  plain.job.network = subject.job.network;
  plain.job.threads = static_cast<int64_t>(AllowedCpus().size());
  plain.batch = subject.batch;
  Calibration calibration;
  if (kind == TrialKind::kTrain || kind == TrialKind::kForward)
    calibration = TENCH_TRY(GetCalibration(name, subject, progress));
  const Trial trial = WithoutUpdate(TENCH_TRY(MakeTrial(plain, kind, calibration)));
  const std::string fingerprint = TrialFingerprint(trial);
  std::map<std::string, Kept>& trials = kept_[file_name];
  const std::string key(Name(kind));
  if (const auto found = trials.find(key);
      found != trials.end() && found->second.fingerprint == fingerprint)
    return found->second.answer;
  Answer answer = TENCH_TRY(Run(trial, jitters_, progress));
  trials[key] = {fingerprint, answer};
  return answer;
}

Status ReferenceAnswers::WriteSketches(const SubjectName& name, const Subject& subject,
                                       const std::filesystem::path& folder,
                                       const Progress& progress) {
  const std::string file_name = name.FileName(subject.batch);
  kept_[file_name].clear();  // nothing that was read is taken over
  jitters_ = kSketchJitters;
  Json trials = Json::object();
  for (const TrialKind kind : kSketched) {
    const Answer answer = TENCH_TRY(Get(name, subject, kind, progress));
    const std::string key(Name(kind));
    trials[key] = {{"fingerprint", kept_[file_name][key].fingerprint}, {"answer", ToJson(answer)}};
  }
  jitters_ = kJitters;
  const Json json = {
      {"network", name.network}, {"data", name.data}, {"batch", subject.batch}, {"trials", trials}};
  return WriteFileAtomically(folder / file_name, PrintJson(json) + "\n");
}

}  // namespace tench
