// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/adapter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "worker/common_settings.h"
#include "worker/device_table.h"
#include "workers/caffe/binary.h"
#include "workers/caffe/net_text.h"
#include "workers/caffe/observed_run.h"
#include "workers/caffe/solver_state.h"
#include "workers/caffe/timed_run.h"
#include "workers/caffe/weights.h"
#include "workers/caffe/workshop.h"

namespace tench::caffe_worker {
namespace {

// Sequence ops: Caffe's LSTM has another definition, and Caffe has no sequence lengths.
constexpr std::array<std::string_view, 3> kLacking = {"embedding", "lstm", "mean_over_time"};
constexpr const char* kWeights = "weights.caffemodel";

Error NotObserving(std::string_view what) {
  return Unsupported(
      "{} are available in an observing build only: a timed caffe process runs ahead of the steps "
      "that are read from it",
      what);
}

class CaffeAdapter final : public Adapter {
 public:
  CaffeAdapter() : binary_(FindBinary()) {}

  Description Describe() override {
    Description description;
    description.name = "caffe";
    for (const std::string& op : OpAbilities()) {
      if (std::find(kLacking.begin(), kLacking.end(), op) == kLacking.end())
        description.ops.push_back(op);
    }
    DescribeDevices({0, "the worker runs Caffe on the CPU"}, description);
    description.precisions = {"f32"};
    description.updates = {"sgd", "nesterov", "clip_gradients", "l1"};
    AddSpinCandidate(description);
    AddHugePagesCandidate(description);
    description.version = "not found";
    if (!binary_.ok()) {
      description.facts[kMissingFact] = binary_.error().message;
      return description;
    }
    const BinaryFacts facts = AskBinary(*binary_);
    // A named build begins with its name, which tench compares with the cell's.
    const std::string name = BinaryName();
    description.version = name.empty() ? facts.version : fmt::format("{}-{}", name, facts.version);
    description.facts["binary"] = binary_->string();
    if (!facts.blas.empty()) description.facts["blas"] = facts.blas;
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (!binary_.ok()) return binary_.error();
    if (options.profile)
      return Unsupported("caffe: the log has no times per layer; `caffe time` prints them");
    if (options.data_threads > 0)
      return Unsupported(
          "caffe: data_threads: its process reads the batches from files that are written before "
          "the first step");
    if (options.evaluated)
      return Unsupported(
          "caffe: evaluation: its process runs ahead of the steps that are read from it, so its "
          "parameters between two steps are unknown");
    timed_.reset();
    observed_.reset();
    cycle_ = false;
    from_ = kWeights;
    done_ = 0;
    graph_ = graph;
    options_ = options;
    lr_ = options.solver.lr;
    // Unsupported layers are reported here, before a process starts.
    TENCH_TRY(WriteNet(graph_, kDataList, {}));
    workshop_.emplace(TENCH_TRY(Workshop::Open(*binary_, options.threads)));
    if (options.observe) observed_.emplace(*workshop_, graph_, options_);
    BuildFacts facts;
    facts.choices["step"] = options.observe ? "one caffe process per step, through files"
                                            : std::string(StepSource(options.phase));
    facts.choices["data"] = "HDF5Data: Caffe copies the batch in every step";
    // Caffe stores a diff with every blob, but computes none whose learning rate is 0.
    facts.gradients_materialized =
        options.phase == Phase::kGradient &&
        std::none_of(graph_.parameters.begin(), graph_.parameters.end(),
                     [](const Parameter& p) { return p.trained && p.lr_mult == 0; });
    return facts;
  }

  Status SetParameters(const TensorSource& source) override {
    const TensorSource none_yet = [](const std::string&, std::span<float> out) -> Status {
      std::fill(out.begin(), out.end(), 0.0f);
      return Ok();
    };
    TENCH_TRY(WriteWeights(workshop_->Path(kWeights), graph_, source, none_yet));
    if (observed_) observed_->Begin(kWeights);
    return Ok();
  }

  Status SetState(const TensorSource& source) override {
    const bool statistics = std::any_of(graph_.parameters.begin(), graph_.parameters.end(),
                                        [](const Parameter& p) { return !p.trained; });
    if (statistics)
      TENCH_TRY(
          ReplaceStatistics(workshop_->Path(kWeights), workshop_->Path(kWeights), graph_, source));
    return observed_ ? observed_->SetMomenta(source) : Ok();
  }

  Status Parameters(const TensorSink& sink) override {
    if (observed_) return observed_->Parameters(sink);
    return ReadWeights(workshop_->Path(TENCH_TRY(RepeatTimed()) + ".caffemodel"), graph_, true,
                       sink);
  }
  Status State(const TensorSink& sink) override {
    if (observed_) return observed_->State(sink);
    const std::string snapshot = TENCH_TRY(RepeatTimed());
    TENCH_TRY(ReadWeights(workshop_->Path(snapshot + ".caffemodel"), graph_, false, sink));
    const NetText net = TENCH_TRY(WriteNet(graph_, kDataList, {}));
    return ReadSolverState(workshop_->Path(snapshot + ".solverstate"), graph_, net.slots,
                           [&](const Parameter& parameter, std::span<const float> values) {
                             return sink(parameter.name + ".momentum", values);
                           });
  }

  Status SetCycle(int64_t samples, const BatchSource& batch) override {
    if (observed_) return Ok();
    cycle_ = true;
    TENCH_TRY(workshop_->PutCycle(samples, batch));
    return StartTimed();
  }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    // Caffe's data layer reads the batches from the files of SetCycle.
    if (cycle_) return Ok();
    TENCH_TRY(workshop_->PutBatch(inputs));
    return observed_ ? Ok() : StartTimed();
  }

  Status SetLearningRate(double lr) override {
    const double before = std::exchange(lr_, lr);
    if (lr == before || observed_ || !timed_ || options_.phase != Phase::kTrain) return Ok();
    if (steps_ > 0) {
      if (cycle_)
        return Unsupported(
            "caffe: with cycled input the learning rate of a timed run is fixed when the process "
            "starts");
      timed_.reset();
      from_ = TENCH_TRY(Replay(*workshop_, graph_, options_, before, from_, done_, steps_));
      done_ += steps_;
    }
    return StartTimed();
  }

  Result<double> Step(Phase) override {
    ++steps_;
    if (observed_) return observed_->Step(lr_);
    if (!timed_) return Failed("a step without a batch");
    return timed_->Step();
  }

  Status Gradients(const TensorSink& sink) override {
    return observed_ ? observed_->Gradients(sink) : NotObserving("gradients");
  }
  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    return observed_ ? observed_->Outputs(layers, sink) : NotObserving("outputs");
  }

  bool Pauses() const override { return false; }  // the program computes on
  pid_t Helper() const override { return timed_ ? timed_->pid() : 0; }
  std::optional<int64_t> LastStepNs() const override {
    return timed_ ? timed_->LastStepNs() : std::nullopt;
  }

 private:
  // The process of a timed training is ahead of the steps that were read from it. An untimed
  // repetition of these steps, from the same files and seed, ends in their snapshot.
  Result<std::string> RepeatTimed() {
    if (options_.phase != Phase::kTrain || cycle_ || !timed_ || steps_ == 0)
      return NotObserving("tensors");
    const std::string state =
        TENCH_TRY(Replay(*workshop_, graph_, options_, lr_, from_, done_, steps_));
    return state.substr(0, state.rfind('.'));
  }

  Status StartTimed() {
    timed_.reset();  // one caffe at a time
    steps_ = 0;
    timed_.emplace(TENCH_TRY(TimedRun::Start(*workshop_, graph_, options_, lr_, from_)));
    return Ok();
  }

  Result<std::filesystem::path> binary_;
  TypedGraph graph_;
  BuildOptions options_;
  double lr_ = 0;
  // Of a timed run: the file that its process started from, the number of updates before it, and
  // the steps read since.
  std::string from_ = kWeights;
  int64_t done_ = 0, steps_ = 0;
  bool cycle_ = false;
  std::optional<Workshop> workshop_;
  std::optional<ObservedRun> observed_;
  std::optional<TimedRun> timed_;
};

}  // namespace

std::unique_ptr<Adapter> MakeCaffeAdapter() { return std::make_unique<CaffeAdapter>(); }

}  // namespace tench::caffe_worker
