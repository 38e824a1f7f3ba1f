// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiled form of a network: buffers, and a flat list of steps over them. A step is a oneDNN
// primitive or a direct kernel. Steps name buffers by id; Bind plans the arena, allocates it, and
// resolves ids to addresses once. Not aware of networks or ops.
//
// Invariants: buffers and steps are added before Bind; after it the program is immutable, and Run
// allocates nothing (allocation_test.cc).
// Ownership: owns the arena and the persistent block.
// Thread safety: one caller at a time; steps use OpenMP's threads inside.

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

// A buffer seen through a layout. Several tensors may share one buffer (views, in-place steps).
struct Tensor {
  BufferId buffer = -1;
  Md md;
  explicit operator bool() const { return buffer >= 0; }
};

enum class Place {
  kArena,       // live from the first to the last step that names it
  kPersistent,  // live as long as the program: parameters, momenta, inputs, observed outputs
};

struct Buffer {
  int64_t bytes = 0;
  Place place = Place::kArena;
};

enum class Direction { kForward, kBackwardData, kBackwardWeights, kUpdate };
const std::string& Name(Direction direction);

// The inputs of one Run that change from run to run, and its outputs.
struct RunState {
  double lr = 0;
  double clip_scale = 1;  // factor on all gradients, set by the clipping step
  int64_t updates = 0;    // since the parameters were set, this run included
  // With iter_size > 1: whether this batch is the first of its step, and whether it is the last,
  // after which the parameters are updated.
  bool first_batch = true, last_batch = true;
  uint64_t step = 0;
  std::vector<double> losses;  // out: weighted, one per loss layer
};

using StepFunction = std::function<void(std::span<float* const> pointers, RunState& state)>;

struct Argument {
  int key = 0;  // DNNL_ARG_*; a kernel ignores it and receives its arguments in order
  Tensor tensor;
};

struct Step {
  size_t layer = 0;
  Direction direction = Direction::kForward;
  std::string name;  // of the implementation, as the profile shows it
  std::vector<Argument> arguments;
  dnnl::primitive primitive;  // unused if `kernel` is set
  StepFunction kernel;
  int64_t flops = 0;
};

class Program {
 public:
  BufferId AddBuffer(Buffer buffer);
  void AddStep(Step step) { steps_.push_back(std::move(step)); }

  // Plans and allocates. kOutOfMemory, before any allocation, if the plan exceeds
  // `available_bytes`.
  Status Bind(const dnnl::engine& engine, int64_t available_bytes);

  int64_t planned_bytes() const { return arena_.bytes() + persistent_.bytes(); }
  int64_t arena_bytes() const { return arena_.bytes(); }
  float* Address(const Tensor& tensor) const;  // of its first element, a view's offset included

  void Run(dnnl::stream& stream, RunState& state);

  // Times every step of every later Run, and waits for the stream after each. The intervals of the
  // first `traced_runs` runs are kept.
  void StartProfile(int64_t traced_runs = 0);
  struct Interval {
    size_t step = 0;
    int64_t start_ns = 0, time_ns = 0;
  };
  struct Timing {
    int64_t calls = 0, time_ns = 0;
  };
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Timing>& timings() const { return timings_; }  // by step; empty: no profile
  const std::vector<Interval>& intervals() const { return intervals_; }
  static int64_t Bytes(const Step& step);  // sum over its arguments

 private:
  struct Bound {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<float*> pointers;
  };
  void Plan(std::vector<int64_t>& offsets, int64_t& arena_bytes, int64_t& persistent_bytes) const;
  void Execute(size_t step, dnnl::stream& stream, RunState& state);

  std::vector<Buffer> buffers_;
  std::vector<Step> steps_;
  std::vector<Bound> bound_;
  std::vector<char*> addresses_;  // by buffer
  std::vector<Timing> timings_;
  int64_t traced_runs_ = 0;
  std::vector<Interval> intervals_;
  AlignedBlock arena_, persistent_;
};

}  // namespace tench::native
