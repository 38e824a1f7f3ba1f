// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a network is compiled into: buffers, and a flat list of steps over them, each a oneDNN
// primitive or a kernel of our own. While compiling, steps name buffers by number; Bind plans the
// arena, allocates, and turns numbers into addresses once. After that the program never changes,
// and a run allocates nothing of its own. Knows nothing of networks or ops. One thread at a time.

#include <dnnl.hpp>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "workers/native/program/aligned_block.h"

namespace tench::native {

using Md = dnnl::memory::desc;
using BufferId = int32_t;

// A buffer seen through a layout; several tensors may see one buffer (views, work in place).
struct Tensor {
  BufferId buffer = -1;
  Md md;
  explicit operator bool() const { return buffer >= 0; }
};

enum class Place {
  kArena,   // lives from the first to the last step that names it
  kPinned,  // keeps its bytes for ever: parameters, momenta, inputs, what an observer may ask for
};

struct Buffer {
  int64_t bytes = 0;
  Place place = Place::kArena;
};

enum class Direction { kForward, kBackwardData, kBackwardWeights, kUpdate };
const std::string& Name(Direction direction);

// What changes from step to step, and what a step gives back.
struct RunState {
  double lr = 0;
  double clip_scale = 1;  // of all gradients, where a step clips them
  int64_t updates = 0;    // since the parameters were set, the running step's counted
  uint64_t step = 0;
  std::vector<double> losses;  // weighted, one per loss layer
};

using StepFunction = std::function<void(std::span<float* const> pointers, RunState& state)>;

struct Argument {
  int key =
      0;  // oneDNN's argument number; of no meaning to a kernel, which gets its arguments in order
  Tensor tensor;
};

struct Step {
  size_t layer = 0;
  Direction direction = Direction::kForward;
  std::string name;  // the implementation
  std::vector<Argument> arguments;
  dnnl::primitive primitive;  // or
  StepFunction kernel;
  int64_t flops = 0;
};

class Program {
 public:
  BufferId AddBuffer(Buffer buffer);
  void AddStep(Step step) { steps_.push_back(std::move(step)); }
  void Pin(BufferId buffer) { buffers_[buffer].place = Place::kPinned; }

  // Plans and allocates. kOutOfMemory if the plan exceeds `available_bytes`, before anything is
  // touched.
  Status Bind(const dnnl::engine& engine, int64_t available_bytes);

  int64_t planned_bytes() const { return arena_.bytes() + pinned_.bytes(); }
  int64_t arena_bytes() const { return arena_.bytes(); }
  float* Address(const Tensor& tensor) const;  // of its first element

  void Run(dnnl::stream& stream, RunState& state);

  // From now on every step is timed.
  void StartProfile();
  struct Timing {
    int64_t calls = 0, time_ns = 0;
  };
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Timing>& timings() const { return timings_; }  // by step; empty unless profiled
  static int64_t Bytes(const Step& step);                          // of all its arguments

 private:
  struct Bound {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<float*> pointers;
  };
  void Plan(std::vector<int64_t>& offsets, int64_t& arena_bytes, int64_t& pinned_bytes) const;
  void Execute(size_t step, dnnl::stream& stream, RunState& state);

  std::vector<Buffer> buffers_;
  std::vector<Step> steps_;
  std::vector<Bound> bound_;
  std::vector<char*> addresses_;  // by buffer
  std::vector<Timing> timings_;
  AlignedBlock arena_, pinned_;
};

}  // namespace tench::native
