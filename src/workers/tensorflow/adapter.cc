// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/adapter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "axis/device_name.h"
#include "base/text.h"
#include "worker/common_settings.h"
#include "worker/device_table.h"
#include "workers/tensorflow/inter_op.h"
#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/profile.h"
#include "workers/tensorflow/session.h"

extern "C" char** environ;

namespace tench::tensorflow {
namespace {

constexpr const char* kDriverControl = "/dev/nvidiactl";

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** text = environ; text != nullptr && *text != nullptr; ++text) {
    const std::string_view variable = *text;
    const size_t equals = variable.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return variables;
}

std::string OptionOr(const BuildOptions& options, const std::string& name,
                     const std::string& fallback) {
  const auto found = options.options.find(name);
  return found == options.options.end() ? fallback : found->second;
}

// TensorFlow's name of a device for TF_SetDevice; "" leaves the placement of CPU nodes to it.
std::string PlacementOf(const DeviceName& device) {
  return device.is_gpu() ? fmt::format("/device:GPU:{}", device.index) : "";
}

// Without --tf_xla_auto_jit TensorFlow forms no clusters, whatever the other flag says.
std::vector<TuningCandidate> Candidates() {
  return {
      {.options = {{"inter_op", "caller"}}, .environment = {}, .phases = {}, .ops = {}},
      {.options = {{"inter_op", "1"}}, .environment = {}, .phases = {}, .ops = {}},
      {.options = {{"weights", "constants"}}, .environment = {}, .phases = {"forward"}, .ops = {}},
      {.options = {{"onednn", "off"}}, .environment = {}, .phases = {}, .ops = {}},
      {.options = {},
       .environment = {{"TF_XLA_FLAGS", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"}},
       .phases = {},
       .ops = {}},
  };
}

class TensorFlowAdapter final : public Adapter {
 public:
  explicit TensorFlowAdapter(const TensorFlowSettings& settings) : onednn_(settings.onednn) {
    // f32 excludes TF32, which GPUs would use by default.
    setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
    if (onednn_ != "auto") setenv("TF_ENABLE_ONEDNN_OPTS", onednn_ == "on" ? "1" : "0", 1);
    auto api =
        OpenTensorFlow(settings.root.empty() ? TensorFlowRoot(OwnEnvironment()) : settings.root);
    if (api.ok()) {
      api_ = *std::move(api);
    } else {
      problem_ = std::move(api).error();
    }
  }

  Description Describe() override {
    Description description;
    description.name = "tensorflow";
    description.version = api_ ? api_->Version() : "missing";
    description.ops.assign(OpAbilities().begin(), OpAbilities().end());
    description.updates = SolverAbilities();
    description.precisions = {"f32"};
    description.options = {
        {"inter_op",
         "threads that run different nodes concurrently: a number, auto (the job's threads), or "
         "caller (nodes run sequentially in the calling thread)",
         "auto",
         {}},
        {"onednn",
         "on: oneDNN's kernels where available; off: Eigen's; auto: TensorFlow decides by the CPU",
         "on",
         {"on", "off", "auto"}},
        {"weights",
         "phase forward: read from variables, or constants of the graph, which TensorFlow folds",
         "variables",
         {"variables", "constants"}}};
    description.tuning = Candidates();
    AddCommonSettings(description);
    if (problem_) {
      description.facts["problem"] = problem_->message;
      DescribeDevices({0, "TensorFlow is not loaded"}, description);
      return description;
    }
    description.facts = {
        {"library", api_->symbols.file().string()},
        {"layout", "NHWC"},
        {"algorithm.gemm", "option.onednn=off"}};  // Eigen's contraction of patches
    DescribeDevices(Gpus(), description);
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (problem_) return *problem_;
    if (options.precision != "f32")
      return Unsupported("precision '{}': this worker computes in f32", options.precision);
    if (const std::string asked = OptionOr(options, "onednn", "on"); asked != onednn_)
      return Unsupported(
          "option onednn={}: TensorFlow was loaded with {} (the option needs a job from a file)",
          asked, onednn_);
    const DeviceName device = TENCH_TRY(ParseDevice(options.device).In("device"));
    const std::string weights = OptionOr(options, "weights", "variables");
    // Parity trains the observing build of a cell in phase forward; such a build keeps variables.
    if (weights == "constants" && options.phase != Phase::kForward && !options.observe)
      return Unsupported("option weights=constants: phase {} updates or differentiates them",
                         Name(options.phase));
    graph_ = graph;
    options_ = options;
    // An observing build fetches every layer's output, which folding would remove.
    freezes_ = weights == "constants" && !options.observe && !options.profile;
    frozen_ = false;
    session_.reset();
    writer_ = std::make_unique<GraphWriter>(*api_, PlacementOf(device));
    program_ = TENCH_TRY(Lower(graph_, options_, *writer_));
    request_ = StepRequest();
    BuildFacts facts;
    placement_ = PlacementOf(device);
    settings_ = {options.threads, 0, device.is_gpu()};
    const std::string inter_op = OptionOr(options, "inter_op", "auto");
    settings_.inter_op = TENCH_TRY(ParseInterOp(inter_op, options.threads));
    session_ = std::make_unique<Session>(TENCH_TRY(Session::Open(*writer_, settings_)));
    facts.choices["inter_op"] = InterOpName(settings_.inter_op);
    if (api_->onednn_enabled != nullptr)
      facts.choices["onednn"] = api_->onednn_enabled() ? "on" : "off";
    if (options.profile) profile_ = StartProfile();
    facts.gradients_materialized = options.phase == Phase::kGradient && ComputesEveryGradient();
    return facts;
  }

  Status SetParameters(const TensorSource& source) override {
    frozen_ = false;
    Filling filling(*this);
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (!graph_.parameters[p].trained) continue;
      TENCH_TRY(filling.Ask(program_.parameters[p], graph_.parameters[p].name, source, 1));
      if (program_.momenta[p]) TENCH_TRY(filling.Zero(*program_.momenta[p]));
      if (program_.momenta2[p]) TENCH_TRY(filling.Zero(*program_.momenta2[p]));
      if (program_.sums[p]) TENCH_TRY(filling.Zero(*program_.sums[p]));
    }
    batches_ = 0;
    for (const RateVariable& power : program_.powers)
      TENCH_TRY(filling.Set(power.variable, power.multiplier));
    for (const RateVariable& rate : program_.rates)
      TENCH_TRY(filling.Set(rate.variable, options_.solver.lr * rate.multiplier));
    return filling.Run();
  }

  Status Parameters(const TensorSink& sink) override {
    std::vector<Wanted> wanted;
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (graph_.parameters[p].trained)
        wanted.push_back({graph_.parameters[p].name, &program_.parameters[p], 1});
    }
    return Deliver(wanted, sink);
  }

  Status SetState(const TensorSource& source) override {
    frozen_ = false;
    Filling filling(*this);
    for (const Wanted& state : StateVariables())
      TENCH_TRY(filling.Ask(*state.variable, state.name, source, state.sign));
    return filling.Run();
  }

  Status State(const TensorSink& sink) override { return Deliver(StateVariables(), sink); }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    Check(inputs.size() == program_.inputs.size(), "a batch of another number of inputs");
    TENCH_TRY(Freeze());
    Filling filling(*this);
    for (size_t i = 0; i < inputs.size(); ++i)
      TENCH_TRY(filling.Copy(program_.inputs[i], inputs[i]));
    return filling.Run();
  }

  Status SetLearningRate(double lr) override {
    if (lr == options_.solver.lr) return Ok();
    options_.solver.lr = lr;
    Filling filling(*this);
    for (const RateVariable& rate : program_.rates)
      TENCH_TRY(filling.Set(rate.variable, lr * rate.multiplier));
    return filling.Run();
  }

  Status Resume(int64_t steps) override {
    if (program_.powers.empty()) return Ok();
    Filling filling(*this);
    for (const RateVariable& power : program_.powers)
      TENCH_TRY(
          filling.Set(power.variable, std::pow(power.multiplier, static_cast<double>(steps + 1))));
    return filling.Run();
  }

  Result<double> Step(Phase phase) override {
    Check(phase == options_.phase, "a step of a phase that was not built");
    if (freezes_ && !frozen_)
      return Failed("option weights=constants: the weights were set after the batch");
    if (phase == Phase::kTrain && ++batches_ % options_.solver.iter_size != 0)
      request_.targets = program_.accumulate_targets;
    if (options_.profile) {
      std::string metadata;
      fetched_ = TENCH_TRY(session_->RunTraced(request_, metadata));
      TENCH_TRY(profile_.AddStep(metadata));
    } else {
      fetched_ = TENCH_TRY(session_->Run(request_));
    }
    request_.targets = program_.targets;
    return static_cast<double>(*static_cast<const float*>(api_->TensorData(fetched_[0].get())));
  }

  // A timed step of phase gradient computes every gradient and fetches none. The same step with
  // fetches reads them.
  Status Gradients(const TensorSink& sink) override {
    if (!options_.observe && options_.phase == Phase::kGradient) {
      RunRequest request = request_;
      FetchGradients(request);
      fetched_ = TENCH_TRY(session_->Run(request));
    }
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (!graph_.parameters[p].trained) continue;
      const size_t at = gradient_places_.at(p);
      if (at == 0)
        return Failed("gradient of '{}' was not kept: this is no observing build",
                      graph_.parameters[p].name);
      TENCH_TRY(Give(graph_.parameters[p].name, fetched_[at].get(), program_.parameters[p].layout,
                     1, sink));
    }
    return Ok();
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    for (const std::string& name : layers) {
      size_t i = 0;
      while (i < graph_.layers.size() && graph_.layers[i].layer.name != name) ++i;
      if (i == graph_.layers.size() || output_places_[i] == 0)
        return Failed("layer '{}' has no output of numbers", name);
      TENCH_TRY(Give(name, fetched_[output_places_[i]].get(), program_.layouts[i], 1, sink));
    }
    return Ok();
  }

  void RestartProfile() override {
    if (!options_.profile) return;
    profile_ = StartProfile();
    profile_.Record(options_.traced_steps * options_.solver.iter_size);
  }

  Result<std::vector<TraceEvent>> Trace() override { return profile_.Events(); }

  Result<std::vector<ProfileRow>> Profile() override {
    if (!options_.profile) return Failed("this build was not profiled");
    return profile_.Rows();
  }

 private:
  struct Wanted {
    std::string name;
    const Variable* variable;
    float sign;
  };

  // Values for variables, gathered and then assigned in one run.
  class Filling {
   public:
    explicit Filling(TensorFlowAdapter& adapter) : adapter_(adapter) {}

    Status Ask(const Variable& variable, const std::string& name, const TensorSource& source,
               float sign) {
      const std::span<float> target = TENCH_TRY(Add(variable, TF_FLOAT)).floats;
      if (variable.layout.plain()) {
        TENCH_TRY(source(name, target));
      } else {
        std::vector<float> values(target.size());
        TENCH_TRY(source(name, values));
        ToPhysical(variable.layout, values, target);
      }
      if (sign != 1) {
        for (float& value : target) value = -value;
      }
      return Ok();
    }
    Status Zero(const Variable& variable) {
      const std::span<float> target = TENCH_TRY(Add(variable, TF_FLOAT)).floats;
      std::fill(target.begin(), target.end(), 0.0f);
      return Ok();
    }
    Status Set(const Variable& variable, double value) {
      TENCH_TRY(Add(variable, TF_FLOAT)).floats[0] = static_cast<float>(value);
      return Ok();
    }
    Status Copy(const Variable& variable, const HostTensor& tensor) {
      const bool real = tensor.type.dtype == DType::kF32;
      const Room room = TENCH_TRY(Add(variable, real ? TF_FLOAT : TF_INT32));
      const size_t bytes =
          real ? tensor.f32.size() * sizeof(float) : tensor.i32.size() * sizeof(int32_t);
      Check(bytes == room.floats.size_bytes(), "an input of another size than the network's");
      std::memcpy(room.floats.data(),
                  real ? static_cast<const void*>(tensor.f32.data()) : tensor.i32.data(), bytes);
      return Ok();
    }
    Status Run() {
      if (request_.feeds.empty()) return Ok();
      TENCH_TRY(adapter_.session_->Run(request_));
      return Ok();
    }

   private:
    struct Room {
      std::span<float> floats;
    };
    Result<Room> Add(const Variable& variable, TF_DataType type) {
      const CApi& api = *adapter_.api_;
      TensorHandle tensor = AllocateTensor(api, type, variable.dims);
      if (tensor == nullptr)
        return Error{"no memory for a variable of " + ToString(variable.dims),
                     ErrorKind::kOutOfMemory};
      const Room room{{static_cast<float*>(api.TensorData(tensor.get())),
                       api.TensorByteSize(tensor.get()) / sizeof(float)}};
      request_.feeds.push_back(variable.value);
      request_.fed.push_back(tensor.get());
      request_.targets.push_back(variable.assign);
      tensors_.push_back(std::move(tensor));
      return room;
    }

    TensorFlowAdapter& adapter_;
    RunRequest request_;
    std::vector<TensorHandle> tensors_;
  };

  // Counting GPUs opens a session on them. Without the driver's device file there is none to count.
  GpuSupport Gpus() {
    if (api_->cuda_enabled == nullptr || !api_->cuda_enabled())
      return {0, "this TensorFlow library was built without CUDA"};
    std::error_code error;
    if (!std::filesystem::exists(kDriverControl, error))
      return {0, fmt::format("no CUDA device: {} does not exist", kDriverControl)};
    const GraphWriter empty(*api_, "");
    auto session = Session::Open(empty, {1, 1, true});
    const Result<int> count = session.ok() ? session->CountGpus() : Result<int>(session.error());
    if (!count.ok()) return {0, fmt::format("no CUDA device: {}", count.error().message)};
    return {*count, "no CUDA device: TensorFlow finds no GPU"};
  }

  // Replaces graph and session by those with the weights as constants. The weights are known only
  // after the build; this happens off the clock, before the first batch with them.
  Status Freeze() {
    if (!freezes_ || frozen_) return Ok();
    RunRequest read;
    for (const Variable& parameter : program_.parameters) read.fetches.push_back(parameter.read);
    const std::vector<TensorHandle> values = TENCH_TRY(session_->Run(read));
    ParameterValues constants;
    for (const TensorHandle& value : values)
      constants.emplace_back(static_cast<const float*>(api_->TensorData(value.get())),
                             api_->TensorByteSize(value.get()) / sizeof(float));
    auto writer = std::make_unique<GraphWriter>(*api_, placement_);
    program_ = TENCH_TRY(Lower(graph_, options_, *writer, constants));
    session_ = std::make_unique<Session>(TENCH_TRY(Session::Open(*writer, settings_)));
    writer_ = std::move(writer);
    request_ = StepRequest();
    // Later reads and writes of parameters go to the variables of the new session.
    RunRequest fill;
    for (size_t p = 0; p < values.size(); ++p) {
      fill.feeds.push_back(program_.parameters[p].value);
      fill.fed.push_back(values[p].get());
      fill.targets.push_back(program_.parameters[p].assign);
    }
    if (!values.empty()) TENCH_TRY(session_->Run(fill));
    frozen_ = true;
    return Ok();
  }

  // The loss comes first; an observing build fetches every output and gradient after it.
  RunRequest StepRequest() {
    RunRequest request;
    request.fetches = {program_.loss};
    request.targets = program_.targets;
    output_places_.assign(graph_.layers.size(), 0);
    gradient_places_.assign(graph_.parameters.size(), 0);
    if (!options_.observe) return request;
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      if (graph_.layers[i].output.dtype != DType::kF32) continue;
      output_places_[i] = request.fetches.size();
      request.fetches.push_back(program_.outputs[i]);
    }
    FetchGradients(request);
    return request;
  }

  void FetchGradients(RunRequest& request) {
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (program_.gradients[p].oper == nullptr) continue;
      gradient_places_[p] = request.fetches.size();
      request.fetches.push_back(program_.gradients[p]);
    }
  }

  // In phase gradient the op of every gradient is a target of the run: none is pruned, and each
  // writes its output.
  bool ComputesEveryGradient() const {
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (!graph_.parameters[p].trained) continue;
      const TF_Operation* gradient = program_.gradients[p].oper;
      const auto& targets = program_.targets;
      if (gradient == nullptr ||
          std::find(targets.begin(), targets.end(), gradient) == targets.end())
        return false;
    }
    return true;
  }

  tensorflow::Profile StartProfile() const {
    std::set<std::string> weights;
    for (const TF_Output& gradient : program_.gradients) {
      if (gradient.oper != nullptr) weights.insert(api_->OperationName(gradient.oper));
    }
    return {graph_, std::move(weights)};
  }

  // Running statistics and momenta. With sgd and nesterov TensorFlow's have the opposite sign.
  std::vector<Wanted> StateVariables() const {
    const float sign = UsesDelta(options_.solver.type) ? 1 : -1;
    std::vector<Wanted> state;
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (!graph_.parameters[p].trained)
        state.push_back({graph_.parameters[p].name, &program_.parameters[p], 1});
      if (program_.momenta[p])
        state.push_back({graph_.parameters[p].name + ".momentum", &*program_.momenta[p], sign});
      if (program_.momenta2[p] && HasSecondHistory(options_.solver.type))
        state.push_back({graph_.parameters[p].name + ".momentum2", &*program_.momenta2[p], 1});
    }
    return state;
  }

  Status Deliver(const std::vector<Wanted>& wanted, const TensorSink& sink) {
    RunRequest request;
    for (const Wanted& one : wanted) request.fetches.push_back(one.variable->read);
    if (wanted.empty()) return Ok();
    const std::vector<TensorHandle> tensors = TENCH_TRY(session_->Run(request));
    for (size_t i = 0; i < wanted.size(); ++i)
      TENCH_TRY(
          Give(wanted[i].name, tensors[i].get(), wanted[i].variable->layout, wanted[i].sign, sink));
    return Ok();
  }

  Status Give(const std::string& name, TF_Tensor* tensor, const HostLayout& layout, float sign,
              const TensorSink& sink) {
    const std::span<const float> physical(static_cast<const float*>(api_->TensorData(tensor)),
                                          api_->TensorByteSize(tensor) / sizeof(float));
    if (layout.plain() && sign == 1) return sink(name, physical);
    std::vector<float> logical(physical.size());
    ToLogical(layout, physical, logical);
    if (sign != 1) {
      for (float& value : logical) value = -value;
    }
    return sink(name, logical);
  }

  std::string onednn_, placement_;
  SessionSettings settings_;
  bool freezes_ = false, frozen_ = false;  // weights become constants; they are
  std::optional<CApi> api_;
  std::optional<Error> problem_;
  TypedGraph graph_;
  BuildOptions options_;
  std::unique_ptr<GraphWriter> writer_;
  Program program_;
  std::unique_ptr<Session> session_;
  RunRequest request_;
  int64_t batches_ = 0;                // training batches since the parameters were set
  std::vector<TensorHandle> fetched_;  // of the last step
  std::vector<size_t> output_places_, gradient_places_;  // in fetched_; 0 = not there
  tensorflow::Profile profile_;
};

}  // namespace

std::unique_ptr<Adapter> MakeTensorFlowAdapter(const TensorFlowSettings& settings) {
  return std::make_unique<TensorFlowAdapter>(settings);
}

}  // namespace tench::tensorflow
