// SPDX-License-Identifier: Apache-2.0
#include "worker/job_input.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "net/fill.h"
#include "net/op_traits.h"

namespace tench {
namespace {

// State names of a trained parameter; HasSecondHistory tells which solvers have the second.
constexpr std::string_view kMomentumSuffixes[] = {".momentum", ".momentum2"};

// All names that a job for this network may use in tensors.load.
std::vector<std::string> LoadableNames(const TypedGraph& graph, const Solver& solver) {
  std::vector<std::string> names;
  for (const TypedLayer& layer : graph.layers) {
    if (std::holds_alternative<Input>(layer.layer.op)) names.push_back(layer.layer.name);
  }
  for (const Parameter& parameter : graph.parameters) {
    names.push_back(parameter.name);
    if (!parameter.trained) continue;
    names.push_back(fmt::format("{}{}", parameter.name, kMomentumSuffixes[0]));
    if (HasSecondHistory(solver.type))
      names.push_back(fmt::format("{}{}", parameter.name, kMomentumSuffixes[1]));
  }
  return names;
}

// A forward job may name tensors of the pruned part; they are ignored.
Status CheckNames(const Job& job) {
  if (job.tensors.load.empty()) return Ok();
  const TypedGraph whole = TENCH_TRY(Infer(job.network, job.batch));
  const std::vector<std::string> names = LoadableNames(whole, job.solver);
  for (const auto& [name, file] : job.tensors.load) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Failed("job.tensors.load: the network has no tensor '{}'{}", Printable(name),
                    Hint(name, names));
    }
  }
  return Ok();
}

struct IntegerRange {
  int64_t low = 0, high = std::numeric_limits<int32_t>::max();  // inclusive
  std::optional<int64_t> also;  // the label of samples that do not count
};

// The ranges that the readers of an integer input accept.
std::vector<IntegerRange> RangesOf(const TypedGraph& graph, size_t input) {
  std::vector<IntegerRange> ranges;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const TypedLayer& layer = graph.layers[i];
    if (std::find(layer.inputs.begin(), layer.inputs.end(), input) == layer.inputs.end()) continue;
    const auto columns = [&] { return graph.InputType(i, 0).shape[1]; };
    std::visit(Overload{[&](const Embedding& op) {
                          ranges.push_back({0, op.vocabulary - 1, {}});
                        },
                        [&](const SoftmaxCrossEntropy& op) {
                          ranges.push_back({0, columns() - 1, op.ignore_label});
                        },
                        [&](const MeanOverTime&) {
                          ranges.push_back({1, columns(), {}});
                        },
                        [](const RealInputOp auto&) {}},
               layer.layer.op);
  }
  return ranges;
}

Status CheckRange(const TypedGraph& graph, size_t layer, const HostTensor& tensor,
                  const std::string& file) {
  for (const IntegerRange& range : RangesOf(graph, layer)) {
    for (const int32_t value : tensor.i32) {
      if ((value >= range.low && value <= range.high) || value == range.also) continue;
      return Failed("{}: input '{}' has the value {}; it must be from {} to {}", file, tensor.name,
                    value, range.low, range.high);
    }
  }
  return Ok();
}

}  // namespace

Result<JobInput> JobInput::Open(const Job& job, const TypedGraph& graph) {
  TENCH_TRY(CheckNames(job));
  JobInput input(job, graph);
  TENCH_TRY(input.LoadInputs());
  if (!job.data.empty()) TENCH_TRY(input.OpenData());
  return input;
}

Status JobInput::OpenData() {
  if (job_->labels > 0) return Failed("job.labels limits the labels of synthetic data only");
  FileData data = TENCH_TRY(FileData::Open(job_->data));
  TENCH_TRY(data.CheckFingerprint());
  TENCH_TRY(data.Fit(*graph_));
  data.Start(job_->seed, job_->images, job_->phase != Phase::kForward);
  data_ = std::move(data);
  return Ok();
}

Status JobInput::LoadInputs() {
  size_t position = 0;
  for (size_t i = 0; i < graph_->layers.size(); ++i) {
    const TypedLayer& layer = graph_->layers[i];
    if (!std::holds_alternative<Input>(layer.layer.op)) continue;
    const size_t mine = position++;
    const auto found = job_->tensors.load.find(layer.layer.name);
    if (found == job_->tensors.load.end()) continue;
    HostTensor tensor{layer.layer.name, layer.output, {}, {}};
    const size_t count = static_cast<size_t>(ElementCount(layer.output.shape));
    if (layer.output.dtype == DType::kF32) {
      tensor.f32.resize(count);
      TENCH_TRY(ReadRaw(found->second, std::span<float>(tensor.f32)));
    } else {
      tensor.i32.resize(count);
      TENCH_TRY(ReadRaw(found->second, std::span<int32_t>(tensor.i32)));
      TENCH_TRY(CheckRange(*graph_, i, tensor, found->second));
    }
    loaded_.emplace_back(mine, std::move(tensor));
  }
  return Ok();
}

Status JobInput::Fill(const std::string& name, std::span<float> out) const {
  if (const auto found = job_->tensors.load.find(name); found != job_->tensors.load.end())
    return ReadRaw(found->second, out);
  for (const Parameter& parameter : graph_->parameters) {
    if (parameter.name == name) {
      FillTensor(job_->seed, name, parameter.fill, 0, out, static_cast<int>(job_->threads));
      return Ok();
    }
    for (const std::string_view suffix : kMomentumSuffixes) {
      if (name != fmt::format("{}{}", parameter.name, suffix)) continue;
      std::fill(out.begin(), out.end(), 0.0f);
      return Ok();
    }
  }
  return Failed("the worker asks for a tensor '{}' that the network does not have", name);
}

BatchPlan JobInput::PlanOf() const {
  return {job_->seed, job_->images > 0 ? job_->images : job_->batch, job_->labels};
}

// Real positions go on over the epochs, whose orders differ; synthetic samples repeat.
int64_t JobInput::FirstOf(int64_t step) const {
  if (!job_->cycled) return 0;
  if (data_) return step * job_->batch;
  const int64_t images = PlanOf().images;
  return (step % images) * (job_->batch % images) % images;
}

BatchLoader::RowFiller JobInput::MakeFiller(int64_t first) const {
  if (!data_) {
    return [this, first](int64_t step, int64_t, int64_t, std::vector<HostTensor>& batch) -> Status {
      MakeBatch(*graph_, PlanOf(), FirstOf(first + step), batch);
      return Ok();
    };
  }
  const auto scratch = std::make_shared<FileData::RowScratch>();
  return [this, first, scratch](int64_t step, int64_t begin, int64_t end,
                                std::vector<HostTensor>& batch) {
    return data_->FillRows(*graph_, FirstOf(first + step), begin, end, batch, *scratch);
  };
}

void JobInput::StartLoader(int64_t first, int64_t batches) {
  BatchLoader::Options options;
  options.threads = job_->data_threads;
  options.prefetch = job_->prefetch;
  options.rows = job_->batch;
  // The generator fills whole batches. Chunks of files are small, so that no thread waits long for
  // the last one of a batch, and large enough for samples of a few bytes.
  options.chunk =
      data_ ? std::max<int64_t>(1, job_->batch / (4 * job_->data_threads)) : job_->batch;
  options.steps = batches;
  loader_ = std::make_unique<BatchLoader>(
      options, [this, first] { return MakeFiller(first); },
      [this](std::vector<HostTensor>& batch) { SizeBatch(*graph_, batch); });
}

Status JobInput::MakeBatchOf(int64_t step) {
  const int threads = static_cast<int>(job_->threads);
  if (loader_) {
    current_ = TENCH_TRY(loader_->Next());
    if (loaded_.empty()) return Ok();
    batch_.assign(current_.begin(), current_.end());
  } else if (data_) {
    TENCH_TRY(data_->MakeBatch(*graph_, FirstOf(step), batch_, threads));
  } else {
    MakeBatch(*graph_, PlanOf(), FirstOf(step), batch_, threads);
  }
  for (const auto& [position, tensor] : loaded_) batch_[position] = tensor;
  current_ = batch_;
  return Ok();
}

}  // namespace tench
