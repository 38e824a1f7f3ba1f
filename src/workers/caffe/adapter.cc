// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/adapter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "worker/device_table.h"
#include "workers/caffe/binary.h"
#include "workers/caffe/observed_run.h"
#include "workers/caffe/timed_run.h"
#include "workers/caffe/weights.h"
#include "workers/caffe/workshop.h"

namespace tench::caffe_worker {
namespace {

// Sequences: Caffe's own LSTM is another one, and it has nothing for lengths.
constexpr std::array<std::string_view, 3> kLacking = {"embedding", "lstm", "mean_over_time"};
constexpr const char* kWeights = "weights.caffemodel";

Error NotObserving(std::string_view what) {
  return Failed(
      "{} can be had of an observing build only: a timed caffe process is ahead of the steps that "
      "were taken from it",
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
    description.updates = {"sgd", "nesterov", "clip_gradients"};
    description.version = "not found";
    if (!binary_.ok()) {
      description.facts[kMissingFact] = binary_.error().message;
      return description;
    }
    const BinaryFacts facts = AskBinary(*binary_);
    description.version = facts.version;
    description.facts["binary"] = binary_->string();
    if (!facts.blas.empty()) description.facts["blas"] = facts.blas;
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (!binary_.ok()) return binary_.error();
    if (options.profile)
      return Unsupported("caffe: its log has no times of single layers; `caffe time` prints them");
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
    facts.choices["data"] = "HDF5Data: Caffe copies the batch into place in every step";
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
    return observed_ ? observed_->Parameters(sink) : NotObserving("parameters");
  }
  Status State(const TensorSink& sink) override {
    return observed_ ? observed_->State(sink) : NotObserving("the state");
  }

  Status SetCycle(int64_t samples, const BatchSource& batch) override {
    if (observed_) return Ok();
    cycle_ = true;
    TENCH_TRY(workshop_->PutCycle(samples, batch));
    return StartTimed();
  }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    if (cycle_)
      return Ok();  // it is in Caffe's files already, and Caffe's data layer takes it from there
    TENCH_TRY(workshop_->PutBatch(inputs));
    return observed_ ? Ok() : StartTimed();
  }

  Status SetLearningRate(double lr) override {
    const double before = std::exchange(lr_, lr);
    if (lr == before || observed_ || !timed_ || options_.phase != Phase::kTrain) return Ok();
    if (steps_ > 0) {
      if (cycle_)
        return Unsupported(
            "caffe: with cycled input the learning rate of a timed run cannot change: the process "
            "was told it when it began");
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

  pid_t Helper() const override { return timed_ ? timed_->pid() : 0; }

 private:
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
  // Of a timed run: the file that its process began with, the updates behind that, and the steps
  // taken since.
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
