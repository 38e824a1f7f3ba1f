// SPDX-License-Identifier: Apache-2.0
#include "workers/native/adapter.h"

#include <algorithm>
#include <cstdlib>

#include "worker/common_settings.h"
#include "worker/trace_track.h"
#include "workers/native/compile/lowering.h"
#include "workers/native/conv/conv_tuner.h"
#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr const char* kConvolutions = "convolutions";
constexpr const char* kDefault = "default";
constexpr const char* kAlgorithm = "algorithm";
constexpr const char* kBlocked = "blocked";
constexpr const char* kSearch = "search";

Result<ConvTuner::Settings> TunerSettings(const BuildOptions& options) {
  ConvTuner::Settings settings;
  const auto found = options.options.find(kConvolutions);
  const std::string text = found == options.options.end() ? kDefault : found->second;
  if (const auto algorithm = options.options.find(kAlgorithm);
      algorithm != options.options.end() && algorithm->second != kDefault) {
    if (text != kDefault)
      return Failed("options {} and {} exclude each other", kAlgorithm, kConvolutions);
    settings.algorithm = algorithm->second;
  }
  if (text == kDefault) return settings;
  settings.mode = text == kBlocked  ? TuneMode::kBlocked
                  : text == kSearch ? TuneMode::kSearch
                                    : TuneMode::kFixed;
  if (options.search_ns > 0) settings.budget_ns = options.search_ns;
  if (settings.mode == TuneMode::kFixed) {
    Result<ConvSelection> selection = ParseConvSelection(text);
    if (!selection.ok())
      return Failed("option {}: {}; it is default, blocked, search, or what a search selected",
                    kConvolutions, selection.error().message);
    settings.selection = *std::move(selection);
  }
  return settings;
}

class NativeAdapter final : public Adapter {
 public:
  explicit NativeAdapter(const NativeSettings& settings)
      : settings_(settings), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    // oneDNN 3.2's primitive cache ignores next_impl and returns the first implementation.
    dnnl::set_primitive_cache_capacity(0);
  }

  Description Describe() override {
    const dnnl_version_t* version = dnnl_version();
    Description description;
    description.name = "native";
    description.version = TENCH_VERSION;
    description.role = Role::kBaseline;
    description.ops.assign(OpAbilities().begin(), OpAbilities().end());
    description.updates = SolverAbilities();
    description.devices = {"cpu"};
    description.precisions = {"f32"};
    description.options = {{kConvolutions,
                            "the implementation of each convolution: default (a static order), "
                            "blocked (oneDNN's first for blocked images), search (measured during "
                            "the build), or what a search selected",
                            kDefault,
                            {}},
                           {kAlgorithm,
                            "the algorithm of each convolution that has a kernel of it; gemm is "
                            "im2col and a matrix product",
                            kDefault,
                            {kDefault, "direct", "gemm", "winograd"}}};
    description.tuning = {
        {.options = {{kConvolutions, kSearch}}, .environment = {}, .phases = {}, .ops = {"conv"}}};
    AddSpinCandidate(description);
    AddCommonSettings(description);
    description.facts = {
        {"onednn", fmt::format("{}.{}.{}", version->major, version->minor, version->patch)},
        {"threading", "OpenMP (libgomp)"}};
    for (const char* name : {"direct", "gemm", "winograd"})
      description.facts[fmt::format("algorithm.{}", name)] =
          fmt::format("option.{}={}", kAlgorithm, name);
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (options.device != "cpu")
      return Unsupported("device '{}': the native engine runs on the CPU", options.device);
    if (options.precision != "f32")
      return Unsupported("precision '{}': the native engine computes in f32", options.precision);
    ConvTuner::Settings tuning = TENCH_TRY(TunerSettings(options));
    graph_ = graph;
    options_ = options;
    state_ = {};
    state_.lr = options.solver.lr;
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(options.threads));

    ConvTuner tuner(engine_, options.threads, std::move(tuning));
    if (settings_.forced_candidate >= 0)
      tuner.Force(static_cast<size_t>(settings_.forced_candidate));
    program_ = std::make_unique<Program>();
    Lowering lowering(graph_, options_, engine_, tuner, *program_);
    TENCH_TRY(lowering.Run());
    TENCH_TRY(tuner.problem());
    if (tuner.chosen() > 0 && tuner.obeyed() == 0)
      return Unsupported("option {}={}: no convolution of this network has such a kernel here",
                         kAlgorithm, options.options.at(kAlgorithm));
    const bool searched = !tuner.selection().empty();
    TENCH_TRY(program_->Bind(
        engine_, settings_.available_bytes >= 0 ? settings_.available_bytes : AvailableBytes()));
    state_.losses.assign(lowering.losses(), 0);
    parameters_ = lowering.parameters();
    outputs_.clear();
    for (size_t i = 0; i < graph_.layers.size(); ++i) outputs_.push_back(lowering.Output(i));
    if (options.profile) program_->StartProfile();
    BuildFacts facts{program_->planned_bytes(), lowering.choices(), MaterializesGradients()};
    if (tuner.chosen() > 0)
      facts.choices[kAlgorithm] =
          fmt::format("{} in {} of {} convolutions, by direction", options.options.at(kAlgorithm),
                      tuner.obeyed(), tuner.chosen());
    // The direct kernels; oneDNN reports for itself.
    if (std::getenv("TENCH_ISA") != nullptr)
      facts.choices["isa.direct kernels"] = HasAvx512() ? "avx512" : HasAvx2() ? "avx2" : "sse41";
    if (searched) facts.frozen[kConvolutions] = PrintConvSelection(tuner.selection());
    return facts;
  }

  Status SetParameters(const TensorSource& source) override {
    state_.updates = batches_ = 0;
    return ForEachTrained([&](const Parameter& parameter, const ParameterPlace& place) -> Status {
      for (const Tensor& momentum : {place.momentum, place.momentum2}) {
        if (momentum)
          std::fill_n(program_->Address(momentum), momentum.md.get_size() / sizeof(float), 0.0f);
      }
      return Read(parameter.name, parameter.shape, place.plain, place.value, source);
    });
  }

  Status Parameters(const TensorSink& sink) override {
    return ForEachTrained([&](const Parameter& parameter, const ParameterPlace& place) {
      return Write(parameter.name, place.plain, place.value, sink);
    });
  }

  Status SetState(const TensorSource& source) override {
    return ForEachState(
        [&](const std::string& name, const Parameter& parameter, const Md& plain,
            const Tensor& tensor) { return Read(name, parameter.shape, plain, tensor, source); });
  }

  Status State(const TensorSink& sink) override {
    return ForEachState([&](const std::string& name, const Parameter&, const Md& plain,
                            const Tensor& tensor) { return Write(name, plain, tensor, sink); });
  }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    size_t next = 0;
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      if (!std::holds_alternative<Input>(graph_.layers[i].layer.op)) continue;
      Check(next < inputs.size(), "a batch with too few inputs");
      const HostTensor& input = inputs[next++];
      float* target = program_->Address(outputs_[i]);
      if (input.type.dtype == DType::kF32) {
        ParallelFor(
            static_cast<int64_t>(input.f32.size()), 64 * 1024, [&](int64_t first, int64_t last) {
              std::copy(input.f32.begin() + first, input.f32.begin() + last, target + first);
            });
      } else {
        std::copy(input.i32.begin(), input.i32.end(), reinterpret_cast<int32_t*>(target));
      }
    }
    return Ok();
  }

  Status SetLearningRate(double lr) override {
    state_.lr = lr;
    return Ok();
  }

  Result<double> Step(Phase phase) override {
    Check(phase == options_.phase, "a step of a phase that was not built");
    if (phase == Phase::kTrain) BeginBatch();
    program_->Run(stream_, state_);
    ++state_.step;
    double loss = 0;
    for (double part : state_.losses) loss += part;
    return loss;
  }

  Status Gradients(const TensorSink& sink) override {
    return ForEachTrained([&](const Parameter& parameter, const ParameterPlace& place) -> Status {
      if (!place.gradient || !KeepsGradients())
        return Failed("gradient of '{}' is not available: not an observing build", parameter.name);
      return Write(parameter.name, place.plain, place.gradient, sink);
    });
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    for (const std::string& name : layers) {
      const auto found = std::find_if(graph_.layers.begin(), graph_.layers.end(),
                                      [&](const TypedLayer& l) { return l.layer.name == name; });
      if (found == graph_.layers.end()) return Failed("layer '{}' has no output of numbers", name);
      const size_t i = static_cast<size_t>(found - graph_.layers.begin());
      if (found->output.dtype != DType::kF32 || !options_.observe)
        return Failed("layer '{}' has no output of numbers", name);
      TENCH_TRY(Write(name, PlainMd(outputs_[i].md.get_dims()), outputs_[i], sink));
    }
    return Ok();
  }

  void RestartProfile() override {
    // A step makes one run per batch.
    if (options_.profile && program_ != nullptr)
      program_->StartProfile(options_.traced_steps * options_.solver.iter_size);
  }

  Result<std::vector<ProfileRow>> Profile() override {
    if (program_ == nullptr || program_->timings().empty())
      return Failed("this build was not profiled");
    std::vector<ProfileRow> rows;
    for (size_t i = 0; i < program_->steps().size(); ++i) {
      const struct Step& step = program_->steps()[i];
      const Program::Timing& timing = program_->timings()[i];
      rows.push_back({graph_.layers[step.layer].layer.name, Name(step.direction), step.name,
                      timing.calls, timing.time_ns, step.flops * timing.calls,
                      Program::Bytes(step) * timing.calls});
    }
    return rows;
  }

  // The threads of OpenMP's team compute the parts of a kernel; its calls are on this one.
  Result<std::vector<TraceEvent>> Trace() override {
    const std::string thread = ThisThreadTrack();
    std::vector<TraceEvent> events;
    for (const Program::Interval& interval : program_->intervals()) {
      const struct Step& step = program_->steps()[interval.step];
      events.push_back({thread, step.name, graph_.layers[step.layer].layer.name,
                        Name(step.direction), interval.start_ns, interval.time_ns});
    }
    return events;
  }

  Status Resume(int64_t steps) override {
    state_.updates = steps;
    state_.step = static_cast<uint64_t>(steps * options_.solver.iter_size);
    return Ok();
  }

 private:
  void BeginBatch() {
    const int64_t place = batches_++ % options_.solver.iter_size;
    state_.first_batch = place == 0;
    state_.last_batch = place == options_.solver.iter_size - 1;
    if (state_.first_batch) ++state_.updates;
  }

  bool KeepsGradients() const { return options_.observe || options_.phase == Phase::kGradient; }

  bool MaterializesGradients() {
    bool all = KeepsGradients();
    const Status visited =
        ForEachTrained([&](const Parameter&, const ParameterPlace& place) -> Status {
          all = all && static_cast<bool>(place.gradient);
          return Ok();
        });
    return visited.ok() && all;
  }

  void Reorder(const Md& from_md, float* from, const Md& to_md, float* to) {
    dnnl::memory source(from_md, engine_, from), target(to_md, engine_, to);
    dnnl::reorder(source, target).execute(stream_, source, target);
    stream_.wait();
  }

  Status Read(const std::string& name, const Shape& shape, const Md& plain, const Tensor& tensor,
              const TensorSource& source) {
    float* target = program_->Address(tensor);
    if (plain == tensor.md) return source(name, {target, static_cast<size_t>(ElementCount(shape))});
    std::vector<float> values(ElementCount(shape));
    TENCH_TRY(source(name, values));
    Reorder(plain, values.data(), tensor.md, target);
    return Ok();
  }

  Status Write(const std::string& name, const Md& plain, const Tensor& tensor,
               const TensorSink& sink) {
    std::vector<float> values(plain.get_size() / sizeof(float));
    Reorder(tensor.md, program_->Address(tensor), plain, values.data());
    return sink(name, values);
  }

  Status ForEachTrained(
      const std::function<Status(const Parameter&, const ParameterPlace&)>& visit) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (graph_.parameters[i].trained) TENCH_TRY(visit(graph_.parameters[i], parameters_[i]));
    }
    return Ok();
  }

  Status ForEachState(const std::function<Status(const std::string&, const Parameter&, const Md&,
                                                 const Tensor&)>& visit) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& parameter = graph_.parameters[i];
      const ParameterPlace& place = parameters_[i];
      if (!parameter.trained) TENCH_TRY(visit(parameter.name, parameter, place.plain, place.value));
      if (place.momentum)
        TENCH_TRY(visit(parameter.name + ".momentum", parameter, place.plain, place.momentum));
      if (place.momentum2)
        TENCH_TRY(visit(parameter.name + ".momentum2", parameter, place.plain, place.momentum2));
    }
    return Ok();
  }

  NativeSettings settings_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  TypedGraph graph_;
  BuildOptions options_;
  std::unique_ptr<Program> program_;
  std::vector<ParameterPlace> parameters_;
  std::vector<Tensor> outputs_;  // by layer
  RunState state_;
  int64_t batches_ = 0;  // training batches since the parameters were set
};

}  // namespace

std::unique_ptr<Adapter> MakeNativeAdapter(const NativeSettings& settings) {
  return std::make_unique<NativeAdapter>(settings);
}

}  // namespace tench::native
