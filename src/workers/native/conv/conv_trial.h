// SPDX-License-Identifier: Apache-2.0
#pragma once
// Times the candidates for one direction of one convolution against each other. They take turns,
// run by run, so that a machine whose speed wanders is equally fast for all of them, and what is
// clearly slower leaves early. A candidate's time is its kernel's and that of everything it makes
// necessary: reorders of images from and to the layout that neighbours share, of weights from their
// home, bias as a pass of its own. All use the same memory. Knows nothing of caches or of which
// choice is made.

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
  // Throws dnnl::error if there is no memory for it.
  ConvTrial(const ConvShape& shape, ConvDirection direction, std::span<const ConvCandidate> kernels,
            const Md& home_weights, const dnnl::engine& engine);

  // The shortest of a kernel's runs: what other work does to a run can only make it longer.
  struct Time {
    int64_t ns = std::numeric_limits<int64_t>::max();
    bool calm = false;  // at least one run was not disturbed by other work
  };
  std::vector<Time> Run();

 private:
  using Part = std::function<void()>;
  void Allocate(std::span<const ConvCandidate> kernels);
  std::vector<Part> PartsOf(const ConvCandidate& kernel);
  std::unordered_map<int, dnnl::memory> Arguments(const ConvCandidate& kernel);
  void AddReorder(const Md& from, size_t from_slot, const Md& to, size_t to_slot,
                  std::vector<Part>& parts);
  dnnl::memory At(const Md& md, size_t slot) { return {md, engine_, slots_[slot].data()}; }

  const ConvShape& shape_;
  const ConvDirection direction_;
  const Md home_in_, home_out_, home_weights_;
  const dnnl::engine& engine_;
  dnnl::stream stream_;
  std::vector<AlignedBlock> slots_;
  std::vector<std::vector<Part>> candidates_;
};

// The same convolution of fewer images where the whole batch would take long: enough to tell
// kernels apart.
ConvShape TrialShape(const ConvShape& shape, int64_t threads);

}  // namespace tench::native
