// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "data/data_set.h"
#include "net/fill.h"

namespace tench {
namespace {

// Calls `fill(sample, position, count)` for each run of consecutive samples: sample `sample` goes
// to index `position` of the batch. Indices are modulo the size of the set, which may be smaller
// than a batch.
template <class FillStretch>
void ForEachStretch(int64_t first, int64_t images, int64_t batch, const FillStretch& fill) {
  int64_t sample = first % images;
  for (int64_t position = 0; position < batch;) {
    const int64_t count = std::min(batch - position, images - sample);
    fill(sample, position, count);
    position += count;
    sample = 0;
  }
}

}  // namespace

void SizeBatch(const TypedGraph& graph, std::vector<HostTensor>& tensors) {
  size_t used = 0;
  for (const TypedLayer& layer : graph.layers) {
    if (!std::holds_alternative<Input>(layer.layer.op)) continue;
    if (used == tensors.size()) tensors.emplace_back();
    HostTensor& tensor = tensors[used++];
    tensor.name = layer.layer.name;
    tensor.type = layer.output;
    const auto total = static_cast<size_t>(ElementCount(layer.output.shape));
    tensor.f32.resize(layer.output.dtype == DType::kF32 ? total : 0);
    tensor.i32.resize(layer.output.dtype == DType::kF32 ? 0 : total);
  }
  tensors.resize(used);
}

void MakeBatch(const TypedGraph& graph, const BatchPlan& plan, int64_t first,
               std::vector<HostTensor>& tensors, int threads) {
  Check(first >= 0, "a batch starts at a negative sample");
  const int64_t images = plan.images > 0 ? plan.images : graph.batch;
  SizeBatch(graph, tensors);
  size_t used = 0;
  for (const TypedLayer& layer : graph.layers) {
    const Input* input = std::get_if<Input>(&layer.layer.op);
    if (input == nullptr) continue;
    HostTensor& tensor = tensors[used++];
    const size_t elements = static_cast<size_t>(ElementCount(input->shape));  // per sample
    const bool reals = layer.output.dtype == DType::kF32;
    ForEachStretch(first, images, graph.batch,
                   [&](int64_t sample, int64_t position, int64_t count) {
                     const uint64_t index = static_cast<uint64_t>(sample) * elements;
                     const size_t begin = static_cast<size_t>(position) * elements,
                                  size = static_cast<size_t>(count) * elements;
                     if (reals) {
                       FillTensor(plan.seed, tensor.name, input->fill, index,
                                  std::span(tensor.f32).subspan(begin, size), threads);
                     } else {
                       FillTensor(plan.seed, tensor.name, input->fill, index,
                                  std::span(tensor.i32).subspan(begin, size));
                     }
                   });
    if (input->role == InputRole::kLabel && plan.labels > 0) {
      for (int32_t& label : tensor.i32) label = static_cast<int32_t>(label % plan.labels);
    }
  }
}

}  // namespace tench
