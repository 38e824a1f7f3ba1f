// SPDX-License-Identifier: Apache-2.0
#pragma once
// Times the candidates of one direction of one convolution against each other. They run
// interleaved, so that drift affects all of them equally; clearly slower ones are dropped early. A
// candidate's time includes every step that it requires: reorders of images from and to the layout
// between layers, reorders of the stored weights, a separate bias step. Not aware of caches or of
// the selection.
//
// Ownership: owns its buffers, which all candidates share; refers to the shape and the engine.
// Thread safety: one thread; a candidate uses OpenMP's threads.

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "workers/native/conv/conv_candidate.h"
#include "workers/native/program/aligned_block.h"

namespace tench::native {

class ConvTrial {
 public:
  // Throws dnnl::error if the buffers cannot be allocated.
  ConvTrial(const ConvShape& shape, ConvDirection direction,
            std::span<const ConvCandidate> candidates, const Md& stored_weights,
            const dnnl::engine& engine);

  // The minimum over a candidate's runs: interference can only lengthen a run.
  struct Time {
    int64_t ns = std::numeric_limits<int64_t>::max();
    bool calm = false;  // at least one run had no unusual preemption
  };
  std::vector<Time> Run();

 private:
  using Part = std::function<void()>;
  void Allocate(std::span<const ConvCandidate> candidates);
  std::vector<Part> PartsOf(const ConvCandidate& candidate);
  std::unordered_map<int, dnnl::memory> Arguments(const ConvCandidate& candidate);
  void AddReorder(const Md& from, size_t from_slot, const Md& to, size_t to_slot,
                  std::vector<Part>& parts);
  dnnl::memory At(const Md& md, size_t slot) { return {md, engine_, slots_[slot].data()}; }

  const ConvShape& shape_;
  const ConvDirection direction_;
  const Md stored_in_, stored_out_, stored_weights_;  // layouts between layers and steps
  const dnnl::engine& engine_;
  dnnl::stream stream_;
  std::vector<AlignedBlock> slots_;
  std::vector<std::vector<Part>> parts_;  // by candidate
};

// The same convolution with a smaller batch if the whole batch exceeds 6 GFLOP: enough to rank the
// candidates.
ConvShape TrialShape(const ConvShape& shape, int64_t threads);

}  // namespace tench::native
