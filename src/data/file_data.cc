// SPDX-License-Identifier: Apache-2.0
#include "data/file_data.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "base/text.h"
#include "data/data_set.h"
#include "net/op_traits.h"

namespace tench {
namespace {

// ImageData layers read colour, Data layers what a Datum has.
int64_t DefaultChannels(std::string_view format) { return format == "lmdb" ? 0 : 3; }

// The synthetic data set whose form the files have; it decides which built-in networks fit.
std::string SetLike(const Shape& shape) {
  if (shape == Shape{1, 28, 28}) return "mnist";
  if (shape == Shape{3, 32, 32}) return "cifar10";
  return "imagenet";
}

const Input* InputOf(const TypedGraph& graph, InputRole role) {
  for (const TypedLayer& layer : graph.layers) {
    const Input* input = std::get_if<Input>(&layer.layer.op);
    if (input != nullptr && input->role == role) return input;
  }
  return nullptr;
}

}  // namespace

int64_t ClassesOf(const TypedGraph& graph) {
  int64_t classes = 0;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (std::holds_alternative<SoftmaxCrossEntropy>(graph.layers[i].layer.op))
      classes = graph.InputType(i, 0).shape[1];
  }
  return classes;
}

Result<FileData> FileData::Open(std::string_view text) {
  DataReference reference = TENCH_TRY(ParseDataReference(text));
  std::unique_ptr<SampleSource> source =
      TENCH_TRY(OpenSource(reference.format, reference.path, reference.source));
  Transformer transformer =
      TENCH_TRY(Transformer::Make(reference.transform, DefaultChannels(reference.format)));
  FileData data(std::move(reference), std::move(source), std::move(transformer));
  data.Start(1, 0, true);
  return data;
}

bool FileData::FollowsNetwork() const {
  const Transform& transform = reference_.transform;
  return facts().encoded && transform.resize_height == 0 && transform.crop == 0;
}

Result<InputSpec> FileData::SpecFor(const InputSpec& usual) const {
  InputSpec spec = usual;
  spec.classes = reference_.classes > 0 ? reference_.classes
                 : facts().classes > 0  ? facts().classes
                                        : usual.classes;
  if (facts().vocabulary > 0) {
    spec.data = "imdb";
    spec.channels = spec.height = spec.width = 0;
    spec.vocabulary = facts().vocabulary;
    spec.length = reference_.length > 0 ? reference_.length : std::max<int64_t>(usual.length, 1);
    return spec;
  }
  if (FollowsNetwork() && !usual.sequences()) return spec;
  if (FollowsNetwork()) return Failed("data: the network reads words, not images");
  const Shape shape = TENCH_TRY(transformer_.OutputShape(facts().shape));
  spec.data = SetLike(shape);
  spec.channels = shape[0];
  spec.height = shape[1];
  spec.width = shape[2];
  spec.vocabulary = spec.length = 0;
  return spec;
}

Status FileData::Fit(const TypedGraph& graph) {
  const std::string name = fmt::format("{}:{}", reference_.format, reference_.path);
  if (facts().vocabulary > 0) {
    if (InputOf(graph, InputRole::kTokens) == nullptr)
      return Failed("{}: the network '{}' does not read words", name, graph.name);
  } else {
    const Input* input = InputOf(graph, InputRole::kData);
    if (input == nullptr || InputOf(graph, InputRole::kTokens) != nullptr)
      return Failed("{}: the network '{}' reads words, not images", name, graph.name);
    if (FollowsNetwork()) {
      if (input->shape.size() != 3)
        return Failed("{}: the network '{}' reads {}, not images", name, graph.name,
                      ToString(input->shape));
      Transform transform = transformer_.transform();
      transform.resize_height = input->shape[1];
      transform.resize_width = input->shape[2];
      transformer_ = TENCH_TRY(Transformer::Make(transform, transform.channels));
    }
    const Shape shape = TENCH_TRY(transformer_.OutputShape(facts().shape).In(name));
    if (ElementCount(shape) != ElementCount(input->shape) ||
        (input->shape.size() == 3 && shape != input->shape))
      return Failed("{}: its samples are {}, but the network '{}' reads {}", name, ToString(shape),
                    graph.name, ToString(input->shape));
  }
  const int64_t classes = ClassesOf(graph);
  if (classes > 0 && facts().classes > classes)
    return Failed("{}: it has {} classes, but the network '{}' has {}", name, facts().classes,
                  graph.name, classes);
  for (const TypedLayer& layer : graph.layers) {
    const Embedding* embedding = std::get_if<Embedding>(&layer.layer.op);
    if (embedding != nullptr && embedding->vocabulary < facts().vocabulary)
      return Failed("{}: a vocabulary of {}, but the layer '{}' has {} words", name,
                    facts().vocabulary, layer.layer.name, embedding->vocabulary);
  }
  return Ok();
}

void FileData::Start(uint64_t seed, int64_t limit, bool training) {
  seed_ = seed;
  count_ = limit > 0 ? std::min(limit, facts().count) : facts().count;
  training_ = training;
  order_ = std::make_unique<SampleOrder>(seed, count_, reference_.shuffle);
}

Status FileData::FillSample(const TypedGraph& graph, int64_t position, int64_t row,
                            std::vector<HostTensor>& tensors, RowScratch& scratch) const {
  const int64_t index = order_->At(position);
  StoredSample& sample = scratch.sample;
  TENCH_TRY(source_->Read(index, sample));
  const SampleDraw draw{seed_, static_cast<uint64_t>(position / count_),
                        static_cast<uint64_t>(index), static_cast<uint64_t>(count_), training_};
  size_t used = 0;
  for (const TypedLayer& layer : graph.layers) {
    const Input* input = std::get_if<Input>(&layer.layer.op);
    if (input == nullptr) continue;
    HostTensor& tensor = tensors[used++];
    const auto elements = static_cast<size_t>(ElementCount(input->shape));
    const size_t begin = static_cast<size_t>(row) * elements;
    switch (input->role) {
      case InputRole::kData: {
        // A network of vectors reads the same values without their shape.
        const Shape shape = input->shape.size() == 3
                                ? input->shape
                                : TENCH_TRY(transformer_.OutputShape(facts().shape));
        Status applied = transformer_.Apply(sample, draw, shape, scratch.transform,
                                            std::span(tensor.f32).subspan(begin, elements));
        // Naming the sample takes longer than copying a small one.
        if (!applied.ok()) return std::move(applied).In(source_->Where(index));
        break;
      }
      case InputRole::kLabel: {
        const int64_t classes = ClassesOf(graph);
        if (classes > 0 && sample.label >= classes)
          return Failed("{}: the label {} is not from 0 to {}", source_->Where(index), sample.label,
                        classes - 1);
        tensor.i32[begin] = static_cast<int32_t>(sample.label);
        break;
      }
      case InputRole::kTokens: {
        const auto kept = std::min(elements, sample.words.size());
        std::copy_n(sample.words.begin(), kept, tensor.i32.begin() + static_cast<int64_t>(begin));
        std::fill_n(tensor.i32.begin() + static_cast<int64_t>(begin + kept), elements - kept, 0);
        break;
      }
      case InputRole::kLengths: {
        const Input* tokens = InputOf(graph, InputRole::kTokens);
        const auto longest = static_cast<size_t>(tokens != nullptr ? tokens->shape[0] : 1);
        tensor.i32[begin] = static_cast<int32_t>(std::min(longest, sample.words.size()));
        break;
      }
    }
  }
  return Ok();
}

Status FileData::FillRows(const TypedGraph& graph, int64_t first, int64_t begin, int64_t end,
                          std::vector<HostTensor>& tensors, RowScratch& scratch) const {
  for (int64_t row = begin; row < end; ++row)
    TENCH_TRY(FillSample(graph, first + row, row, tensors, scratch));
  return Ok();
}

Status FileData::MakeBatch(const TypedGraph& graph, int64_t first, std::vector<HostTensor>& tensors,
                           int threads) const {
  Check(first >= 0, "a batch starts at a negative sample");
  SizeBatch(graph, tensors);
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  // The failure of the first sample in order, so that the message does not depend on the threads.
  std::optional<Error> failure;
  int64_t failed_row = graph.batch;
  const auto work = [&] {
    RowScratch scratch;
    for (int64_t row = next++; row < graph.batch; row = next++) {
      Status filled = FillRows(graph, first, row, row + 1, tensors, scratch);
      if (filled.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (row < failed_row) failure = std::move(filled).error();
      failed_row = std::min(failed_row, row);
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int64_t i = 1; i < std::min<int64_t>(threads, graph.batch); ++i) pool.emplace_back(work);
    work();
  }
  if (failure) return *std::move(failure);
  return Ok();
}

Result<bool> FileData::CheckLabels(int64_t classes) const {
  int64_t bytes = 0;
  for (const std::filesystem::path& file : facts().files) {
    std::error_code ignored;
    bytes += static_cast<int64_t>(std::filesystem::file_size(file, ignored));
  }
  // The labels of folders were checked with their names.
  if (bytes > kScannedBytes || !facts().class_names.empty()) return false;
  StoredSample sample;
  for (int64_t i = 0; i < count_; ++i) {
    TENCH_TRY(source_->Read(i, sample));
    if (sample.label >= classes)
      return Failed("{}: the label {} is not from 0 to {}", source_->Where(i), sample.label,
                    classes - 1);
  }
  return true;
}

}  // namespace tench
