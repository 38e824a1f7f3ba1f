// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/adapter.h"

#include <algorithm>

#include "net/op_traits.h"
#include "worker/common_settings.h"
#include "worker/device_table.h"
#include "worker/trace_track.h"
#include "workers/mxnet/network.h"
#include "workers/mxnet/profiler.h"

namespace tench::mxnet {
namespace {

constexpr const char* kNoSubgraph = "NONE";

// MXNet 1.9.1's oneDNN subgraph of a fully connected layer and its activation replaces the layer's
// output for every reader.
bool FusionWouldHideAnOutput(const TypedGraph& graph) {
  std::vector<int> readers(graph.layers.size()), activations(graph.layers.size());
  for (const TypedLayer& layer : graph.layers) {
    for (const size_t input : layer.inputs) {
      ++readers[input];
      activations[input] += IsActivation(layer.layer.op);
    }
  }
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (std::holds_alternative<FullyConnected>(graph.layers[i].layer.op) && activations[i] > 0 &&
        readers[i] > 1)
      return true;
  }
  return false;
}

std::vector<TuningCandidate> Candidates() {
  const auto option = [](const char* name, const char* value, std::vector<std::string> phases) {
    return TuningCandidate{{{name, value}}, {}, std::move(phases), {}};
  };
  return {option("bulk", "60", {}),
          option("bulk", "0", {}),
          option("aggregate", "60", {"train"}),
          option("aggregate", "4", {"train"}),
          option("subgraph", "NONE", {"forward"}),
          option("engine", kSynchronousEngine, {})};
}

class MxnetAdapter final : public Adapter {
 public:
  explicit MxnetAdapter(const std::filesystem::path& library) : library_(Library::Open(library)) {}
  MxnetAdapter(const MxnetAdapter&) = delete;
  MxnetAdapter& operator=(const MxnetAdapter&) = delete;
  // Frees the arrays, and waits for the deletions, which MXNet queues.
  ~MxnetAdapter() override {
    profiler_.reset();
    if (network_ == nullptr) return;
    network_.reset();
    (void)Wait(*library_);
  }

  Description Describe() override {
    const EngineSettings fallback;
    Description description;
    description.name = "mxnet";
    description.version = library_.ok() ? library_->Version() : "not loaded";
    description.ops.assign(OpAbilities().begin(), OpAbilities().end());
    description.updates = SolverAbilities();
    description.precisions = {"f32"};
    description.options = {
        {"subgraph",
         "MXNet's subgraph backend: MKLDNN fuses convolutions with the ops after them (inference), "
         "NONE fuses nothing",
         fallback.subgraph,
         {"MKLDNN", "NONE"}},
        {"bulk",
         "ops that the engine executes as one unit; 0 = each alone",
         std::to_string(fallback.bulk),
         {}},
        {"aggregate",
         "parameters per update op (multi_sgd_mom_update), at most 60; 0 = one sgd_mom_update each",
         std::to_string(fallback.aggregate),
         {}},
        {"engine",
         "MXNet's scheduler; NaiveEngine computes in the calling thread",
         fallback.engine,
         {"ThreadedEnginePerDevice", "ThreadedEnginePooled", kSynchronousEngine}}};
    description.tuning = Candidates();
    AddSpinCandidate(description);
    AddCommonSettings(description);
    description.facts = Facts();
    description.facts["algorithm.gemm"] = "env.MXNET_MKLDNN_ENABLED=0";
    DescribeDevices(Gpus(), description);
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (!library_.ok()) return library_.error();
    graph_ = graph;
    options_ = options;
    network_.reset();
    profiler_.reset();
    EngineSettings settings = TENCH_TRY(SettingsOf(options.options));
    std::map<std::string, std::string> choices;
    if (settings.subgraph != kNoSubgraph && FusionWouldHideAnOutput(graph)) {
      settings.subgraph = kNoSubgraph;
      choices["subgraph"] =
          "NONE: MXNet would fuse an activation into a layer with other readers and give them the "
          "wrong output";
    }
    if (options.profile) {
      // One op at a time in order, so that events can be matched to layers.
      settings.engine = kSynchronousEngine;
      settings.bulk = 0;
      settings.aggregate = 0;
      choices["profile"] = "on NaiveEngine with bulk 0 and aggregate 0";
    }
    ApplySettings(settings);
    TENCH_TRY(SetThreads(*library_, settings, options.threads));
    network_ = TENCH_TRY(Network::Make(*library_, graph_, options_, settings));
    settings_ = settings;
    stepped_ = false;
    TENCH_TRY(library_->Ask((*library_)->MXRandomSeed(static_cast<int>(options.seed & 0x7fffffff)),
                            "seed"));
    if (options.profile) profiler_ = TENCH_TRY(Profiler::Make(*library_));
    // The executor is bound with the request "write" for every trained parameter.
    return BuildFacts{TENCH_TRY(network_->Bytes()), std::move(choices),
                      options.phase == Phase::kGradient};
  }

  Status SetParameters(const TensorSource& source) override {
    // In inference, ops reorder the weights of their first step in place, or keep a copy of them.
    // The statistics and the batch are set after the parameters.
    if (stepped_ && options_.phase == Phase::kForward) {
      network_.reset();
      network_ = TENCH_TRY(Network::Make(*library_, graph_, options_, settings_));
      stepped_ = false;
    }
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (!graph_.parameters[i].trained) continue;
      if (network_->HasMomentum(i)) TENCH_TRY(network_->ZeroMomentum(i));
      TENCH_TRY(network_->WriteParameter(i, source));
    }
    return Ok();
  }

  Status Parameters(const TensorSink& sink) override {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (graph_.parameters[i].trained) TENCH_TRY(network_->ReadParameter(i, sink));
    }
    return Ok();
  }

  Status SetState(const TensorSource& source) override {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (!graph_.parameters[i].trained) TENCH_TRY(network_->WriteParameter(i, source));
      if (network_->HasMomentum(i)) TENCH_TRY(network_->WriteMomentum(i, source));
    }
    return Ok();
  }

  Status State(const TensorSink& sink) override {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (!graph_.parameters[i].trained) TENCH_TRY(network_->ReadParameter(i, sink));
      if (network_->HasMomentum(i)) TENCH_TRY(network_->ReadMomentum(i, sink));
    }
    return Ok();
  }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    for (const HostTensor& input : inputs) TENCH_TRY(network_->WriteInput(input));
    return Ok();
  }

  Status SetLearningRate(double lr) override {
    network_->SetLearningRate(lr);
    return Ok();
  }

  // The loss is available after the forward pass; backward and update are awaited too.
  Status Resume(int64_t steps) override {
    network_->Resume(steps);
    return Ok();
  }

  Result<double> Step(Phase phase) override {
    Check(phase == options_.phase, "a step of a phase that was not built");
    stepped_ = true;
    if (profiler_) TENCH_TRY(profiler_->BeginStep());
    TENCH_TRY(network_->Queue());
    TENCH_TRY(Wait(*library_));
    if (profiler_) TENCH_TRY(profiler_->EndStep());
    return network_->Loss();
  }

  Status Gradients(const TensorSink& sink) override {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (graph_.parameters[i].trained) TENCH_TRY(network_->ReadGradient(i, sink));
    }
    return Ok();
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    if (!options_.observe) return Failed("outputs were not kept: this is no observing build");
    for (const std::string& layer : layers) TENCH_TRY(network_->ReadOutput(layer, sink));
    return Ok();
  }

  void RestartProfile() override {
    if (profiler_) profiler_->Start();
  }

  Result<std::vector<ProfileRow>> Profile() override {
    if (!profiler_) return Failed("this build was not profiled");
    const std::vector<OpEvent> events = TENCH_TRY(profiler_->Finish());
    const std::vector<ListedNode> nodes = ParseListing(TENCH_TRY(network_->executor().Listing()));
    std::vector<std::string> updated;
    for (const Parameter& parameter : graph_.parameters) {
      if (parameter.trained) updated.push_back(graph_.layers[parameter.layer].layer.name);
    }
    trace_.clear();
    return AttributeEvents(events, nodes, graph_, updated,
                           options_.traced_steps > 0 ? &trace_ : nullptr);
  }

  // Of all profiled steps; known after Profile, because MXNet writes its events once.
  Result<std::vector<TraceEvent>> Trace() override {
    for (TraceEvent& event : trace_) event.start_ns = MonotonicOfTimeOfDay(event.start_ns);
    return std::move(trace_);
  }

 private:
  GpuSupport Gpus() const {
    if (!library_.ok()) return {0, "MXNet is not loaded"};
    if (!library_->HasFeature("CUDA")) return {0, "this MXNet library was built without CUDA"};
    int count = 0;
    if ((*library_)->MXGetGPUCount(&count) != 0) count = 0;
    return {count, "no CUDA device: MXNet finds no GPU"};
  }

  std::map<std::string, std::string> Facts() const {
    if (!library_.ok()) return {{"library", library_.error().message}};
    std::string features;
    for (const char* feature : {"CUDA", "MKLDNN", "OPENMP", "BLAS_OPEN", "BLAS_MKL"}) {
      if (library_->HasFeature(feature))
        features += (features.empty() ? "" : " ") + std::string(feature);
    }
    return {{"library", library_->file().string()}, {"features", features}};
  }

  Result<Library> library_;
  TypedGraph graph_;
  BuildOptions options_;
  EngineSettings settings_;
  std::vector<TraceEvent> trace_;
  bool stepped_ = false;  // since the network was bound
  std::unique_ptr<Network> network_;
  std::unique_ptr<Profiler> profiler_;
};

}  // namespace

std::unique_ptr<Adapter> MakeMxnetAdapter(const std::filesystem::path& library) {
  return std::make_unique<MxnetAdapter>(library);
}

}  // namespace tench::mxnet
