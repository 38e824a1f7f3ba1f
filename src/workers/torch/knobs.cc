// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/knobs.h"

#include <ATen/Context.h>
#include <malloc.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace tench::pytorch {
namespace {

struct KnobRow {
  WorkerOption option;
  bool Knobs::*value;  // the second choice is true
};

const std::vector<KnobRow>& Rows() {
  static const std::vector<KnobRow> rows = {
      {{"layout",
        "memory layout of images and filters: channels first (PyTorch's default) or last",
        "default",
        {"default", "channels_last"}},
       &Knobs::channels_last},
      {{"kernels",
        "kernels of convolutions and LSTMs: oneDNN's (PyTorch's default), or PyTorch's own over "
        "its BLAS",
        "onednn",
        {"own", "onednn"}},
       &Knobs::onednn},
      {{"memory",
        "freed memory: malloc's default thresholds, or kept in the process for the next step",
        "default",
        {"default", "kept"}},
       &Knobs::keep_memory},
      {{"module",
        "phase forward: eager (PyTorch's default), or frozen: a TorchScript graph with the weights "
        "as constants",
        "eager",
        {"eager", "frozen"}},
       &Knobs::frozen},
  };
  return rows;
}

}  // namespace

std::vector<WorkerOption> KnobOptions() {
  std::vector<WorkerOption> options;
  for (const KnobRow& row : Rows()) options.push_back(row.option);
  return options;
}

std::vector<TuningCandidate> KnobCandidates() {
  const std::vector<std::string> image_ops = {"conv", "pool"};
  return {
      {.options = {{"memory", "kept"}}, .environment = {}, .phases = {}, .ops = {}},
      {.options = {{"module", "frozen"}}, .environment = {}, .phases = {"forward"}, .ops = {}},
      {.options = {{"layout", "channels_last"}}, .environment = {}, .phases = {}, .ops = image_ops},
      {.options = {{"kernels", "own"}}, .environment = {}, .phases = {}, .ops = {"conv", "lstm"}},
      {.options = {}, .environment = {{"THP_MEM_ALLOC_ENABLE", "1"}}, .phases = {}, .ops = {}},
  };
}

Result<Knobs> KnobsOf(const std::map<std::string, std::string>& options) {
  Knobs knobs;
  for (const KnobRow& row : Rows()) {
    const auto found = options.find(row.option.name);
    if (found == options.end()) continue;
    const auto& choices = row.option.choices;
    if (std::ranges::count(choices, found->second) == 0)
      return Unsupported("option {} is '{}'; it must be {}", row.option.name, found->second,
                         Join(choices, " or "));
    knobs.*row.value = found->second == choices[1];
  }
  return knobs;
}

std::map<std::string, std::string> Names(const Knobs& knobs) {
  std::map<std::string, std::string> names;
  for (const KnobRow& row : Rows())
    names[row.option.name] = row.option.choices[knobs.*row.value ? 1 : 0];
  return names;
}

void Apply(const Knobs& knobs) {
  at::globalContext().setUserEnabledMkldnn(knobs.onednn);
  // Any call of mallopt disables malloc's dynamic thresholds for the life of the process.
  if (!knobs.keep_memory) return;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace tench::pytorch
